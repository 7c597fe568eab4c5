"""Reading of untrusted files: size limits, encoding detection, gzip, binary detection."""

from __future__ import annotations

import gzip
import io
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO

from weft.config import MAX_EXPANDED_BYTES, LoadOptions
from weft.errors import InputError, MissingExtra
from weft.text.decode import control_share, cut_sample, decode, detect_encoding, has_byte_order_mark

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SAMPLE_BYTES = 64 * 1024
MAX_CONTROL_SHARE = 0.06
"""Share of control bytes above which a file is binary. Random bytes have 0.11."""

PARSER_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,  # includes RecursionError and NotImplementedError
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)
"""Built-in errors that parser libraries raise for broken files, in addition to their own errors."""


HINTS = {
    "bad record": "correct the record",
    "binary": "convert the file to a format of docs/loading.md",
    "broken loader": "update or uninstall the package of the loader",
    "broken": "open the file in the program that wrote it, and save it again",
    "empty": "add text to the file",
    "drawing": "export the drawing as a text",
    "encrypted": "save the file without a password",
    "generated": "index the file from which it was made",
    "ignored": "change the ignore rule, or pass --no-gitignore or --hidden",
    "no text": "set load.ocr if the file contains scanned pages",
    "not a regular file": "pass a file or a folder",
    "style sheet": "index the pages that use it",
    "too large": "split the file, or raise load.max_file_bytes or load.max_pages",
    "too slow": "split the file, or raise load.max_cpu_seconds",
    "unknown shape": "export the conversation again in a format of docs/loading.md",
    "unreadable": "make the file readable",
}
"""Action for each reason to skip a file."""


class LoadError(InputError):
    """A file cannot be loaded. `reason` is a category for counting; `detail` describes this file."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason, hint=HINTS.get(reason, ""))
        self.reason = reason
        self.detail = detail


def safe_text(name: str) -> str:
    """Return a file name as valid Unicode; an undecodable byte becomes a backslash escape."""
    return name.encode("utf-8", errors="backslashreplace").decode("utf-8")


def too_large(size: int, *, limit: int) -> LoadError:
    """Return the error for a file or stream of `size` bytes or more."""
    return LoadError("too large", f"{size:,} bytes; the limit is {limit:,}")


def missing_extra(package: str, *, extra: str) -> LoadError:
    """Return the error for a format whose library is not installed."""
    error = MissingExtra(package, extra=extra)
    return LoadError("missing extra", f"{error}: {error.hint}")


def read_bytes(path: Path, *, options: LoadOptions) -> bytes:
    """Return the content of a file. Raises `LoadError` if it is empty or larger than `max_file_bytes`."""
    limit = options.max_file_bytes
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        data = stream.read(min(size, limit) + 1)  # one more byte than the limit detects a file that is growing
    if len(data) > limit:
        raise too_large(max(size, len(data)), limit=limit)
    if not data:
        raise LoadError("empty")
    return data


def read_text(path: Path, *, options: LoadOptions) -> str:
    """Return the cleaned text of a file. Raises `LoadError` if it is binary, empty or too large."""
    data = read_bytes(path, options=options)
    if not has_byte_order_mark(data) and control_share(data) > MAX_CONTROL_SHARE:
        raise LoadError("binary")
    text = decode(data).rstrip()
    if not text:
        raise LoadError("empty", "the file has only white space")
    return text


def open_text(path: Path, *, max_bytes: int = MAX_EXPANDED_BYTES) -> TextIO:
    """
    Open a text file for reading; a `.gz` file is decompressed.

    Reading raises `LoadError` (an `InputError`) after `max_bytes` of content or at a broken gzip stream. Use
    `iter_numbered_lines` if a line may not fit into memory.
    """
    is_gzip = path.suffix.lower() == ".gz"
    inner = gzip.GzipFile(path) if is_gzip else path.open("rb", buffering=0)
    stream = io.BufferedReader(BoundedReader(inner, limit=max_bytes), buffer_size=SAMPLE_BYTES)
    try:
        encoding = detect_encoding(cut_sample(stream.peek(SAMPLE_BYTES)))
    except (InputError, OSError):
        stream.close()
        raise
    return io.TextIOWrapper(stream, encoding=encoding, errors="replace")


def iter_numbered_lines(stream: TextIO, *, max_characters: int) -> Iterator[tuple[int, str | None]]:
    """Yield line numbers, from 1, and lines; None replaces a line longer than `max_characters`."""
    number = 0
    while line := stream.readline(max_characters + 1):
        number += 1
        if len(line) <= max_characters or line.endswith("\n"):
            yield number, line.removesuffix("\n")
            continue
        while (rest := stream.readline(SAMPLE_BYTES)) and not rest.endswith("\n"):
            pass
        yield number, None


class BoundedReader(io.RawIOBase):
    """Stream that raises `LoadError` after `limit` bytes of the inner stream."""

    def __init__(self, inner: BinaryIO | gzip.GzipFile | io.FileIO, *, limit: int) -> None:
        super().__init__()
        self._inner = inner
        self._limit = limit
        self._read_bytes = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill the buffer; return the number of bytes read."""
        view = memoryview(buffer).cast("B")
        try:
            data = self._inner.read(len(view))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise LoadError("broken", f"gzip: {error}") from error
        self._read_bytes += len(data)
        if self._read_bytes > self._limit:
            raise too_large(self._read_bytes, limit=self._limit)
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close this stream and the inner one."""
        self._inner.close()
        super().close()
