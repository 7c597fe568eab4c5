"""
Who holds a term, and BM25: an index over numbers of terms finds candidates, a sparse product puts them in order,
and the first of these are scored exactly.

The numbers of terms are made from the term *and* the namespace, so that the index of all namespaces never leads from
one to another. Weights hold the mean length there was when they were written; the exact scores use today's.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from hashlib import blake2b
from typing import Any

import numpy as np
from pgvector import SparseVector

from weft.rank.bm25 import K1, B, ceiling, idf, term_scores
from weft.records import Filter, Hit, Ranking
from weft.store.relational.filters import bind
from weft.store.relational.session import Namespace, Session

DIMENSION = 1_000_000_000
"""Of the sparse vectors; the most there can be, so that two terms of a chunk hardly ever share a place."""

MAX_TERMS = 16_000
"""Terms of a chunk that a sparse vector can hold; of a chunk with more, the most frequent."""

CANDIDATES = 4_096
"""Chunks that the rarer terms of a question should lead to, before the more frequent ones are looked at."""

SURE = 10
"""Places that nothing unseen may take: the search goes on until no chunk without the terms looked at could."""

MARGIN, MAX_RESCORED = 50, 4_096
"""Candidates beyond those wanted whose exact score is computed; more where those left may be as good, up to so many."""

Scored = tuple[float, str, int]
"""The score of a chunk, negated, its id and its number."""

MAX_FREQUENCY, MAX_LENGTH = 255, 65_535
"""Where counting ends, as in the embedded store."""


@lru_cache(maxsize=100_000)
def term_number(namespace: Namespace, term: str) -> int:
    """Return the number of a term in a namespace: 63 bits, the same on every machine."""
    text = f"{namespace}\0{term}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little") >> 1


class TermChanges:
    """Collects what a transaction changes, and writes it once."""

    def __init__(self, db: Session, *, namespace: Namespace) -> None:
        self._db = db
        self._namespace = namespace
        self._counts: Counter[str] = Counter()
        self._written: dict[int, tuple[Mapping[str, int], int]] = {}

    def remove(self, number: int, terms: Iterable[str]) -> None:
        self._counts.subtract(list(terms))
        self._written.pop(number, None)

    def add(self, number: int, terms: Mapping[str, int], *, length: int) -> None:
        self._counts.update(terms.keys())
        self._written[number] = (terms, length)

    def apply(self) -> None:
        key = {"namespace": self._namespace}
        counts = {term: count for term, count in sorted(self._counts.items()) if count}
        if counts:
            rows = [{"term": term, "chunks": count} for term, count in counts.items()]
            self._db.run("count_term", {**key, "counts": json.dumps(rows, ensure_ascii=False)})
        if any(count < 0 for count in counts.values()):
            self._db.run("drop_terms", key)
        mean = self._mean_length()
        written = [
            {**key, "chunk": number, **_columns(self._namespace, terms, length=length, mean=mean)}
            for number, (terms, length) in sorted(self._written.items())
        ]
        self._db.run_many("write_chunk_term", written)

    def _mean_length(self) -> float:
        rows = self._db.run("find_namespace", {"name": self._namespace})
        chunks, length = (rows[0][2], rows[0][3]) if rows else (0, 0)
        lengths = [length for _, length in self._written.values()]
        return float((length + sum(lengths)) / max(chunks + len(lengths), 1))


def search(
    db: Session,
    namespace: Namespace,
    asked: Sequence[str],
    *,
    limit: int,
    where: Filter,
    total: int,
    mean_length: float,
) -> Ranking:
    """
    Rank chunks by BM25. The first places are exact; further ones hold what the rarer terms lead to.

    How much a chunk that was not looked at may score is judged by those that were: a mean length that has changed many
    times over since it was written can cost it a place.
    """
    terms = list(dict.fromkeys(asked))
    counts = count(db, namespace, terms)
    idfs = {term: idf(counts.get(term, 0), total=total) for term in terms}
    most = ceiling(list(idfs.values()))
    known = sorted((term for term in terms if term in counts), key=lambda term: (counts[term], term))
    values: dict[str, Any] = {"namespace": namespace}
    values["weights"] = _sparse({term: idfs[term] for term in known}, namespace)
    if where:
        chosen = [row[0] for row in db.run("filter_chunks", {"namespace": namespace, **bind(where)})]
        values["numbers"] = json.dumps(chosen)
    best: list[Scored] = []
    for looked_at in _prefixes(known, counts):
        values["held"] = [term_number(namespace, term) for term in looked_at]
        rank = partial(_exact, db, namespace, terms=known, idfs=idfs, mean_length=mean_length)
        best = _best(db, "search_terms_among" if where else "search_terms", values, limit=limit, rank=rank)
        place = min(limit, SURE)
        unseen = sum(idfs[term] for term in known[len(looked_at) :]) * (K1 + 1)
        if len(best) >= place and -best[place - 1][0] >= unseen:
            break
    hits = tuple(Hit(id, rank, -score) for rank, (score, id, _) in enumerate(best[:limit], start=1))
    return Ranking(hits=hits, ceiling=most)


def count(db: Session, namespace: Namespace, asked: Collection[str]) -> dict[str, int]:
    """Return how many chunks hold each term, without those that none holds."""
    values = {"namespace": namespace, "terms": json.dumps(sorted(asked), ensure_ascii=False)}
    return dict(db.run("term_counts", values)) if asked else {}


def find_holders(
    db: Session, namespace: Namespace, wanted: Mapping[str, Sequence[Collection[str]]]
) -> dict[str, set[int]]:
    """Return the chunks that hold a term of every group of each; the group with the fewest holders leads to them."""
    found: dict[str, set[int]] = {name: set() for name in wanted}
    counts = count(db, namespace, {term for groups in wanted.values() for group in groups for term in group})
    rows = []
    for name, groups in wanted.items():
        held = [[term for term in sorted(group) if term in counts] for group in groups if group]
        if held and all(held):
            held.sort(key=lambda group: sum(counts[term] for term in group))
            first, *rest = [[term_number(namespace, term) for term in group] for group in held]
            rows.append([name, first, rest])
    values = {"namespace": namespace, "wanted": json.dumps(rows, ensure_ascii=False)}
    for name, chunk in db.run("holders", values) if rows else ():
        found[name].add(chunk)
    return found


def are_sound(db: Session, namespace: Namespace) -> bool:
    """Return whether numbers and counts of terms are what the chunks give."""
    counts: Counter[str] = Counter()
    for _, text, length, *stored in db.stream("all_chunk_terms", {"namespace": namespace}):
        terms = json.loads(text)
        counts.update(terms.keys())
        right = _columns(namespace, terms, length=length, mean=1.0)
        if stored != [right["held"], right["counts"], right["length"]]:
            return False
    return dict(db.run("all_term_counts", {"namespace": namespace})) == dict(counts)


def rebuild(db: Session, namespace: Namespace) -> int:
    """Derive numbers, weights and counts of terms anew; return how many chunks that were."""
    rows = db.run("all_terms", {"namespace": namespace})
    for name in ("delete_chunk_terms", "delete_terms"):
        db.run(name, {"namespace": namespace})
    changes = TermChanges(db, namespace=namespace)
    for number, terms, length in rows:
        changes.add(number, json.loads(terms), length=length)
    changes.apply()
    return len(rows)


def _prefixes(known: Sequence[str], counts: Mapping[str, int]) -> Iterator[Sequence[str]]:
    """Yield the rarest terms, then more of them, then all."""
    wanted, reached = CANDIDATES, 0
    for at, term in enumerate(known, start=1):
        if at > 1 and reached + counts[term] > wanted:
            yield known[: at - 1]
            wanted = max(4 * wanted, reached + counts[term])
        reached += counts[term]
    if known:
        yield known


def _exact(
    db: Session,
    namespace: Namespace,
    chunks: Sequence[int],
    *,
    terms: Sequence[str],
    idfs: Mapping[str, float],
    mean_length: float,
) -> list[Scored]:
    """Return chunks with their exact scores: best first, ties by id."""
    if not chunks:
        return []
    held = [term_number(namespace, term) for term in terms]
    rows = db.run("chunk_frequencies", {"namespace": namespace, "chunks": list(chunks), "held": held})
    lengths = np.array([row[2] for row in rows], dtype=np.float64)
    frequencies = np.array([row[3] for row in rows], dtype=np.float64)
    scores = np.zeros(len(rows))
    for column, term in enumerate(terms):
        scores += term_scores(frequencies[:, column], lengths, weight=idfs[term], mean_length=mean_length)
    return sorted((-score, row[1], row[0]) for score, row in zip(scores.tolist(), rows, strict=True))


def _best(
    db: Session,
    name: str,
    values: Mapping[str, Any],
    *,
    limit: int,
    rank: Callable[[Sequence[int]], list[Scored]],
) -> list[Scored]:
    """Return the best of the candidates that a statement finds; of more where those left may be as good."""
    looks = limit + MARGIN
    while True:
        found: dict[int, float] = dict(db.run(name, {**values, "looks": looks}))
        best = rank(list(found))
        place = min(limit, SURE)
        if len(found) < looks or looks >= MAX_RESCORED or -best[place - 1][0] > _most_left(best, found):
            return best
        looks *= 4


def _most_left(best: Sequence[Scored], found: Mapping[int, float]) -> float:
    """Return what a chunk after those found may score: as the last, and as much more as any of them has."""
    more = max(-score / max(found[number], 1e-9) for score, _, number in best)
    return min(found.values()) * max(more, 1.0) * (1 + 1e-6)


def _columns(namespace: Namespace, terms: Mapping[str, int], *, length: int, mean: float) -> dict[str, object]:
    norm = K1 * (1 - B + B * length / max(mean, 1e-9))
    kept = sorted(terms, key=lambda term: (-terms[term], term))[:MAX_TERMS]
    saturated = {term: terms[term] * (K1 + 1) / (terms[term] + norm) for term in kept}
    numbered = sorted((term_number(namespace, term), min(count, MAX_FREQUENCY)) for term, count in terms.items())
    return {
        "held": [number for number, _ in numbered],
        "counts": [count for _, count in numbered],
        "length": min(length, MAX_LENGTH),
        "weights": _sparse(saturated, namespace),
    }


def _sparse(weights: Mapping[str, float], namespace: Namespace) -> SparseVector:
    places: dict[int, float] = defaultdict(float)
    for term, weight in weights.items():
        places[term_number(namespace, term) % DIMENSION] += weight
    return SparseVector(dict(sorted(places.items())), DIMENSION)
