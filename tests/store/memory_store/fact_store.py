"""In-memory facts of one namespace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import datetime

from weft.errors import SchemaMismatch
from weft.extract.names import key_words
from weft.facts.lifecycle import fact_text, holds, is_live
from weft.records import Fact, FactEntity, FactEvent, Relation, StoredModel, Vector
from weft.store.shared.fact_rules import (
    MAX_CLOCK_SKEW,
    MAX_LINK_CANDIDATES,
    Link,
    add_stated,
    by_confidence,
    content_of,
    embedded_text,
    find_restated,
    is_settled,
    merge_entity,
    named_entities,
    settle_statements,
    strongest_links,
)
from weft.text.ids import fact_entity_id, fact_entity_key


@dataclass
class FactContent:
    """Facts, history and entities of one namespace."""

    facts: dict[str, Fact] = field(default_factory=dict)
    events: dict[str, list[FactEvent]] = field(default_factory=dict)
    entities: dict[str, FactEntity] = field(default_factory=dict)
    vectors: dict[tuple[str, str], Vector] = field(default_factory=dict)
    """Vectors by fingerprint and key."""
    text_vectors: dict[tuple[str, str], Vector] = field(default_factory=dict)
    """Vectors of facts by fingerprint and fact id."""
    origins: dict[str, set[str]] = field(default_factory=dict)
    """Ids of the documents that state a fact, by fact id; an empty id stands for a manual statement."""


class MemoryFacts:
    """Facts in memory. `touched` is called after every change that increases the generation."""

    def __init__(
        self,
        content: FactContent,
        *,
        models: Sequence[StoredModel],
        touched: Callable[[], None],
        generation: Callable[[], int],
        heads: Callable[[], Mapping[str, str]],
    ) -> None:
        self._content = content
        self._models = models
        self._touched = touched
        self._generation = generation
        self._heads = heads
        """Returns the graph entity that each key resolves to, by key."""

    @contextmanager
    def writing(self) -> Iterator[None]:
        content = self._content
        before = replace(
            content,
            facts=dict(content.facts),
            events={id: list(events) for id, events in content.events.items()},
            entities=dict(content.entities),
            vectors=dict(content.vectors),
            text_vectors=dict(content.text_vectors),
            origins={id: set(documents) for id, documents in content.origins.items()},
        )
        try:
            yield
        except BaseException:
            for item in fields(content):
                setattr(content, item.name, getattr(before, item.name))
            raise

    def write(
        self, facts: Sequence[Fact], *, events: Sequence[FactEvent] = (), entities: Sequence[FactEntity] = ()
    ) -> None:
        for fact in facts:
            if fact.id in self._content.origins:
                self._content.origins[fact.id].add("")
        self._write(facts, events=events, entities=entities)
        self._settle(facts)
        if facts or events or entities:
            self._touched()

    def _write(self, facts: Sequence[Fact], *, events: Sequence[FactEvent], entities: Sequence[FactEntity]) -> None:
        content = self._content
        for entity in named_entities(facts, entities):
            known = content.entities.get(entity.key)
            made = content.entities[entity.key] = merge_entity(known, entity)
            if known and known.description != made.description:
                self._drop_vectors({entity.key})
        for fact in facts:
            old = content.facts.get(fact.id)
            last, count = (old.last_accessed, old.access_count) if old else (fact.last_accessed, fact.access_count)
            content.facts[fact.id] = replace(fact, last_accessed=last, access_count=count)
        for event in events:
            content.events.setdefault(event.fact_id, []).append(event)

    def restore(
        self,
        facts: Sequence[Fact],
        *,
        events: Sequence[FactEvent] = (),
        origins: Mapping[str, Sequence[str]] | None = None,
        entities: Sequence[FactEntity] = (),
        vectors: Mapping[str, Vector] | None = None,
        text_vectors: Mapping[str, Vector] | None = None,
    ) -> None:
        content = self._content
        self._drop_vectors({e.key for e in entities if content.entities.get(e.key, e) != e})
        content.entities |= {entity.key: entity for entity in entities}
        self._drop_text_vectors({fact.id for fact in facts})
        for fact in facts:
            content.events.pop(fact.id, None)
            content.facts.pop(fact.id, None)
            content.origins.pop(fact.id, None)
            if stating := (origins or {}).get(fact.id):
                content.origins[fact.id] = set(stating)
        self._write(facts, events=events, entities=())
        active = next((model.fingerprint for model in self._models if model.active), "")
        if vectors and active:
            self.write_vectors(active, vectors)
        if text_vectors and active:
            self.write_text_vectors(active, text_vectors)
        if facts or entities:
            self._touched()

    def state(self, document: str, facts: Sequence[Fact]) -> None:
        """Replace the facts that a document states."""
        content, after = self._content, set()
        for fact in facts:
            found = find_restated(fact, self.same([content_of(fact)]) or self.facts([fact.id]))
            if found is None:
                change = add_stated(fact)
                self._write(change.facts, events=change.events, entities=())
                content.origins[fact.id] = set()
            elif found.id not in content.origins:
                content.origins[found.id] = {""}
            id = found.id if found else fact.id
            content.origins[id].add(document)
            after.add(id)
        for id in [id for id, documents in content.origins.items() if document in documents and id not in after]:
            content.origins[id].discard(document)
            if not content.origins[id]:
                self.forget([id])
            elif content.origins[id] == {""}:
                del content.origins[id]
        self._settle(facts)

    def _settle(self, facts: Iterable[Fact]) -> None:
        """Set the ends of statements that these facts replace, or replaced."""
        content = self._content
        derived = {id for id, documents in content.origins.items() if "" not in documents}
        for subject, predicate in {(fact.subject, fact.predicate) for fact in facts if is_settled(fact)}:
            self._write(settle_statements(self.stated(subject, predicate), derived=derived), events=(), entities=())

    def forget(self, ids: Sequence[str], *, entities: Sequence[str] = ()) -> int:
        content = self._content
        deleted = set(ids) & content.facts.keys()
        released = set(entities) & content.entities.keys()
        if not deleted and not released:
            return 0
        gone = [content.facts[id] for id in deleted]
        content.origins = {id: documents for id, documents in content.origins.items() if id not in deleted}
        content.facts = {
            id: replace(fact, supersedes="" if fact.supersedes in deleted else fact.supersedes)
            for id, fact in content.facts.items()
            if id not in deleted
        }
        content.events = {
            id: [replace(event, other="" if event.other in deleted else event.other) for event in events]
            for id, events in content.events.items()
            if id not in deleted
        }
        self._drop_text_vectors(deleted)
        needed = {key for fact in content.facts.values() for key in (fact.subject, fact.object)}
        needed |= {key for key, entity in content.entities.items() if entity.declared and key not in released}
        self._drop_vectors(content.entities.keys() - needed)
        content.entities = {key: entity for key, entity in content.entities.items() if key in needed}
        self._settle(gone)
        self._touched()
        return len(deleted)

    def touch(self, ids: Sequence[str], *, at: datetime) -> bool:
        for id in set(ids) & self._content.facts.keys():
            fact = self._content.facts[id]
            last = max(at, fact.last_accessed or at)
            last = at if last - at > MAX_CLOCK_SKEW else last
            self._content.facts[id] = replace(fact, last_accessed=last, access_count=fact.access_count + 1)
        return True

    def write_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        if all(known.fingerprint != model for known in self._models):
            raise SchemaMismatch(f"unknown embedder {model!r}", hint="run weft reembed")
        known = vectors.keys() & self._content.entities.keys()
        self._content.vectors |= {(model, key): vectors[key] for key in known}

    def write_text_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        if all(known.fingerprint != model for known in self._models):
            raise SchemaMismatch(f"unknown embedder {model!r}")
        known = vectors.keys() & self._content.facts.keys()
        self._content.text_vectors |= {(model, id): vectors[id] for id in known}

    def facts(self, ids: Sequence[str]) -> list[Fact]:
        return [self._named(self._content.facts[id]) for id in ids if id in self._content.facts]

    def same(self, contents: Sequence[str]) -> list[Fact]:
        return self._oldest_first(lambda fact: content_of(fact) in contents)

    def stated(self, subject: str, predicate: str) -> list[Fact]:
        return self._oldest_first(lambda fact: (fact.subject, fact.predicate) == (subject, predicate))

    def about(self, keys: Sequence[str], *, at: datetime, limit: int, incoming: bool = False) -> list[Fact]:
        found: list[Fact] = []
        for key in dict.fromkeys(keys):
            found += self._holding(key, at, incoming)[:limit]
        return [self._named(fact) for fact in found]

    def facts_after(self, id: str, *, limit: int, subject: str = "") -> list[Fact]:
        ids = sorted(i for i, fact in self._content.facts.items() if i > id and subject in ("", fact.subject))
        return self.facts(ids[:limit])

    def history(self, id: str) -> list[FactEvent]:
        return list(self._content.events.get(id, ()))

    def find_entities(self, keys: Sequence[str]) -> dict[str, FactEntity]:
        return {key: self._content.entities[key] for key in keys if key in self._content.entities}

    def entities_after(self, key: str, *, limit: int) -> list[FactEntity]:
        return [entity for at, entity in sorted(self._content.entities.items()) if at > key][:limit]

    def origins(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        known = self._content.origins
        return {id: tuple(sorted(known[id])) for id in ids if id in known}

    def search_names(self, words: Sequence[str], *, limit: int) -> list[tuple[FactEntity, int]]:
        wanted = set(words)
        shared = [(len(wanted & key_words(key)), len(key_words(key)), key) for key in self._content.entities]
        best = sorted((-both, size, key) for both, size, key in shared if both)
        return [(self._content.entities[key], -both) for both, _, key in best[:limit]]

    def search_vector(self, vector: Vector, *, limit: int) -> list[tuple[FactEntity, float]]:
        active = next((model for model in self._models if model.active), None)
        if active is None or active.dimension != len(vector):
            return []
        mine = {key: v for (model, key), v in self._content.vectors.items() if model == active.fingerprint}
        best = sorted((-float(other @ vector), key) for key, other in mine.items())
        return [(self._content.entities[key], -score) for score, key in best[:limit]]

    def find_unembedded(self, model: str, *, limit: int) -> dict[str, str]:
        entities = self._content.entities
        keys = sorted(key for key in entities if (model, key) not in self._content.vectors)
        return {key: embedded_text(entities[key]) for key in keys[:limit]}

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        active = next((model.fingerprint for model in self._models if model.active), None)
        known = self._content.vectors
        return {key: known[active, key] for key in keys if active is not None and (active, key) in known}

    def search_texts(self, vector: Vector, *, at: datetime, limit: int) -> list[tuple[Fact, float]]:
        active = next((model for model in self._models if model.active), None)
        if active is None or active.dimension != len(vector):
            return []
        valid = [id for id, fact in self._content.facts.items() if holds(fact, at=at)]
        best = sorted((-float(other @ vector), id) for id, other in self.text_vectors(valid).items())[:limit]
        return [(self._named(self._content.facts[id]), -score) for score, id in best]

    def find_unembedded_texts(self, model: str, *, limit: int) -> dict[str, str]:
        ids = sorted(id for id in self._content.facts if (model, id) not in self._content.text_vectors)
        return {fact.id: fact_text(fact) for fact in self.facts(ids[:limit])}

    def text_vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        active = next((model.fingerprint for model in self._models if model.active), None)
        known = self._content.text_vectors
        return {id: known[active, id] for id in ids if active is not None and (active, id) in known}

    def has_links(self) -> bool:
        return any(fact.object for fact in self._content.facts.values())

    def links(
        self, entity_ids: Sequence[str], *, at: datetime, limit: int, types: Sequence[str] = (), min_weight: float = 0.0
    ) -> list[Relation]:
        heads = self._heads()
        names = [key for key, id in heads.items() if id in entity_ids] + list(map(fact_entity_key, entity_ids))
        facts = [
            fact
            for key in names
            for incoming in (False, True)
            for fact in self._holding(key, at, incoming)[:MAX_LINK_CANDIDATES]
        ]
        found = [
            Link(
                source_id=heads.get(fact.subject) or fact_entity_id(fact.subject),
                target_id=heads.get(fact.object) or fact_entity_id(fact.object),
                predicate=fact.predicate,
                confidence=fact.confidence,
                created=fact.created.timestamp(),
                fact_id=fact.id,
            )
            for fact in facts
            if fact.object
        ]
        return strongest_links(found, entity_ids=entity_ids, limit=limit, types=types, min_weight=min_weight)

    def frequent(self, *, limit: int) -> list[str]:
        counts = Counter[str]()
        for fact in self._content.facts.values():
            counts[fact.subject] += fact.access_count if is_live(fact) else 0
        return sorted((key for key in counts if counts[key]), key=lambda key: (-counts[key], key))[:limit]

    def count(self) -> tuple[int, int]:
        return len(self._content.facts), len(self._content.entities)

    def generation(self) -> int:
        return self._generation()

    def keep_models(self, fingerprint: str) -> None:
        """Delete the vectors of all embedders but one."""
        content = self._content
        content.vectors = {at: v for at, v in content.vectors.items() if at[0] == fingerprint}
        content.text_vectors = {at: v for at, v in content.text_vectors.items() if at[0] == fingerprint}

    def _holding(self, key: str, at: datetime, incoming: bool) -> list[Fact]:
        """Return the facts of a subject or object valid at a time, by descending confidence."""
        mine = [fact for fact in self._content.facts.values() if (fact.object if incoming else fact.subject) == key]
        return by_confidence([fact for fact in mine if key and holds(fact, at=at)])

    def _named(self, fact: Fact) -> Fact:
        entities = self._content.entities
        value = entities[fact.object].name if fact.object else fact.value
        return replace(fact, subject_name=entities[fact.subject].name, value=value)

    def _oldest_first(self, is_wanted: Callable[[Fact], bool]) -> list[Fact]:
        found = [fact for fact in self._content.facts.values() if is_wanted(fact)]
        return [self._named(fact) for fact in sorted(found, key=lambda fact: (fact.created, fact.id))]

    def _drop_vectors(self, keys: set[str]) -> None:
        self._content.vectors = {at: v for at, v in self._content.vectors.items() if at[1] not in keys}

    def _drop_text_vectors(self, ids: set[str]) -> None:
        known = self._content.text_vectors
        self._content.text_vectors = {at: vector for at, vector in known.items() if at[1] not in ids}
