"""Builder of a graph from raw values: cleans values, merges repeated entities, records skipped items."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from weft.exchange.clean import MAX_NAME_CHARACTERS, relation_type, to_ids, to_name, to_names, to_text, to_texts
from weft.exchange.skipped_items import SkippedItems
from weft.exchange.weights import parse_weight, to_scale
from weft.records import GivenEntity, GivenGraph, GivenPassage, GivenRelation


@dataclass(slots=True, kw_only=True)
class _EntityDraft:
    """An entity being built. Dicts with None values are ordered sets."""

    type: str = ""
    description: str = ""
    aliases: dict[str, None] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    passages: dict[str, None] = field(default_factory=dict)


class GraphBuilder:
    """
    A graph being built.

    Values may have any type. Names and ids are put on one line. A list may also be a single value. A value that is
    neither text nor number counts as missing. `place` is the position in the file.
    """

    def __init__(self) -> None:
        self._entities: dict[str, _EntityDraft] = {}
        self._relations: list[GivenRelation] = []
        self._weights: list[float | None] = []
        self._passages: dict[str, GivenPassage] = {}
        self._skipped = SkippedItems()
        self.skip = self._skipped.add

    def add_entity(
        self,
        name: object,
        *,
        place: str,
        type: object = "",
        description: object = "",
        aliases: object = (),
        notes: object = (),
        passages: object = (),
    ) -> None:
        """Add an entity, or merge it into a known entity. The first type and description are kept."""
        clean_name = to_name(name)
        if problem := _find_problem(clean_name, role="name"):
            self.skip(place, problem)
            return
        draft = self._entities.setdefault(clean_name, _EntityDraft())
        draft.type = draft.type or to_name(type)
        draft.description = draft.description or to_text(description)
        draft.aliases |= dict.fromkeys(to_names(aliases))
        draft.notes |= dict.fromkeys(to_texts(notes))
        draft.passages |= dict.fromkeys(to_ids(passages))

    def add_relation(
        self,
        source: object,
        target: object,
        *,
        place: str,
        type: str = "",
        weight: object = None,
        description: object = "",
        passages: object = (),
    ) -> bool:
        """Add a relation; return True if it was valid. Its ends do not become entities."""
        ends = to_name(source), to_name(target)
        problem = _find_problem(ends[0], role="subject") or _find_problem(ends[1], role="object")
        if problem:
            self.skip(place, problem)
            return False
        relation = GivenRelation(
            source=ends[0],
            target=ends[1],
            type=relation_type(to_text(type)),
            description=to_text(description),
            passages=to_ids(passages),
        )
        self._relations.append(relation)
        self._weights.append(parse_weight(weight))
        return True

    def add_passage(self, id: object, *, text: object, place: str, title: object = "") -> None:
        """Add a passage; a second text under the same id is skipped."""
        passage = GivenPassage(id=to_name(id), text=to_text(text), title=to_name(title))
        known = self._passages.get(passage.id)
        if not passage.id:
            self.skip(place, "id of the passage is missing")
        elif not passage.text:
            self.skip(place, "text of the passage is missing")
        elif known is not None and known.text != passage.text:
            self.skip(place, f"another passage has the id {passage.id!r}")
        else:
            self._passages.setdefault(passage.id, passage)

    def to_graph(self) -> GivenGraph:
        """Return the graph in the order of the file, with weights from 1 to 10."""
        weighted = zip(self._relations, to_scale(self._weights), strict=True)
        return GivenGraph(
            entities=tuple(_to_entity(name, draft) for name, draft in self._entities.items()),
            relations=tuple(replace(relation, weight=weight) for relation, weight in weighted),
            passages=tuple(self._passages.values()),
            skipped=self._skipped.messages(),
        )


def list_entities(graph: GivenGraph) -> list[GivenEntity]:
    """Return the entities of a graph, then the names that occur only as ends of relations."""
    listed = {entity.name for entity in graph.entities}
    ends = (end for relation in graph.relations for end in (relation.source, relation.target))
    return [*graph.entities, *(GivenEntity(name=name) for name in dict.fromkeys(ends) if name not in listed)]


def _find_problem(name: str, *, role: str) -> str:
    """Return the reason to refuse a name; empty if the name is valid."""
    if not name:
        return f"{role} is missing"
    return f"{role} is too long: {len(name):,} characters" if len(name) > MAX_NAME_CHARACTERS else ""


def _to_entity(name: str, draft: _EntityDraft) -> GivenEntity:
    return GivenEntity(
        name=name,
        type=draft.type,
        description=draft.description,
        aliases=_without(draft.aliases, name),
        notes=tuple(draft.notes),
        passages=tuple(draft.passages),
    )


def _without(names: Iterable[str], name: str) -> tuple[str, ...]:
    return tuple(other for other in names if other != name)
