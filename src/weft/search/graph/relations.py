"""Relations for the walk: those of the documents, joined with live facts between two entities."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from weft.extract.mentions import DERIVED_TYPES
from weft.extract.relation_types import FIELDS
from weft.extract.statements import Statement, canonical
from weft.records import MAX_FACT_LINKS, Definition, Entity, FactEntity, Links, Relation
from weft.store.base import FactReader, GraphReader, StoreReader
from weft.text.ids import FACT_ENTITY_PREFIX, fact_entity_id, fact_entity_key

MAX_FACTS_BETWEEN = 50
"""Maximum number of facts per entity and direction that `between` reads."""

PAGE_ENTITIES = 200
"""Fact entities per read."""


class KeptEdges:
    """Edges of entities of the documents that a question has read."""

    def __init__(self, graph: GraphReader) -> None:
        self._graph = graph
        self._limits: dict[str, int] = {}
        """The limit with which each entity was read."""
        self._relations: dict[str, list[Relation]] = {}
        self.names: dict[str, str] = {}
        """Names of the entities that were read, by id."""
        self.facts: dict[str, list[Relation]] = {}
        """Facts that were read, by entity, strongest first; those of entities known only from facts as well."""

    def read(
        self, ids: Sequence[str], *, keys: Sequence[str] = (), mentions: int, relations: int, at: datetime | None
    ) -> Links:
        """Return the strongest mentions, relations and facts of entities, and keep all but the mentions."""
        found = self._graph.links_of(ids, keys=keys, mentions=mentions, relations=relations, facts_at=at)
        every = {*ids, *found.ids.values()}
        self._limits |= dict.fromkeys(every, relations)
        self._relations |= {id: [] for id in every}
        self.names |= found.names
        for relation in found.relations:
            for end in every.intersection((relation.source_id, relation.target_id)):
                self._relations[end].append(relation)
        if found.facts is not None:
            self.keep_facts(every, found.facts)
        return found

    def keep_facts(self, ids: Collection[str], links: Iterable[Relation]) -> None:
        """Keep the facts of entities, strongest first."""
        self.facts.update((id, []) for id in ids)
        for link in links:
            for end in link[:2]:
                if end in ids:
                    self.facts[end].append(link)

    def is_complete(self, id: str, *, limit: int) -> bool:
        """Return True if all relations that a read with `limit` returns are known."""
        read = self._limits.get(id, 0)
        sides = Counter(relation.source_id == id for relation in self._relations.get(id, ()))
        return max(sides[True], sides[False]) < min(read, limit + 1)

    def relations(self, ids: Sequence[str]) -> Iterator[Relation]:
        """Yield the relations of entities that were read; those between two of them twice."""
        return (relation for id in ids for relation in self._relations.get(id, ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Relations:
    """
    Relations of a graph.

    With `facts`, facts valid at a time are included, and so are entities known only from facts. Such entities have
    relations, but no mentions.
    """

    graph: GraphReader
    facts: tuple[FactReader, datetime] | None = None
    """Facts and the time at which they are valid; None without facts between two entities."""
    _edges: KeptEdges = field(init=False, repr=False, compare=False)
    """What was read. An instance serves one question."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_edges", KeptEdges(self.graph))

    def of(
        self, entity_ids: Sequence[str], *, limit: int, types: Sequence[str] = (), min_weight: float = 0.0
    ) -> list[Relation]:
        """
        Return up to `limit` stated relations and `limit` facts of each entity in each direction, strongest first.

        `min_weight` applies to relations, not to facts.

        Facts to entities known only from facts have a separate limit. If a relation and a fact are equal, the larger
        weight is used.
        """
        known = _documented(entity_ids)
        kept = [] if types else [id for id in known if self._edges.is_complete(id, limit=limit)]
        missing = [id for id in known if id not in kept]
        found = self.graph.relations_of(missing, limit=limit, types=types, min_weight=min_weight) if missing else []
        if kept:
            strong = (relation for relation in self._edges.relations(kept) if relation.weight >= min_weight)
            found = strongest_first({*found, *strong})
        return _join(found, self._links(entity_ids, limit=limit, types=types))

    def with_derived(self, entity_ids: Sequence[str], *, limit: int, types: Sequence[str] = ()) -> list[Relation]:
        """Return what `of` does; entities with fewer relations than `limit` get some derived from common chunks."""
        found = self.of(entity_ids, limit=limit, types=types)
        known = _documented(entity_ids)
        if not known or (types and not set(types) & set(DERIVED_TYPES)):
            return found
        counts = Counter(end for relation in found for end in _ends(relation))
        derived = []
        for relation in self.graph.co_occurrences(known, limit=limit):
            free = [end for end in _ends(relation) if end[0] in known and counts[end] < limit]
            if free and (not types or relation.type in types):
                counts.update(free)
                derived.append(relation)
        return strongest_first([*found, *derived])

    def edges(
        self, entity_ids: Sequence[str], *, limit: int, min_weight: float, min_fact_weight: float
    ) -> tuple[Links, list[Relation]]:
        """
        Return the strongest `limit` mentions and relations of each entity, and the relations of at least these weights.

        An entity known only from facts has no chunk. It is left out if it has fewer than two neighbours.
        """
        known = _documented(entity_ids)
        found = self._read(known, mentions=limit, relations=limit) if known else Links()
        strong = [relation for relation in found.relations if relation.weight >= min_weight]
        links = self._links(entity_ids, limit=limit)
        ends = {end for link in links for end in link[:2] if fact_entity_key(end)}.difference(entity_ids)
        if ends:
            near = self.neighbours(sorted(ends), limit=limit, min_weight=min_fact_weight)
            closed = {end for end in ends if len(near.get(end, ())) < 2}
            links = [link for link in links if closed.isdisjoint(link[:2])]
        walked = _join(strong, [link for link in links if link.weight >= min_fact_weight])
        return found._replace(relations=_join(found.relations, links)), walked

    def between(
        self, entity_ids: Sequence[str], *, others: Sequence[str] | None = None, limit: int = MAX_FACTS_BETWEEN
    ) -> list[Relation]:
        """Return the stated relations between these entities and `others`, or among these, strongest first."""
        far = set(entity_ids if others is None else others)
        links = [
            link
            for link in self._links(entity_ids, limit=limit)
            if (link.source_id in entity_ids and link.target_id in far)
            or (link.source_id in far and link.target_id in entity_ids)
        ]
        return _join(self.graph.relations_between(entity_ids, others=others), links)

    def neighbours(self, entity_ids: Sequence[str], *, limit: int, min_weight: float = 0.0) -> dict[str, set[str]]:
        """Return the neighbours of each entity over facts, by id; ids without such facts are left out."""
        near: dict[str, set[str]] = defaultdict(set)
        for source, target, *_ in self._links(entity_ids, limit=limit, min_weight=min_weight):
            near[source].add(target)
            near[target].add(source)
        return {id: near[id] for id in entity_ids if id in near}

    def entities(self, ids: Sequence[str]) -> list[Entity]:
        """Return the entities with these ids, in this order; unknown ids are left out."""
        found = {entity.id: entity for entity in self.graph.entities(_documented(ids))}
        found |= {entity.id: entity for entity in map(_as_entity, self._remembered(ids).values())}
        return [found[id] for id in ids if id in found]

    def define(self, ids: Sequence[str], *, hits: Sequence[str]) -> dict[str, Definition]:
        """Return the strongest chunk about each entity, and which chunks are in its document."""
        known = _documented(ids)
        found = self.graph.definitions(known, hits=hits) if known else {}
        self._edges.names.update((id, definition.name) for id, definition in found.items())
        return {id: definition for id, definition in found.items() if definition.chunk_id}

    def read_names(self, keys: Sequence[str], *, limit: int) -> dict[str, str]:
        """Read the relations of entities with these keys, for `of`; return their ids by key."""
        return dict(self._read([], keys=keys, mentions=0, relations=limit).ids) if keys else {}

    def names(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the names of entities by id; unknown ids are left out."""
        known = _documented(ids)
        names = {id: self._edges.names[id] for id in known if id in self._edges.names}
        missing = [id for id in known if id not in names]
        names |= self.graph.names(missing) if missing else {}
        return names | {fact_entity_id(key): entity.name for key, entity in self._remembered(ids).items()}

    def _read(self, ids: Sequence[str], *, keys: Sequence[str] = (), mentions: int, relations: int) -> Links:
        at = self.facts[1] if self.facts else None
        return self._edges.read(ids, keys=keys, mentions=mentions, relations=relations, at=at)

    def _links(
        self, entity_ids: Sequence[str], *, limit: int, types: Sequence[str] = (), min_weight: float = 0.0
    ) -> list[Relation]:
        if self.facts is None or not entity_ids:
            return []
        (facts, at), kept = self.facts, self._edges
        if types or limit > MAX_FACT_LINKS:
            return facts.links(entity_ids, at=at, limit=limit, types=types, min_weight=min_weight)
        if missing := [id for id in dict.fromkeys(entity_ids) if id not in kept.facts]:
            kept.keep_facts(missing, facts.links(missing, at=at, limit=MAX_FACT_LINKS))
        found = (link for id in dict.fromkeys(entity_ids) for link in _strongest_links(id, kept.facts[id], limit=limit))
        return strongest_first({link for link in found if link.weight >= min_weight})

    def _remembered(self, ids: Sequence[str]) -> Mapping[str, FactEntity]:
        keys = list(filter(None, map(fact_entity_key, ids)))
        return self.facts[0].find_entities(keys) if self.facts is not None and keys else {}


def relations_in(store: StoreReader, *, at: datetime | None) -> Relations:
    """Return the relations of a namespace, with facts valid at a time; with None, those of the documents only."""
    facts = store.facts
    return Relations(graph=store.graph, facts=(facts, at) if at is not None and facts.has_links() else None)


def find_remembered(keys: Sequence[str], *, store: StoreReader, at: datetime) -> dict[str, Entity]:
    """
    Return the entities with these keys that are known only from facts, by key.

    Each was declared, or is subject or object of a fact valid at the time.
    """
    known = store.facts.find_entities(keys)
    if not known:
        return {}
    ids = {key: name.entity_id for key, name in store.graph.find_known(list(known), max_defining=1).items()}
    alone = {key: entity for key, entity in known.items() if fact_entity_key(ids.get(key, ""))}
    live = {key for key, entity in alone.items() if entity.declared}
    if open := [key for key in alone if key not in live]:
        live |= {fact.subject for fact in store.facts.about(open, at=at, limit=1)}
        live |= {fact.object for fact in store.facts.about(open, at=at, limit=1, incoming=True)}
    return {key: _as_entity(entity) for key, entity in alone.items() if key in live}


def iter_remembered(store: StoreReader, *, at: datetime, after: str = "") -> Iterator[Entity]:
    """Yield the entities known only from facts, by key, starting after the key `after`."""
    while page := store.facts.entities_after(after, limit=PAGE_ENTITIES):
        yield from find_remembered([entity.key for entity in page], store=store, at=at).values()
        after = page[-1].key


def _documented(ids: Collection[str]) -> list[str]:
    """Return the ids of entities that are known from documents."""
    return [id for id in ids if not id.startswith(FACT_ENTITY_PREFIX)]


def _as_entity(entity: FactEntity) -> Entity:
    return Entity(
        id=fact_entity_id(entity.key),
        key=entity.key,
        name=entity.name,
        type=entity.type,
        description=entity.description,
    )


def _strongest_links(id: str, links: Sequence[Relation], *, limit: int) -> Iterator[Relation]:
    """Yield the first `limit` links of an entity in each direction; those to entities known only from facts apart."""
    counts = Counter[tuple[bool, bool]]()
    for link in links:
        is_source = link.source_id == id
        kind = is_source, bool(fact_entity_key(link.target_id if is_source else link.source_id))
        counts[kind] += 1
        if counts[kind] <= limit:
            yield link


def _join(relations: Sequence[Relation], links: Sequence[Relation]) -> list[Relation]:
    if not links:
        return list(relations)
    best: dict[Statement, Relation] = {}
    for relation in (*relations, *links):
        said = _said(relation)
        known = best.setdefault(said, relation)
        if relation.weight > known.weight:
            best[said] = known._replace(weight=relation.weight)
    return strongest_first(best.values())


def _ends(relation: Relation) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return both entities of a relation, each with its side."""
    return (relation.source_id, "source"), (relation.target_id, "target")


def strongest_first(relations: Iterable[Relation]) -> list[Relation]:
    """Return relations by weight; ties by ends and type."""
    return sorted(relations, key=lambda r: (-r.weight, r.source_id, r.target_id, r.type))


def _said(relation: Relation) -> Statement:
    """Return the canonical form of a relation: `A owner B` and `B owns A` become `A owned_by B`."""
    type = FIELDS.get(relation.type, relation.type)
    return canonical(Statement(source=relation.source_id, target=relation.target_id, type=type))
