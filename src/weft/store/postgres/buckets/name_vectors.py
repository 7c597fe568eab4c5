"""
Vectors of names of a namespace with several parts.

They are always found by the chunk that describes the name, so they are in the part of its document, as the vectors of
chunks are. A writer of documents writes them with the text; a settler of the graph has nothing to do with them.
Which names a chunk describes is in the home, with the nominations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from weft.store.postgres.buckets.bucket_rule import BucketSession, batched, read_all, to_json
from weft.store.postgres.part_names import part_of
from weft.store.relational.session import Row

BATCH_NAMES = 2000
"""Names that one statement looks up."""

BATCH_MOVED_CHUNKS = 200
"""Chunks whose vectors of names move at once."""

Names = set[tuple[int, str]]
"""Number of a chunk and key of a name that it describes."""


def read_described(db: BucketSession, home: str, chunks: Collection[int], *, origins: Collection[bool]) -> Names:
    """Return the names that documents (True) or imports (False) describe in chunks."""
    rows = db.run_at(home, "described_keys", {"chunks": to_json(chunks)})
    return {(chunk, key) for chunk, key, is_own in rows if is_own in origins}


def forget_names(db: BucketSession, home: str, part: str, described: Mapping[int, Collection[str]]) -> None:
    """Delete the vectors of chunks whose names neither `described` has, by chunk, nor an import describes."""
    stored = _read_keys(db, part, described) if described else set()
    lost = {(chunk, key) for chunk, key in stored if key not in described[chunk]}
    if lost:
        lost -= read_described(db, home, {chunk for chunk, _ in lost}, origins=(False,))
        _delete(db, part, lost)


def _read_keys(db: BucketSession, part: str, chunks: Collection[int]) -> Names:
    return {(chunk, key) for chunk, key in db.run_at(part, "name_vector_keys", {"chunks": to_json(chunks)})}


def _delete(db: BucketSession, part: str, names: Names) -> None:
    db.run_many(
        "delete_name_vectors", [{"namespace": part, "chunk": chunk, "key": key} for chunk, key in sorted(names)]
    )


# ── statements of the home that need rows of the parts ──────────────────────────────────────────


def part_of_chunk_id(db: BucketSession, row: Mapping[str, Any], parts: Sequence[str]) -> str:
    """Return the part of a chunk by its id; any part if there is no such chunk."""
    documents = db.run_at(row["namespace"], "document_of_chunk_id", {"id": row["id"]})
    return part_of(row["namespace"], documents[0][0] if documents else "", len(parts))


def unembedded_entities(db: BucketSession, name: str, values: Mapping[str, Any], parts: Sequence[str]) -> list[Row]:
    """
    Return the first described names without a vector of an embedder.

    Documents that wait for the graph are left out: their vectors are those of the new text, and the home still has the
    names of the old one.
    """
    found: list[Row] = []
    waiting = {document for (document,) in read_all(db, parts, "waiting_documents", {})}
    for rows in batched(db.stream_at(values["namespace"], "described_names", {}), BATCH_NAMES):
        asked = {"chunks": to_json({row[-1] for row in rows}), "fingerprint": values["fingerprint"]}
        known = set(read_all(db, parts, "embedded_names", asked))
        found += [
            (id, key, *rest)
            for id, key, *rest, document, chunk in rows
            if (chunk, key) not in known and document not in waiting
        ]
        if len(found) >= values["limit"]:
            break
    return found[: values["limit"]]


def delete_annotated(db: BucketSession, name: str, values: Mapping[str, Any], parts: Sequence[str]) -> list[Row]:
    """Delete the vectors of names that only imports describe in a chunk."""
    home, chunk = values["namespace"], values["chunk"]
    for (document,) in db.run_at(home, "document_of_chunk", {"chunk": chunk}):
        part = part_of(home, document, len(parts))
        if stored := _read_keys(db, part, [chunk]):
            _delete(db, part, stored - read_described(db, home, [chunk], origins=(True,)))
    return []


# ── consistency ─────────────────────────────────────────────────────────────────────────────────


def count_strays(db: BucketSession, name: str, values: Mapping[str, Any], parts: Sequence[str]) -> list[Row]:
    """Return the number of vectors that match no description, or have the wrong length."""
    return [(sum(1 for part in parts for _ in _strays(db, values["namespace"], part)),)]


def delete_strays(db: BucketSession, name: str, values: Mapping[str, Any], parts: Sequence[str]) -> list[Row]:
    """Move vectors that are in the home to their parts, then delete those that match no description."""
    fill_parts(db, values["namespace"], parts)
    for part in parts:
        for rows in batched(_strays(db, values["namespace"], part), BATCH_NAMES):
            db.run_many("delete_name_vector", [{"namespace": part, **row} for row in rows])
    return []


def count_misplaced(db: BucketSession, home: str) -> int:
    """Return the number of vectors in the home. A foreign key keeps others in the part of their chunk."""
    return sum(count for _, count in db.stream_at(home, "chunks_with_name_vectors", {}))


def fill_parts(db: BucketSession, home: str, parts: Sequence[str]) -> None:
    """Move vectors from the home, where older versions have them, to their parts; deleted text has none."""
    chunks = (chunk for chunk, _ in db.stream_at(home, "chunks_with_name_vectors", {}))
    for some in batched(chunks, BATCH_MOVED_CHUNKS):
        shares = defaultdict[str, list[Row]](list)
        for document, *row in db.run_at(home, "take_name_vectors", {"chunks": to_json(some)}):
            shares[part_of(home, document, len(parts))].append(tuple(row))
        for part, rows in sorted(shares.items()):
            present = read_present(db, part, {chunk for chunk, *_ in rows})
            moved = [
                {"namespace": part, "chunk": chunk, "key": key, "model": model, "vector": vector}
                for chunk, key, model, vector in rows
                if chunk in present
            ]
            db.run_many("write_entity_vector", moved)


def read_present(db: BucketSession, part: str, chunks: Collection[int]) -> set[int]:
    """Return those of the chunks that a part or the home has."""
    return {number for (number,) in db.run_at(part, "graph_chunk_numbers", {"numbers": to_json(chunks)})}


def _strays(db: BucketSession, home: str, part: str) -> Iterator[dict[str, Any]]:
    """
    Yield the vectors of a part that match no description, or have the wrong length.

    Nothing is known about the descriptions of chunks that the home does not have.
    """
    for rows in batched(db.stream_at(part, "all_name_vectors", {}), BATCH_NAMES):
        chunks = {chunk for chunk, *_ in rows}
        known = read_present(db, home, chunks)
        described = read_described(db, home, chunks, origins=(True, False))
        for chunk, key, model, is_wrong in rows:
            if is_wrong or (chunk in known and (chunk, key) not in described):
                yield {"chunk": chunk, "key": key, "model": model}
