"""Documents that come in through a door: texts, and uploaded files in a folder that is gone afterwards."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from weft.config import LoadOptions
from weft.errors import InputError
from weft.index.prune import has_scheme
from weft.load.file_types import UPLOAD, is_archive
from weft.load.run import load_file, load_text
from weft.records import Document, Metadata, Skipped
from weft.text.searchable_metadata import IMPORT

MAX_NAME = 200
"""Characters of an uploaded file's name that are kept."""

_SUFFIX = re.compile(r"\.[a-z0-9]{1,10}")


def text_document(text: str, *, source: str, title: str = "", metadata: Metadata | None = None) -> Document:
    """
    Return the document a text makes; a source without a scheme becomes `text:source`, never taken for a file.

    `metadata` is added to what the text says of itself. Raises `InputError`.
    """
    if not source:
        raise InputError("a text has no source", hint="give it a name of its own, by which it is replaced and deleted")
    source = source if has_scheme(source) else f"text:{source}"
    document = load_text(text, source=source, title=title, form="markdown")
    if not metadata:
        return document
    if IMPORT in metadata:  # it would make the document part of an import, which `weft import --remove` takes back
        raise InputError(f"{IMPORT!r} is kept for imports", hint="choose another key")
    return replace(document, metadata={**document.metadata, **metadata})


class Sandbox:
    """
    A temporary folder for uploaded files, which get names of our own. Close it and it is gone.

    What a client calls a file is part of its source (`upload:report.pdf`) and never part of a path.
    """

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="weft-upload-"))
        self._files: dict[str, Path] = {}
        """By source."""
        self._replaced: list[str] = []
        """Sources of files after which another of the same name came."""
        self._saved = 0
        self.size = 0
        """Bytes that came in."""

    def save(self, name: str, stream: BinaryIO) -> None:
        """Copy a file in; a second one of the same name replaces the first. Archives raise `InputError`."""
        shown = plain_name(name)
        if is_archive(shown, stream.read(512)):
            raise InputError(f"{shown!r} is an archive or packed", hint="upload the files in it")
        stream.seek(0)
        suffix = Path(shown).suffix.lower()
        path = self._folder / f"{self._saved:06d}{suffix if _SUFFIX.fullmatch(suffix) else ''}"
        with path.open("xb") as file:
            shutil.copyfileobj(stream, file)
            self.size += file.tell()
        self._saved += 1
        source = f"{UPLOAD}{shown}"
        if old := self._files.pop(source, None):
            old.unlink()
            self._replaced.append(source)
        self._files[source] = path

    def __len__(self) -> int:
        return self._saved

    def documents(self, options: LoadOptions) -> Iterator[Document | Skipped]:
        """Yield what the files hold, in the order they came, and then which of them were replaced."""
        for source, path in self._files.items():
            yield from load_file(path, source=source, options=options)
        for source in self._replaced:
            yield Skipped(source=source, reason="duplicate", detail="another file of this name came after it")

    def close(self) -> None:
        """Remove the folder with everything in it. Calling it twice is harmless."""
        shutil.rmtree(self._folder, ignore_errors=True)


def plain_name(name: str) -> str:
    """Return the last part of what a client calls a file, without anything that cannot be printed."""
    last = re.split(r"[/\\]", name)[-1]
    shown = "".join(character for character in last if character.isprintable()).strip()
    return shown[-MAX_NAME:].strip(".") or "file"
