"""Evidence into text for a model: format `evidence`, inside a hard token budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.config import ContextOptions
from weft.records import Context, Evidence

SEPARATOR = "\n---\n\n"


def build_evidence(evidence: Sequence[Evidence], *, count: Callable[[str], int], options: ContextOptions) -> Context:
    """
    Return the evidence as text, best first, never more than `options.budget` tokens by `count`.

    A piece that does not fit whole is cut at a word if it would be the first, else left out; smaller ones
    after it may still fit. The last line says how many were left out.
    """
    parts: list[str] = []
    sources: list[dict[str, str]] = []
    omitted = 0
    for piece in evidence:
        part = _part(piece, include_source=options.include_sources)
        left = len(evidence) - len(parts) - 1
        if count(_join([*parts, part], left)) <= options.budget:
            parts.append(part)
        elif not parts and (cut := _cut(piece, count=count, options=options, omitted=left)):
            parts.append(cut)
        else:
            omitted += 1
            continue
        sources.append(
            {"type": "chunk", "id": piece.chunk.id, "name": piece.document.title, "citation": piece.citation}
        )
    text = _join(parts, omitted)
    if count(text) > options.budget:
        text = ""
    return Context(text=text, tokens=count(text), sources=tuple(sources), omitted=omitted)


def _join(parts: Sequence[str], omitted: int) -> str:
    last = [f"[omitted {omitted}]\n"] if omitted else []
    return SEPARATOR.join([*parts, *last])


def _part(piece: Evidence, *, include_source: bool, text: str | None = None) -> str:
    source = f"Source: {piece.citation}\n" if include_source else ""
    where = " › ".join(part for part in (piece.document.title, *piece.chunk.heading) if part)
    body = piece.chunk.text if text is None else text
    return f"[Score: {piece.score:.2f}]\n" + (f"{where}\n" if where else "") + f"{body}\n{source}"


def _cut(piece: Evidence, *, count: Callable[[str], int], options: ContextOptions, omitted: int) -> str:
    """Return the piece with as many of its words as fit, or nothing when not even one does."""
    text = piece.chunk.text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        part = _part(piece, include_source=options.include_sources, text=text[:middle].rstrip() + " …")
        if count(_join([part], omitted)) <= options.budget:
            low = middle
        else:
            high = middle - 1
    if not low:
        return ""
    kept = text[:low]
    if low < len(text) and not text[low].isspace() and " " in kept:
        kept = kept[: kept.rindex(" ")]
    return _part(piece, include_source=options.include_sources, text=kept.rstrip() + " …")
