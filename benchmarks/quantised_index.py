"""
Recall, latency and size of an HNSW index over bits, compared with one over half-precision vectors.

    python benchmarks/quantised_index.py CACHE [--size 100000] [--dsn postgresql://…] [--memory 2GB]
    python benchmarks/quantised_index.py CACHE --scan --size 1000000

`CACHE` is a vector cache (`~/.cache/weft/vectors.db`) with the documents and the questions of real texts. Its most used
model is taken. Vectors beyond those of the cache are copies that are moved towards another vector, as in
`benchmarks/corpora.py`. `signs` are the bits of `binary_quantize`, the signs of the components. `rotated signs` are
those of the vector less the mean of all, multiplied by two random rotations: two bits for each component. The client
computes them. Candidates of every index are ranked again by the half-precision vectors. The exact ranking is computed
with numpy.

With `--scan` there is no server and no index: all bits are compared, which is the recall that an index cannot exceed.

`server` is the processor time of the connection, which can be compared on a busy machine. `insert` is that of one new
row, in transactions of 64. Everything is written to the schema `quantised_index`, which is dropped at the end.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

import numpy as np
import psycopg
from numpy.typing import NDArray
from postgres import GROUP, server_dsn
from speed import to_table

MOVED, NOISE = 0.35, 0.25
"""How far a copy moves towards another vector, and in no direction; as in `benchmarks/corpora.py`."""

QUESTIONS = 200
INSERTED = 20 * GROUP
CODE_TURNS = 2
"""Rotations of a code, and so bits of each component."""

BIT_CANDIDATES = (140, 400, 1000)
"""Candidates of an index over bits; pgvector allows 1,000."""

LIMITS = (10, 70)
"""Numbers of results whose recall is measured: those that are shown, and those that a question asks for."""

Floats = NDArray[np.float32]


class Index(NamedTuple):
    """One index, and the numbers of candidates to measure it with."""

    name: str
    expression: str
    order: str
    candidates: Sequence[int]


def indexes(dimension: int) -> tuple[Index, ...]:
    """Return the indexes that are compared."""
    signs = f"binary_quantize({{}})::bit({dimension})"
    asked = signs.format("%(half)s::halfvec")
    return (
        Index("half precision", "(half halfvec_cosine_ops)", "half <=> %(half)s::halfvec", (140, 400)),
        Index(
            "signs",
            f"(({signs.format('half')}) bit_hamming_ops)",
            f"{signs.format('half')} <~> {asked}",
            BIT_CANDIDATES,
        ),
        Index(
            "rotated signs",
            "(code bit_hamming_ops)",
            f"code <~> %(code)s::bit({CODE_TURNS * dimension})",
            BIT_CANDIDATES,
        ),
    )


class Rotation:
    """Code of a vector: the signs after it was centred and rotated twice."""

    def __init__(self, vectors: Floats) -> None:
        self._mean = vectors.mean(axis=0)
        chance = np.random.default_rng(0)
        shape = (vectors.shape[1], vectors.shape[1])
        turns = [np.linalg.qr(chance.normal(size=shape))[0] for _ in range(CODE_TURNS)]
        self._turns = np.concatenate(turns, axis=1).astype(np.float32)

    def codes(self, vectors: Floats) -> NDArray[np.uint8]:
        """Return the packed codes, a row for each vector."""
        return np.packbits((vectors - self._mean) @ self._turns > 0, axis=1)


def read_cache(path: str) -> tuple[Floats, Floats]:
    """Return the vectors of documents and of questions of the most used model."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        counted = (
            "SELECT model FROM vectors WHERE model LIKE '% document' GROUP BY model ORDER BY count(*) DESC LIMIT 1"
        )
        model = str(db.execute(counted).fetchone()[0]).removesuffix(" document")

        def read(kind: str) -> Floats:
            rows = db.execute("SELECT vector FROM vectors WHERE model = ? ORDER BY digest", [f"{model} {kind}"])
            return np.stack([np.frombuffer(vector, dtype=np.float32) for (vector,) in rows])

        return read("document"), read("query")


def moved_copies(vectors: Floats, *, size: int) -> Iterator[NDArray[np.float16]]:
    """Yield the vectors, and moved copies of them, until there are `size`."""
    for start in range(0, size, len(vectors)):
        unit = moved_copy(vectors, start) if start else vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        yield unit[: size - start].astype(np.float16)


def moved_copy(vectors: Floats, seed: int) -> Floats:
    """Return vectors of unit length, each moved."""
    chance = np.random.default_rng(seed)
    noise = chance.normal(size=vectors.shape).astype(np.float32) / np.sqrt(vectors.shape[1])
    moved = vectors + MOVED * vectors[chance.permutation(len(vectors))] + NOISE * noise
    unit: Floats = moved / np.linalg.norm(moved, axis=1, keepdims=True)
    return unit


