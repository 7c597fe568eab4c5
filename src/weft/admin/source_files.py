"""Files of documents: the file and the line that a citation stands for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weft.engine.paths import get_document, split_citation, typed_source
from weft.errors import InputError, NotFound
from weft.index.prune import find_file_on_disk, has_scheme
from weft.records import DocumentInfo
from weft.store.base import StoreReader


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file of a document, with the cited line if the citation counts lines of the file."""

    path: Path
    line: int | None


def find_source_file(name: str, *, store: StoreReader, base: Path | None) -> SourceFile:
    """
    Return the file of a citation, of a path with or without a line, or of the id of a document or chunk.

    Only files of documents are found, never other paths. Raises `NotFound`, or `InputError` for a document that was
    not read from a file or whose file is gone.
    """
    document, line = _find_document(name, store=store, base=base)
    if has_scheme(document.source):
        raise InputError(f"{document.source!r} was not read from a file", hint="print it with weft get")
    path = find_file_on_disk(document.source, base=base)
    if path is None:
        raise InputError(
            f"the file of {document.source!r} no longer exists",
            hint="print the indexed text with weft get, or delete the document with weft delete",
        )
    is_whole = document.unit == "line" and path.as_posix().endswith(document.source)
    return SourceFile(path=path, line=line if is_whole else None)


def _find_document(name: str, *, store: StoreReader, base: Path | None) -> tuple[DocumentInfo, int | None]:
    if chunks := store.chunks([name]):
        return store.documents([chunks[0].document_id])[0], chunks[0].start_line
    source = typed_source(name, store=store, base=base)
    try:
        return get_document(source, store=store)[0], None if (cited := split_citation(source)) is None else cited.first
    except NotFound:
        cited = split_citation(name)
        if cited is None:
            raise
        source = typed_source(cited.source, store=store, base=base)
        return get_document(source, store=store)[0], cited.first
