"""
How evenly does Citus spread namespaces over nodes?

Simulates the placement with the hash of the server: 32 shards are equal ranges of hashes, given to nodes in turn.

    python benchmarks/citus_placement.py --dsn postgresql://…

Any PostgreSQL server will do: `worker_hash` of Citus, which is used if it is there, is `hashtext`.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from itertools import pairwise
from statistics import mean

import psycopg

SHARDS = 32
NODES = (2, 4, 8, 16)
DRAWS = 200
"""Corpora of random names that a row of the second table is the mean of."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dsn", required=True, help="Server that computes the hashes.")
    parser.add_argument("--namespaces", type=int, default=1000)
    arguments = parser.parse_args()
    with psycopg.connect(arguments.dsn, autocommit=True) as db:
        tenants = find_shards(db, [f"tenant-{number}" for number in range(arguments.namespaces)])
        print(f"{arguments.namespaces} namespaces `tenant-0` …, {SHARDS} shards, from {len(set(tenants))} of them\n")
        print("| nodes | namespaces per node | fullest node, mean = 1 |\n| --- | --- | --- |")
        for nodes in NODES:
            counts = Counter(shard % nodes for shard in tenants)
            least, most = min(counts.values()), max(counts.values())
            print(f"| {nodes} | {least} to {most} | {most * nodes / len(tenants):.2f} |")
        print(f"\na corpus divided into k namespaces of one size, mean of {DRAWS} corpora\n")
        print(
            "| k | nodes | nodes with a part | share of the fullest node | if even |\n| --- | --- | --- | --- | --- |"
        )
        for parts in (4, 8, 16, 32, 64):
            report_parts(db, parts)


def report_parts(db: psycopg.Connection[tuple[object, ...]], parts: int) -> None:
    """Print a row for each number of nodes."""
    random.seed(parts)
    corpora = [f"corpus-{random.randrange(10**9)}" for _ in range(DRAWS)]
    shards = find_shards(db, [f"{name}-{part}" for name in corpora for part in range(1, parts + 1)])
    slices = [shards[start:end] for start, end in pairwise(range(0, len(shards) + 1, parts))]
    for nodes in NODES:
        counts = [Counter(shard % nodes for shard in one) for one in slices]
        used, fullest = mean(len(count) for count in counts), mean(max(count.values()) for count in counts) / parts
        print(f"| {parts} | {nodes} | {used:.1f} | {fullest:.0%} | {1 / min(nodes, parts):.0%} |")


def find_shards(db: psycopg.Connection[tuple[object, ...]], names: list[str]) -> list[int]:
    """Return the shard of each name: one of equal ranges of signed 32-bit hashes."""
    has_citus = db.execute("SELECT 1 FROM pg_proc WHERE proname = 'worker_hash'").fetchone()
    function = "worker_hash" if has_citus else "hashtext"
    asked = f"SELECT {function}(n.value) FROM jsonb_array_elements_text(%s::jsonb) WITH ORDINALITY AS n(value, place) ORDER BY n.place"  # noqa: E501, S608
    hashes = [int(str(row[0])) for row in db.execute(asked, [json.dumps(names)])]
    return [min((value + 2**31) // (2**32 // SHARDS), SHARDS - 1) for value in hashes]


if __name__ == "__main__":
    main()
