"""Evidence into text for a model: format `evidence`, inside a hard token budget."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from weft.config import ContextOptions
from weft.records import Context, Entity, Evidence, Relation

SEPARATOR = "\n---\n\n"

ENTITY_SHARE = 4
"""Entities and relations get at most one part in so many of the budget."""

UNTYPED = "concept"
"""The type shown where none is known."""

_WIDE = "\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003fffd"
_WORD = re.compile(f"[{_WIDE}]|[^\\s{_WIDE}]{{1,60}}")
"""A Chinese, Japanese or Korean character is a word; of other scripts, a run without spaces, unless it is endless."""

_LINE_ENDS = re.compile("[\n\v\f\r\x85\u2028\u2029]+")
_OURS = re.compile(
    r"^(?=[ \t]*(?:\[(?:Score:|omitted) -?\d|Source: .*:p?\d[\d-]*[ \t]*$"
    r"|#{2,3} (?:Related Entities|Knowledge Graph Context|Relevant Relationships|👤 USER|💡 CONTEXT)))",
    re.MULTILINE,
)
"""Where a line begins that could pass for one of ours: score, source, what is left out, a section of graph or facts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphView:
    """What the graph adds to a context."""

    entities: tuple[Entity, ...] = ()
    """Those that are described, most important first."""
    relations: tuple[Relation, ...] = ()
    """In any order. One whose ends are not both named here is not shown."""
    names: Mapping[str, str] = field(default_factory=dict)
    """By id, the names of entities that relations lead to and `entities` does not hold."""

    def all_names(self) -> dict[str, str]:
        """Return the name of every entity known here, by id, each on one line."""
        known = dict(self.names) | {entity.id: entity.name for entity in self.entities}
        return {id: flat(name) for id, name in known.items()}

    def named_relations(self) -> list[Relation]:
        """
        Return the relations that can be shown, strongest first.

        Of equal ones those of more important entities come first, then names of ends and type decide.
        """
        names = self.all_names()
        places = {entity.id: place for place, entity in enumerate(self.entities)}

        def order(r: Relation) -> tuple[object, ...]:
            place = min(places.get(id, len(places)) for id in (r.source_id, r.target_id))
            ends = names[r.source_id], names[r.target_id]
            return -r.weight, place, *ends, r.type, r.description, r.source_id, r.target_id, r.chunks

        return sorted({r for r in self.relations if {r.source_id, r.target_id} <= names.keys()}, key=order)


def build_evidence(
    evidence: Sequence[Evidence],
    *,
    count: Callable[[str], int],
    options: ContextOptions,
    graph: GraphView | None = None,
    block: Callable[[int], Context] | None = None,
) -> Context:
    """
    Return the evidence as text, best first, never more than `options.budget` tokens by `count`.

    A piece that does not fit whole is cut at a word if it would be the first, else left out; smaller ones
    after it may still fit. The last line says how many were left out.

    The entities of `graph` stand before the evidence, and its relations below them if `options` wants them.
    `block` makes what stands after the evidence, given the tokens it may take. Each takes at most a quarter of the
    budget, and nothing where that is so small that all evidence would be displaced.
    """
    share = options.budget // ENTITY_SHARE
    frame = _Frame()
    if graph is not None:
        shown = graph if options.include_relationships else replace(graph, relations=())
        frame = _build_head(shown, count=count, budget=share, per_entity=options.entity_tokens)
    if block is not None:
        frame = _add_tail(frame, block, budget=min(options.graph_budget, share))
    whole = _build_body(evidence, frame=frame, count=count, options=options)
    if not evidence or len(whole.sources) > len(frame.before) + len(frame.after):
        return whole
    alone = _build_body(evidence, frame=_Frame(hidden=frame.total, total=frame.total), count=count, options=options)
    return alone if alone.sources else whole


def flat(text: str) -> str:
    """Return `text` on one line, so that a name or description cannot pass for a heading."""
    return " ".join(text.split())


def quoted(text: str) -> str:
    r"""Return a passage with `\` before each line that could pass for ours, so that it speaks for itself alone."""
    return _OURS.sub(r"\\", text)


def most(limit: int, *, fits: Callable[[int], bool]) -> int:
    """Return the largest number from 1 to `limit` that fits, found by halving, or 0."""
    number = bisect_left(range(1, limit + 1), True, key=lambda number: not fits(number))
    while number and not fits(number):  # counts need not grow evenly
        number -= 1
    return number