class Nearest:
    """The best rows of each question, over several blocks of scores."""

    def __init__(self, questions: int, *, count: int) -> None:
        self._scores = np.full((questions, count), -np.inf, dtype=np.float32)
        self.ids = np.zeros((questions, count), dtype=np.int64)
        """Numbers of rows, best first."""

    def add(self, scores: Floats, *, first: int) -> None:
        """Add the scores of rows from a number on."""
        numbers = np.broadcast_to(np.arange(first, first + scores.shape[1]), scores.shape)
        scores = np.concatenate([self._scores, scores], axis=1)
        ids = np.concatenate([self.ids, numbers], axis=1)
        count = self.ids.shape[1]
        if count < scores.shape[1]:
            best = np.argpartition(-scores, count, axis=1)[:, :count]
            scores, ids = np.take_along_axis(scores, best, 1), np.take_along_axis(ids, best, 1)
        order = np.argsort(-scores, axis=1, kind="stable")
        self._scores, self.ids = np.take_along_axis(scores, order, 1), np.take_along_axis(ids, order, 1)


def scan(vectors: Iterator[NDArray[np.float16]], questions: Floats, rotation: Rotation) -> list[dict[str, str]]:
    """Return the recall of the best candidates by bits, if all are compared."""
    bits = {"signs": lambda some: some > 0, "rotated signs": lambda some: np.unpackbits(rotation.codes(some), axis=1)}
    exact = Nearest(len(questions), count=max(LIMITS))
    found = {name: Nearest(len(questions), count=max(BIT_CANDIDATES)) for name in bits}
    asked = {name: 2 * code(questions).astype(np.float32) - 1 for name, code in bits.items()}
    first = 0
    for half in vectors:
        unit = half.astype(np.float32)
        exact.add(questions @ (unit / np.linalg.norm(unit, axis=1, keepdims=True)).T, first=first)
        for name, code in bits.items():
            found[name].add(asked[name] @ (2 * code(unit).astype(np.float32) - 1).T, first=first)
        first += len(half)
    return [
        {
            "bits": name,
            "candidates": str(candidates),
            **recalls(nearest.ids[:, :candidates].tolist(), exact.ids.tolist()),
        }
        for name, nearest in found.items()
        for candidates in BIT_CANDIDATES
    ]


def recalls(found: list[list[int]], exact: list[list[int]]) -> dict[str, str]:
    """Return the mean share of the nearest rows that were found, with the lowest of 95 % of the questions."""
    cells = {}
    for limit in LIMITS:
        shares = [len(set(some) & set(nearest[:limit])) / limit for some, nearest in zip(found, exact, strict=True)]
        cells[f"recall@{limit}"] = f"{np.mean(shares):.4f} ({np.quantile(shares, 0.05):.2f})"
    return cells


