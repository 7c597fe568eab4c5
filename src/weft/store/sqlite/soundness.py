"""Whether a SQLite store contradicts itself, and mending what can be derived again."""

from __future__ import annotations

import json
from collections import Counter

import apsw

from weft.records import Problem
from weft.store.sqlite.fact_soundness import (
    FACT_TABLES,
    drop_lost_facts,
    find_fact_problems,
    find_lost_facts,
    mend_facts,
)
from weft.store.sqlite.graph_soundness import (
    GRAPH_TABLES,
    find_graph_problems,
    find_lost_rows,
    rebuild_graph,
    restore_statements,
)
from weft.store.sqlite.postings import TermChanges
from weft.store.sqlite.statements import one, run
from weft.text.ids import chunk_id
from weft.text.split import indexed_text


def find_problems(db: apsw.Connection) -> list[Problem]:
    """Check the file, then each namespace: references, counts, chunk texts, vectors, postings, graph, facts."""
    damage = [row[0] for row in db.execute("PRAGMA integrity_check(20)") if row[0] != "ok"]
    if damage:
        return [Problem(where="file", what=str(line), repairable=False) for line in damage]
    problems = [
        Problem(where=f"table {row[0]}", what=f"row {row[1]} refers to nothing in {row[2]}", repairable=False)
        for row in db.execute("PRAGMA foreign_key_check")
        if row[0] not in (*GRAPH_TABLES, *FACT_TABLES)
    ]
    problems += find_lost_rows(db) + find_lost_facts(db)
    for namespace, name, chunks, length in run(db, "all_namespaces"):
        where = f"namespace {name!r}"
        problems += _check_counts(db, namespace, where, chunks=chunks, length=length)
        problems += _check_chunks(db, namespace, where)
        problems += _check_vectors(db, namespace, where)
        if _read_postings(db, namespace) != _derive_postings(db, namespace):
            what = "the keyword index does not match the chunks"
            problems.append(Problem(where=where, what=what, repairable=True))
        problems += find_graph_problems(db, namespace, name)
        problems += find_fact_problems(db, namespace, name)
    return problems


def mend(db: apsw.Connection) -> list[str]:
    """Derive postings, counts and graph again, put facts in order, mark damaged documents to be indexed anew."""
    done: list[str] = []
    if restored := restore_statements(db):
        done.append(f"the graph: put {restored:,} rows in order")
    if dropped := drop_lost_facts(db):
        done.append(f"the facts: dropped {dropped:,} rows of what is gone")
    for namespace, name, _, _ in run(db, "all_namespaces"):
        derived = _derive_postings(db, namespace)
        if derived != _read_postings(db, namespace):
            run(db, "delete_postings", {"namespace": namespace})
            for (term, block), entries in derived.items():
                key = {"namespace": namespace, "term": term, "block": block}
                run(db, "write_posting", {**key, "entries": entries})
            done.append(f"{name}: built the keyword index again ({len(derived):,} blocks)")
        lengths = [row[2] for row in run(db, "all_terms", {"namespace": namespace})]
        counts = {"namespace": namespace, "chunks": len(lengths), "length": sum(lengths)}
        run(db, "set_counts", counts)
        if find_graph_problems(db, namespace, name):
            rebuild_graph(db, namespace, name)
            entities = one(db, "count_entities", {"namespace": namespace})
            done.append(f"{name}: derived the graph again ({entities:,} entities)")
        if mended := mend_facts(db, namespace):
            done.append(f"{name}: put {mended:,} rows of facts in order")
        for document in _damaged_documents(db, namespace):
            run(db, "forget_content_hash", {"namespace": namespace, "id": document})
            done.append(f"{name}: document {document} is damaged; `weft index` will read it again")
    return done


def _check_counts(db: apsw.Connection, namespace: int, where: str, *, chunks: int, length: int) -> list[Problem]:
    lengths = [row[2] for row in run(db, "all_terms", {"namespace": namespace})]
    if (chunks, length) == (len(lengths), sum(lengths)):
        return []
    what = f"says {chunks} chunks of {length} terms, holds {len(lengths)} of {sum(lengths)}"
    return [Problem(where=where, what=what, repairable=True)]


def _check_chunks(db: apsw.Connection, namespace: int, where: str) -> list[Problem]:
    what = "document {} does not hold the text it was indexed from"
    damaged = _damaged_documents(db, namespace)
    return [Problem(where=where, what=what.format(id), repairable=True) for id in damaged]


def _damaged_documents(db: apsw.Connection, namespace: int) -> list[str]:
    """Return documents in which a chunk's id is not the one its text gives, or the order has gaps."""
    damaged: dict[str, None] = {}
    seen: Counter[tuple[str, str]] = Counter()
    expected: Counter[str] = Counter()
    for document, title, id, ordinal, heading, text in run(db, "all_chunks", {"namespace": namespace}):
        indexed = indexed_text(title, tuple(json.loads(heading)), text)
        if id != chunk_id(document, indexed, seen[document, indexed]) or ordinal != expected[document]:
            damaged[document] = None
        seen[document, indexed] += 1
        expected[document] += 1
    return list(damaged)


def _check_vectors(db: apsw.Connection, namespace: int, where: str) -> list[Problem]:
    problems = []
    if wrong := one(db, "bad_vectors", {"namespace": namespace}):
        problems.append(Problem(where=where, what=f"{wrong} vectors of the wrong length", repairable=False))
    for _, name, fingerprint, _, active in run(db, "list_models", {"namespace": namespace}):
        key = {"namespace": namespace, "fingerprint": fingerprint, "limit": 1_000_000}
        missing = len(run(db, "find_unembedded", key)) if active else 0
        if missing:
            what = f"{missing} chunks have no vector of {name!r} (weft reembed)"
            problems.append(Problem(where=where, what=what, repairable=False))
    return problems


def _read_postings(db: apsw.Connection, namespace: int) -> dict[tuple[str, int], bytes]:
    rows = run(db, "all_postings", {"namespace": namespace})
    return {(term, block): entries for term, block, entries in rows}


def _derive_postings(db: apsw.Connection, namespace: int) -> dict[tuple[str, int], bytes]:
    """Return what the postings must be, from the chunks' own terms."""
    changes = TermChanges()
    for number, terms, length in run(db, "all_terms", {"namespace": namespace}):
        changes.add(number, json.loads(terms), length=length)
    return changes.blocks()
