"""Citation of a chunk: source and lines or pages."""

from __future__ import annotations

from weft.records import Chunk, DocumentInfo


def cite(document: DocumentInfo, chunk: Chunk) -> str:
    """Return `path:start-end`, `path:line` for a single line, `path:p3-4` for pages."""
    mark = "p" if document.unit == "page" else ""
    start, end = chunk.start_line, chunk.end_line
    return f"{document.source}:{mark}{start}" + (f"-{end}" if end != start else "")