def shorten(text: str, *, fits: Callable[[str], bool], mark: str = " …") -> str:
    """Return `text` if it fits, else as many of its words as do with `mark` behind them, or nothing."""
    if fits(text):
        return text
    ends = [match.end() for match in _WORD.finditer(text)]
    words = most(len(ends), fits=lambda number: fits(text[: ends[number - 1]] + mark))
    return text[: ends[words - 1]] + mark if words else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """What the graph puts around the evidence."""

    head: str = ""
    tail: str = ""
    before: tuple[Mapping[str, str], ...] = ()
    after: tuple[Mapping[str, str], ...] = ()
    """Sources of head and tail."""
    hidden: int = 0
    total: int = 0
    """Entities and relations that head and tail leave out, and all there are."""


def _build_head(graph: GraphView, *, count: Callable[[str], int], budget: int, per_entity: int) -> _Frame:
    names, relations = graph.all_names(), graph.named_relations()
    limit = min(per_entity, budget // 2)
    blocks = [_entity_block(entity, fits=lambda text: count(text) <= limit) for entity in graph.entities]
    lines = [f'- {names[r.source_id]} -> {names[r.target_id]}: "{flat(r.type)}"' for r in relations]

    def text(number: int) -> str:
        listed = "\n".join(lines[: max(number - len(blocks), 0)])
        parts = [*blocks[:number], *(["### Relationships", listed] if listed else [])]
        return "## Related Entities\n\n" + "\n\n".join(parts) + "\n\n"

    total = len(blocks) + len(lines)
    shown = most(total, fits=lambda number: count(text(number)) <= budget)
    sources = tuple({"type": "entity", "id": e.id, "name": flat(e.name)} for e in graph.entities[:shown])
    return _Frame(head=text(shown) if shown else "", before=sources, hidden=total - shown, total=total)


def _add_tail(frame: _Frame, block: Callable[[int], Context], *, budget: int) -> _Frame:
    """Return the frame with the block behind the evidence, and what it omits counted in the one last line."""
    made, whole = block(budget), block(0).omitted
    text = made.text.removesuffix(f"\n[omitted {made.omitted}]\n")
    hidden, total = frame.hidden + made.omitted, frame.total + whole
    return replace(frame, tail=text, after=made.sources, hidden=hidden, total=total)


def _entity_block(entity: Entity, *, fits: Callable[[str], bool]) -> str:
    description = shorten(flat(entity.description), fits=fits)
    return f"**{flat(entity.name)}** ({flat(entity.type) or UNTYPED})" + (f"\n\n{description}" if description else "")


def _build_body(
    evidence: Sequence[Evidence], *, frame: _Frame, count: Callable[[str], int], options: ContextOptions
) -> Context:
    parts: list[str] = []
    sources: list[dict[str, str]] = []
    omitted = 0

    def joined(pieces: Sequence[str], left_out: int) -> str:
        return _join([part for part in (frame.head, *pieces, frame.tail) if part], left_out + frame.hidden)

    def fits(pieces: Sequence[str], left_out: int) -> bool:
        return count(joined(pieces, left_out)) <= options.budget

    for piece in evidence:
        part = _part(piece, include_source=options.include_sources)
        if not fits([*parts, part], len(evidence) - len(parts) - 1):
            part = "" if parts else _cut(piece, fits=lambda cut: fits([cut], len(evidence) - 1), options=options)
        if not part:
            omitted += 1
            continue
        parts.append(part)
        sources.append(
            {"type": "chunk", "id": piece.chunk.id, "name": piece.document.title, "citation": piece.citation}
        )
    while parts and not fits(parts, omitted):  # the last line may take more tokens for a smaller number
        del parts[-1], sources[-1]
        omitted += 1
    if not fits(parts, omitted):
        return Context(text="", tokens=count(""), sources=(), omitted=len(evidence) + frame.total)
    text, hidden = joined(parts, omitted), omitted + frame.hidden
    return Context(text=text, tokens=count(text), sources=(*frame.before, *sources, *frame.after), omitted=hidden)


def _join(parts: Sequence[str], omitted: int) -> str:
    last = [f"[omitted {omitted}]\n"] if omitted else []
    return SEPARATOR.join([*parts, *last])


def _part(piece: Evidence, *, include_source: bool, text: str | None = None) -> str:
    source = f"Source: {_LINE_ENDS.sub(' ', piece.citation)}\n" if include_source else ""
    where = quoted(" › ".join(flat(part) for part in (piece.document.title, *piece.chunk.heading) if part))
    body = quoted(piece.chunk.text if text is None else text)
    return f"[Score: {piece.score:.2f}]\n" + (f"{where}\n" if where else "") + f"{body}\n{source}"


def _cut(piece: Evidence, *, fits: Callable[[str], bool], options: ContextOptions) -> str:
    """Return the piece with as many of its words as fit, or nothing when not even one does."""

    def shortened(text: str) -> str:
        return _part(piece, include_source=options.include_sources, text=text)

    text = shorten(piece.chunk.text, fits=lambda text: fits(shortened(text)))
    return shortened(text) if text else ""
