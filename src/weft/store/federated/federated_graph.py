"""Graph of several namespaces: entities of equal keys are one entity."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import NoReturn

from weft.graph.entity_resolution import EditKind
from weft.records import BrokenLink, Census, Entity, Known, Links, Mention, Relation, Vector
from weft.store.base import GraphReader
from weft.store.federated.entity_keys import EntityKeys
from weft.store.federated.foreign_mentions import find_chunks, find_in_chunks
from weft.store.federated.members import EntityCount, Member, read_only
from weft.store.shared.merging import join_relations, strongest_mentions
from weft.text.ids import fact_entity_id, fact_entity_key

MAX_SUPPORTING_CHUNKS = 20
"""Maximum number of source chunks listed with a relation."""


class FederatedGraph:
    """Entities, mentions and relations of several namespaces."""

    def __init__(self, members: Sequence[Member], keys: EntityKeys) -> None:
        self._members = members
        self._keys = keys

    # ── entities ────────────────────────────────────────────────────────────────────────────────

    def find_entities(self, keys: Sequence[str]) -> dict[str, Entity]:
        resolved = self._keys.resolve(keys)
        found = self._read({id for id in resolved.values() if not fact_entity_key(id)})
        return {key: found[resolved[key]] for key in keys if resolved.get(key) in found}

    def entities(self, ids: Sequence[str]) -> list[Entity]:
        found = self._read(ids)
        return [found[id] for id in ids if id in found]

    def find_known(self, keys: Sequence[str], *, max_defining: int) -> dict[str, Known]:
        resolved = self._keys.resolve(keys)
        self._keys.look_up_ids(id for id in resolved.values() if not fact_entity_key(id))
        return {key: self._count(resolved[key], max_defining) for key in keys if key in resolved}

    def find_ids(self, keys: Sequence[str]) -> dict[str, str]:
        return {key: id for key, id in self._keys.resolve(keys).items() if not fact_entity_key(id)}

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
        return sorted(self._read(ids).values(), key=lambda entity: (-entity.chunks, entity.key))[:limit]

    # ── mentions ────────────────────────────────────────────────────────────────────────────────

    def mentions_of(self, entity_ids: Sequence[str], *, limit: int) -> list[Mention]:
        found: list[Mention] = []
        for place, own in enumerate(self._keys.own_ids(entity_ids)):
            if own:
                ids = list(dict.fromkeys(own.values()))
                mentions = self._members[place].store.graph.mentions_of(
                    ids, limit=limit + self._count_hidden(place, ids)
                )
                found += self._join_mentions(place, mentions, asked=own)
        found += find_chunks(self._members, list(dict.fromkeys(entity_ids)), self._keys)
        return _strongest_of_each(found, entity_ids, limit=limit)

    def mentions_in(self, chunk_ids: Sequence[str], *, about: bool = False) -> list[Mention]:
        found: list[Mention] = []
        for place, member in enumerate(self._members):
            if chunks := member.own(chunk_ids):
                mentions = member.store.graph.mentions_in(chunks, about=about)
                found += map(self._with_others, self._join_mentions(place, mentions))
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
                found += self._join_relations(place, relations, asked=own)
        return strongest_relations(found, entity_ids, limit=limit)

    def links_of(self, entity_ids: Sequence[str], *, limit: int, min_weight: float = 0.0) -> Links:
        mentions: list[Mention] = []
        relations: list[Relation] = []
        for place, own in enumerate(self._keys.own_ids(entity_ids)):
            if own:
                ids, graph = list(dict.fromkeys(own.values())), self._members[place].store.graph
                wanted = limit + self._count_hidden(place, ids)
                stated, linked, _ = graph.links_of(ids, limit=wanted, min_weight=min_weight)
                mentions += self._join_mentions(place, stated, asked=own)
                relations += self._join_relations(place, linked, asked=own)
        mentions += find_chunks(self._members, list(dict.fromkeys(entity_ids)), self._keys)
        found = _strongest_of_each(mentions, entity_ids, limit=limit)
        return Links(found, strongest_relations(relations, entity_ids, limit=limit), self.names(entity_ids))

    def relations_between(self, entity_ids: Sequence[str], *, others: Sequence[str] | None = None) -> list[Relation]:
        return _distinct(
            self._between(entity_ids, others, lambda graph, ids, ends: graph.relations_between(ids, others=ends))
        )

    def co_occurrences(
        self, entity_ids: Sequence[str], *, limit: int, others: Sequence[str] | None = None
    ) -> list[Relation]:
        found = self._between(
            entity_ids, others, lambda graph, ids, ends: graph.co_occurrences(ids, limit=limit, others=ends)
        )
        return strongest_relations(found, entity_ids, limit=limit)

    def _between(
        self,
        entity_ids: Sequence[str],
        others: Sequence[str] | None,
        read: Callable[[GraphReader, list[str], list[str] | None], list[Relation]],
    ) -> list[Relation]:
        """Return what each namespace reads about its own entities, and those among `others`, if given."""
        found: list[Relation] = []
        far = self._keys.own_ids(others) if others is not None else None
        for place, own in enumerate(self._keys.own_ids(entity_ids)):
            if own and (far is None or far[place]):
                ids, ends = list(dict.fromkeys(own.values())), None
                if far is not None:
                    ends, own = list(dict.fromkeys(far[place].values())), own | far[place]
                found += self._join_relations(place, read(self._members[place].store.graph, ids, ends), asked=own)
        return found

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

    def census(self) -> Census:
        """Return the sums over the namespaces."""
        found = [member.store.graph.census() for member in self._members]
        entities = reduce(Counter.__add__, (Counter(census.entities) for census in found), Counter[str]())
        relations = reduce(Counter.__add__, (Counter(census.relations) for census in found), Counter[str]())
        return Census(entities=dict(sorted(entities.items())), relations=dict(sorted(relations.items())))

    def size(self) -> int:
        return sum(member.store.graph.size() - len(member.hidden.chunks) for member in self._members)

    def find_unembedded(self, model: str, *, limit: int) -> dict[tuple[str, str], str]:
        found = {
            (member.outer(chunk), key): text
            for member in self._members
            for (chunk, key), text in member.store.graph.find_unembedded(model, limit=limit).items()
        }
        return dict(sorted(found.items())[:limit])

    def vectors(self, chunk_ids: Sequence[str]) -> dict[tuple[str, str], Vector]:
        return {
            (member.outer(chunk), key): vector
            for member in self._members
            for (chunk, key), vector in member.store.graph.vectors(member.own(chunk_ids)).items()
        }

    def count_broken_links(self, document_ids: Sequence[str] | None = None) -> int:
        return sum(
            member.store.graph.count_broken_links(None if document_ids is None else member.own(document_ids))
            for member in self._members
        )

    def broken_links(self) -> list[BrokenLink]:
        found = [link for member in self._members for link in member.store.graph.broken_links()]
        return sorted(found, key=lambda link: (link.source, link.line))

    def edits(self) -> list[tuple[str, str, str]]:
        return sorted({edit for member in self._members for edit in member.store.graph.edits()})

    def write_edit(self, kind: EditKind, key: str, value: str, *, undo: bool = False) -> NoReturn:
        """Raise `InputError`."""
        raise read_only()

    # ── private ─────────────────────────────────────────────────────────────────────────────────

    def _read(self, ids: Collection[str]) -> dict[str, Entity]:
        """Return joined entities by id."""
        found: dict[str, list[Entity]] = defaultdict(list)
        for place, own in enumerate(self._keys.own_ids(list(ids))):
            hidden = self._members[place].hidden.entities
            ids = list(dict.fromkeys(own.values()))
            entities = {entity.id: entity for entity in self._members[place].store.graph.entities(ids)} if ids else {}
            for id, mine in own.items():
                if mine in entities:
                    found[id].append(_without(entities[mine], hidden.get(mine, EntityCount())))
        return {id: _join_entities(id, self._keys.key(id), mine) for id, mine in found.items()}

    def _count_hidden(self, place: int, ids: Sequence[str]) -> int:
        """Return the largest number of chunks of one of these entities that another namespace shows already."""
        entities = self._members[place].hidden.entities
        return max(entities.get(id, EntityCount()).chunks for id in ids)

    def _count(self, id: str, max_defining: int) -> Known:
        """Return the statistics of a joined entity, or of a name known only from facts."""
        if fact_entity_key(id):
            return Known(id, True, 0, 0, True)
        known = [name for name in self._keys.known(id) if name]
        mine = [name for name in known if not fact_entity_key(name.entity_id)]
        return Known(
            id,
            any(name.strong for name in mine),
            sum(name.chunks for name in mine),
            min(max_defining, sum(name.defining_chunks for name in mine)),
            any(name.remembered for name in known),
        )

    def _join_mentions(
        self, place: int, mentions: Sequence[Mention], *, asked: Mapping[str, str] | None = None
    ) -> list[Mention]:
        """Return mentions of a member in chunks that it shows, with the chunks of all members counted."""
        member = self._members[place]
        shown = [mention for mention in mentions if mention.chunk_id not in member.hidden.chunks]
        joined = self._keys.join_asked(place, [mention.entity_id for mention in shown], asked or {})
        self._keys.look_up_ids(id for ids in joined.values() for id in ids)
        found = []
        for mention in shown:
            for id in joined.get(mention.entity_id, ()):
                others = [known for at, known in enumerate(self._keys.known(id)) if known and at != place]
                hidden = member.hidden.entities.get(mention.entity_id, EntityCount()).chunks
                found.append(
                    mention._replace(
                        entity_id=id,
                        chunk_id=member.outer(mention.chunk_id),
                        chunks=mention.chunks - hidden + sum(known.chunks for known in others),
                        strong=mention.strong or any(_is_strong(known) for known in others),
                        elsewhere=(mention.elsewhere if not hidden else mention.chunks - hidden > 1)
                        or any(known.chunks for known in others),
                    )
                )
        return found

    def _with_others(self, mention: Mention) -> Mention:
        """Return a mention with a mark if any member has a defining chunk of its entity."""
        if mention.has_defining_chunk or not mention.strong:
            return mention
        known = self._keys.known(mention.entity_id)
        return mention._replace(has_defining_chunk=any(name.defining_chunks for name in known if name))

    def _join_relations(self, place: int, relations: Sequence[Relation], *, asked: Mapping[str, str]) -> list[Relation]:
        ends = (end for relation in relations for end in relation[:2])
        return join_ends(relations, self._keys.join_asked(place, ends, asked))


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


def join_ends(relations: Sequence[Relation], joined: Mapping[str, Sequence[str]]) -> list[Relation]:
    """Return relations with the joined ids of their ends; those with an unknown end are left out."""
    return [
        relation._replace(source_id=source, target_id=target)
        for relation in relations
        for source in joined.get(relation.source_id, ())
        for target in joined.get(relation.target_id, ())
    ]


def remembered_ids(ids: Sequence[str], keys: EntityKeys) -> list[dict[str, str]]:
    """Return for each member the ids under which its facts know joined entities, by joined id."""
    names = {id: key for id in ids if (key := fact_entity_key(id) or keys.key(id))}
    keys.look_up(names.values())
    own = keys.own_ids([id for id in ids if not fact_entity_key(id)])
    return [{**{id: fact_entity_id(key) for id, key in names.items()}, **mine} for mine in own]


def _distinct(relations: Iterable[Relation]) -> list[Relation]:
    return join_relations(((r.source_id, r.target_id, r.type), r.weight) for r in relations)


def _is_strong(known: Known) -> bool:
    return known.strong and not fact_entity_key(known.entity_id)


def _without(entity: Entity, hidden: EntityCount) -> Entity:
    if not hidden.chunks:
        return entity
    chunks, mentions = max(0, entity.chunks - hidden.chunks), max(0, entity.mentions - hidden.mentions)
    return replace(entity, chunks=chunks, mentions=mentions)


def _join_entities(id: str, key: str, entities: Sequence[Entity]) -> Entity:
    """Return one entity for those of several members. The first strong one gives the name."""
    ordered = sorted(entities, key=lambda entity: (entity.key != key, not entity.strong))
    first = ordered[0]
    aliases: dict[str, str] = {}
    for entity in ordered:
        for alias, reason in zip(entity.aliases, entity.reasons, strict=False):
            if alias != first.name:
                aliases.setdefault(alias, reason)
    return Entity(
        id=id,
        key=key,
        name=first.name,
        type=next((entity.type for entity in ordered if entity.type), ""),
        description=next((entity.description for entity in ordered if entity.description), ""),
        aliases=tuple(aliases),
        reasons=tuple(aliases.values()),
        mentions=sum(entity.mentions for entity in entities),
        chunks=sum(entity.chunks for entity in entities),
        strong=any(entity.strong for entity in entities),
    )


def _add_sources(known: Relation, found: Relation, member: Member) -> Relation:
    """Return a relation with the description, chunks and extractors that another member adds."""
    chunks = [member.outer(id) for id in found.chunks if id not in member.hidden.chunks]
    return known._replace(
        description=known.description or found.description,
        chunks=tuple(dict.fromkeys((*known.chunks, *chunks)))[:MAX_SUPPORTING_CHUNKS],
        extractors=tuple(sorted({*known.extractors, *found.extractors})),
    )
