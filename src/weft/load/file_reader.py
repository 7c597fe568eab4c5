"""How adapters get at the content of a file without being hurt by it."""

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
"""Above this share of control bytes a file is binary, whatever its name says; random bytes have 0.11."""


PARSER_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,  # among them RecursionError and NotImplementedError
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)
"""What libraries let through, beside their own errors, when a file is broken. pypdf says so itself."""


class Unloadable(InputError):
    """A file cannot become a document. `reason` is a short class, `detail` is about this one."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


def safe_text(name: str) -> str:
    """Return a file name as text that UTF-8 can hold: an undecodable byte becomes its escape."""
    return name.encode("utf-8", errors="backslashreplace").decode("utf-8")


def too_large(size: int, *, limit: int) -> Unloadable:
    """Return the error for something of `size` bytes, or of at least as many."""
    return Unloadable("too large", f"{size:,} bytes; the limit is {limit:,}")


def missing_extra(package: str, *, extra: str) -> Unloadable:
    """Return the error for a format whose library is not installed."""
    error = MissingExtra(package, extra=extra)
    return Unloadable("missing extra", f"{error}: {error.hint}")


def read_bytes(path: Path, *, options: LoadOptions) -> bytes:
    """Return what a file holds. Raises `Unloadable` when it is empty or larger than allowed."""
    limit = options.max_file_bytes
    with path.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        data = stream.read(min(size, limit) + 1)  # one more: the file may be growing
    if len(data) > limit:
        raise too_large(max(size, len(data)), limit=limit)
    if not data:
        raise Unloadable("empty")
    return data


def read_text(path: Path, *, options: LoadOptions) -> str:
    """Return the clean text of a file. Raises `Unloadable` when it is not text or holds none."""
    data = read_bytes(path, options=options)
    if not has_byte_order_mark(data) and control_share(data) > MAX_CONTROL_SHARE:
        raise Unloadable("binary")
    text = decode(data).rstrip()
    if not text:
        raise Unloadable("empty", "nothing but white space")
    return text


def open_text(path: Path, *, max_bytes: int = MAX_EXPANDED_BYTES) -> TextIO:
    """
    Open a text file for reading, unpacked if its name ends in `.gz`.

    Reading more than `max_bytes` of content, or a broken gzip stream, raises `Unloadable`, which is an
    `InputError`. Use `with`, and `iter_numbered_lines` where a line may be too long for memory.
    """
    packed = path.suffix.lower() == ".gz"
    inner = gzip.GzipFile(path) if packed else path.open("rb", buffering=0)
    stream = io.BufferedReader(_BoundedReader(inner, limit=max_bytes), buffer_size=SAMPLE_BYTES)
    try:
        encoding = detect_encoding(cut_sample(stream.peek(SAMPLE_BYTES)))
    except (InputError, OSError):
        stream.close()
        raise
    return io.TextIOWrapper(stream, encoding=encoding, errors="replace")


def iter_numbered_lines(stream: TextIO, *, max_characters: int) -> Iterator[tuple[int, str | None]]:
    """Yield each line with its number, from 1; None stands for a line longer than allowed."""
    number = 0
    while line := stream.readline(max_characters + 1):
        number += 1
        if len(line) <= max_characters or line.endswith("\n"):
            yield number, line.removesuffix("\n")
            continue
        while (rest := stream.readline(SAMPLE_BYTES)) and not rest.endswith("\n"):
            pass
        yield number, None


class _BoundedReader(io.RawIOBase):
    """Passes another stream through and stops with `Unloadable` once it gave too much."""

    def __init__(self, inner: BinaryIO | gzip.GzipFile | io.FileIO, *, limit: int) -> None:
        super().__init__()
        self._inner = inner
        self._limit = limit
        self._given = 0

    def readable(self) -> bool:
        """Tell that the stream can be read."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill the buffer and return how many bytes it got."""
        view = memoryview(buffer).cast("B")
        try:
            data = self._inner.read(len(view))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise Unloadable("broken", f"gzip: {error}") from error
        self._given += len(data)
        if self._given > self._limit:
            raise too_large(self._given, limit=self._limit)
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Close the stream beneath as well."""
        self._inner.close()
        super().close()
