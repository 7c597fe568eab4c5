"""
Reads of a graph in buckets: what one statement with joins does for a graph in one place.

    links_of    home       numbers of the names of the entities
                buckets    their mentions and relations, all at once
                home       ids of the chunks and of the other entities
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from weft.store.postgres.buckets.bucket_rule import BucketSession, batched, bucket_of, by_bucket, read_all, to_json
from weft.store.relational.session import Row

BATCH_ROWS = 2000
"""Keys or numbers that one statement looks up."""


class _Ids(NamedTuple):
    """Ids by number."""

    chunks: dict[int, str]
    entities: dict[int, str]
    """Of a name: the id of the entity that it resolves to."""


def links_of(db: BucketSession, name: str, values: Mapping[str, Any], buckets: Sequence[str]) -> list[Row]:
    """Return, for each name of entities, its strongest mentions and relations as JSON lists."""
    names = db.run_at(values["namespace"], "entity_numbers", values)
    rows = _read_names(db, "bucket_links", values, buckets, names, incoming=values["relations"] > 0)
    mentions, outgoing = defaultdict[int, list[Row]](list), defaultdict[int, list[Row]](list)
    incoming = defaultdict[int, list[Row]](list)
    for number, *lists in rows:
        for found, text in zip((mentions, outgoing, incoming), lists, strict=True):
            found[number] += json.loads(text)
    strongest = {number: _strongest(found, limit=values["relations"]) for number, found in incoming.items()}
    ids = _read_ids(
        db,
        values["namespace"],
        chunks={chunk for found in mentions.values() for chunk, *_ in found},
        entities={target for found in outgoing.values() for target, *_ in found}
        | {source for found in strongest.values() for _, _, source, _ in found},
    )
    return [
        (
            id,
            chunks,
            strong,
            to_json([[ids.chunks[m[0]], *m[1:]] for m in mentions[number] if m[0] in ids.chunks]),
            to_json(
                [[id, ids.entities[t], type, w] for t, type, w in outgoing[number] if t in ids.entities]
                + [[ids.entities[s], id, type, w] for w, _, s, type in strongest.get(number, ()) if s in ids.entities]
            ),
        )
        for id, number, chunks, strong in names
    ]


def relations_of_type(db: BucketSession, name: str, values: Mapping[str, Any], buckets: Sequence[str]) -> list[Row]:
    """Return, for each name of entities, its strongest relations of a type in both directions as JSON lists."""
    names = db.run_at(values["namespace"], "entity_numbers", values)
    found = defaultdict[int, tuple[list[Row], list[Row]]](lambda: ([], []))
    for number, *lists in _read_names(db, "bucket_relations_of_type", values, buckets, names, incoming=True):
        for direction, text in zip(found[number], lists, strict=True):
            direction += json.loads(text)
    strongest = {
        number: [_strongest(rows, limit=values["limit"]) for rows in directions] for number, directions in found.items()
    }
    others = {other for directions in strongest.values() for rows in directions for _, _, other in rows}
    ids = _read_ids(db, values["namespace"], entities=others).entities
    return [
        (
            to_json([[id, ids[t], weight, place, t] for weight, place, t in strongest[number][0] if t in ids]),
            to_json([[ids[s], id, weight, place, s] for weight, place, s in strongest[number][1] if s in ids]),
            number,
        )
        for id, number, *_ in names
    ]


def relations_between(db: BucketSession, name: str, values: Mapping[str, Any], buckets: Sequence[str]) -> list[Row]:
    """Return the relations between entities under any name."""
    names = {number: id for id, number, *_ in db.run_at(values["namespace"], "entity_numbers", values)}
    return _between(db, values["namespace"], buckets, sources=names, targets=names)


def relations_with(db: BucketSession, name: str, values: Mapping[str, Any], buckets: Sequence[str]) -> list[Row]:
    """Return the relations between one list of entities and another, in both directions."""
    home = values["namespace"]
    near, far = (
        {number: id for id, number, *_ in db.run_at(home, "entity_numbers", {"ids": values[ids]})}
        for ids in ("ids", "others")
    )
    there = _between(db, home, buckets, sources=near, targets=far)
    return sorted({*there, *_between(db, home, buckets, sources=far, targets=near)})


def mentions_in(db: BucketSession, name: str, values: Mapping[str, Any], buckets: Sequence[str]) -> list[Row]:
    """Return the mentions of chunks, with what is known of their entities elsewhere."""
    home = values["namespace"]
    chunks = {number: id for id, number, _ in db.run_at(home, "chunk_numbers", values)}
    if not chunks:
        return []
    rows = read_all(db, buckets, "bucket_mentions_in", {"chunks": to_json(chunks), "about": values["about"]})
    entities = to_json({entity for _, entity, *_ in rows})
    named = {number: row for number, *row in db.run_at(home, "mentioned_names", {"entities": entities})}
    own = {entity for _, entity, _, _, is_defined in rows if is_defined}
    wanted = {
        other for number, (_, _, strong, others) in named.items() if strong and number not in own for other in others
    }
    defined = own | set(_defining_chunks(db, home, wanted, buckets, limit=1))
    found: list[Row] = []
    for chunk, entity, count, about, _ in rows:
        if entity in named:
            id, in_chunks, strong, others = named[entity]
            has_defining_chunk = about or (strong and (entity in defined or not defined.isdisjoint(others)))
            is_elsewhere = in_chunks > 1 or bool(others)
            found.append((id, chunks[chunk], count, about, in_chunks, strong, is_elsewhere, has_defining_chunk))
    return found


def known_entities(db: BucketSession, name: str, values: Mapping[str, Any], buckets: Sequence[str]) -> list[Row]:
    """Return what is known of keys: entity, mentioning chunks, defining chunks, and whether facts name them."""
    rows = db.run_at(values["namespace"], "known_names", values)
    wanted = {number for *_, numbers, _ in rows for number in numbers}
    chunks = _defining_chunks(db, values["namespace"], wanted, buckets, limit=values["max_defining"])
    return [
        (key, id, strong, count, len(set().union(*(chunks.get(number, ()) for number in numbers))), remembered)
        for key, id, strong, count, numbers, remembered in rows
    ]


def relation_claims(db: BucketSession, name: str, values: Mapping[str, Any], buckets: Sequence[str]) -> list[Row]:
    """Return, for each position, source, target and type, the claims of largest weight as a JSON list."""
    home, limit = values["namespace"], values["limit"]
    wanted = {tuple(claim): claim[1] for claim in json.loads(values["claims"])}
    shares = by_bucket(home, wanted, len(buckets))

    def read(db: BucketSession, bucket: str) -> list[Row]:
        return db.run_at(bucket, "bucket_claims", {"claims": to_json(shares[bucket]), "limit": limit})

    rows = [(*ends, json.loads(text)) for some in db.each(list(shares), read) for *ends, text in some]
    ids = _read_ids(db, home, chunks={chunk for *_, claims in rows for _, _, chunk, *_ in claims}).chunks
    order = {(str(place), source, target): at for at, (place, source, target, _) in enumerate(wanted)}
    found: list[Row] = []
    for *ends, claims in sorted(rows, key=lambda row: order[row[:3]]):  # the caller keeps this order among ties
        known = ((-w, place, ids[c], origin, c, text, by) for w, place, c, origin, text, by in claims if c in ids)
        first = sorted(known, key=itemgetter(0, 1, 2, 3))[:limit]
        found.append((*ends, to_json([[-weight, id, chunk, text, by] for weight, _, id, _, chunk, text, by in first])))
    return found


def count_stated(db: BucketSession, name: str, values: Mapping[str, Any], buckets: Sequence[str]) -> list[Row]:
    """Return the number of stated relations of each type; each is kept in memory once, as two numbers."""
    found = defaultdict[str, set[tuple[int, int]]](set)
    for bucket in buckets:
        for rows in batched(db.stream_at(bucket, "bucket_stated", {}), BATCH_ROWS):
            keys = {key for source, target, _ in rows for key in (source, target)}
            heads: dict[str, int] = dict(db.run_at(values["namespace"], "heads_by_key", {"keys": to_json(keys)}))
            for source, target, type in rows:
                ends = heads.get(source, 0), heads.get(target, 0)
                if all(ends) and ends[0] != ends[1]:
                    found[type].add(ends)
    return sorted((type, len(pairs)) for type, pairs in found.items())


# ── private ─────────────────────────────────────────────────────────────────────────────────────


def _read_names(
    db: BucketSession,
    name: str,
    values: Mapping[str, Any],
    buckets: Sequence[str],
    names: Sequence[Row],
    *,
    incoming: bool,
) -> list[Row]:
    """Run a statement for names in their own buckets; if `incoming`, for all names in all buckets."""
    owners = {number: bucket_of(values["namespace"], number, len(buckets)) for _, number, *_ in names}

    def read(db: BucketSession, bucket: str) -> list[Row]:
        asked = [(number, owner == bucket) for number, owner in owners.items() if incoming or owner == bucket]
        return db.run_at(bucket, name, {**values, "entities": to_json(asked)})

    asked = buckets if incoming else sorted(set(owners.values()))
    return [row for rows in db.each(asked if owners else [], read) for row in rows]


def _strongest(rows: Iterable[Row], *, limit: int) -> list[Row]:
    """Return the first rows of (weight, place, …) in the order of the indexes of relations."""
    return sorted(rows, key=lambda row: (-row[0], *row[1:]))[:limit]


def _read_ids(db: BucketSession, home: str, *, chunks: Collection[int] = (), entities: Collection[int] = ()) -> _Ids:
    found = _Ids({}, {})
    if chunks or entities:
        for is_chunk, number, id in db.run_at(
            home, "ids_by_number", {"chunks": to_json(chunks), "entities": to_json(entities)}
        ):
            found[0 if is_chunk else 1][number] = id
    return found


def _between(
    db: BucketSession, home: str, buckets: Sequence[str], *, sources: Mapping[int, str], targets: Mapping[int, str]
) -> list[Row]:
    """Return the relations from some names to others, which are ids by number."""
    shares = by_bucket(home, {number: number for number in sources}, len(buckets)) if targets else {}

    def read(db: BucketSession, bucket: str) -> list[Row]:
        asked = {"sources": to_json(shares[bucket]), "targets": to_json(targets)}
        return db.run_at(bucket, "bucket_relations_between", asked)

    rows = (row for some in db.each(list(shares), read) for row in some)
    return [(sources[source], targets[target], type, weight) for source, target, type, weight in rows]


def _defining_chunks(
    db: BucketSession, home: str, numbers: Collection[int], buckets: Sequence[str], *, limit: int
) -> dict[int, set[int]]:
    """Return at most `limit` defining chunks of each name; names without one are left out."""
    shares = by_bucket(home, {number: number for number in numbers}, len(buckets))

    def read(db: BucketSession, bucket: str) -> list[Row]:
        return db.run_at(bucket, "bucket_defining_chunks", {"entities": to_json(shares[bucket]), "limit": limit})

    found = defaultdict[int, set[int]](set)
    for rows in db.each(list(shares), read):
        for number, chunk in rows:
            found[number].add(chunk)
    return found
