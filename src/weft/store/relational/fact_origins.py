"""Origins of facts: the documents that state them, updated in the transaction of the document."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from weft.records import Fact, FactEntity, FactEvent
from weft.store.relational.fact_rows import drop_entities, forget_facts, to_entity, to_fact, to_row, write_facts
from weft.store.relational.session import Namespace, Session
from weft.store.shared.fact_rules import add_stated, content_of, find_restated, is_settled, settle_statements


def write_stated(db: Session, namespace: Namespace, document: str, facts: Sequence[Fact]) -> None:
    """Replace the facts that a document states."""
    before = [id for (id,) in db.run("facts_of_document", {"namespace": namespace, "document": document})]
    after = {_state(db, namespace, document, fact) for fact in facts}
    with settling(db, namespace, facts, removed=[id for id in before if id not in after]) as removed:
        retract(db, namespace, document, removed)


@contextmanager
def settling(
    db: Session, namespace: Namespace, facts: Sequence[Fact], *, removed: Sequence[str] = ()
) -> Iterator[Sequence[str]]:
    """Set the ends of statements that `facts` replace, after the block, which deletes those of the ids `removed`."""
    gone = _facts(db, namespace, removed) if removed else []
    yield removed
    for subject, predicate in sorted({(f.subject, f.predicate) for f in (*facts, *gone) if is_settled(f)}):
        values = {"namespace": namespace, "subject": subject, "predicate": predicate}
        ids = [id for (id,) in db.run("fact_ids_by_predicate", values)]
        derived = {id for id, documents in find_origins(db, namespace, ids).items() if "" not in documents}
        write_facts(db, namespace, settle_statements(_facts(db, namespace, ids), derived=derived))


def retract(db: Session, namespace: Namespace, document: str, ids: Sequence[str]) -> None:
    """Remove a document from the origins of facts; delete the facts that have no other origin."""
    if not ids:
        return
    values = {"namespace": namespace, "ids": json.dumps(list(ids))}
    db.run("delete_fact_origin", {**values, "document": document})
    remaining = find_origins(db, namespace, ids)
    forget_facts(db, namespace, [id for id in ids if id not in remaining])
    by_hand = [id for id, documents in remaining.items() if documents == ("",)]
    db.run("delete_fact_origin", {"namespace": namespace, "ids": json.dumps(by_hand), "document": ""})


def keep_facts(db: Session, namespace: Namespace, ids: Sequence[str]) -> None:
    """Mark facts as manual statements, which are kept when their documents are deleted."""
    if ids:
        db.run("keep_facts", {"namespace": namespace, "ids": json.dumps(list(ids))})


def find_origins(db: Session, namespace: Namespace, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the documents that state facts, by fact id; an empty id stands for a manual statement."""
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
    """Write facts and entities exported from another store, with access counts, history and origins."""
    values = {"namespace": namespace, "keys": json.dumps([entity.key for entity in entities])}
    known = {entity.key: entity for entity in map(to_entity, db.run("fact_entities", values))}
    changed = [entity.key for entity in entities if entity.key in known and known[entity.key] != entity]
    drop_entities(db, namespace, changed)
    ids = {"namespace": namespace, "ids": json.dumps([fact.id for fact in facts])}
    db.run("delete_fact_events", ids)
    db.run("delete_fact_origins", ids)
    db.run("delete_fact_text_vectors", ids)
    write_facts(db, namespace, facts, events=events, entities=entities)
    for fact in facts:
        row = to_row(fact)
        values = {name: row[name] for name in ("id", "accessed", "accesses")}
        db.run("set_fact_accesses", {"namespace": namespace, **values})
        for document in origins.get(fact.id, ()):
            db.run("write_fact_origin", {"namespace": namespace, "fact": fact.id, "document": document})


def _state(db: Session, namespace: Namespace, document: str, fact: Fact) -> str:
    """Add a document to the origins of an equal fact, or of a new one; return the fact's id."""
    known = find_restated(fact, _equal(db, namespace, fact) or _facts(db, namespace, [fact.id]))
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
    return _facts(
        db, namespace, [id for (id,) in db.run("fact_ids_by_content", {"namespace": namespace, "contents": contents})]
    )


def _facts(db: Session, namespace: Namespace, ids: Sequence[str]) -> list[Fact]:
    """Return the facts with these ids, in their order."""
    rows = db.run("facts_by_id", {"namespace": namespace, "ids": json.dumps(list(ids))})
    found = {fact.id: fact for fact in map(to_fact, rows)}
    return [found[id] for id in ids if id in found]
