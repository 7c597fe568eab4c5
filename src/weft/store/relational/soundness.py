"""Whether a namespace contradicts itself, and mending what can be derived again."""

from __future__ import annotations

import json
from collections import Counter

from weft.records import Problem
from weft.store.missing import ALL, missing_vectors
from weft.store.relational.fact_soundness import FACT_TABLES, find_fact_problems, mend_facts
from weft.store.relational.graph_soundness import (
    GRAPH_TABLES,
    counted,
    find_graph_problems,
    rebuild_graph,
    restore_statements,
)
from weft.store.relational.session import Namespace, Session
from weft.text.ids import chunk_id
from weft.text.split import indexed_text

DOCUMENT_TABLES = ("document", "label", "chunk", "model", "chunk_vector", "calibration", "edit")
"""Tables whose rows cannot be derived again."""

KEYWORD_TABLES = ("chunk_terms", "term")


def find_lost_rows(db: Session) -> list[Problem]:
    """Return the tables that hold rows whose namespace, document, chunk, entity or model is gone."""
    found = []
    for tables, repairable in ((DOCUMENT_TABLES, False), ((*KEYWORD_TABLES, *GRAPH_TABLES, *FACT_TABLES), True)):
        for table in tables:
            if count := db.count_lost(table):
                what = f"{counted(count, 'row refers', 'rows refer')} to nothing"
                found.append(Problem(where=f"table {table}", what=what, repairable=repairable))
    return found


def drop_lost_rows(db: Session) -> list[str]:
    """Remove those that mean nothing on their own; return what was done."""
    before = db.total_changes()
    for table in (*KEYWORD_TABLES, *GRAPH_TABLES, *FACT_TABLES):
        db.drop_lost(table)
    dropped = db.total_changes() - before
    return [f"dropped {counted(dropped, 'row', 'rows')} of what is gone"] if dropped else []


def find_problems(db: Session, namespace: Namespace, name: str, *, chunks: int, length: int) -> list[Problem]:
    """Check a namespace: counts, chunk texts, vectors, keyword index, graph, facts."""
    where = f"namespace {name!r}"
    problems = _check_counts(db, namespace, where, chunks=chunks, length=length)
    problems += _check_chunks(db, namespace, where)
    problems += _check_vectors(db, namespace, where)
    if not db.are_terms_sound(namespace):
        what = "the keyword index does not match the chunks"
        problems.append(Problem(where=where, what=what, repairable=True))
    problems += find_graph_problems(db, namespace, name)
    problems += find_fact_problems(db, namespace, name)
    return problems


def mend(db: Session, namespace: Namespace, name: str) -> list[str]:
    """Derive keyword index, counts and graph again, put facts in order, mark damaged documents to be indexed anew."""
    done: list[str] = []
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
        indexed = indexed_text(title, tuple(json.loads(heading)), text)
        if id != chunk_id(document, indexed, seen[document, indexed]) or ordinal != expected[document]:
            damaged[document] = None
        seen[document, indexed] += 1
        expected[document] += 1
    return list(damaged)


def _check_vectors(db: Session, namespace: Namespace, where: str) -> list[Problem]:
    problems = []
    if wrong := db.one("bad_vectors", {"namespace": namespace}):
        problems.append(Problem(where=where, what=f"{wrong} vectors of the wrong length", repairable=False))
    for _, name, fingerprint, _, active in db.run("list_models", {"namespace": namespace}):
        if not active:
            continue
        key = {"namespace": namespace, "fingerprint": fingerprint, "limit": ALL}
        problems += missing_vectors(
            where,
            name,
            chunks=len(db.run("find_unembedded", key)),
            names=len({(chunk, name) for chunk, name, *_ in db.run("unembedded_entities", key)}),
            facts=len(db.run("unembedded_fact_entities", key)),
        )
    return problems
