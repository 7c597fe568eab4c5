"""Graph of several namespaces: entities of equal keys are one entity."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import NoReturn

from weft.graph.entity_resolution import EditKind
from weft.records import Definition, Entity, Known, Links, Mention, Relation, Vector
from weft.store.federated.entity_keys import EntityKeys
from weft.store.federated.federated_passages import FederatedPassages
from weft.store.federated.foreign_mentions import find_chunks, find_in_chunks
from weft.store.federated.graph_joins import GraphJoins
from weft.store.federated.members import Member, read_only
from weft.store.shared.merging import join_relations, strongest_mentions
from weft.text.ids import fact_entity_id, fact_entity_key

MAX_SUPPORTING_CHUNKS = 20
"""Maximum number of source chunks listed with a relation."""


class FederatedGraph:
    """Entities, mentions and relations of several namespaces."""

    def __init__(self, members: Sequence[Member], keys: EntityKeys) -> None:
        self._members = members
        self._keys = keys
        self._joins = GraphJoins(members, keys)

    # ── entities ────────────────────────────────────────────────────────────────────────────────

    def find_entities(self, keys: Sequence[str]) -> dict[str, Entity]:
        resolved = self._keys.resolve(keys)
        found = self._joins.read({id for id in resolved.values() if not fact_entity_key(id)})
        return {key: found[resolved[key]] for key in keys if resolved.get(key) in found}

    def entities(self, ids: Sequence[str]) -> list[Entity]:
        found = self._joins.read(ids)
        return [found[id] for id in ids if id in found]

    def find_known(self, keys: Sequence[str], *, max_defining: int) -> dict[str, Known]:
        resolved = self._keys.resolve(keys)
        self._keys.look_up_ids(id for id in resolved.values() if not fact_entity_key(id))
        return {key: self._joins.count(resolved[key], max_defining) for key in keys if key in resolved}

    def keys(self, ids: Sequence[str]) -> dict[str, str]:
        return {id: key for id in ids if (key := self._keys.key(id))}

    def find_key_prefixes(self, pairs: Collection[str]) -> set[str]:
        return set().union(*(member.store.graph.find_key_prefixes(pairs) for member in self._members))

    def names(self, ids: Sequence[str]) -> dict[str, str]:
        named: dict[str, list[tuple[bool, str]]] = defaultdict(list)
        for place, own in enumerate(self._keys.own_ids(ids)):
            names = self._members[place].store.graph.names(list(own.values())) if own else {}
            for id, mine in own.items():
                known = self._keys.known(id)[place]
                if mine in names:
                    named[id].append((known is None or not known.strong, names[mine]))
        # The first member with a strong entity names it; `min` returns the first of equal ones.
        return {id: min(found, key=lambda item: item[0])[1] for id, found in named.items()}

    def search_entities(self, vector: Vector, *, chunk_ids: Sequence[str], limit: int) -> list[tuple[Entity, float]]:
        best = self.compare_entities(vector, chunk_ids=chunk_ids)
        ordered = sorted(best, key=lambda id: (-best[id], id))[:limit]
        return [(entity, best[entity.id]) for entity in self.entities(ordered)]

    def compare_entities(self, vector: Vector, *, chunk_ids: Sequence[str]) -> dict[str, float]:
        best: dict[str, float] = {}
        for place, member in enumerate(self._members):
            chunks = member.own(chunk_ids)
            near = member.store.graph.compare_entities(vector, chunk_ids=chunks) if chunks else {}
            joined = self._keys.join_all(place, near)
            for id, score in near.items():
                if id in joined:
                    best[joined[id]] = max(score, best.get(joined[id], score))
        return best

    def entities_after(self, key: str, *, limit: int) -> list[Entity]:
        pages = [member.store.graph.entities_after(key, limit=limit) for member in self._members]
        keys = sorted({entity.key for page in pages for entity in page})[:limit]
        found = self.find_entities(keys)
        return [found[key] for key in keys if key in found]

    def has_entities(self) -> bool:
        return any(member.store.graph.has_entities() for member in self._members)

    def top_entities(self, *, limit: int) -> list[Entity]:
        ids = set[str]()
        for place, member in enumerate(self._members):
            found = member.store.graph.top_entities(limit=limit)
            ids.update(self._keys.join_all(place, [entity.id for entity in found]).values())
        return sorted(self._joins.read(ids).values(), key=lambda entity: (-entity.chunks, entity.key))[:limit]

    # ── mentions ────────────────────────────────────────────────────────────────────────────────

    def mentions_of(self, entity_ids: Sequence[str], *, limit: int) -> list[Mention]:
        found: list[Mention] = []
        for place, own in enumerate(self._keys.own_ids(entity_ids)):
            if own:
                ids = list(dict.fromkeys(own.values()))
                mentions = self._members[place].store.graph.mentions_of(
                    ids, limit=limit + self._joins.count_hidden(place, ids)
                )
                found += self._joins.join_mentions(place, mentions, asked=own)
        found += find_chunks(self._members, list(dict.fromkeys(entity_ids)), self._keys)
        return _strongest_of_each(found, entity_ids, limit=limit)

    def mentions_in(self, chunk_ids: Sequence[str], *, about: bool = False) -> list[Mention]:
        found: list[Mention] = []
        for place, member in enumerate(self._members):
            if chunks := member.own(chunk_ids):
                mentions = member.store.graph.mentions_in(chunks, about=about)
                found += map(self._joins.with_others, self._joins.join_mentions(place, mentions))
                if not about:
                    found += find_in_chunks(self._members, place, chunks, self._keys)
        if not about:
            return found
        order = {id: place for place, id in enumerate(chunk_ids)}
        return sorted(found, key=lambda mention: (order[mention.chunk_id], -mention.count, mention.entity_id))

    # ── relations ───────────────────────────────────────────────────────────────────────────────

    def relations_of(
        self, entity_ids: Sequence[str], *, limit: int, types: Sequence[str] = (), min_weight: float = 0.0
    ) -> list[Relation]:
        found: list[Relation] = []
        for place, own in enumerate(self._keys.own_ids(entity_ids)):
            if own:
                graph = self._members[place].store.graph
                ids = list(dict.fromkeys(own.values()))
                relations = graph.relations_of(ids, limit=limit, types=types, min_weight=min_weight)
                found += self._joins.join_relations(place, relations, asked=own)
        return strongest_relations(found, entity_ids, limit=limit)

    def links_of(
        self,
        entity_ids: Sequence[str],
        *,
        keys: Sequence[str] = (),
        mentions: int,
        relations: int,
        facts_at: datetime | None = None,
    ) -> Links:
        """Return the edges of entities. Facts are left out: those of one member may concern an entity of another."""
        asked = self._find_ids(keys) if keys else {}
        every = list(dict.fromkeys((*entity_ids, *asked.values())))
        found: list[Mention] = []
        related: list[Relation] = []
        for place, own in enumerate(self._keys.own_ids(every)):
            if own:
                ids, graph = list(dict.fromkeys(own.values())), self._members[place].store.graph
                wanted = mentions + self._joins.count_hidden(place, ids)
                links = graph.links_of(ids, mentions=wanted, relations=relations)
                found += self._joins.join_mentions(place, links.mentions, asked=own)
                related += self._joins.join_relations(place, links.relations, asked=own)
        found += find_chunks(self._members, every, self._keys)
        strongest = _strongest_of_each(found, every, limit=mentions)
        return Links(strongest, strongest_relations(related, every, limit=relations), self.names(every), asked)

    def definitions(self, entity_ids: Sequence[str], *, hits: Sequence[str] = ()) -> dict[str, Definition]:
        links = self.links_of(entity_ids, mentions=1, relations=0)
        chunks = {mention.entity_id: mention.chunk_id for mention in links.mentions if mention.about}
        titles = FederatedPassages(self._members).titles([*chunks.values(), *hits])
        owners = {id: title.document_id for id, title in titles.items()}
        same: dict[str, list[str]] = defaultdict(list)
        for hit in hits:
            same[owners.get(hit, "")].append(hit)
        found = {id: owners[chunk] for id, chunk in chunks.items() if chunk in owners}
        return {
            id: Definition(name, chunks[id], found[id], frozenset(same[found[id]])) if id in found else Definition(name)
            for id, name in links.names.items()
        }

    def relations_between(self, entity_ids: Sequence[str], *, others: Sequence[str] | None = None) -> list[Relation]:
        return _distinct(
            self._joins.between(entity_ids, others, lambda graph, ids, ends: graph.relations_between(ids, others=ends))
        )

    def co_occurrences(
        self, entity_ids: Sequence[str], *, limit: int, others: Sequence[str] | None = None
    ) -> list[Relation]:
        found = self._joins.between(
            entity_ids, others, lambda graph, ids, ends: graph.co_occurrences(ids, limit=limit, others=ends)
        )
        return strongest_relations(found, entity_ids, limit=limit)

    def describe(self, relations: Sequence[Relation]) -> list[Relation]:
        described = list(relations)
        ends = list(dict.fromkeys(end for relation in relations for end in relation[:2]))
        for place, ids in enumerate(self._keys.own_ids(ends)):
            mine = {at: r for at, r in enumerate(relations) if r.source_id in ids and r.target_id in ids}
            asked = [r._replace(source_id=ids[r.source_id], target_id=ids[r.target_id]) for r in mine.values()]
            found = self._members[place].store.graph.describe(asked) if asked else []
            for at, relation in zip(mine, found, strict=True):
                described[at] = _add_sources(described[at], relation, self._members[place])
        return described

    def extractors(self, entity_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        found: dict[str, set[str]] = defaultdict(set)
        for place, own in enumerate(self._keys.own_ids(entity_ids)):
            names = self._members[place].store.graph.extractors(list(own.values())) if own else {}
            for id, mine in own.items():
                found[id].update(names.get(mine, ()))
        return {id: tuple(sorted(names)) for id, names in found.items() if names}

    # ── counts ──────────────────────────────────────────────────────────────────────────────────

    def count(self) -> tuple[int, int]:
        """Return the sums over the namespaces; an entity of two namespaces counts twice."""
        counts = [member.store.graph.count() for member in self._members]
        return sum(entities for entities, _ in counts), sum(relations for _, relations in counts)

    def size(self) -> int:
        return sum(member.store.graph.size() - len(member.hidden.chunks) for member in self._members)

    def edits(self) -> list[tuple[str, str, str]]:
        return sorted({edit for member in self._members for edit in member.store.graph.edits()})

    def write_edit(self, kind: EditKind, key: str, value: str, *, undo: bool = False) -> NoReturn:
        """Raise `InputError`."""
        raise read_only()

    def _find_ids(self, keys: Sequence[str]) -> dict[str, str]:
        return {key: id for key, id in self._keys.resolve(keys).items() if not fact_entity_key(id)}


def _strongest_of_each(mentions: Iterable[Mention], entity_ids: Sequence[str], *, limit: int) -> list[Mention]:
    """Return the strongest `limit` mentions of each entity."""
    by_id: dict[str, list[Mention]] = {id: [] for id in entity_ids}
    for mention in mentions:
        by_id[mention.entity_id].append(mention)
    return [mention for mine in by_id.values() for mention in strongest_mentions(mine)[:limit]]


def strongest_relations(relations: Iterable[Relation], entity_ids: Sequence[str], *, limit: int) -> list[Relation]:
    """Return the `limit` strongest relations of each entity in each direction, strongest first."""
    found = _distinct(relations)
    kept: dict[Relation, None] = {}
    outgoing, incoming = Counter[str](), Counter[str]()
    for relation in found:
        for counts, id in ((outgoing, relation.source_id), (incoming, relation.target_id)):
            counts[id] += 1
            if counts[id] <= limit and id in entity_ids:
                kept[relation] = None
    return [relation for relation in found if relation in kept]


def remembered_ids(ids: Sequence[str], keys: EntityKeys) -> list[dict[str, str]]:
    """Return for each member the ids under which its facts know joined entities, by joined id."""
    names = {id: key for id in ids if (key := fact_entity_key(id) or keys.key(id))}
    keys.look_up(names.values())
    own = keys.own_ids([id for id in ids if not fact_entity_key(id)])
    return [{**{id: fact_entity_id(key) for id, key in names.items()}, **mine} for mine in own]


def _distinct(relations: Iterable[Relation]) -> list[Relation]:
    return join_relations(((r.source_id, r.target_id, r.type), r.weight) for r in relations)


def _add_sources(known: Relation, found: Relation, member: Member) -> Relation:
    """Return a relation with the description, chunks and extractors that another member adds."""
    chunks = [member.outer(id) for id in found.chunks if id not in member.hidden.chunks]
    return known._replace(
        description=known.description or found.description,
        chunks=tuple(dict.fromkeys((*known.chunks, *chunks)))[:MAX_SUPPORTING_CHUNKS],
        extractors=tuple(sorted({*known.extractors, *found.extractors})),
    )
