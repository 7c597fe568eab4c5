"""Context format `graph`: entities and relations, within a token budget."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from weft.context.budget import cut_to_fit, largest_fitting
from weft.context.build import UNTYPED, GraphView, flat
from weft.records import Context, Entity, Relation

MAX_LINE_CHARACTERS = 84
"""Largest line width that reproduces the line breaks of the sample in the tests."""

MIN_SHOWN_WEIGHT = 7
"""Smallest weight that `Related:` shows."""

LIST_SHARE = 0.3
"""Maximum share of the budget that is reserved for the list of relationships."""

DESCRIPTION_SHARE = 0.4
"""Maximum share of a section that is reserved for the description."""

LINE_SHARE = 0.5
"""Token limit of a relationship as a share of the limit of an entity."""

_GLUE = "\x00"
"""Stands for a space that must not be broken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Section:
    """Text about one entity, and the relations in it."""

    text: str
    relations: frozenset[Relation]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """All sections and lines of the block, most important first."""

    opening: str
    sections: Sequence[_Section]
    lines: Sequence[str]
    unlisted: frozenset[Relation]
    """Relations that the list does not show; only a section can show them."""

    def omitted(self, sections: int, lines: int) -> int:
        """Return the number of omitted entities and relations with this number of sections and lines."""
        named = frozenset[Relation]().union(*(section.relations for section in self.sections[:sections]))
        return len(self.sections) - sections + len(self.lines) - lines + len(self.unlisted - named)

    def text(self, sections: int, lines: int) -> str:
        """Return the block with this number of sections and lines."""
        parts = [self.opening, *(section.text for section in self.sections[:sections])]
        if lines:
            parts.append("\n".join(["### Relevant Relationships", *self.lines[:lines]]))
        if omitted := self.omitted(sections, lines):
            parts.append(f"[omitted {omitted}]")
        return "\n\n".join(parts) + "\n"


def build_graph_block(
    graph: GraphView,
    *,
    query_entities: Sequence[str],
    inverse: Callable[[str], str],
    count: Callable[[str], int],
    budget: int = 500,
    per_entity: int = 100,
) -> Context:
    """
    Return the graph around a question as text, within `budget` tokens by `count`.

    Each entity gets a section of about `per_entity` tokens, in input order. A section has the relations, strongest
    first, and the description. Incoming relations have their `inverse` name. Weights from 7 are shown at the source of
    a relation.

    The list of relationships follows, strongest first: those with a description, and those in no section. Long
    descriptions end in `...`. Text is omitted from the end; the last line gives the number of omitted entities and
    relations. The text is empty if nothing fits.
    """
    block = _plan(graph, query_entities=query_entities, inverse=inverse, count=count, per_entity=per_entity)
    reserve = min(count("\n".join(block.lines)), int(budget * LIST_SHARE))
    sections = largest_fitting(
        len(block.sections), fits=lambda number: count(block.text(number, 0)) <= budget - reserve
    )
    if not sections:  # one entity is more useful than relationships only
        sections = largest_fitting(
            min(len(block.sections), 1), fits=lambda number: count(block.text(number, 0)) <= budget
        )
    lines = largest_fitting(len(block.lines), fits=lambda number: count(block.text(sections, number)) <= budget)
    text = block.text(sections, lines) if sections or lines else ""
    return Context(
        text=text,
        tokens=count(text),
        sources=tuple({"type": "entity", "id": e.id, "name": flat(e.name)} for e in graph.entities[:sections]),
        omitted=block.omitted(sections, lines),
    )


def build_no_graph(reason: str, *, count: Callable[[str], int], budget: int) -> Context:
    """Return one line with the reason for a missing block; empty if the line exceeds `budget` tokens."""
    line = f"No knowledge graph context: {flat(reason)}\n"
    text = line if count(line) <= budget else ""
    return Context(text=text, tokens=count(text), sources=(), omitted=0)


