"""Consistency check of a namespace, and repair of its derived data."""

from __future__ import annotations

from collections import Counter, defaultdict

from weft.records import Problem
from weft.store.relational.check.facts import FACT_TABLES, find_fact_problems, repair_facts
from weft.store.relational.check.graph import (
    GRAPH_TABLES,
    find_graph_problems,
    rebuild_graph,
    restore_statements,
)
from weft.store.relational.check.json_values import find_unreadable, reset_unreadable
from weft.store.relational.document_write import write_labels
from weft.store.relational.json_columns import read_list, read_object
from weft.store.relational.session import Namespace, Session, find_active_model
from weft.store.shared.labels import labels
from weft.store.shared.unembedded import MAX_COUNTED, report_missing_vectors
from weft.text.ids import chunk_id
from weft.text.plurals import counted
from weft.text.split import indexed_text, join_text

DOCUMENT_TABLES = ("document", "chunk", "model", "calibration", "edit")
"""Tables whose rows are the source of all others."""

DERIVED_TABLES = ("label", "chunk_vector", "chunk_terms", "term")


def find_orphans(db: Session) -> list[Problem]:
    """Return a problem for each table with rows that refer to a missing row."""
    found = []
    for tables, repairable in ((DOCUMENT_TABLES, False), ((*DERIVED_TABLES, *GRAPH_TABLES, *FACT_TABLES), True)):
        for table in tables:
            if count := db.integrity.count_orphans(table):
                what = f"{counted(count, 'row refers', 'rows refer')} to a missing row"
                found.append(Problem(where=f"table {table}", what=what, repairable=repairable))
    return found


def drop_orphans(db: Session) -> list[str]:
    """Delete derived rows that refer to a missing row; return a line if there were any."""
    before = db.total_changes()
    for table in (*DERIVED_TABLES, *GRAPH_TABLES, *FACT_TABLES):
        db.integrity.drop_orphans(table)
    dropped = db.total_changes() - before
    return [f"deleted {counted(dropped, 'row')} that referred to a missing row"] if dropped else []


def is_lost(db: Session, name: str) -> bool:
    """
    Return True if a namespace counts chunks, but has no document and no chunk.

    A write changes count and documents in one transaction, so the rows were lost outside of Weft. Nothing can be
    derived from what is left, and correcting the count would hide the loss.
    """
    found = db.namespace(name)
    if not found or not found.chunks or db.one("has_content", {"namespace": found.key}):
        return False
    return not db.run("all_terms", {"namespace": found.key})


def find_problems(db: Session, namespace: Namespace, name: str, *, chunks: int, length: int) -> list[Problem]:
    """Check JSON values, counts, chunk texts, labels, vectors, keywords, graph and facts of a namespace."""
    where = f"namespace {name!r}"
    if is_lost(db, name):
        what = f"its {counted(chunks, 'chunk is', 'chunks are')} lost: restore a backup, or drop it and index again"
        return [Problem(where=where, what=what, repairable=False)]
    unreadable = find_unreadable(db, namespace)
    problems = [value.problem(where) for value in unreadable]
    if any(value.in_document for value in unreadable):
        return problems
    problems += _check_counts(db, namespace, where, chunks=chunks, length=length)
    problems += _check_chunks(db, namespace, where)
    if mismatched := _find_labels(db, namespace):
        what = counted(len(mismatched), "document has", "documents have") + " labels that do not match the metadata"
        problems.append(Problem(where=where, what=what, repairable=True))
    problems += _check_vectors(db, namespace, name, where)
    if not db.keywords.are_sound(namespace):
        what = "the keyword index does not match the chunks"
        problems.append(Problem(where=where, what=what, repairable=True))
    problems += find_graph_problems(db, namespace, name)
    problems += find_fact_problems(db, namespace, name)
    return problems


