"""Reads documents and annotations back as they were written."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence

from weft.records import Batch, Chunk, Claim, DocumentInfo, Extraction, IndexedChunk, Nomination, Vector
from weft.store.relational.json_columns import read_list, read_object
from weft.store.relational.session import ModelRow, Namespace, Row, Session


def read_batches(
    db: Session, namespace: Namespace, documents: Sequence[DocumentInfo], *, active: ModelRow | None
) -> list[Batch]:
    """Return documents as batches, without the facts they state."""
    ids = json.dumps([document.id for document in documents])
    rows = db.run("whole_chunks", {"namespace": namespace, "ids": ids})
    numbers = {"namespace": namespace, "numbers": json.dumps([number for _, number, *_ in rows])}
    extractions = to_extractions(db.run("own_nominations", numbers), db.run("own_claims", numbers))
    vectors: dict[int, Vector] = {}
    if active is not None:
        found = db.run("chunk_vectors", {**numbers, "model": active.number})
        vectors = {number: db.vectors.unpack_half(vector) for number, vector in found}
    chunk_ids = [id for _, _, id, *_ in rows]
    names = read_name_vectors(db, namespace, chunk_ids, model=active.number if active else None)
    chunks: dict[str, list[IndexedChunk]] = defaultdict(list)
    for document, number, id, ordinal, heading, start, end, text, terms, start_time, end_time in rows:
        chunk = Chunk(
            id=id,
            document_id=document,
            ordinal=ordinal,
            heading=tuple(read_list(heading, what=f"the headings of chunk {id!r}")),
            start_line=start,
            end_line=end,
            text=text,
            start_time=start_time,
            end_time=end_time,
        )
        extraction = extractions.get(number, Extraction())
        described = sorted({n.key for n in extraction.nominations if n.description})
        item = IndexedChunk(
            chunk=chunk,
            terms=read_object(terms, what=f"the terms of chunk {id!r}"),
            vector=vectors.get(number),
            extraction=extraction,
            entity_vectors={key: names[id, key] for key in described if (id, key) in names},
        )
        chunks[document].append(item)
    model = active.model.fingerprint if active else ""
    return [Batch(document=d, chunks=tuple(chunks[d.id]), model=model) for d in documents]


def read_name_vectors(
    db: Session, namespace: Namespace, chunk_ids: Sequence[str], *, model: int | None
) -> dict[tuple[str, str], Vector]:
    """Return the vectors of the names described in chunks, by chunk id and key."""
    if model is None:
        return {}
    values = {"namespace": namespace, "ids": json.dumps(list(chunk_ids)), "model": model}
    rows = db.run("name_vectors", values)
    vectors = db.vectors.unpack_names([vector for _, _, vector in rows])
    return {(id, key): vector for (id, key, _), vector in zip(rows, vectors, strict=True)}


def to_extractions(nominations: Iterable[Row], claims: Iterable[Row]) -> dict[int, Extraction]:
    """Return the extractions in rows of nominations and claims, by chunk number."""
    named, claimed = defaultdict[int, list[Nomination]](list), defaultdict[int, list[Claim]](list)
    for chunk, key, name, kind, type, text, about, alias_of, reason, extractor in nominations:
        nomination = Nomination(
            key=key, name=name, kind=kind, type=type, description=text, about=bool(about), alias_of=alias_of,
            reason=reason, extractor=extractor,
        )  # fmt: skip
        named[chunk].append(nomination)
    for chunk, source, target, type, weight, text, extractor in claims:
        claim = Claim(
            source=source, target=target, type=type, weight=weight, description=text, extractor=extractor
        )  # fmt: skip
        claimed[chunk].append(claim)
    return {
        chunk: Extraction(nominations=tuple(named[chunk]), claims=tuple(claimed[chunk]))
        for chunk in named.keys() | claimed.keys()
    }
