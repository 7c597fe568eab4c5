"""Whether a namespace contradicts itself, and mending what can be derived again."""

from __future__ import annotations

from collections import Counter, defaultdict

from weft.records import Problem
from weft.store.relational.check.facts import FACT_TABLES, find_fact_problems, mend_facts
from weft.store.relational.check.graph import (
    GRAPH_TABLES,
    counted,
    find_graph_problems,
    rebuild_graph,
    restore_statements,
)
from weft.store.relational.check.json_values import find_unreadable, reset_unreadable
from weft.store.relational.document_write import write_labels
from weft.store.relational.json_columns import read_list, read_object
from weft.store.relational.session import Namespace, Session
from weft.store.shared.labels import labels
from weft.store.shared.unembedded import MAX_COUNTED, report_missing_vectors
from weft.text.ids import chunk_id
from weft.text.split import indexed_text

DOCUMENT_TABLES = ("document", "chunk", "model", "calibration", "edit")
"""Tables whose rows cannot be derived again."""

DERIVED_TABLES = ("label", "chunk_vector", "chunk_terms", "term")


def find_lost_rows(db: Session) -> list[Problem]:
    """Return the tables that hold rows whose namespace, document, chunk, entity or model is gone."""
    found = []
    for tables, repairable in ((DOCUMENT_TABLES, False), ((*DERIVED_TABLES, *GRAPH_TABLES, *FACT_TABLES), True)):
        for table in tables:
            if count := db.count_orphans(table):
                what = f"{counted(count, 'row refers', 'rows refer')} to nothing"
                found.append(Problem(where=f"table {table}", what=what, repairable=repairable))
    return found


def drop_lost_rows(db: Session) -> list[str]:
    """Remove those that mean nothing on their own; return what was done."""
    before = db.total_changes()
    for table in (*DERIVED_TABLES, *GRAPH_TABLES, *FACT_TABLES):
        db.drop_orphans(table)
    dropped = db.total_changes() - before
    return [f"dropped {counted(dropped, 'row', 'rows')} of what is gone"] if dropped else []


def find_problems(db: Session, namespace: Namespace, name: str, *, chunks: int, length: int) -> list[Problem]:
    """Check a namespace: whether it can be read; then counts, chunk texts, labels, vectors, keywords, graph, facts."""
    where = f"namespace {name!r}"
    unreadable = find_unreadable(db, namespace)
    problems = [value.problem(where) for value in unreadable]
    if any(value.in_document for value in unreadable):
        return problems
    problems += _check_counts(db, namespace, where, chunks=chunks, length=length)
    problems += _check_chunks(db, namespace, where)
    if strange := _find_labels(db, namespace):
        what = counted(len(strange), "document has", "documents have") + " other labels than the metadata gives"
        problems.append(Problem(where=where, what=what, repairable=True))
    problems += _check_vectors(db, namespace, where)
    if not db.are_terms_sound(namespace):
        what = "the keyword index does not match the chunks"
        problems.append(Problem(where=where, what=what, repairable=True))
    problems += find_graph_problems(db, namespace, name)
    problems += find_fact_problems(db, namespace, name)
    return problems


