"""Parts of a parsed page that its chunks contain."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from weft.records import Chunk, Document
from weft.text.markdown.blocks import Page, parse


def chunk_parts(document: Document, chunks: Sequence[Chunk]) -> list[Page | None]:
    """
    Return the part of the page of each chunk, so that code and links mean the same in it as in the whole page.

    None for documents that are no Markdown. A chunk that is not found in the text is parsed alone.
    """
    if document.form != "markdown":
        return [None] * len(chunks)
    page = parse(document.text)
    starts = list(accumulate((len(line) + 1 for line in page.lines), initial=0))
    parts: list[Page | None] = []
    position = 0
    for chunk in chunks:
        line = chunk.start_line - 1 if document.lines is None else bisect_left(document.lines, chunk.start_line)
        position = max(position, starts[min(line, len(starts) - 1)])
        at = document.text.find(chunk.text, position) if chunk.text else -1
        parts.append(page.part(at, at + len(chunk.text)) if at >= 0 else parse(chunk.text))
        position = at + len(chunk.text) if at >= 0 else position
    return parts
