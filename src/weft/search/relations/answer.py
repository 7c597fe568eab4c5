"""
Answers of the graph to questions about relations: complete, counted lists with the sentence that states each item.

    Which pages link to Auth Service?
        reading     linked_from of Auth Service
        relations   all stated links_to with this target
        answer      Login Flow   "See auth."      docs/login.md:1-3
                    Session Store "Back to Auth."  docs/store.md:4-6     2 of 2

A question that names nothing known, or has another form, gets no answer here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from weft.extract.relation_types import FIELDS
from weft.extract.statements import Statement, in_words, inverse, spellings
from weft.graph.paths import best_path
from weft.records import Entity, PathStep, Question, RelatedThing, Relation, RelationAnswer, RelationQuestion
from weft.search.graph.relations import Relations, relations_in
from weft.search.relations.name_lookup import find_named
from weft.search.search_context import SearchContext

MAX_RELATIONS = 5000
"""Maximum number of relations of an entity in each direction that are counted."""

MAX_LISTED = 100
"""Maximum number of things in an answer; `total` counts all, and `search.relations_offset` skips the first ones."""

MAX_HOPS = 6
"""Maximum number of relations in a chain."""

MAX_REACHED = 2000
"""Maximum number of things that chains reach."""

MAX_PATH_HOPS = 4
MAX_PATH_RELATIONS = 50
"""Maximum number of relations of an entity that the search for a path reads."""

CONTENT_TYPES = frozenset({"concerns", "describes"})
"""Types of questions about the content of a text: `What is X about?` Only passages can answer if the graph does not."""

NOTHING = "the graph has no relation “{}” of “{}”"
UNCONNECTED = "“{}” and “{}” are both described; nothing here connects them"


class _Found:
    """A related entity: the chain of relations to it, each with the type in the direction of the chain."""

    __slots__ = ("chain", "id")

    def __init__(self, id: str, chain: tuple[tuple[str, Relation], ...]) -> None:
        self.id, self.chain = id, chain


def answer_relations(question: Question, search: SearchContext) -> RelationAnswer | None:
    """Return the answer to a question about relations; None for other questions, and for unknown names."""
    if not question.relations or not search.graph.enabled:
        return None
    relations = relations_in(search.store, at=search.at)
    known: dict[tuple[str, ...], list[Entity]] = {}
    empty: RelationAnswer | None = None
    for reading in question.relations:
        for names in reading.names:
            if names not in known:
                known[names] = find_named(names, store=search.store)
        groups = [known[names] for names in reading.names]
        if not all(groups):
            continue
        if len(groups) == 2:
            answer = _connect(groups, relations, search)
        else:
            answer = _list(reading, groups[0], relations, search)
            if not answer.total and not CONTENT_TYPES.isdisjoint(reading.types):
                continue
        if answer is not None and answer.total:
            return answer
        empty = empty or answer
    return empty


# ── lists ───────────────────────────────────────────────────────────────────────────────────────


def _list(
    reading: RelationQuestion, entities: Sequence[Entity], relations: Relations, search: SearchContext
) -> RelationAnswer:
    starts = [entity.id for entity in entities]
    found = _reach(starts, reading.types, relations, hops=MAX_HOPS if reading.indirect else 1)
    names = tuple(entity.name for entity in entities[:1])
    offset = max(0, search.options.relations_offset)
    items = _read_items(found[offset : offset + MAX_LISTED], relations, search)
    note = "" if found else NOTHING.format((*reading.types, "related to")[0].replace("_", " "), names[0])
    listed = tuple(items)
    return RelationAnswer(names=names, types=reading.types, items=listed, total=len(found), offset=offset, note=note)


def _reach(starts: Sequence[str], types: Sequence[str], relations: Relations, *, hops: int) -> list[_Found]:
    """Return the entities related to the starts, nearest first, then in the order of types, then strongest."""
    stored = sorted({name for type in types for name in spellings(type)})
    seen, found = set(starts), list[_Found]()
    level: dict[str, tuple[tuple[str, Relation], ...]] = dict.fromkeys(starts, ())
    for _ in range(hops):
        if not level or len(found) >= MAX_REACHED:
            break
        edges = _edges(relations.of(list(level), limit=MAX_RELATIONS, types=stored), level, types)
        reached: dict[str, tuple[tuple[str, Relation], ...]] = {}
        for start, type, relation, other in edges:
            if other not in seen:
                reached.setdefault(other, (*level[start], (type, relation)))
        seen |= reached.keys()
        found += [_Found(id, chain) for id, chain in reached.items()]
        level = reached
    return found


def _edges(
    relations: Iterable[Relation], starts: Mapping[str, object], types: Sequence[str]
) -> list[tuple[str, str, Relation, str]]:
    """Return the relations of the wanted types as (start, type from the start, relation, other end), best first."""
    places = {type: place for place, type in enumerate(types)}
    edges = []
    for relation in relations:
        type = FIELDS.get(relation.type, relation.type)
        for start, seen_as, other in (
            (relation.source_id, type, relation.target_id),
            (relation.target_id, inverse(type), relation.source_id),
        ):
            if start in starts and (seen_as in places or not places):
                edges.append((start, seen_as, relation, other))
    return sorted(edges, key=lambda edge: (places.get(edge[1], 0), -edge[2].weight, edge[3]))


# ── connections ─────────────────────────────────────────────────────────────────────────────────


def _connect(groups: Sequence[Sequence[Entity]], relations: Relations, search: SearchContext) -> RelationAnswer | None:
    """Return the direct relations between two things, or the best path; a note if nothing connects them."""
    first, last = groups[0][0], groups[1][0]
    names = (first.name, last.name)
    if first.id == last.id:
        return None
    edges = [
        (relation.type, relation) if relation.source_id == first.id else (inverse(relation.type), relation)
        for relation in relations.between([first.id], others=[last.id])
    ]
    found = [_Found(last.id, (edge,)) for edge in edges]
    if not found:
        steps = best_path(
            first.id,
            last.id,
            fetch=lambda ids: relations.of(ids, limit=MAX_PATH_RELATIONS),
            inverse=inverse,
            max_hops=MAX_PATH_HOPS,
        )
        chain = tuple(
            (
                step.type,
                Relation(step.source_id, step.target_id, step.type, step.weight)
                if step.direction == "out"
                else Relation(step.target_id, step.source_id, inverse(step.type), step.weight),
            )
            for step in steps or ()
        )
        found = [_Found(last.id, chain)] if chain else []
    items = _read_items(found[:MAX_LISTED], relations, search)
    if not items and search.store.graph.co_occurrences([first.id], limit=1, others=[last.id]):
        return None  # passages that name both are the answer
    note = "" if items else UNCONNECTED.format(*names)
    passages = () if items else _describing([first, last], search)
    return RelationAnswer(names=names, items=tuple(items), total=len(found), note=note, passages=passages)


def _describing(entities: Sequence[Entity], search: SearchContext) -> tuple[str, ...]:
    """Return the citation of the best chunk about each entity."""
    store = search.store
    best: dict[str, str] = {}
    for mention in store.graph.mentions_of([entity.id for entity in entities], limit=5):
        best.setdefault(mention.entity_id, mention.chunk_id)
    citations = search.chunks.cite([best[entity.id] for entity in entities if entity.id in best])
    return tuple(citations.values())


# ── items ───────────────────────────────────────────────────────────────────────────────────────


def _read_items(found: Sequence[_Found], relations: Relations, search: SearchContext) -> list[RelatedThing]:
    """Return the related things with the sentence that states the last relation of the chain, and its citation."""
    steps = list(dict.fromkeys(relation for each in found for _, relation in each.chain))
    described = dict(zip(steps, relations.graph.describe(steps), strict=True))
    ids = sorted({id for relation in steps for id in (relation.source_id, relation.target_id)})
    entities = {entity.id: entity for entity in relations.entities(ids)}
    last = {each.id: described[each.chain[-1][1]] for each in found}
    citations = search.chunks.cite([relation.chunks[0] for relation in last.values() if relation.chunks])
    items = []
    for each in found:
        relation = described[each.chain[-1][1]]
        entity = entities.get(each.id)
        if entity is None:  # deleted by another process between two reads
            continue
        chunk = next((id for id in relation.chunks if id in citations), "")
        items.append(
            RelatedThing(
                entity_id=entity.id,
                name=entity.name,
                type=entity.type,
                relation=each.chain[-1][0],
                weight=relation.weight,
                sentence=relation.description or _sentence(relation, entities),
                citation=citations.get(chunk, ""),
                chunk_id=chunk,
                path=_path(each, entities),
            )
        )
    return items


def _sentence(relation: Relation, entities: Mapping[str, Entity]) -> str:
    ends = [entities[id].name if id in entities else id for id in (relation.source_id, relation.target_id)]
    return in_words(Statement(ends[0], ends[1], relation.type))


def _path(found: _Found, entities: Mapping[str, Entity]) -> tuple[PathStep, ...]:
    """Return the steps of a chain, read back from its end: a symmetric type does not tell which end is the start."""
    steps, end = list[PathStep](), found.id
    for type, relation in reversed(found.chain):
        start = relation.source_id if relation.target_id == end else relation.target_id
        names = _name(start, entities), _name(end, entities)
        steps.append(PathStep(source=names[0], type=type, weight=relation.weight, target=names[1]))
        end = start
    return tuple(reversed(steps))


def _name(id: str, entities: Mapping[str, Entity]) -> str:
    return entities[id].name if id in entities else id
