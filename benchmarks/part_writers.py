"""
Rate of two processes that write to one namespace at the same time, by its number of parts.

    python benchmarks/part_writers.py [--size 4000] [--parts 1 4] [--writers 2] [--group 512] [--repeat 2]

The documents are those of `benchmarks/postgres.py`, with their graph. Each process writes `--group` of them at a time,
divided by part as `weft index` divides them. All processes begin at the same moment. Columns: chunks per second until
the last process has committed its text, the same until the graph has all documents too, and the share of the time in
which a process waited for locks. Each measurement has a new database, because the planner's statistics of an earlier
namespace would slow down the next one. Numbers of parts take turns, so that other load of the machine affects all.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median
from typing import Any

import psycopg
from postgres import EMBEDDER, batches, server_dsn
from psycopg.conninfo import make_conninfo
from speed import to_table

from weft.records import StoredModel
from weft.store.postgres.connect import Connections
from weft.store.postgres.database import PostgresDatabase
from weft.store.postgres.parts import PartedSession
from weft.store.postgres.store import PostgresStore

Spent = tuple[float, float, float]
"""Seconds until the text was committed, until the graph was complete, and in which a process waited for locks."""


class TimedConnections(Connections):
    """Connections that measure how long they wait for locks."""

    waited = 0.0

    def _take_locks(self, session: PartedSession, namespace: str, take: Callable[[], None]) -> None:
        start = time.perf_counter()
        super()._take_locks(session, namespace, take)
        self.waited += time.perf_counter() - start


@contextmanager
def new_database(dsn: str) -> Iterator[str]:
    """Create a database on the same server; drop it afterwards."""
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute("CREATE DATABASE weft_writers")
        try:
            yield make_conninfo(dsn, dbname="weft_writers")
        finally:
            db.execute("DROP DATABASE weft_writers WITH (FORCE)")


def write_share(
    dsn: str, namespace: str, size: int, size_of_group: int, share: slice, begin: Barrier, waits: Any
) -> None:
    """Write a share of the documents in groups, as `weft index` does; report the seconds of waiting."""
    documents = [batch for group in batches(size, namespace=namespace) for batch in group][share]
    groups = [documents[start : start + size_of_group] for start in range(0, len(documents), size_of_group)]
    connections = TimedConnections(dsn)
    store = PostgresStore(connections, namespace=namespace)
    begin.wait()
    for group in groups:
        found = {batch.document.id: batch for batch in group}
        divided = store.divide(list(found))
        for place, ids in enumerate(divided, start=1):
            store.write(*(found[id] for id in ids), defer_graph=place < len(divided))
    waits.put(connections.waited)
    connections.close()


def measure(dsn: str, *, parts: int, size: int, size_of_group: int, writers: int) -> Spent:
    """Return the seconds of all writers together, without and with the rest of the graph."""
    namespace, card = f"writers{parts}", EMBEDDER.card
    database = PostgresDatabase(dsn)
    database.create(namespace, parts=parts)
    store = database.store(namespace)
    store.write_model(StoredModel(name=card.name, fingerprint=card.fingerprint, dimension=card.dimension, active=True))
    context = multiprocessing.get_context("spawn")
    begin, waits = context.Barrier(writers + 1), context.Queue()
    shares = [slice(first, None, writers) for first in range(writers)]
    processes = [
        context.Process(target=write_share, args=(dsn, namespace, size, size_of_group, share, begin, waits))
        for share in shares
    ]
    for process in processes:
        process.start()
    begin.wait()
    start = time.perf_counter()
    waited = sum(waits.get() for _ in processes) / writers
    for process in processes:
        process.join()
        assert process.exitcode == 0
    text = time.perf_counter() - start
    store.settle_graph()
    whole = time.perf_counter() - start
    stats = store.stats()
    assert (stats.chunks, stats.waiting_documents) == (size, 0)
    database.close()
    return text, whole, waited


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=4_000)
    parser.add_argument("--parts", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--writers", type=int, default=2)
    parser.add_argument("--group", type=int, default=512)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--dsn", default="", help="a server to use; a database weft_writers is created")
    arguments = parser.parse_args()
    spent: dict[int, list[Spent]] = {parts: [] for parts in arguments.parts}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        dsn = server_dsn(arguments.dsn, f"{folder}/server")
        for _ in range(arguments.repeat):
            for parts in arguments.parts:
                options = {"size": arguments.size, "size_of_group": arguments.group, "writers": arguments.writers}
                with new_database(dsn) as empty:
                    spent[parts].append(measure(empty, parts=parts, **options))
                print(parts, "parts:", *(f"{seconds:.1f} s" for seconds in spent[parts][-1]), flush=True)
    first = spent[arguments.parts[0]]
    rows = []
    for parts, found in spent.items():
        text, whole, waited = (median(times) for times in zip(*found, strict=True))
        before = [median(times) for times in zip(*first, strict=True)]
        ratios = before[0] / text, before[1] / whole
        rows.append(
            {
                "parts": str(parts),
                "text, chunks/s": f"{arguments.size / text:.0f}",
                "with the graph, chunks/s": f"{arguments.size / whole:.0f}",
                "waiting for locks": f"{waited / text:.0%}",
                "ratio, text": f"{ratios[0]:.2f}",
                "ratio, with the graph": f"{ratios[1]:.2f}",
            }
        )
    print(to_table(rows))


if __name__ == "__main__":
    main()
