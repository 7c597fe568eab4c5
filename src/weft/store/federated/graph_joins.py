"""Entities, mentions and relations of single namespaces, joined by key."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from weft.records import Entity, Known, Mention, Relation
from weft.store.base import GraphReader
from weft.store.federated.entity_keys import EntityKeys
from weft.store.federated.members import EntityCount, Member
from weft.text.ids import fact_entity_key


class GraphJoins:
    """Joins what the members of a federation say about an entity. Members are given by their place."""

    def __init__(self, members: Sequence[Member], keys: EntityKeys) -> None:
        self._members = members
        self._keys = keys

    def read(self, ids: Collection[str]) -> dict[str, Entity]:
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

    def count_hidden(self, place: int, ids: Sequence[str]) -> int:
        """Return the largest number of chunks of one of these entities that another namespace shows already."""
        entities = self._members[place].hidden.entities
        return max(entities.get(id, EntityCount()).chunks for id in ids)

    def count(self, id: str, max_defining: int) -> Known:
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

    def join_mentions(
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

    def with_others(self, mention: Mention) -> Mention:
        """Return a mention with a mark if any member has a defining chunk of its entity."""
        if mention.has_defining_chunk or not mention.strong:
            return mention
        known = self._keys.known(mention.entity_id)
        return mention._replace(has_defining_chunk=any(name.defining_chunks for name in known if name))

    def join_relations(self, place: int, relations: Sequence[Relation], *, asked: Mapping[str, str]) -> list[Relation]:
        """Return relations of a member between joined entities."""
        ends = (end for relation in relations for end in relation[:2])
        return join_ends(relations, self._keys.join_asked(place, ends, asked))

    def between(
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
                found += self.join_relations(place, read(self._members[place].store.graph, ids, ends), asked=own)
        return found


def join_ends(relations: Sequence[Relation], joined: Mapping[str, Sequence[str]]) -> list[Relation]:
    """Return relations with the joined ids of their ends; those with an unknown end are left out."""
    return [
        relation._replace(source_id=source, target_id=target)
        for relation in relations
        for source in joined.get(relation.source_id, ())
        for target in joined.get(relation.target_id, ())
    ]


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
