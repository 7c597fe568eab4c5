"""Which documents state a fact, kept in step with them inside their transaction."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence

from weft.records import Fact, FactEntity, FactEvent
from weft.store.relational.fact_rows import drop_entities, forget_facts, to_entity, to_fact, to_row, write_facts
from weft.store.relational.session import Namespace, Session
from weft.store.shared.fact_rules import add_stated, content_of, find_restated


def write_stated(db: Session, namespace: Namespace, document: str, facts: Sequence[Fact]) -> None:
    """Make what a document states exactly these facts."""
    before = [row[0] for row in db.run("facts_of_document", {"namespace": namespace, "document": document})]
    after = {_bear_out(db, namespace, document, fact) for fact in facts}
    retract(db, namespace, document, [id for id in before if id not in after])


def retract(db: Session, namespace: Namespace, document: str, ids: Sequence[str]) -> None:
    """Let a document no longer state these facts; those that nobody else states are gone."""
    if not ids:
        return
    values = {"namespace": namespace, "ids": json.dumps(list(ids))}
    db.run("delete_fact_origin", {**values, "document": document})
    left = find_origins(db, namespace, ids)
    forget_facts(db, namespace, [id for id in ids if id not in left])
    by_hand = [id for id, documents in left.items() if documents == ("",)]
    db.run("delete_fact_origin", {"namespace": namespace, "ids": json.dumps(by_hand), "document": ""})


def keep_facts(db: Session, namespace: Namespace, ids: Sequence[str]) -> None:
    """Let facts stay when the documents that state them are gone."""
    if ids:
        db.run("keep_facts", {"namespace": namespace, "ids": json.dumps(list(ids))})


def find_origins(db: Session, namespace: Namespace, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the documents that state facts, by id; an empty one among them: stated by hand as well."""
    found: dict[str, list[str]] = defaultdict(list)
    for fact, document in db.run("fact_origins", {"namespace": namespace, "ids": json.dumps(list(ids))}):
        found[fact].append(document)
    return {fact: tuple(documents) for fact, documents in found.items()}


def restore_facts(
    db: Session,
    namespace: Namespace,
    facts: Sequence[Fact],
    *,
    events: Sequence[FactEvent],
    origins: Mapping[str, Sequence[str]],
    entities: Sequence[FactEntity],
) -> None:
    """Make facts and entities exactly what these say, with accesses, whole history and the documents they are in."""
    values = {"namespace": namespace, "keys": json.dumps([entity.key for entity in entities])}
    known = {row[0]: to_entity(row) for row in db.run("fact_entities", values)}
    changed = [entity.key for entity in entities if entity.key in known and known[entity.key] != entity]
    drop_entities(db, namespace, changed)
    ids = {"namespace": namespace, "ids": json.dumps([fact.id for fact in facts])}
    db.run("delete_fact_events", ids)
    db.run("delete_fact_origins", ids)
    write_facts(db, namespace, facts, events=events, entities=entities)
    for fact in facts:
        row = to_row(fact)
        db.run("set_accesses", {"namespace": namespace} | {name: row[name] for name in ("id", "accessed", "accesses")})
        for document in origins.get(fact.id, ()):
            db.run("write_fact_origin", {"namespace": namespace, "fact": fact.id, "document": document})


def _bear_out(db: Session, namespace: Namespace, document: str, fact: Fact) -> str:
    """Note that a document states a fact, which is made where nothing says the same; return its id."""
    known = find_restated(fact, _equal(db, namespace, fact))
    if known is None:
        change = add_stated(fact)
        write_facts(db, namespace, change.facts, events=change.events)
    elif not find_origins(db, namespace, [known.id]):
        db.run("write_fact_origin", {"namespace": namespace, "fact": known.id, "document": ""})
    id = known.id if known else fact.id
    db.run("write_fact_origin", {"namespace": namespace, "fact": id, "document": document})
    return id


def _equal(db: Session, namespace: Namespace, fact: Fact) -> list[Fact]:
    contents = json.dumps([content_of(fact)])
    ids = [row[0] for row in db.run("fact_ids_by_content", {"namespace": namespace, "contents": contents})]
    rows = {row[0]: to_fact(row) for row in db.run("facts_by_id", {"namespace": namespace, "ids": json.dumps(ids)})}
    return [rows[id] for id in ids if id in rows]