def repair_namespace(db: Session, namespace: Namespace, name: str) -> list[str]:
    """
    Reset unreadable values; derive labels, keyword index, counts, graph and facts again. Return a line per change.

    Damaged documents are marked to be indexed again. A namespace whose documents are lost is left as it is.
    """
    if is_lost(db, name):
        return []
    done = reset_unreadable(db, namespace, name)
    if mismatched := _find_labels(db, namespace):
        for number, found in mismatched.items():
            write_labels(db, namespace, number, found)
        done.append(f"{name}: corrected the labels of {counted(len(mismatched), 'document')}")
    if restored := restore_statements(db, namespace):
        done.append(f"{name}: corrected {counted(restored, 'row')} of the graph")
    if not db.keywords.are_sound(namespace):
        done.append(f"{name}: rebuilt the keyword index ({counted(db.keywords.rebuild(namespace), 'row')})")
    lengths = [length for _, _, length in db.run("all_terms", {"namespace": namespace})]
    db.run("set_counts", {"namespace": namespace, "chunks": len(lengths), "length": sum(lengths)})
    if find_graph_problems(db, namespace, name):
        rebuild_graph(db, namespace, name)
        entities = db.one("count_entities", {"namespace": namespace})
        done.append(f"{name}: rebuilt the graph ({counted(entities, 'entity')})")
    if wrong := db.one("bad_vectors", {"namespace": namespace}):
        db.run("delete_bad_vectors", {"namespace": namespace})
        done.append(f"{name}: deleted {counted(wrong, 'vector')} of the wrong length")
    if repaired := repair_facts(db, namespace):
        done.append(f"{name}: corrected {counted(repaired, 'row')} of facts")
    for document in _damaged_documents(db, namespace):
        db.run("forget_content_hash", {"namespace": namespace, "id": document})
        done.append(f"{name}: document {document} is damaged; `weft index` reads it again")
    return done


def _check_counts(db: Session, namespace: Namespace, where: str, *, chunks: int, length: int) -> list[Problem]:
    lengths = [length for _, _, length in db.run("all_terms", {"namespace": namespace})]
    if (chunks, length) == (len(lengths), sum(lengths)):
        return []
    what = f"counts {counted(chunks, 'chunk')} of {counted(length, 'term')}, has {len(lengths):,} of {sum(lengths):,}"
    return [Problem(where=where, what=what, repairable=True)]


def _check_chunks(db: Session, namespace: Namespace, where: str) -> list[Problem]:
    what = "document {} does not match the text it was indexed from"
    damaged = _damaged_documents(db, namespace)
    return [Problem(where=where, what=what.format(id), repairable=True) for id in damaged]


def _damaged_documents(db: Session, namespace: Namespace) -> list[str]:
    """Return the ids of documents with a chunk whose id does not match its text, or with gaps in the order."""
    damaged: dict[str, None] = {}
    seen: Counter[tuple[str, str]] = Counter()
    expected: Counter[str] = Counter()
    for document, title, id, ordinal, heading, text in db.run("all_chunks", {"namespace": namespace}):
        path = tuple(read_list(heading, what=f"the headings of chunk {id!r}"))
        # a document that an older version split has ids of texts with their markup
        texts = {indexed_text(title, path, text), join_text(title, path, text)}
        ids = {chunk_id(document, indexed, seen[document, indexed]) for indexed in texts}
        if id not in ids or ordinal != expected[document]:
            damaged[document] = None
        seen.update((document, indexed) for indexed in texts)
        expected[document] += 1
    return list(damaged)


def _find_labels(db: Session, namespace: Namespace) -> dict[int, set[tuple[str, str]]]:
    """Return the documents whose labels do not match their metadata, by number, with the correct labels."""
    stored: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for document, key, value in db.stream("all_labels", {"namespace": namespace}):
        stored[document].add((key, value))
    derived: dict[int, set[tuple[str, str]]] = {}
    for number, _, source, metadata in db.stream("all_metadata", {"namespace": namespace}):
        derived[number] = labels(read_object(metadata, what=f"the metadata of {source!r}"))
    mismatched = {number: found for number, found in derived.items() if found != stored.get(number, set())}
    return mismatched | {number: set() for number in stored if number not in derived}


def _check_vectors(db: Session, namespace: Namespace, name: str, where: str) -> list[Problem]:
    problems = []
    if wrong := db.one("bad_vectors", {"namespace": namespace}):
        what = counted(wrong, "vector has", "vectors have") + " the wrong length"
        problems.append(Problem(where=where, what=what, repairable=True))
    active = find_active_model(db, name)
    if active is None:
        return problems
    key = {"namespace": namespace, "fingerprint": active.model.fingerprint, "limit": MAX_COUNTED}
    return problems + report_missing_vectors(
        where,
        active.model.name,
        chunks=len(db.run("find_unembedded", key)),
        names=len({(chunk, name) for chunk, name, *_ in db.run("unembedded_entities", key)}),
        facts=len(db.run("unembedded_fact_entities", key)),
    )
