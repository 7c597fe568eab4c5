"""Compares what read indexes find with what a scan finds."""

from __future__ import annotations

from weft.records import Filter, Problem
from weft.store.relational.session import Session
from weft.store.sqlite import derived, vectors
from weft.store.sqlite.derived import VectorIndexes

QUESTIONS = 20
"""Stored vectors from all over a namespace that are asked for."""

WANTED = 10
LEAST = 0.9
"""Share of the nearest ten below which an index is taken to be damaged; whole ones have above 0.97."""


def compare(db: Session, indexes: VectorIndexes) -> list[Problem]:
    """Return the namespaces whose index misses what a scan finds."""
    problems = []
    names = {number: name for number, name, *_ in db.run("all_namespaces")}
    for namespace, model, _ in db.run("indexed_models", {"least": derived.FROM}):
        count = db.one("count_vectors", {"model": model})
        chosen = {"model": model, "every": max(1, count // (2 * QUESTIONS)), "limit": QUESTIONS}
        found = wanted = 0
        for (packed,) in db.run("sample_numbered_vectors", chosen):
            asked = {"model": model, "limit": WANTED, "where": Filter()}
            ranking = indexes.search(db, namespace, db.unpack(packed), **asked)
            if ranking is None:  # a scan answers
                break
            exact = vectors.search(db, namespace, db.unpack(packed), **asked)
            least = exact.hits[-1].score - 1e-6
            found += sum(hit.score >= least for hit in ranking.hits)
            wanted += len(exact.hits)
        if found < LEAST * wanted:
            what = f"the index beside the file finds {found} of {wanted} nearest vectors"
            problems.append(Problem(where=f"namespace {names[namespace]}", what=what, repairable=True))
    return problems