def load(
    db: psycopg.Connection[Any], vectors: Iterator[NDArray[np.float16]], questions: Floats, rotation: Rotation
) -> list[list[int]]:
    """Copy the vectors into the table; return the nearest ids of each question, best first."""
    exact = Nearest(len(questions), count=max(LIMITS))
    first = 0
    for half in vectors:
        unit = half.astype(np.float32)
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        exact.add(questions @ unit.T, first=first)
        with db.cursor().copy("COPY quantised_index.item FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(["int8", "bytea", "bytea"])
            for place, (row, code) in enumerate(zip(to_rows(half), to_bits(rotation.codes(unit)), strict=True)):
                copy.write_row((first + place, row, code))
        first += len(half)
    found: list[list[int]] = exact.ids.tolist()
    return found


def to_rows(half: NDArray[np.float16]) -> Iterator[bytes]:
    """Yield vectors as pgvector sends them: dimension, an unused number, components."""
    beginning = half.shape[1].to_bytes(2, "big") + bytes(2)
    for row in half.astype(">f2"):
        yield beginning + row.tobytes()


def to_bits(codes: NDArray[np.uint8]) -> Iterator[bytes]:
    """Yield codes as PostgreSQL sends bits: their number, then bytes."""
    beginning = (8 * codes.shape[1]).to_bytes(4, "big")
    for row in codes:
        yield beginning + row.tobytes()


def to_texts(vectors: NDArray[np.float16], rotation: Rotation) -> list[dict[str, str]]:
    """Return vectors and their codes as parameters of statements."""
    codes = np.unpackbits(rotation.codes(vectors.astype(np.float32)), axis=1)
    return [
        {"half": f"[{','.join(map(str, row.tolist()))}]", "code": "".join(map(str, code.tolist()))}
        for row, code in zip(vectors, codes, strict=True)
    ]


def server_time(db: psycopg.Connection[Any]) -> float:
    """Return the milliseconds of processor time of the connection."""
    return int(Path(f"/proc/{db.info.backend_pid}/schedstat").read_text().split()[0]) / 1e6


def measure(
    db: psycopg.Connection[Any],
    index: Index,
    questions: list[dict[str, str]],
    exact: list[list[int]],
    fresh: list[dict[str, str]],
) -> list[dict[str, str]]:
    """Build an index, measure it with each number of candidates, and drop it."""
    start = time.perf_counter()
    db.execute(f"CREATE INDEX measured ON quantised_index.item USING hnsw {index.expression}")
    built = time.perf_counter() - start
    row = db.execute("SELECT pg_relation_size('quantised_index.measured')").fetchone()
    assert row is not None
    rows = []
    for candidates in index.candidates:
        figures = search(db, index, questions, exact, candidates=candidates)
        rows.append(
            {"index": index.name, "build s": f"{built:.0f}", "bytes/row": f"{row[0] / len_of(db):,.0f}", **figures}
        )
    inserted = insert(db, fresh)
    db.execute("DROP INDEX quantised_index.measured")
    return [{**figures, "insert ms": inserted} for figures in rows]


def search(
    db: psycopg.Connection[Any],
    index: Index,
    questions: list[dict[str, str]],
    exact: list[list[int]],
    *,
    candidates: int,
) -> dict[str, str]:
    """Return recall and times of all questions, asked twice."""
    near = f"SELECT id, half FROM quantised_index.item ORDER BY {index.order} LIMIT {candidates}"  # noqa: S608
    best = f"SELECT id FROM near ORDER BY half <=> %(half)s::halfvec LIMIT {max(LIMITS)}"  # noqa: S608
    statement = f"WITH near AS MATERIALIZED ({near}) {best}"
    db.execute(f"SET hnsw.ef_search = {candidates}")
    answers: list[list[int]] = []
    spent: list[float] = []
    for is_measured in (False, True):
        before = server_time(db)
        for question in questions:
            start = time.perf_counter()
            found = [id for (id,) in db.execute(statement, question)]
            if is_measured:
                spent.append((time.perf_counter() - start) * 1000)
                answers.append(found)
    return {
        "candidates": str(candidates),
        **recalls(answers, exact),
        "p50 / p95 ms": f"{median(spent):.1f} / {quantiles(spent, n=20)[-1]:.1f}",
        "server ms": f"{(server_time(db) - before) / len(questions):.1f}",
    }


def insert(db: psycopg.Connection[Any], fresh: list[dict[str, str]]) -> str:
    """Return the milliseconds of processor time of a new row; the rows are deleted again."""
    statement = (
        "INSERT INTO quantised_index.item"
        " SELECT -1, half::halfvec, code::varbit FROM unnest(%s::text[], %s::text[]) AS t (half, code)"
    )
    before = server_time(db)
    for start in range(0, len(fresh), GROUP):
        some = fresh[start : start + GROUP]
        db.execute(statement, [[row["half"] for row in some], [row["code"] for row in some]])
    spent = (server_time(db) - before) / len(fresh)
    db.execute("DELETE FROM quantised_index.item WHERE id = -1")
    return f"{spent:.2f}"


def len_of(db: psycopg.Connection[Any]) -> int:
    row = db.execute("SELECT count(*) FROM quantised_index.item").fetchone()
    assert row is not None
    return int(row[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache")
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--dsn", default="")
    parser.add_argument("--memory", default="2GB", help="maintenance_work_mem of the builds")
    parser.add_argument("--scan", action="store_true", help="compare all bits, without a server")
    arguments = parser.parse_args()
    documents, asked = read_cache(arguments.cache)
    chosen = np.random.default_rng(1).permutation(len(asked))[:QUESTIONS]
    if arguments.scan:
        vectors = moved_copies(documents, size=arguments.size)
        print(to_table(scan(vectors, asked[chosen], Rotation(documents))), flush=True)
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        psycopg.connect(server_dsn(arguments.dsn, f"{folder}/server"), autocommit=True) as db,
    ):
        Path(folder).chmod(0o755)
        db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        db.execute("DROP SCHEMA IF EXISTS quantised_index CASCADE")
        db.execute("CREATE SCHEMA quantised_index")
        dimension = documents.shape[1]
        columns = f"id bigint, half halfvec({dimension}), code bit({CODE_TURNS * dimension})"
        db.execute(f"CREATE TABLE quantised_index.item ({columns})")
        db.execute("SELECT set_config('maintenance_work_mem', %s, FALSE)", [arguments.memory])
        rotation = Rotation(documents)
        exact = load(db, moved_copies(documents, size=arguments.size), asked[chosen], rotation)
        questions = to_texts(asked[chosen].astype(np.float16), rotation)
        fresh = to_texts(moved_copy(documents[:INSERTED], 1).astype(np.float16), rotation)
        print(f"{arguments.size:,} vectors, {min(len(documents), arguments.size):,} of real texts", flush=True)
        print(f"load average {os.getloadavg()[0]:.1f}", flush=True)
        for index in indexes(dimension):
            rows = measure(db, index, questions, exact, fresh)
            print(to_table(rows), flush=True)
        db.execute("DROP SCHEMA quantised_index CASCADE")


if __name__ == "__main__":
    main()
