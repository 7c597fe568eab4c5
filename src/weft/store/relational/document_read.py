"""Reads documents and annotations back as they were written."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence

from weft.records import Batch, Candidate, Chunk, DocumentInfo, Extraction, IndexedChunk, StatedRelation, Vector
from weft.store.relational.json_columns import read_list, read_object
from weft.store.relational.session import ModelRow, Namespace, Row, Session


def read_batches(
    db: Session, namespace: Namespace, documents: Sequence[DocumentInfo], *, active: ModelRow | None
) -> list[Batch]:
    """Return documents as batches, without the facts they state."""
    ids = json.dumps([document.id for document in documents])
    rows = db.run("whole_chunks", {"namespace": namespace, "ids": ids})
    numbers = {"namespace": namespace, "numbers": json.dumps([number for _, number, *_ in rows])}
    extractions = to_extractions(db.run("own_candidates", numbers), db.run("own_stated_relations", numbers))
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
        described = sorted({n.key for n in extraction.candidates if n.description})
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


def to_extractions(candidates: Iterable[Row], stated_relations: Iterable[Row]) -> dict[int, Extraction]:
    """Return the extractions in rows of candidates and stated relations, by chunk number."""
    named, stated_by_chunk = defaultdict[int, list[Candidate]](list), defaultdict[int, list[StatedRelation]](list)
    for chunk, key, name, kind, type, text, about, alias_of, reason, extractor in candidates:
        candidate = Candidate(
            key=key, name=name, kind=kind, type=type, description=text, about=bool(about), alias_of=alias_of,
            reason=reason, extractor=extractor,
        )  # fmt: skip
        named[chunk].append(candidate)
    for chunk, source, target, type, weight, text, extractor in stated_relations:
        stated = StatedRelation(
            source=source, target=target, type=type, weight=weight, description=text, extractor=extractor
        )  # fmt: skip
        stated_by_chunk[chunk].append(stated)
    return {
        chunk: Extraction(candidates=tuple(named[chunk]), stated_relations=tuple(stated_by_chunk[chunk]))
        for chunk in named.keys() | stated_by_chunk.keys()
    }
