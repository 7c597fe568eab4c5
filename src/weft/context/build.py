"""Context format `evidence`: ranked chunks with citations, within a token budget."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from weft.config import ContextOptions
from weft.context.budget import GRAPH_DIVISOR, cut_to_fit, join_parts, largest_fitting
from weft.records import Context, Entity, Evidence, Relation

UNTYPED = "concept"
"""Type shown for an entity of unknown type."""

_LINE_ENDS = re.compile("[\n\v\f\r\x85\u2028\u2029]+")
_WEFT_LINE = re.compile(
    r"^(?=[ \t]*(?:\[(?:Score:|omitted) -?\d|Connected: .* —|Source: .*:p?\d[\d-]*[ \t]*$"
    r"|#{2,3} (?:Related Entities|Knowledge Graph Context|Relevant Relationships|👤 USER|💡 CONTEXT)))",
    re.MULTILINE,
)
"""Start of a line in a passage that imitates Weft's own lines: score, source, omission, section of graph or facts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphView:
    """Entities and relations for a context."""

    entities: tuple[Entity, ...] = ()
    """Described entities, most important first."""
    relations: tuple[Relation, ...] = ()
    """Relations in any order. A relation with an unnamed end is not shown."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Names of other entities at the ends of relations, by id."""

    def all_names(self) -> dict[str, str]:
        """Return all names by id, each on one line."""
        known = dict(self.names) | {entity.id: entity.name for entity in self.entities}
        return {id: flat(name) for id, name in known.items()}

    def named_relations(self) -> list[Relation]:
        """
        Return the relations whose two ends have names, strongest first.

        Ties: the more important entity first, then names of the ends and type.

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
    connected: Sequence[Evidence] = (),
    graph: GraphView | None = None,
    block: Callable[[int], Context] | None = None,
) -> Context:
    """
    Return the evidence as text, best first, then the `connected` passages, within `options.budget` tokens by `count`.

    A piece that does not fit is omitted; smaller pieces after it may still fit. Only the first piece is cut between
    words instead. The last line gives the number of omitted pieces.

    The entities of `graph`, and its relations if `options` includes them, come before the evidence. `block` returns the
    text after the evidence, within a number of tokens. Each part gets at most a quarter of the budget. Both parts are
    dropped if they leave no room for evidence.


    """
    share = options.budget // GRAPH_DIVISOR
    frame = _Frame()
    if graph is not None:
        shown = graph if options.include_relationships else replace(graph, relations=())
        frame = _build_head(shown, count=count, budget=share, per_entity=options.entity_tokens)
    if block is not None:
        frame = _add_tail(frame, block, budget=min(options.graph_budget, share))
    pieces = [_Piece(piece) for piece in evidence] + [_Piece(piece, is_connected=True) for piece in connected]
    whole = _build_body(pieces, frame=frame, count=count, options=options)
    if not pieces or len(whole.sources) > len(frame.before) + len(frame.after):
        return whole
    alone = _build_body(pieces, frame=_Frame(hidden=frame.total, total=frame.total), count=count, options=options)
    return alone if alone.sources else whole


def flat(text: str) -> str:
    """Return `text` on one line. A name or description can then not imitate a heading."""
    return " ".join(text.split())


def quoted(text: str) -> str:
    r"""Return a passage with `\` before each line that imitates Weft's own lines, such as a score or a source."""
    return _WEFT_LINE.sub(r"\\", text)


class _Piece(NamedTuple):
    """A passage of a context."""

    evidence: Evidence
    is_connected: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """Graph text before and after the evidence."""

    head: str = ""
    tail: str = ""
    before: tuple[Mapping[str, str], ...] = ()
    after: tuple[Mapping[str, str], ...] = ()
    """Sources of the head and of the tail, as in `Context.sources`."""
    hidden: int = 0
    total: int = 0
    """Entities and relations that head and tail omit, and their total number."""


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
    shown = largest_fitting(total, fits=lambda number: count(text(number)) <= budget)
    sources = tuple({"type": "entity", "id": e.id, "name": flat(e.name)} for e in graph.entities[:shown])
    return _Frame(head=text(shown) if shown else "", before=sources, hidden=total - shown, total=total)


def _add_tail(frame: _Frame, block: Callable[[int], Context], *, budget: int) -> _Frame:
    """Return the frame with the block as its tail. Its omitted items count in the last line of the context."""
    made, whole = block(budget), block(0).omitted
    text = made.text.removesuffix(f"\n[omitted {made.omitted}]\n")
    hidden, total = frame.hidden + made.omitted, frame.total + whole
    return replace(frame, tail=text, after=made.sources, hidden=hidden, total=total)


def _entity_block(entity: Entity, *, fits: Callable[[str], bool]) -> str:
    description = cut_to_fit(flat(entity.description), fits=fits)
    return f"**{flat(entity.name)}** ({flat(entity.type) or UNTYPED})" + (f"\n\n{description}" if description else "")


def _build_body(
    pieces: Sequence[_Piece], *, frame: _Frame, count: Callable[[str], int], options: ContextOptions
) -> Context:
    parts: list[str] = []
    sources: list[dict[str, str]] = []
    omitted = 0

    def joined(shown: Sequence[str], left_out: int) -> str:
        return join_parts([part for part in (frame.head, *shown, frame.tail) if part], omitted=left_out + frame.hidden)

    def fits(shown: Sequence[str], left_out: int) -> bool:
        return count(joined(shown, left_out)) <= options.budget

    for piece, is_connected in pieces:
        part = _part(piece, include_source=options.include_sources, is_connected=is_connected)
        if not fits([*parts, part], len(pieces) - len(parts) - 1):
            part = "" if parts else _cut(piece, fits=lambda cut: fits([cut], len(pieces) - 1), options=options)
        if not part:
            omitted += 1
            continue
        parts.append(part)
        sources.append(
            {"type": "chunk", "id": piece.chunk.id, "name": piece.document.title, "citation": piece.citation}
        )
    while parts and not fits(parts, omitted):  # a larger number in the last line can take more tokens
        del parts[-1], sources[-1]
        omitted += 1
    if not fits(parts, omitted):
        return Context(text="", tokens=count(""), sources=(), omitted=len(pieces) + frame.total)
    text, hidden = joined(parts, omitted), omitted + frame.hidden
    return Context(text=text, tokens=count(text), sources=(*frame.before, *sources, *frame.after), omitted=hidden)


def _part(piece: Evidence, *, include_source: bool, text: str | None = None, is_connected: bool = False) -> str:
    lost = " (file not found)" if piece.document.is_lost else ""
    source = f"Source: {_LINE_ENDS.sub(' ', piece.citation)}{lost}\n" if include_source else ""
    where = quoted(" › ".join(flat(part) for part in (piece.document.title, *piece.chunk.heading) if part))
    body = quoted(piece.chunk.text if text is None else text)
    link = _connection(piece) if is_connected else ""
    return f"[Score: {piece.score:.2f}]\n{link}" + (f"{where}\n" if where else "") + f"{body}\n{source}"


def _connection(piece: Evidence) -> str:
    """Return the line that says whose neighbour a passage describes: `Connected: Auth Service —uses→ Redis`."""
    steps = [step for step in piece.graph.path if step.weight] if piece.graph else []
    ways = "".join(f" —{flat(step.type)}→ {flat(step.target)}" for step in steps)
    return f"Connected: {flat(steps[0].source)}{ways}\n" if steps else ""


def _cut(piece: Evidence, *, fits: Callable[[str], bool], options: ContextOptions) -> str:
    """Return the piece cut to the words that fit; empty if no word fits."""

    def shortened(text: str) -> str:
        return _part(piece, include_source=options.include_sources, text=text)

    text = cut_to_fit(piece.chunk.text, fits=lambda text: fits(shortened(text)))
    return shortened(text) if text else ""