def mend(db: Session, namespace: Namespace, name: str) -> list[str]:
    """
    Derive again what cannot be read, keyword index, counts and graph, and put facts in order.

    Damaged documents are marked to be indexed anew.
    """
    done = reset_unreadable(db, namespace, name)
    if strange := _find_labels(db, namespace):
        for number, found in strange.items():
            write_labels(db, namespace, number, found)
        done.append(f"{name}: put the labels of {counted(len(strange), 'document', 'documents')} in order")
    if restored := restore_statements(db, namespace):
        done.append(f"{name}: put {restored:,} rows of the graph in order")
    if not db.are_terms_sound(namespace):
        done.append(f"{name}: built the keyword index again ({db.rebuild_terms(namespace):,} rows)")
    lengths = [row[2] for row in db.run("all_terms", {"namespace": namespace})]
    db.run("set_counts", {"namespace": namespace, "chunks": len(lengths), "length": sum(lengths)})
    if find_graph_problems(db, namespace, name):
        rebuild_graph(db, namespace, name)
        entities = db.one("count_entities", {"namespace": namespace})
        done.append(f"{name}: derived the graph again ({entities:,} entities)")
    if wrong := db.one("bad_vectors", {"namespace": namespace}):
        db.run("delete_bad_vectors", {"namespace": namespace})
        done.append(f"{name}: dropped {counted(wrong, 'vector', 'vectors')} of the wrong length")
    if mended := mend_facts(db, namespace):
        done.append(f"{name}: put {mended:,} rows of facts in order")
    for document in _damaged_documents(db, namespace):
        db.run("forget_content_hash", {"namespace": namespace, "id": document})
        done.append(f"{name}: document {document} is damaged; `weft index` will read it again")
    return done


def _check_counts(db: Session, namespace: Namespace, where: str, *, chunks: int, length: int) -> list[Problem]:
    lengths = [row[2] for row in db.run("all_terms", {"namespace": namespace})]
    if (chunks, length) == (len(lengths), sum(lengths)):
        return []
    what = f"says {chunks} chunks of {length} terms, holds {len(lengths)} of {sum(lengths)}"
    return [Problem(where=where, what=what, repairable=True)]


def _check_chunks(db: Session, namespace: Namespace, where: str) -> list[Problem]:
    what = "document {} does not hold the text it was indexed from"
    damaged = _damaged_documents(db, namespace)
    return [Problem(where=where, what=what.format(id), repairable=True) for id in damaged]


def _damaged_documents(db: Session, namespace: Namespace) -> list[str]:
    """Return documents in which a chunk's id is not the one its text gives, or the order has gaps."""
    damaged: dict[str, None] = {}
    seen: Counter[tuple[str, str]] = Counter()
    expected: Counter[str] = Counter()
    for document, title, id, ordinal, heading, text in db.run("all_chunks", {"namespace": namespace}):
        indexed = indexed_text(title, tuple(read_list(heading, what=f"the headings of chunk {id!r}")), text)
        if id != chunk_id(document, indexed, seen[document, indexed]) or ordinal != expected[document]:
            damaged[document] = None
        seen[document, indexed] += 1
        expected[document] += 1
    return list(damaged)


def _find_labels(db: Session, namespace: Namespace) -> dict[int, set[tuple[str, str]]]:
    """Return the numbers of documents with other labels than their metadata gives, each with those it gives."""
    stored: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for document, key, value in db.stream("all_labels", {"namespace": namespace}):
        stored[document].add((key, value))
    derived: dict[int, set[tuple[str, str]]] = {}
    for number, _, source, metadata in db.stream("all_metadata", {"namespace": namespace}):
        derived[number] = labels(read_object(metadata, what=f"the metadata of {source!r}"))
    strange = {number: found for number, found in derived.items() if found != stored.get(number, set())}
    return strange | {number: set() for number in stored if number not in derived}


def _check_vectors(db: Session, namespace: Namespace, where: str) -> list[Problem]:
    problems = []
    if wrong := db.one("bad_vectors", {"namespace": namespace}):
        what = counted(wrong, "vector has", "vectors have") + " the wrong length"
        problems.append(Problem(where=where, what=what, repairable=True))
    for _, name, fingerprint, _, active in db.run("list_models", {"namespace": namespace}):
        if not active:
            continue
        key = {"namespace": namespace, "fingerprint": fingerprint, "limit": MAX_COUNTED}
        problems += report_missing_vectors(
            where,
            name,
            chunks=len(db.run("find_unembedded", key)),
            names=len({(chunk, name) for chunk, name, *_ in db.run("unembedded_entities", key)}),
            facts=len(db.run("unembedded_fact_entities", key)),
        )
    return problems
