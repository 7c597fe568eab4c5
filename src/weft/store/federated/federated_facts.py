"""Facts of several namespaces. A statement that several of them have is returned once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain, zip_longest
from typing import NoReturn, TypeVar

from weft.extract.names import key_words
from weft.records import Fact, FactEntity, FactEvent, Relation, Vector
from weft.store.federated.entity_keys import EntityKeys
from weft.store.federated.federated_graph import remembered_ids, strongest_relations
from weft.store.federated.graph_joins import join_ends
from weft.store.federated.members import Member, read_only
from weft.store.shared.fact_rules import by_confidence, content_of, merge_entity
from weft.text.ids import digest, fact_entity_key

T = TypeVar("T")


class FederatedFacts:
    """Facts of several namespaces, and their entities, which are joined by key."""

    def __init__(self, members: Sequence[Member], keys: EntityKeys) -> None:
        self._members = members
        self._keys = keys

    def facts(self, ids: Sequence[str]) -> list[Fact]:
        found = {
            member.outer(fact.id): member.fact(fact)
            for member in reversed(self._members)
            for fact in member.store.facts.facts(member.own(ids))
        }
        return [found[id] for id in ids if id in found]

    def same(self, contents: Sequence[str]) -> list[Fact]:
        return self._oldest_first(member.store.facts.same(contents) for member in self._members)

    def stated(self, subject: str, predicate: str) -> list[Fact]:
        return self._oldest_first(member.store.facts.stated(subject, predicate) for member in self._members)

    def about(self, keys: Sequence[str], *, at: datetime, limit: int, incoming: bool = False) -> list[Fact]:
        by_key: dict[str, list[Fact]] = {key: [] for key in keys}
        for member in self._members:
            for fact in member.store.facts.about(keys, at=at, limit=limit, incoming=incoming):
                by_key[fact.object if incoming else fact.subject].append(member.fact(fact))
        return [fact for mine in by_key.values() for fact in _distinct(by_confidence(mine))[:limit]]

    def facts_after(self, id: str, *, limit: int, subject: str = "") -> list[Fact]:
        found: dict[str, Fact] = {}
        for member in reversed(self._members):
            # A mark follows the id, so the id without a mark is before all ids that come after the marked one.
            start = id.removesuffix(member.mark) if member.mark and id.endswith(member.mark) else id.partition("~")[0]
            facts = member.store.facts.facts_after(start, limit=limit + 1, subject=subject)
            same = member.store.facts.facts([start]) if start != id else []
            wanted = map(member.fact, (*same, *facts))
            found |= {fact.id: fact for fact in wanted if fact.id > id and subject in ("", fact.subject)}
        return [found[id] for id in sorted(found)[:limit]]

    def history(self, id: str) -> list[FactEvent]:
        return next(
            (
                events
                for member in self._members
                for own in member.own([id])
                if (events := member.store.facts.history(own))
            ),
            [],
        )

    def find_entities(self, keys: Sequence[str]) -> dict[str, FactEntity]:
        found: dict[str, FactEntity] = {}
        for member in reversed(self._members):
            for key, entity in member.store.facts.find_entities(keys).items():
                found[key] = merge_entity(entity, found[key]) if key in found else entity
        return {key: found[key] for key in keys if key in found}

    def entities_after(self, key: str, *, limit: int) -> list[FactEntity]:
        pages = [member.store.facts.entities_after(key, limit=limit) for member in self._members]
        keys = sorted({entity.key for page in pages for entity in page})[:limit]
        return list(self.find_entities(keys).values())

    def origins(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        return {
            member.outer(id): tuple(document and member.outer(document) for document in documents)
            for member in self._members
            for id, documents in member.store.facts.origins(member.own(ids)).items()
        }

    def search_names(self, words: Sequence[str], *, limit: int) -> list[tuple[FactEntity, int]]:
        shared: dict[str, int] = {}
        for member in self._members:
            shared |= {entity.key: count for entity, count in member.store.facts.search_names(words, limit=limit)}
        return self._ranked(shared, order=lambda key: (-shared[key], len(key_words(key)), key), limit=limit)

    def search_vector(self, vector: Vector, *, limit: int) -> list[tuple[FactEntity, float]]:
        scores: dict[str, float] = {}
        for member in self._members:
            for entity, score in member.store.facts.search_vector(vector, limit=limit):
                scores[entity.key] = max(score, scores.get(entity.key, score))
        return self._ranked(scores, order=lambda key: (-scores[key], key), limit=limit)

    def search_texts(self, vector: Vector, *, at: datetime, limit: int) -> list[tuple[Fact, float]]:
        found = [
            (member.fact(fact), score)
            for member in self._members
            for fact, score in member.store.facts.search_texts(vector, at=at, limit=limit)
        ]
        scores = {fact.id: score for fact, score in reversed(found)}
        ordered = sorted((fact for fact, _ in found), key=lambda fact: (-scores[fact.id], fact.id))
        return [(fact, scores[fact.id]) for fact in _distinct(ordered)[:limit]]

    def text_vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        return {
            member.outer(id): vector
            for member in self._members
            for id, vector in member.store.facts.text_vectors(member.own(ids)).items()
        }

    def has_links(self) -> bool:
        return any(member.store.facts.has_links() for member in self._members)

    def links(
        self, entity_ids: Sequence[str], *, at: datetime, limit: int, types: Sequence[str] = (), min_weight: float = 0.0
    ) -> list[Relation]:
        found: list[Relation] = []
        for place, asked in enumerate(remembered_ids(entity_ids, self._keys)):
            facts = self._members[place].store.facts
            if facts.has_links():
                ids = list(dict.fromkeys(asked.values()))
                relations = facts.links(ids, at=at, limit=limit, types=types, min_weight=min_weight)
                found += self._join_links(place, relations, asked=asked)
        documented = [r for r in found if not any(map(fact_entity_key, r[:2]))]
        alone = [r for r in found if any(map(fact_entity_key, r[:2]))]  # these have a separate limit
        kept = [strongest_relations(some, entity_ids, limit=limit) for some in (documented, alone)]
        return sorted(chain(*kept), key=lambda r: (-r.weight, r.source_id, r.target_id, r.type))

    def frequent(self, *, limit: int) -> list[str]:
        """Return the keys of the most recalled subjects: the first of each namespace, then the second ones."""
        each = [member.store.facts.frequent(limit=limit) for member in self._members]
        return list(dict.fromkeys(key for keys in zip_longest(*each) for key in keys if key))[:limit]

    def count(self) -> tuple[int, int]:
        """Return the sums over the namespaces; an entity of two namespaces counts twice."""
        counts = [member.store.facts.count() for member in self._members]
        return sum(facts for facts, _ in counts), sum(entities for _, entities in counts)

    def generation(self) -> int:
        """Return a number that changes with the generation of any member. It does not increase."""
        return join_generations(member.store.facts.generation() for member in self._members)

    def writing(self) -> NoReturn:
        """Raise `InputError`."""
        raise read_only()

    def touch(self, ids: Sequence[str], *, at: datetime) -> bool:
        """Return False: accesses over several namespaces are not counted."""
        return False

    def _oldest_first(self, each: Iterable[Sequence[Fact]]) -> list[Fact]:
        found = {
            shown.id: shown
            for member, facts in zip(self._members, each, strict=True)
            for shown in map(member.fact, facts)
        }
        return sorted(found.values(), key=lambda fact: (fact.created, fact.id))

    def _ranked(
        self, values: Mapping[str, T], *, order: Callable[[str], tuple[object, ...]], limit: int
    ) -> list[tuple[FactEntity, T]]:
        keys = sorted(values, key=order)[:limit]
        return [(entity, values[key]) for key, entity in self.find_entities(keys).items()]

    def _join_links(self, place: int, relations: Sequence[Relation], *, asked: Mapping[str, str]) -> list[Relation]:
        """Return links with joined ids; an end known only from facts may be an entity of another member."""
        ends = {end for relation in relations for end in relation[:2]}
        joined = self._keys.join_asked(place, (end for end in ends if not fact_entity_key(end)), asked)
        alone = {key: end for end in ends if (key := fact_entity_key(end))}
        joined |= {alone[key]: [id] for key, id in self._keys.resolve(alone).items()}
        return join_ends(relations, joined)


def join_generations(generations: Iterable[int]) -> int:
    """Return a number that differs for different generations of the members."""
    return int(digest(map(str, generations), size=7), 16)


def _distinct(facts: Iterable[Fact]) -> list[Fact]:
    """Return facts without later ones that state the same for the same period with the same status."""
    found: dict[tuple[object, ...], Fact] = {}
    for fact in facts:
        found.setdefault((content_of(fact), fact.valid_from, fact.valid_to, fact.status), fact)
    return list(found.values())


def _join(each: Iterable[Mapping[str, T]]) -> dict[str, T]:
    """Return one mapping; the first one with a key counts."""
    joined: dict[str, T] = {}
    for found in each:
        joined = {**found, **joined}
    return joined
