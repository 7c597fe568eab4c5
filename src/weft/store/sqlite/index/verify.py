"""Comparison of read indexes with a scan of the file, for `weft check --deep`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from weft.records import Filter, Problem, Ranking
from weft.store.relational.session import NamespaceRow, Session
from weft.store.sqlite import vectors
from weft.store.sqlite.index import reader
from weft.store.sqlite.index.reader import ReadIndexes
from weft.store.sqlite.index.targets import Target, count_rows, find_targets, last_number
from weft.store.sqlite.postings import search_postings

SAMPLE_QUERIES = 20
"""Number of stored vectors and texts that serve as queries."""

MAX_QUERY_TERMS = 12
"""Maximum number of terms in a keyword query."""

TOP_K = 10

MIN_RECALL = 0.9
"""Minimum recall@10 of an intact index; usual values are above 0.97."""

Scores: TypeAlias = tuple[list[float] | None, list[float]]
"""Best scores of the index (None without an index), and best scores of a scan."""

SAMPLE_STATEMENTS = {
    "vectors": "sample_numbered_vectors",
    "entities": "sample_entity_vectors",
    "keywords": "sample_terms",
}


def compare(db: Session, indexes: ReadIndexes) -> list[Problem]:
    """Return damaged index files, and indexes whose recall against a scan is below `MIN_RECALL`."""
    problems = []
    names = {number: name for number, name, *_ in db.run("all_namespaces")}
    for target in find_targets(db, min_rows=reader.MIN_INDEXED_ROWS):
        where = f"namespace {names[target.namespace]!r}"
        for file in _damaged_files(indexes, target):
            problems.append(Problem(where=where, what=f"the read-index file {file} is damaged", repairable=True))
        found = expected = 0
        state = db.namespace(names[target.namespace])
        for matching, scanned in _compare_queries(db, indexes, target, state) if state else ():
            found, expected = found + matching, expected + scanned
        if found < MIN_RECALL * expected:
            what = f"the read index of {target.kind} finds {found} of the {expected} best results of a scan"
            problems.append(Problem(where=where, what=what, repairable=True))
    return problems


def _damaged_files(indexes: ReadIndexes, target: Target) -> Iterator[str]:
    manifest = indexes.folder.read_manifest(target.name)
    for listed in manifest.files if manifest else ():
        if indexes.folder.checksum_file(listed.file).crc != listed.crc:
            yield listed.file


def _compare_queries(
    db: Session, indexes: ReadIndexes, target: Target, state: NamespaceRow
) -> Iterator[tuple[int, int]]:
    """
    Yield, per query, the number of index results that score like the scan, and of scan results; nothing without an
    index.
    """
    count = count_rows(db, target, low=0, high=last_number(db, target))
    sampling = {"every": max(1, count // (2 * SAMPLE_QUERIES)), "limit": SAMPLE_QUERIES}
    values = {"model": target.scope, "namespace": target.scope, **sampling}
    for (content,) in db.run(SAMPLE_STATEMENTS[target.kind], values):
        found, scanned = SEARCHES[target.kind](db, indexes, target, state, content)
        if found is None:
            return
        least = (scanned[-1] if scanned else 0.0) - 1e-6
        yield sum(score >= least for score in found), len(scanned)


def _search_vectors(db: Session, indexes: ReadIndexes, target: Target, state: NamespaceRow, content: bytes) -> Scores:
    options: dict[str, Any] = {"model": target.scope, "limit": TOP_K, "where": Filter()}
    vector = db.vectors.unpack_half(content)
    found = indexes.search_vectors(db, state, vector, **options)
    return _scores(found), _scores(vectors.search(db, target.namespace, vector, **options)) or []


def _search_entities(db: Session, indexes: ReadIndexes, target: Target, state: NamespaceRow, content: bytes) -> Scores:
    options: dict[str, Any] = {"model": target.scope, "limit": TOP_K}
    vector = db.vectors.unpack(content)
    found = indexes.search_entities(db, state, vector, **options)
    scanned = vectors.search_facts(db, vector, **options)
    return None if found is None else [score for _, score in found], [score for _, score in scanned]


def _search_keywords(db: Session, indexes: ReadIndexes, target: Target, state: NamespaceRow, content: str) -> Scores:
    terms = list(json.loads(content))[:MAX_QUERY_TERMS]
    options: dict[str, Any] = {"limit": TOP_K, "where": Filter(), "total": state.chunks}
    options["mean_length"] = state.length / state.chunks
    found = indexes.search_keywords(db, state, terms, **options)
    scanned = search_postings(db, target.namespace, terms, **options)
    return _scores(found), _scores(scanned) or []


def _scores(ranking: Ranking | None) -> list[float] | None:
    return None if ranking is None else [hit.score for hit in ranking.hits]


SEARCHES: dict[str, Callable[..., Scores]] = {
    "vectors": _search_vectors,
    "entities": _search_entities,
    "keywords": _search_keywords,
}
