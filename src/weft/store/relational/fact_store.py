"""Facts of one namespace in a relational database."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any

from weft.facts.lifecycle import fact_text
from weft.records import Fact, FactEntity, FactEvent, Relation, Vector
from weft.store.relational.fact_origins import find_origins, keep_facts, restore_facts, settling
from weft.store.relational.fact_rows import (
    MICROSECOND,
    forget_facts,
    to_entity,
    to_fact,
    to_number,
    to_time,
    write_facts,
)
from weft.store.relational.graph.edge_rows import join_facts, read_links
from weft.store.relational.retry import retry_once
from weft.store.relational.session import (
    Connections,
    Namespace,
    Row,
    Session,
    find_active_model,
    make_namespace,
    model_number,
    read_rows,
    touch_namespace,
)
from weft.store.shared.fact_rules import (
    MAX_CLOCK_SKEW,
    by_confidence,
    embedded_text,
)


@retry_once
class RelationalFacts:
    """Facts of one namespace. The first write creates its row."""

    def __init__(self, connections: Connections, *, namespace: str) -> None:
        self._connections = connections
        self._name = namespace
        self._rows = partial(read_rows, connections, namespace)

    # ── write ───────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def writing(self) -> Iterator[None]:
        with self._connections.write(self._name, nested=True):
            yield

    def write(
        self, facts: Sequence[Fact], *, events: Sequence[FactEvent] = (), entities: Sequence[FactEntity] = ()
    ) -> None:
        if not (facts or events or entities):
            return
        with self._connections.write(self._name, nested=True) as db:
            namespace = make_namespace(db, self._name)
            with settling(db, namespace, facts):
                write_facts(db, namespace, facts, events=events, entities=entities)
                keep_facts(db, namespace, [fact.id for fact in facts])
            touch_namespace(db, namespace)

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
        if not (facts or entities):
            return
        with self._connections.write(self._name, nested=True) as db:
            namespace = make_namespace(db, self._name)
            restore_facts(db, namespace, facts, events=events, origins=origins or {}, entities=entities)
            active = find_active_model(db, self._name)
            if active:
                _write_vectors(db, "write_fact_vector", namespace, active.number, vectors or {})
                _write_vectors(db, "write_fact_text_vector", namespace, active.number, text_vectors or {})
            touch_namespace(db, namespace)

    def forget(self, ids: Sequence[str], *, entities: Sequence[str] = ()) -> int:
        with self._connections.write(self._name, nested=True) as db:
            namespace, before = db.namespace_key(self._name), db.total_changes()
            with settling(db, namespace, (), removed=ids):
                deleted = forget_facts(db, namespace, ids, entities=entities)
            if db.total_changes() > before:
                touch_namespace(db, namespace)
            return deleted

    def touch(self, ids: Sequence[str], *, at: datetime) -> bool:
        with self._connections.try_write(self._name) as db:
            if db is None:
                return False
            number = to_number(at)
            values = {"ids": json.dumps(list(ids)), "at": number, "latest": number + MAX_CLOCK_SKEW // MICROSECOND}
            db.run("touch_facts", {"namespace": db.namespace_key(self._name), **values})
        return True

    def write_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        _add_vectors(self._connections, self._name, "write_fact_vector", model, vectors)

    def write_text_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        _add_vectors(self._connections, self._name, "write_fact_text_vector", model, vectors)

    # ── read ────────────────────────────────────────────────────────────────────────────────────

    def facts(self, ids: Sequence[str]) -> list[Fact]:
        rows = self._rows("facts_by_id", {"ids": json.dumps(list(ids))})
        found = {fact.id: fact for fact in map(to_fact, rows)}
        return [found[id] for id in ids if id in found]

    def same(self, contents: Sequence[str]) -> list[Fact]:
        return self._facts("fact_ids_by_content", {"contents": json.dumps(list(contents))})

    def stated(self, subject: str, predicate: str) -> list[Fact]:
        return self._facts("fact_ids_by_predicate", {"subject": subject, "predicate": predicate})

    def about(self, keys: Sequence[str], *, at: datetime, limit: int, incoming: bool = False) -> list[Fact]:
        wanted = list(dict.fromkeys(keys))
        values = {"keys": json.dumps(wanted), "at": to_number(at), "limit": limit}
        found: dict[str, list[Fact]] = defaultdict(list)
        for fact in map(to_fact, self._rows("facts_leading_to" if incoming else "facts_about", values)):
            found[fact.object if incoming else fact.subject].append(fact)
        return [fact for key in wanted for fact in by_confidence(found[key])[:limit]]

    def facts_after(self, id: str, *, limit: int, subject: str = "") -> list[Fact]:
        values = {"id": id, "limit": limit}
        if subject:
            return self._facts("fact_ids_of_subject_after", {**values, "subject": subject})
        return self._facts("fact_ids_after", values)

    def history(self, id: str) -> list[FactEvent]:
        return [
            FactEvent(fact_id=fact, at=to_time(at), action=action, detail=detail, other=other)
            for fact, at, action, detail, other in self._rows("fact_history", {"id": id})
        ]

    def find_entities(self, keys: Sequence[str]) -> dict[str, FactEntity]:
        rows = self._rows("fact_entities", {"keys": json.dumps(list(keys))})
        found = {entity.key: entity for entity in map(to_entity, rows)}
        return {key: found[key] for key in keys if key in found}

    def entities_after(self, key: str, *, limit: int) -> list[FactEntity]:
        return [to_entity(row) for row in self._rows("fact_entities_after", {"key": key, "limit": limit})]

    def origins(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        with self._connections.read(self._name) as db:
            return find_origins(db, db.namespace_key(self._name), ids)

    def search_names(self, words: Sequence[str], *, limit: int) -> list[tuple[FactEntity, int]]:
        values = {"words": json.dumps(sorted(set(words))), "limit": limit}
        return _with_entities(self, self._rows("search_fact_words", values))

    def search_vector(self, vector: Vector, *, limit: int) -> list[tuple[FactEntity, float]]:
        with self._connections.read(self._name) as db:
            namespace = db.namespace(self._name)
            active = namespace.active if namespace else None
            if namespace is None or active is None or active.model.dimension != len(vector):
                return []
            found = db.vectors.nearest_entities(namespace, vector, model=active.number, limit=limit)
        return _with_entities(self, found)

    def find_unembedded(self, model: str, *, limit: int) -> dict[str, str]:
        rows = self._rows("unembedded_fact_entities", {"fingerprint": model, "limit": limit})
        return {
            key: embedded_text(FactEntity(key=key, name=name, description=description))
            for key, name, description in rows
        }

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        return _read_vectors(self._connections, self._name, "fact_entity_vectors", keys)

    def search_texts(self, vector: Vector, *, at: datetime, limit: int) -> list[tuple[Fact, float]]:
        with self._connections.read(self._name) as db:
            namespace = db.namespace(self._name)
            active = namespace.active if namespace else None
            if namespace is None or active is None or active.model.dimension != len(vector):
                return []
            number = active.number
            found = db.vectors.nearest_facts(namespace, vector, model=number, at=to_number(at), limit=limit)
            facts = {fact.id: fact for fact in self.facts([id for id, _ in found])}
        return [(facts[id], score) for id, score in found if id in facts]

    def find_unembedded_texts(self, model: str, *, limit: int) -> dict[str, str]:
        found = self._facts("unembedded_facts", {"fingerprint": model, "limit": limit})
        return {fact.id: fact_text(fact) for fact in found}

    def text_vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        return _read_vectors(self._connections, self._name, "fact_text_vectors", ids)

    def has_links(self) -> bool:
        with self._connections.read(self._name) as db:
            found = db.namespace(self._name)
            return found is not None and found.has_fact_links

    def links(
        self, entity_ids: Sequence[str], *, at: datetime, limit: int, types: Sequence[str] = (), min_weight: float = 0.0
    ) -> list[Relation]:
        with self._connections.read(self._name) as db:
            rows = read_links(db, self._name, entity_ids, at=at)
        return join_facts(rows, entity_ids=entity_ids, limit=limit, types=types, min_weight=min_weight)

    def frequent(self, *, limit: int) -> list[str]:
        return [key for (key,) in self._rows("frequent_subjects", {"limit": limit})]

    def count(self) -> tuple[int, int]:
        ((facts, entities),) = self._rows("count_facts") or [(0, 0)]
        return facts, entities

    def generation(self) -> int:
        with self._connections.read(self._name) as db:
            found = db.namespace(self._name)
            return found.generation if found else 0

    # ── private ─────────────────────────────────────────────────────────────────────────────────

    def _facts(self, name: str, values: Mapping[str, Any]) -> list[Fact]:
        """Return the facts whose ids a statement returns."""
        with self._connections.read(self._name):
            ids = [id for (id,) in self._rows(name, values)]
            return self.facts(ids) if ids else []


def _with_entities(facts: RelationalFacts, found: Sequence[Row]) -> list[tuple[FactEntity, Any]]:
    """Return (key, score) rows with the entity instead of its key."""
    entities = facts.find_entities([key for key, _ in found])
    return [(entities[key], score) for key, score in found if key in entities]


def _write_vectors(
    db: Session, statement: str, namespace: Namespace, model: int, vectors: Mapping[str, Vector]
) -> None:
    for key, vector in vectors.items():
        row = {"model": model, "key": key, "sketch": db.vectors.sketch(vector), "vector": db.vectors.pack(vector)}
        db.run(statement, {"namespace": namespace, **row})


def _add_vectors(
    connections: Connections, name: str, statement: str, model: str, vectors: Mapping[str, Vector]
) -> None:
    with connections.write(name, nested=True) as db:
        _write_vectors(db, statement, db.namespace_key(name), model_number(db, name, model), vectors)


def _read_vectors(connections: Connections, name: str, statement: str, keys: Sequence[str]) -> dict[str, Vector]:
    """Return the vectors of the active embedder for these keys or ids."""
    with connections.read(name) as db:
        active = find_active_model(db, name)
        if active is None:
            return {}
        values = {"namespace": db.namespace_key(name), "model": active.number, "keys": json.dumps(list(keys))}
        return {key: db.vectors.unpack(vector) for key, vector in db.run(statement, values)}
