"""Consistency of a graph in buckets: rows in the wrong bucket, and rows that refer to a missing chunk or entity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from operator import itemgetter
from typing import Any, NamedTuple

from weft.store.postgres.buckets.bucket_rule import BucketSession, batched, bucket_of, by_bucket, to_json
from weft.store.postgres.buckets.bucket_writes import read_mentions
from weft.store.postgres.buckets.name_vectors import count_misplaced
from weft.store.relational.session import Row

BATCH_NUMBERS = 2000
"""Numbers that one statement looks up."""

BATCH_ENTITIES = 200
"""Entities whose relations are in memory at once, and whose rows move at once."""


class References(NamedTuple):
    """Columns of a table of buckets, each with the statement that counts its values."""

    table: str
    owner: str
    """The column that tells the bucket."""
    chunk: str = ""
    """Empty if the table has none."""
    entities: tuple[str, ...] = ()


TABLES = (
    References("mention", owner="mention_entities", chunk="mention_chunks", entities=("mention_entities",)),
    References("claim", owner="claim_sources", chunk="claim_chunks"),
    References("relation", owner="relation_sources", entities=("relation_sources", "relation_targets")),
)

MOVES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "mention": ("take_mentions", "move_mention", ("entity", "chunk", "count", "about", "place")),
    "claim": (
        "take_claims",
        "write_claim",
        ("chunk", "origin", "source", "target", "type", "weight", "description", "place", "extractor"),
    ),
    "relation": ("take_relations", "write_relation", ("source", "target", "type", "weight", "support", "place")),
}
"""By table: the statements that delete and write rows, and the columns of a row."""


def find_lost_rows(db: BucketSession, home: str, buckets: Sequence[str]) -> list[str]:
    """Return a line for each kind of row that is in the wrong bucket or refers to a missing row."""
    found: list[str] = []
    for columns in TABLES:
        misplaced = lost = 0
        for at in dict.fromkeys((home, *buckets)):
            counts: dict[Any, int] = dict(db.stream_at(at, columns.owner, {})) if buckets else {}
            misplaced += sum(counts[value] for value in _misplaced(counts, at, home, buckets))
            for name in (columns.chunk, *columns.entities):
                lost += sum(count for _, count in _missing(db, at, home, name)) if name else 0
        for count, what in ((misplaced, "in the wrong bucket"), (lost, "of a missing chunk or entity")):
            if count:
                found.append(f"{count:,} {columns.table}{'s are' if count > 1 else ' is'} {what}")
    if buckets and (count := count_misplaced(db, home)):
        found.append(f"{count:,} {'vectors of names are' if count > 1 else 'vector of a name is'} in the home")
    return found


def restore_claims(db: BucketSession, home: str, buckets: Sequence[str]) -> None:
    """Move claims to their buckets, and delete those of missing chunks. Mentions and relations are derived again."""
    for at in dict.fromkeys((home, *buckets)):
        _move_rows(db, "claim", at=at, home=home, buckets=buckets)
        missing = [number for number, _ in _missing(db, at, home, "claim_chunks")]
        for chunks in batched(missing, BATCH_NUMBERS):
            db.run_at(at, "delete_chunk_claims", {"chunks": to_json(chunks)})


def fill_buckets(db: BucketSession, home: str, buckets: Sequence[str]) -> None:
    """Move a graph from the home, where older versions have it, to its buckets."""
    for table in MOVES:
        _move_rows(db, table, at=home, home=home, buckets=buckets)


def _move_rows(db: BucketSession, table: str, *, at: str, home: str, buckets: Sequence[str]) -> None:
    """Move the rows of a table that are in the home, or in another bucket than their own."""
    take, write, names = MOVES[table]
    (owner,) = (columns.owner for columns in TABLES if columns.table == table)
    values = [value for value, _ in db.stream_at(at, owner, {})]
    for keys in batched(_misplaced(values, at, home, buckets), BATCH_ENTITIES):
        rows = db.run_at(at, take, {"keys": to_json(keys)})
        db.run_many(write, [{"namespace": home, **dict(zip(names, row, strict=True))} for row in rows])


def _misplaced(values: Any, at: str, home: str, buckets: Sequence[str]) -> Iterator[Any]:
    return (value for value in values if buckets and bucket_of(home, value, len(buckets)) != at)


def _missing(db: BucketSession, at: str, home: str, name: str) -> Iterator[tuple[int, int]]:
    """Yield the chunks or entities that rows refer to and that are missing, with the number of rows."""
    known = "graph_chunk_numbers" if name.endswith("chunks") else "graph_entity_numbers"
    for rows in batched(db.stream_at(at, name, {}), BATCH_NUMBERS):
        numbers = to_json([number for number, _ in rows])
        present = {number for (number,) in db.run_at(home, known, {"numbers": numbers})}
        yield from ((number, count) for number, count in rows if number not in present)


# ── statements of the check ─────────────────────────────────────────────────────────────────────


def all_mentions_in(db: BucketSession, name: str, values: Mapping[str, Any], buckets: Sequence[str]) -> list[Row]:
    """Return the mentions of chunks with the keys of their entities."""
    rows, keys = read_mentions(db, values, buckets)
    home = values["namespace"]
    return [(chunk, home, keys[e], count, about, place) for chunk, e, count, about, place in rows if e in keys]


def all_pairs(db: BucketSession, name: str, values: Mapping[str, Any], buckets: Sequence[str]) -> Iterator[Row]:
    """Yield claims summed up by relation; all claims of a relation are in one bucket."""
    return merge(*(db.stream_at(bucket, name, values) for bucket in buckets), key=itemgetter(0, 1, 2))


def all_relations(db: BucketSession, name: str, values: Mapping[str, Any], buckets: Sequence[str]) -> Iterator[Row]:
    """Yield relations in the order of the keys of their ends."""
    home = values["namespace"]
    keys = {number: key for number, _, key, *_ in db.run_at(home, "all_entities", values)}

    for numbers in batched(sorted(keys, key=keys.__getitem__), BATCH_ENTITIES):
        shares = by_bucket(home, {number: number for number in numbers}, len(buckets))

        def read(db: BucketSession, bucket: str, shares: Mapping[str, list[int]] = shares) -> list[Row]:
            return db.run_at(bucket, "bucket_relations", {"entities": to_json(shares[bucket])})

        found = [
            (keys[source], keys[target], type, home, *rest)
            for rows in db.each(list(shares), read)
            for source, target, type, *rest in rows
            if target in keys
        ]
        yield from sorted(found)