def _plan(
    graph: GraphView,
    *,
    query_entities: Sequence[str],
    inverse: Callable[[str], str],
    count: Callable[[str], int],
    per_entity: int,
) -> _Block:
    names, relations = graph.all_names(), graph.named_relations()
    described = {entity.id for entity in graph.entities}
    listed = [r for r in relations if flat(r.description) or not {r.source_id, r.target_id} & described]
    queried = f"Query entities: [{', '.join(map(flat, query_entities))}]"
    return _Block(
        opening=f"## Knowledge Graph Context\n{_wrap(queried.split())}",
        sections=[
            _section(
                entity,
                related=_related(entity.id, relations=relations, names=names, inverse=inverse),
                count=count,
                limit=per_entity,
            )
            for entity in graph.entities
        ],
        lines=[_line(r, names=names, fits=lambda line: count(line) <= per_entity * LINE_SHARE) for r in listed],
        unlisted=frozenset(relations) - frozenset(listed),
    )


def _related(
    entity_id: str, *, relations: Sequence[Relation], names: Mapping[str, str], inverse: Callable[[str], str]
) -> list[tuple[str, list[Relation]]]:
    """Return the labels after `Related:`, strongest first, outgoing before incoming, each with its relations."""
    own = [relation for relation in relations if entity_id in (relation.source_id, relation.target_id)]
    labels: dict[tuple[str, str], tuple[str, list[Relation]]] = {}
    for relation in sorted(own, key=lambda relation: (-relation.weight, relation.source_id != entity_id)):
        leaves = relation.source_id == entity_id
        other = names[relation.target_id if leaves else relation.source_id]
        type = flat(relation.type if leaves else inverse(relation.type))
        weight = f", weight: {_number(relation.weight)}" if leaves and relation.weight >= MIN_SHOWN_WEIGHT else ""
        labels.setdefault((other, type), (f"{other} ({type}{weight})", []))[1].append(relation)
    return list(labels.values())


def _section(
    entity: Entity, *, related: Sequence[tuple[str, list[Relation]]], count: Callable[[str], int], limit: int
) -> _Section:
    """Return the section of an entity within `limit` tokens. The name is always included."""
    whole = flat(entity.description)

    def text(labels: int, description: str) -> str:
        lines = [f"### {flat(entity.name)} ({flat(entity.type) or UNTYPED})"]
        if labels:
            listed = [f"{label}," for label, _ in related[:labels]]
            lines.append(_wrap(["Related:", *listed[:-1], listed[-1][:-1]]))
        if description:
            lines.append(_wrap(["Description:", *description.split()]))
        return "\n".join(lines)

    label_limit = limit - min(count(whole), int(limit * DESCRIPTION_SHARE))
    labels = largest_fitting(len(related), fits=lambda number: count(text(number, "")) <= label_limit)
    description = cut_to_fit(whole, fits=lambda cut: count(text(labels, cut)) <= limit, mark="...")
    relations = frozenset(relation for _, named in related[:labels] for relation in named)
    return _Section(text=text(labels, description), relations=relations)


def _line(relation: Relation, *, names: Mapping[str, str], fits: Callable[[str], bool]) -> str:
    start = f'- {names[relation.source_id]} -> {names[relation.target_id]}: "{flat(relation.type)}"'.split()
    strength = f"(strength: {_number(relation.weight)})"

    def line(description: str) -> str:
        return _wrap([*start, *(["--", *description.split()] if description else []), strength])

    return line(cut_to_fit(flat(relation.description), fits=lambda cut: fits(line(cut)), mark="..."))


def _number(weight: float) -> str:
    return f"{round(weight, 1):g}"


def _wrap(pieces: Sequence[str]) -> str:
    """Return the pieces on indented lines of limited width. A piece that fits a line is not broken."""
    glued = (piece.replace(" ", _GLUE) if len(piece) <= MAX_LINE_CHARACTERS - 2 else piece for piece in pieces)
    lines = textwrap.wrap(" ".join(glued), width=MAX_LINE_CHARACTERS, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(lines).replace(_GLUE, " ")
