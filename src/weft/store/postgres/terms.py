"""
Keyword search in PostgreSQL: BM25 in three steps, from many approximate candidates to few exact scores.

A chunk has one row in `weft.chunk_term`. Terms are stored as 63-bit numbers (`term_number`): hashes keyed with the
secret of the namespace. So the GIN index over all namespaces never leads from one namespace to another. Words cannot
be looked up in it without the secret (here 16 zero bytes):

    "fox fox owl"   held     {916088246399846013, 3428793422154802703}   owl, fox: ascending, with a GIN index
                    counts   {1, 2}                                      frequencies
                    length   3
                    weights  {154802703: 1.375, 399846013: 1.0}          fox, owl: saturated frequencies at the
                                                                         number modulo SPARSE_DIMENSIONS

1. Candidates: chunks that contain one of the rarest query terms, `held && {3428793422154802703}`.
2. Order: inner product of `weights` and the idf values of all query terms, computed by pgvector.
3. Exact scores: BM25 from frequencies and lengths, for the first candidates only.

Step 2 is approximate, because `weights` contain the mean chunk length at the time of the write; step 3 uses the current
one. Example: the query `the quick axolotl`, limit 10, with the terms in 900,000, 3,000 and 40 chunks:

    candidates of axolotl, quick    3,040 <= MIN_CANDIDATES, so both terms are taken
    tenth best exact score          9.1
    bound of the remaining terms    idf(the) x (K1 + 1) = 0.2: no chunk with `the` alone is among the ten
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np
from pgvector import SparseVector

from weft.rank.bm25 import K1, B, ceiling, idf, term_scores
from weft.records import Filter, Hit, Ranking
from weft.store.relational.filters import bind
from weft.store.relational.session import Namespace, Session

SPARSE_DIMENSIONS = 1_000_000_000
"""Dimensions of the sparse vectors: the maximum of pgvector, to make collisions of two terms rare."""

MAX_SPARSE_TERMS = 16_000
"""Terms of a chunk in its sparse vector, the maximum of pgvector; a chunk with more keeps the most frequent."""

MIN_CANDIDATES = 4_096
"""Minimum number of chunks from the rarest query terms; with fewer, more frequent terms are searched too."""

EXACT_PLACES = 10
"""Number of exact top ranks: the search continues until no other chunk can reach them."""

EXTRA_CANDIDATES = 50
"""Candidates beyond the limit whose exact scores are computed."""

MAX_RESCORED = 4_096
"""Maximum number of candidates whose exact scores are computed."""

Scored = tuple[float, str, int]
"""Negated score, id and number of a chunk; sorts by score, then by id."""

MAX_FREQUENCY, MAX_LENGTH = 255, 65_535
"""Largest stored frequency and chunk length, as in the SQLite store."""


@lru_cache(maxsize=100_000)
def term_number(secret: bytes, term: str) -> int:
    """Return the number of a term in the namespace with this secret: 63 bits, the same on every machine."""
    text = term.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8, key=secret).digest(), "little") >> 1


class _Session(Session, Protocol):
    def term_secret(self, namespace: Namespace) -> bytes: ...


class TermChanges:
    """Collects the changes of a transaction to the keyword index and applies them once."""

    def __init__(self, db: _Session, *, namespace: Namespace) -> None:
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
        secret = self._db.term_secret(self._namespace)
        written = [
            {**key, "chunk": number, **_columns(secret, terms, length=length, mean=mean)}
            for number, (terms, length) in sorted(self._written.items())
        ]
        self._db.run_many("write_chunk_term", written)

    def _mean_length(self) -> float:
        rows = self._db.run("find_namespace", {"name": self._namespace})
        _, _, chunks, length = rows[0] if rows else ("", 0, 0, 0)
        lengths = [length for _, length in self._written.values()]
        return float((length + sum(lengths)) / max(chunks + len(lengths), 1))


def search(
    db: _Session,
    namespace: Namespace,
    query_terms: Sequence[str],
    *,
    limit: int,
    where: Filter,
    total: int,
    mean_length: float,
) -> Ranking:
    """
    Rank the chunks that pass a filter by BM25.

    The first `EXACT_PLACES` are exact; later ones come from the chunks of the rarer terms. The bound for other chunks
    is estimated from the candidates. A chunk can lose a rank if the mean length has changed by a large factor.
    """
    terms = list(dict.fromkeys(query_terms))
    counts = db.count_terms(namespace, terms)
    idfs = {term: idf(counts.get(term, 0), total=total) for term in terms}
    maximum = ceiling(list(idfs.values()))
    known = sorted((term for term in terms if term in counts), key=lambda term: (counts[term], term))
    values: dict[str, Any] = {"namespace": namespace}
    secret = db.term_secret(namespace)
    values["weights"] = _sparse({term: idfs[term] for term in known}, secret)
    if where:
        allowed = [number for (number,) in db.run("filter_chunks", {"namespace": namespace, **bind(where)})]
        values["numbers"] = json.dumps(allowed)
    best: list[Scored] = []
    for rarest in _prefixes(known, counts):
        values["held"] = [term_number(secret, term) for term in rarest]
        rescore = partial(_rescore, db, namespace, terms=known, idfs=idfs, mean_length=mean_length)
        statement = "search_terms_among" if where else "search_terms"
        best = _best(db, statement, values, limit=limit, rescore=rescore)
        bound = sum(idfs[term] for term in known[len(rarest) :]) * (K1 + 1)
        if len(best) >= min(limit, EXACT_PLACES) and _last_exact_score(best, limit=limit) >= bound:
            break
    hits = tuple(Hit(id, rank, -score) for rank, (score, id, _) in enumerate(best[:limit], start=1))
    return Ranking(hits=hits, ceiling=maximum)


def count(db: Session, namespace: Namespace, terms: Collection[str]) -> dict[str, int]:
    """Return the number of chunks that contain each term; absent terms are left out."""
    values = {"namespace": namespace, "terms": json.dumps(sorted(terms), ensure_ascii=False)}
    return dict(db.run("term_counts", values)) if terms else {}


def find_chunks_with_terms(
    db: _Session, namespace: Namespace, wanted: Mapping[str, Sequence[Collection[str]]]
) -> dict[str, set[int]]:
    """
    Return, for each entry of `wanted`, the numbers of the chunks that contain a term of each of its groups.

    The group with the lowest document frequency supplies the candidates.
    """
    found: dict[str, set[int]] = {name: set() for name in wanted}
    counts = db.count_terms(namespace, {term for groups in wanted.values() for group in groups for term in group})
    secret = db.term_secret(namespace) if counts else b""
    rows = []
    for name, groups in wanted.items():
        known = [[term for term in sorted(group) if term in counts] for group in groups if group]
        if known and all(known):
            known.sort(key=lambda group: sum(counts[term] for term in group))
            first, *rest = [[term_number(secret, term) for term in group] for group in known]
            rows.append([name, first, rest])
    values = {"namespace": namespace, "wanted": json.dumps(rows, ensure_ascii=False)}
    for name, chunk in db.run("holders", values) if rows else ():
        found[name].add(chunk)
    return found


def are_sound(db: _Session, namespace: Namespace) -> bool:
    """Return True if the keyword index matches the terms of the chunks."""
    counts: Counter[str] = Counter()
    secret = db.term_secret(namespace)
    for _, text, length, *stored in db.stream("all_chunk_terms", {"namespace": namespace}):
        terms = json.loads(text)
        counts.update(terms.keys())
        expected = _columns(secret, terms, length=length, mean=1.0)
        if stored != [expected["held"], expected["counts"], expected["length"]]:
            return False
    return dict(db.run("all_term_counts", {"namespace": namespace})) == dict(counts)


def rebuild(db: _Session, namespace: Namespace) -> int:
    """Build the keyword index again from the terms of the chunks; return the number of chunks."""
    rows = db.run("all_terms", {"namespace": namespace})
    for name in ("delete_chunk_terms", "delete_terms"):
        db.run(name, {"namespace": namespace})
    changes = TermChanges(db, namespace=namespace)
    for number, terms, length in rows:
        changes.add(number, json.loads(terms), length=length)
    changes.apply()
    return len(rows)


def _prefixes(known: Sequence[str], counts: Mapping[str, int]) -> Iterator[Sequence[str]]:
    """Yield growing prefixes of `known`, which is ordered by rarity: the rarest terms first, in the end all."""
    wanted, reached = MIN_CANDIDATES, 0
    for place, term in enumerate(known):
        if place and reached + counts[term] > wanted:
            yield known[:place]
            wanted = max(4 * wanted, reached + counts[term])
        reached += counts[term]
    if known:
        yield known


def _rescore(
    db: _Session,
    namespace: Namespace,
    chunks: Sequence[int],
    *,
    terms: Sequence[str],
    idfs: Mapping[str, float],
    mean_length: float,
) -> list[Scored]:
    """Return chunks with exact scores, best first; ties by id."""
    if not chunks:
        return []
    secret = db.term_secret(namespace)
    held = [term_number(secret, term) for term in terms]
    rows = db.run("chunk_frequencies", {"namespace": namespace, "chunks": list(chunks), "held": held})
    lengths = np.array([length for _, _, length, _ in rows], dtype=np.float64)
    frequencies = np.array([counts for *_, counts in rows], dtype=np.float64)
    scores = np.zeros(len(rows))
    for column, term in enumerate(terms):
        scores += term_scores(frequencies[:, column], lengths, weight=idfs[term], mean_length=mean_length)
    return sorted((-score, id, number) for score, (number, id, *_) in zip(scores.tolist(), rows, strict=True))


def _best(
    db: Session,
    statement: str,
    values: Mapping[str, Any],
    *,
    limit: int,
    rescore: Callable[[Sequence[int]], list[Scored]],
) -> list[Scored]:
    """
    Return the candidates of a statement with exact scores.

    Fetch four times as many while other chunks may score higher.
    """
    candidates = limit + EXTRA_CANDIDATES
    while True:
        found: dict[int, float] = dict(db.run(statement, {**values, "looks": candidates}))
        best = rescore(list(found))
        if len(found) < candidates or candidates >= MAX_RESCORED:
            return best
        if _last_exact_score(best, limit=limit) > _bound_of_others(best, found):
            return best
        candidates *= 4


def _last_exact_score(best: Sequence[Scored], *, limit: int) -> float:
    """Return the score at the last rank that must be exact."""
    negated, _, _ = best[min(limit, EXACT_PLACES) - 1]
    return -negated


def _bound_of_others(best: Sequence[Scored], found: Mapping[int, float]) -> float:
    """Return the highest score of a chunk that was not found: the last approximate score times the largest ratio."""
    ratio = max(-score / max(found[number], 1e-9) for score, _, number in best)
    return min(found.values()) * max(ratio, 1.0) * (1 + 1e-6)


def _columns(secret: bytes, terms: Mapping[str, int], *, length: int, mean: float) -> dict[str, object]:
    """Return the columns of `weft.chunk_term` for a chunk."""
    norm = K1 * (1 - B + B * length / max(mean, 1e-9))
    kept = sorted(terms, key=lambda term: (-terms[term], term))[:MAX_SPARSE_TERMS]
    saturated = {term: terms[term] * (K1 + 1) / (terms[term] + norm) for term in kept}
    numbered = sorted((term_number(secret, term), min(count, MAX_FREQUENCY)) for term, count in terms.items())
    return {
        "held": [number for number, _ in numbered],
        "counts": [count for _, count in numbered],
        "length": min(length, MAX_LENGTH),
        "weights": _sparse(saturated, secret),
    }


def _sparse(weights: Mapping[str, float], secret: bytes) -> SparseVector:
    """Return weights by term as a sparse vector; terms with the same remainder are added up."""
    places: dict[int, float] = defaultdict(float)
    for term, weight in weights.items():
        places[term_number(secret, term) % SPARSE_DIMENSIONS] += weight
    return SparseVector(dict(sorted(places.items())), SPARSE_DIMENSIONS)
