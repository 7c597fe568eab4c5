"""
Rate of two processes that write to one namespace at the same time, by its number of parts.

    python benchmarks/part_writers.py [--size 4000] [--parts 1 4] [--writers 2] [--group 512] [--repeat 2]

The documents are those of `benchmarks/postgres.py`, with their graph. Each process writes `--group` of them at a time,
divided by part as `weft index` divides them. All processes begin at the same moment. Columns: chunks per second until
the last process has committed its text, the same until the graph has all documents too, and the seconds that the graph
took after the text. Numbers of parts take turns, so that other load of the machine affects all of them.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median

from postgres import EMBEDDER, batches, server_dsn
from speed import to_table

from weft.records import StoredModel
from weft.store.postgres.database import PostgresDatabase

Spent = tuple[float, float]
"""Seconds until the text was committed, and until the graph was complete."""


def write_share(dsn: str, namespace: str, size: int, size_of_group: int, share: slice, begin: Barrier) -> None:
    """Write a share of the documents in groups, as `weft index` does."""
    documents = [batch for group in batches(size, namespace=namespace) for batch in group][share]
    groups = [documents[start : start + size_of_group] for start in range(0, len(documents), size_of_group)]
    database = PostgresDatabase(dsn)
    store = database.store(namespace)
    begin.wait()
    for group in groups:
        found = {batch.document.id: batch for batch in group}
        divided = store.divide(list(found))
        for place, ids in enumerate(divided, start=1):
            store.write(*(found[id] for id in ids), defer_graph=place < len(divided))
    database.close()


def measure(dsn: str, *, parts: int, size: int, size_of_group: int, writers: int) -> Spent:
    """Return the seconds of all writers together, without and with the rest of the graph."""
    namespace, card = f"writers{parts}", EMBEDDER.card
    database = PostgresDatabase(dsn)
    database.drop(namespace)
    database.create(namespace, parts=parts)
    store = database.store(namespace)
    store.write_model(StoredModel(name=card.name, fingerprint=card.fingerprint, dimension=card.dimension, active=True))
    context = multiprocessing.get_context("spawn")
    begin = context.Barrier(writers + 1)
    processes = [
        context.Process(
            target=write_share, args=(dsn, namespace, size, size_of_group, slice(first, None, writers), begin)
        )
        for first in range(writers)
    ]
    for process in processes:
        process.start()
    begin.wait()
    start = time.perf_counter()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    text = time.perf_counter() - start
    store.settle_graph()
    whole = time.perf_counter() - start
    stats = store.stats()
    assert (stats.chunks, stats.waiting_documents) == (size, 0)
    database.close()
    return text, whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=4_000)
    parser.add_argument("--parts", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--writers", type=int, default=2)
    parser.add_argument("--group", type=int, default=512)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--dsn", default="", help="a database to use; its namespaces writers1, writers4, … are dropped")
    arguments = parser.parse_args()
    spent: dict[int, list[Spent]] = {parts: [] for parts in arguments.parts}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        dsn = server_dsn(arguments.dsn, f"{folder}/server")
        for _ in range(arguments.repeat):
            for parts in arguments.parts:
                options = {"size": arguments.size, "size_of_group": arguments.group, "writers": arguments.writers}
                spent[parts].append(measure(dsn, parts=parts, **options))
                print(parts, "parts:", *(f"{seconds:.1f} s" for seconds in spent[parts][-1]), flush=True)
    first = spent[arguments.parts[0]]
    rows = []
    for parts, found in spent.items():
        text, whole = (median(times) for times in zip(*found, strict=True))
        ratios = [median(times) / now for times, now in zip(zip(*first, strict=True), (text, whole), strict=True)]
        rows.append(
            {
                "parts": str(parts),
                "text, chunks/s": f"{arguments.size / text:.0f}",
                "with the graph, chunks/s": f"{arguments.size / whole:.0f}",
                "graph after the text, s": f"{whole - text:.1f}",
                "ratio, text": f"{ratios[0]:.2f}",
                "ratio, with the graph": f"{ratios[1]:.2f}",
            }
        )
    print(to_table(rows))


if __name__ == "__main__":
    main()
