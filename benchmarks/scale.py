"""
Vector search in one file with and without its read index, in one run, on the same vectors and questions.

    python benchmarks/scale.py [--sizes 10000 20000 100000] [--repeat 3] [--keep DIR]

Vectors of 384 numbers lie around centres, about fifty to each; questions lie around the same centres. Texts are a few
made-up words, so that writing takes seconds. Latencies are milliseconds, `p50 / p95`: the median over rounds of 50
questions for the nearest 100, p95 over all. `exact` compares every vector, `index` goes by the read index whatever the
size, so that the table shows from which size it pays. recall@10 is that of the index against the scan. `first` is
opening the file and asking once, with usearch imported and the files in the system's memory. `--keep DIR` leaves the
files, and takes those that are there.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from postgres import timed

from weft.records import Batch, Chunk, DocumentInfo, Filter, IndexedChunk, StoredModel
from weft.store.sqlite import derived
from weft.store.sqlite.database import SqliteDatabase
from weft.text.ids import chunk_id, document_id

NEVER = 1 << 60
DIMENSION = 384
CHUNKS = 50
"""Chunks of a document, vectors of a centre."""
MODEL = StoredModel(name="made/384", fingerprint="made", dimension=DIMENSION, active=True)


def around(centres: NDArray[np.float32], chance: np.random.Generator) -> NDArray[np.float32]:
    """Return a unit vector near each centre."""
    found = centres + 0.8 * chance.normal(size=centres.shape)
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def batches(centres: NDArray[np.float32]) -> Iterator[Batch]:
    """Yield documents whose chunks lie around centres taken at random."""
    chance = np.random.default_rng(1)
    for number in range(len(centres)):
        source = f"record {number}"
        id = document_id("default", source)
        items = []
        for ordinal, vector in enumerate(around(centres[chance.integers(len(centres), size=CHUNKS)], chance)):
            text = f"{source} part {ordinal}"
            place = {"ordinal": ordinal, "heading": (), "start_line": 1, "end_line": 1}
            chunk = Chunk(id=chunk_id(id, text, 0), document_id=id, text=text, **place)
            items.append(IndexedChunk(chunk=chunk, terms={f"record{number}": 1}, vector=vector))
        info = DocumentInfo(id=id, source=source, title=source, metadata={}, content_hash="made", unit="line")
        yield Batch(document=info, chunks=tuple(items), model=MODEL.fingerprint)


def measure(path: str, size: int, *, repeat: int) -> dict[str, str]:
    """Return the figures of one size."""
    derived.FROM = NEVER
    chance = np.random.default_rng(0)
    centres = chance.normal(size=(size // CHUNKS, DIMENSION)).astype(np.float32)
    database = SqliteDatabase(path)
    store = database.store("default")
    if store.stats().chunks < size:
        store.write_model(MODEL)
        for batch in batches(centres):
            store.write(batch)
    known = {str(n): v for n, v in enumerate(around(centres[chance.integers(len(centres), size=50)], chance))}
    questions = list(known)

    def ask(question: str) -> list[str]:
        return [hit.chunk_id for hit in store.search_vector(known[question], limit=100, where=Filter()).hits]

    exact = {question: set(ask(question)[:10]) for question in questions}
    figures = {"chunks": f"{size:,}", "exact": timed(ask, questions, repeat)}
    derived.FROM = 1
    start = time.perf_counter()
    if database._connections.extender.catch_up():
        figures["built/s"] = f"{size / (time.perf_counter() - start):,.0f}"
    figures["index"] = timed(ask, questions, repeat)
    found = sum(len(exact[question] & set(ask(question)[:10])) for question in questions)
    figures["recall@10"] = f"{found / (10 * len(questions)):.3f}"
    figures["index, bytes/chunk"] = f"{database._connections.indexes.folder.size() / size:,.0f}"
    database.close()
    start = time.perf_counter()
    database = SqliteDatabase(path)
    database.store("default").search_vector(known["0"], limit=100, where=Filter())
    figures["first"] = f"{(time.perf_counter() - start) * 1000:.0f}"
    database.close()
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 20_000, 100_000])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--keep", default="", metavar="DIR")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for number, size in enumerate(arguments.sizes):
            figures = measure(str(Path(arguments.keep or folder) / f"{size}.db"), size, repeat=arguments.repeat)
            if not number:
                print("| " + " | ".join(figures) + " |\n" + "| --- " * len(figures) + "|", flush=True)
            print("| " + " | ".join(figures.values()) + " |", flush=True)


if __name__ == "__main__":
    main()
