"""
Bytes per chunk of a namespace with several parts: what is divided, and what is in the home.

    python benchmarks/part_bytes.py [PATH …] [--parts 4] [--dimension 384] [--dsn postgresql://…]

The files of the paths, by default those of this repository, are indexed with a graph and with vectors of hashed words,
which are as large as those of a model. Sizes are those of whole tables and of their indexes after VACUUM, so the
database must be empty. Rows of documents and chunks are in a part and, without text, in the home.
"""

from __future__ import annotations

import argparse
import tempfile

import psycopg
from postgres import server_dsn
from psycopg import sql
from speed import to_table

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.store.postgres.database import PostgresDatabase
from weft.testing import FakeEmbedder

GROUPS = {
    "text: parts": ("document", "label", "chunk", "posting", "term", "outbox"),
    "vectors of chunks: parts": ("chunk_vector",),
    "mentions: buckets": ("mention",),
    "claims: buckets": ("claim",),
    "relations: buckets": ("relation",),
    "entities: home": ("entity",),
    "nominations: home": ("nomination", "edit"),
    "vectors of names: parts": ("entity_vector",),
}

SIZES = "SELECT pg_total_relation_size(%(table)s::regclass), pg_indexes_size(%(table)s::regclass)"


def measure(dsn: str, *, chunks: int, home: str) -> list[dict[str, str]]:
    """Return bytes per chunk, bytes of indexes per chunk and rows of the largest bucket for each group of tables."""
    found = []
    with psycopg.connect(dsn, autocommit=True) as db:
        for group, tables in GROUPS.items():
            whole = indexes = 0
            places: dict[str, int] = {}
            for table in tables:
                db.execute(f"VACUUM (FULL, ANALYZE) weft.{table}")
                size, of_indexes = db.execute(SIZES, {"table": f"weft.{table}"}).fetchone() or (0, 0)
                whole, indexes = whole + size, indexes + of_indexes
                counting = sql.SQL("SELECT namespace, count(*) FROM weft.{} GROUP BY 1").format(sql.Identifier(table))
                for place, rows in db.execute(counting).fetchall():
                    places[place] = places.get(place, 0) + rows
            divided = [rows for place, rows in places.items() if place != home]
            found.append(
                {
                    "rows": group,
                    "bytes per chunk": f"{whole / chunks:,.0f}",
                    "of these, indexes": f"{indexes / chunks:,.0f}",
                    "in the home": f"{places.get(home, 0):,}",
                    "in parts or buckets, least to most": f"{min(divided, default=0):,} to {max(divided, default=0):,}",
                }
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", default=["docs", "src/weft"])
    parser.add_argument("--parts", type=int, default=4)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--dsn", default="", help="an empty database to use; the namespace bytes is dropped")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        dsn = server_dsn(arguments.dsn, f"{folder}/server")
        database = PostgresDatabase(dsn)
        database.drop("bytes")
        database.create("bytes", parts=arguments.parts)
        settings = read_settings({"store.db": dsn, "store.namespace": "bytes"})
        with Engine(settings, embedder=FakeEmbedder(dimension=arguments.dimension)) as engine:
            engine.index(*arguments.paths)
            engine.store.settle_graph()
            chunks = engine.store.stats().chunks
        print(f"{chunks:,} chunks in {arguments.parts} parts")
        print(to_table(measure(dsn, chunks=chunks, home="bytes")))
        database.close()


if __name__ == "__main__":
    main()
