"""Chunks and documents in rows of statements."""

from __future__ import annotations

from functools import lru_cache

from weft.records import Chunk, DocumentInfo
from weft.store.relational.json_columns import read_list, read_object
from weft.store.relational.session import Row
from weft.store.shared.packed_text import unpack_text


@lru_cache(maxsize=16384)
def _heading(text: str) -> tuple[str, ...]:
    """Return the headings in a column. They repeat in a document, and the same chunks are found often."""
    return tuple(read_list(text, what=f"the headings {text[:80]!r} of a chunk"))


def read_chunk(row: Row) -> Chunk:
    """Return the chunk in a row; the text may be packed."""
    id, document_id, ordinal, heading, start_line, end_line, text, start_time, end_time = row
    return Chunk(
        id=id,
        document_id=document_id,
        ordinal=ordinal,
        heading=_heading(heading) if heading != "[]" else (),
        start_line=start_line,
        end_line=end_line,
        text=unpack_text(text),
        start_time=start_time,
        end_time=end_time,
    )


def read_document(row: Row) -> DocumentInfo:
    """Return the document in a row."""
    id, source, title, metadata, content_hash, unit, count = row
    return DocumentInfo(
        id=id,
        source=source,
        title=title,
        metadata=read_object(metadata, what=f"the metadata of {source!r}"),
        content_hash=content_hash,
        unit=unit,
        chunk_count=count,
    )
