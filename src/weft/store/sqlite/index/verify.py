"""Compares what read indexes find with what a scan of the file finds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from weft.records import Filter, Problem, Ranking
from weft.store.relational.session import Session
from weft.store.sqlite import vectors
from weft.store.sqlite.index import reader
from weft.store.sqlite.index.reader import ReadIndexes
from weft.store.sqlite.index.targets import Target, count_rows, find_targets, last_number
from weft.store.sqlite.postings import search_postings

QUESTIONS = 20
"""Stored vectors and texts from all over a namespace that are asked for."""

TERMS = 12
"""Terms of a text that are asked for."""

WANTED = 10
LEAST = 0.9
"""Share of the nearest ten below which an index is taken to be damaged; whole ones have above 0.97."""

Answers: TypeAlias = tuple[list[float] | None, list[float]]
"""Scores of the best by an index, where there is one, and by a scan."""

SAMPLES = {"vectors": "sample_numbered_vectors", "entities": "sample_entity_vectors", "keywords": "sample_terms"}


def compare(db: Session, indexes: ReadIndexes) -> list[Problem]:
    """Return the namespaces whose index misses what a scan finds, or has damaged files."""
    problems = []
    names = {number: name for number, name, *_ in db.run("all_namespaces")}
    for target in find_targets(db, least=reader.FROM):
        where = f"namespace {names[target.namespace]}"
        for file in _damaged(indexes, target):
            what = f"the file {file} of an index beside the store is damaged"
            problems.append(Problem(where=where, what=what, repairable=True))
        found = wanted = 0
        for got, had in _answers(db, indexes, target):
            found, wanted = found + got, wanted + had
        if found < LEAST * wanted:
            what = f"the index of {target.kind} beside the file finds {found} of {wanted} that a scan finds"
            problems.append(Problem(where=where, what=what, repairable=True))
    return problems


def _damaged(indexes: ReadIndexes, target: Target) -> Iterator[str]:
    manifest = indexes.folder.read(target.name)
    for saved in manifest.files if manifest else ():
        if indexes.folder.known(saved.file).crc != saved.crc:
            yield saved.file


def _answers(db: Session, indexes: ReadIndexes, target: Target) -> Iterator[tuple[int, int]]:
    """Yield how many of the best ten are as good as a scan's, and how many a scan finds; nothing without an index."""
    count = count_rows(db, target, low=0, high=last_number(db, target))
    every = {"every": max(1, count // (2 * QUESTIONS)), "limit": QUESTIONS}
    chosen = {"model": target.scope, "namespace": target.scope, **every}
    for (content,) in db.run(SAMPLES[target.kind], chosen):
        found, scanned = ASKING[target.kind](db, indexes, target, content)
        if found is None:
            return
        least = (scanned[-1] if scanned else 0.0) - 1e-6
        yield sum(score >= least for score in found), len(scanned)


def _ask_vectors(db: Session, indexes: ReadIndexes, target: Target, content: bytes) -> Answers:
    asked: dict[str, Any] = {"model": target.scope, "limit": WANTED, "where": Filter()}
    vector = db.unpack(content)
    found = indexes.search_vectors(db, target.namespace, vector, **asked)
    return _scores(found), _scores(vectors.search(db, target.namespace, vector, **asked)) or []


def _ask_entities(db: Session, indexes: ReadIndexes, target: Target, content: bytes) -> Answers:
    asked: dict[str, Any] = {"model": target.scope, "limit": WANTED}
    vector = db.unpack(content)
    found = indexes.search_entities(db, target.namespace, vector, **asked)
    scanned = vectors.search_facts(db, vector, **asked)
    return None if found is None else [score for _, score in found], [score for _, score in scanned]


def _ask_keywords(db: Session, indexes: ReadIndexes, target: Target, content: str) -> Answers:
    terms = list(json.loads(content))[:TERMS]
    asked: dict[str, Any] = {"limit": WANTED, "where": Filter()}
    _, total, length = db.run("namespace_state", {"namespace": target.namespace})[0]
    found = indexes.search_keywords(db, target.namespace, terms, **asked)
    scanned = search_postings(db, target.namespace, terms, **asked, total=total, mean_length=length / total)
    return _scores(found), _scores(scanned) or []


def _scores(ranking: Ranking | None) -> list[float] | None:
    return None if ranking is None else [hit.score for hit in ranking.hits]


ASKING: dict[str, Callable[..., Answers]] = {
    "vectors": _ask_vectors,
    "entities": _ask_entities,
    "keywords": _ask_keywords,
}
