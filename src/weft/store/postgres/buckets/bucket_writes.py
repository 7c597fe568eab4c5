"""Statements of a settler over the home and the buckets of a graph."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any

from weft.store.postgres.buckets.bucket_rule import BucketSession, batched, bucket_of, by_bucket, read_all, to_json
from weft.store.relational.session import Row

BATCH_CHUNKS = 2000
"""Chunks that one statement looks up."""


def read_some(db: BucketSession, name: str, values: Mapping[str, Any], buckets: Sequence[str]) -> list[Row]:
    """Run a statement in all buckets, unless its only list is empty; return all rows."""
    is_empty = any(values.get(column) == "[]" for column in ("keys", "chunks", "ranges", "numbers"))
    return [] if is_empty else read_all(db, buckets, name, values)


def chunk_mentions(db: BucketSession, name: str, values: Mapping[str, Any], buckets: Sequence[str]) -> list[Row]:
    """Return the mentions of chunks with the keys of their entities."""
    rows, keys = read_mentions(db, values, buckets)
    return [(chunk, keys[entity], entity, count, about) for chunk, entity, count, about, _ in rows if entity in keys]


def read_mentions(
    db: BucketSession, values: Mapping[str, Any], buckets: Sequence[str]
) -> tuple[list[Row], dict[int, str]]:
    """Return the mentions of chunks, and the keys of entities by number."""
    rows = read_some(db, "bucket_mentions", values, buckets)
    entities = to_json({entity for _, entity, *_ in rows})
    found = db.run_at(values["namespace"], "keys_by_number", {"entities": entities}) if rows else []
    return rows, dict(found)


def entity_chunks(db: BucketSession, name: str, values: Mapping[str, Any], buckets: Sequence[str]) -> list[Row]:
    """Return the chunks that mention an entity."""
    return db.run_at(bucket_of(values["namespace"], values["entity"], len(buckets)), name, values)


def pair_support(db: BucketSession, name: str, values: Mapping[str, Any], buckets: Sequence[str]) -> list[Row]:
    """Return, for pairs of keys that are entities, the numbers of both, their claiming chunks and stated weight."""
    home, pairs = values["namespace"], json.loads(values["pairs"])
    keys = to_json({key for source, target, _ in pairs for key in (source, target)})
    numbers = {key: number for key, _, number in db.run_at(home, "resolve_keys", {"keys": keys})}
    known = {tuple(pair): pair[0] for pair in pairs if pair[0] in numbers and pair[1] in numbers}
    shares = by_bucket(home, known, len(buckets))

    def read(db: BucketSession, bucket: str) -> list[Row]:
        return db.run_at(bucket, "bucket_support", {"pairs": to_json(shares[bucket])})

    return [
        (numbers[source], numbers[target], type, source, target, support, weight)
        for rows in db.each(list(shares), read)
        for source, target, type, support, weight in rows
    ]


def page_votes(db: BucketSession, name: str, values: Mapping[str, Any], buckets: Sequence[str]) -> list[Row]:
    """Return, for pages and sections, whether a document has them (home), and whether a link does (buckets)."""
    known: dict[str, bool] = {key: is_known for key, is_known, _ in db.run_at(values["namespace"], name, values)}
    linked = {key for key, _, is_linked in read_all(db, buckets, name, values) if is_linked}
    return [(key, is_known, key in linked) for key, is_known in known.items()]


def chunk_links(db: BucketSession, name: str, values: Mapping[str, Any], buckets: Sequence[str]) -> list[Row]:
    """Return the links of chunks as stated, with ids and documents of the chunks."""
    rows = read_some(db, "bucket_chunk_links", values, buckets)
    chunks = to_json({chunk for chunk, *_ in rows})
    found = db.run_at(values["namespace"], "chunk_owners", {"chunks": chunks}) if rows else []
    owners = {number: (id, document) for number, id, document in found}
    return [(chunk, *owners[chunk], *claim) for chunk, *claim in rows if chunk in owners]


def own_claims(db: BucketSession, name: str, values: Mapping[str, Any], buckets: Sequence[str]) -> list[Row]:
    """Return the claims that documents state about their chunks, in order."""
    return sorted(read_some(db, name, values, buckets), key=itemgetter(0, 1, 2, 3))


def import_names(db: BucketSession, name: str, values: Mapping[str, Any], buckets: Sequence[str]) -> list[Row]:
    """Return the names of imports with nominations (home) or claims (buckets)."""
    return sorted({*db.run_at(values["namespace"], name, values), *read_all(db, buckets, name, values)})


# ── links without a page ────────────────────────────────────────────────────────────────────────


def broken_links(db: BucketSession, name: str, values: Mapping[str, Any], buckets: Sequence[str]) -> list[Row]:
    """Return the links of documents without a resolved claim, in the order of the text."""
    home = values["namespace"]
    chunks = {"chunks": to_json([chunk for (chunk,) in db.run_at(home, "chunks_of_documents", values)])}
    stated = [(row[0], row[2]) for row in read_some(db, "bucket_chunk_links", chunks, buckets)]
    resolved = {(chunk, origin) for chunk, origin, *_ in read_some(db, "chunk_resolved_claims", chunks, buckets)}
    return _locate(db, home, [(chunk, target) for chunk, target in stated if (chunk, f"@{target}") not in resolved])


def all_broken_links(db: BucketSession, name: str, values: Mapping[str, Any], buckets: Sequence[str]) -> list[Row]:
    """Return the same for all documents. Links come sorted by chunk, so only broken ones are kept in memory."""
    streams = (
        db.stream_at(bucket, link, {}) for bucket in buckets for link in ("bucket_raw_links", "bucket_resolved_links")
    )
    broken: list[tuple[int, str]] = []
    for chunk, group in groupby(merge(*streams, key=itemgetter(0)), key=itemgetter(0)):
        links = [(is_resolved, text) for _, is_resolved, text in group]
        broken += [(chunk, text) for is_resolved, text in links if not is_resolved and (True, f"@{text}") not in links]
    return _locate(db, values["namespace"], broken)


def _locate(db: BucketSession, home: str, links: Sequence[tuple[int, str]]) -> list[Row]:
    """Return links with the source of their document and their line, in the order of the text."""
    places: dict[int, Row] = {}
    for chunks in batched(sorted({chunk for chunk, _ in links}), BATCH_CHUNKS):
        rows = db.run_at(home, "chunk_sources", {"chunks": to_json(chunks)})
        places |= {number: place for number, *place in rows}
    found = []
    for chunk, target in links:
        if chunk in places:
            source, line, ordinal = places[chunk]
            found.append(((source, ordinal, target), (source, chunk, line, target)))
    return [row for _, row in sorted(found)]
