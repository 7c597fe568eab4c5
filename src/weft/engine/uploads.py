"""Documents from callers: texts, research findings, and uploaded files in a temporary folder."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from weft.engine.parsing.parser_messages import FileInput
from weft.errors import InputError
from weft.index.prune import has_scheme
from weft.load.file_types import UPLOAD, is_archive
from weft.records import Document, Metadata, Skipped
from weft.system.temporary_files import temporary_folder
from weft.text.decode import clean
from weft.text.searchable_metadata import IMPORT

MAX_NAME_CHARACTERS = 200
"""Maximum length of an uploaded file's name; longer names are cut at the beginning."""

RESEARCH_SOURCE = "research"
"""Source prefix of findings without a file."""

_SUFFIX = re.compile(r"\.[a-z0-9]{1,10}")


def text_document(text: str, *, source: str, title: str = "", metadata: Metadata | None = None) -> Document:
    """
    Return a text as a document.

    A source without a scheme becomes `text:source` and can therefore not be the name of a file. `metadata` is added to
    the front matter of the text. Raises `InputError`.
    """
    from weft.load.run import load_text

    check_text(text, source=source, metadata=metadata)
    source = source if has_scheme(source) else f"text:{source}"
    document = load_text(text, source=source, title=title, form="markdown")
    return replace(document, metadata={**document.metadata, **metadata}) if metadata else document


def check_text(text: str, *, source: str, metadata: Metadata | None = None) -> None:
    """Raise `InputError` for an empty source or text, or a reserved metadata key; does not parse the text."""
    if not source:
        raise InputError(
            "the source of the text is empty",
            hint="pass a unique name; the same name replaces or deletes the text later",
        )
    if not clean(text).rstrip():
        shown = source if has_scheme(source) else f"text:{source}"
        raise InputError(f"no text in {shown!r}", hint="pass a text that is not empty")
    if metadata and IMPORT in metadata:  # `weft import --remove` would delete the document
        raise InputError(f"the metadata key {IMPORT!r} is reserved for imports", hint="choose another key")


def read_findings(findings: Mapping[str, object], *, source: str = RESEARCH_SOURCE) -> Iterator[Document | Skipped]:
    """Return the papers and projects of research findings as documents. Raises `InputError` if there are none."""
    from weft.load.papers.findings import find_lists, iter_findings

    if not isinstance(findings, Mapping) or not find_lists(findings):
        raise InputError(
            "no research findings: neither 'academic_papers' nor 'github_projects' is a list",
            hint="use the format of docs/research.md",
        )
    return iter_findings(findings, source=source)


class Sandbox:
    """
    A temporary folder for uploaded files, stored under generated names and deleted by `close`.

    The client's file name becomes part of the source (`upload:report.pdf`), never part of a path.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        temporary = Path(tempfile.gettempdir())
        self._folder = self._stack.enter_context(temporary_folder(temporary, prefix="weft-upload-"))
        self._files: dict[str, Path] = {}
        """Paths by source."""
        self._replaced: list[str] = []
        """Sources of files that a later file of the same name replaced."""
        self._saved = 0
        self.size = 0
        """Bytes received."""

    def save(self, name: str, stream: BinaryIO) -> None:
        """Save a file; it replaces an earlier file of the same name. Raises `InputError` for an archive."""
        shown = plain_name(name)
        if is_archive(shown, stream.read(512)):
            raise InputError(f"{shown!r} is an archive or compressed", hint="unpack the archive and upload its files")
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

    def files(self) -> Iterator[FileInput | Skipped]:
        """Yield the files in upload order, then a `Skipped` for each replaced file."""
        for source, path in self._files.items():
            yield FileInput(source=source, path=path)
        for source in self._replaced:
            yield Skipped(source=source, reason="duplicate", detail="replaced by a later file of this name")

    def close(self) -> None:
        """Delete the folder with all files. A second call does nothing."""
        self._stack.close()


def plain_name(name: str) -> str:
    """Return the last component of a client's file name, without unprintable characters."""
    last = re.split(r"[/\\]", name)[-1]
    shown = "".join(character for character in last if character.isprintable()).strip()
    return shown[-MAX_NAME_CHARACTERS:].strip(".") or "file"
