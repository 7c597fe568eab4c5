"""Puts a graph together from raw values: cleans them, joins what is given twice, and keeps account of the rest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from weft.exchange.clean import MAX_NAME_CHARACTERS, relation_type, to_ids, to_name, to_names, to_text, to_texts
from weft.exchange.weights import find_weight, to_scale
from weft.records import GivenEntity, GivenGraph, GivenPassage, GivenRelation

MAX_SKIPPED = 100
"""How many lines about what was skipped are kept; one more says how many there were beyond."""


@dataclass(slots=True, kw_only=True)
class _Draft:
    """What is known of an entity so far. The keys of a dict are a set that keeps its order."""

    type: str = ""
    description: str = ""
    aliases: dict[str, None] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    passages: dict[str, None] = field(default_factory=dict)


class Collector:
    """
    A graph in the making.

    What is added may be of any kind: names and ids become one line, a list of them may also be a single one, and
    what is neither text nor number counts as not given. `place` says where in the file it stands.
    """

    def __init__(self) -> None:
        self._entities: dict[str, _Draft] = {}
        self._relations: list[GivenRelation] = []
        self._weights: list[float | None] = []
        self._passages: dict[str, GivenPassage] = {}
        self._skipped: list[str] = []
        self._more = 0

    def skip(self, place: str, reason: str) -> None:
        """Note that something could not be read."""
        if len(self._skipped) < MAX_SKIPPED:
            self._skipped.append(f"{place}: {reason}")
        else:
            self._more += 1

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
        """Add an entity, or what is new about one that is there: its first type and description stay."""
        clean_name = to_name(name)
        if problem := _find_problem(clean_name, role="name"):
            self.skip(place, problem)
            return
        draft = self._entities.setdefault(clean_name, _Draft())
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
        """Add a relation and tell whether it could be used. Its ends do not become entities."""
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
        self._weights.append(find_weight(weight))
        return True

    def add_passage(self, id: object, *, text: object, place: str, title: object = "") -> None:
        """Add a passage; the same one may come twice, but not two under one id."""
        passage = GivenPassage(id=to_name(id), text=to_text(text), title=to_name(title))
        known = self._passages.get(passage.id)
        if not passage.id:
            self.skip(place, "a passage without an id")
        elif not passage.text:
            self.skip(place, "a passage without text")
        elif known is not None and known.text != passage.text:
            self.skip(place, f"a second passage with the id {passage.id!r}")
        else:
            self._passages.setdefault(passage.id, passage)

    def to_graph(self) -> GivenGraph:
        """Return the graph, in the order of the file, with the weights on our scale."""
        weighted = zip(self._relations, to_scale(self._weights), strict=True)
        rest = [f"and {self._more:,} more"] if self._more else []
        return GivenGraph(
            entities=tuple(_to_entity(name, draft) for name, draft in self._entities.items()),
            relations=tuple(replace(relation, weight=weight) for relation, weight in weighted),
            passages=tuple(self._passages.values()),
            skipped=(*self._skipped, *rest),
        )


def list_entities(graph: GivenGraph) -> list[GivenEntity]:
    """Return the entities of a graph and then those that are only ends of its relations, each once."""
    listed = {entity.name for entity in graph.entities}
    ends = (end for relation in graph.relations for end in (relation.source, relation.target))
    return [*graph.entities, *(GivenEntity(name=name) for name in dict.fromkeys(ends) if name not in listed)]


def _find_problem(name: str, *, role: str) -> str:
    """Return why a name cannot be used, or nothing."""
    if not name:
        return f"no {role}"
    return f"{role} of {len(name):,} characters" if len(name) > MAX_NAME_CHARACTERS else ""


def _to_entity(name: str, draft: _Draft) -> GivenEntity:
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
