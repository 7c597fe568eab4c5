"""
Custom knowledge graph of LightRAG: a JSON object with `chunks`, `entities` and `relationships`.

The format has one `source_id` per entity and relationship. Several passages are also written as `source_ids`. Other
fields are written as `aliases`, `notes` and `extractors`. LightRAG ignores these four fields.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from weft.errors import InputError
from weft.exchange.clean import first_keyword, relation_type, to_ids, to_name, to_text
from weft.exchange.fields import find_field, find_title, fold_fields
from weft.exchange.graph_builder import GraphBuilder
from weft.exchange.json_values import parse_json
from weft.records import GivenEntity, GivenGraph, GivenPassage, GivenRelation

UNKNOWN = "UNKNOWN"
"""Written by LightRAG for an unknown type or source."""
SEPARATOR = "<SEP>"
"""Written by LightRAG between several sources in one field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chunk:
    """A chunk with the parts of its id."""

    fields: Mapping[str, object]
    source: str
    index: int | None
    place: str


def from_lightrag(text: str) -> GivenGraph:
    """
    Return the graph of a LightRAG file. Raises `InputError` if the text is not one JSON object.

    A chunk becomes a passage with the id `source_id`, or `source_id#index` if its source has several chunks. An entity
    or relation of such a source has all its passages. The type of a relation is its first keyword.
    """
    document = _parse(text)
    builder = GraphBuilder()
    chunks = list(_iter_chunks(document, builder=builder))
    passages: dict[str, list[str]] = {}
    for chunk, id in zip(chunks, _choose_ids(chunks), strict=True):
        title = find_title(chunk.fields)
        builder.add_passage(id, text=chunk.fields.get("content"), title=title, place=chunk.place)
        passages.setdefault(chunk.source, []).append(id)
    for place, fields in _iter_fields(document, "entities", kind="entity", builder=builder):
        _add_entity(fields, place=place, passages=passages, builder=builder)
    for place, fields in _iter_fields(document, "relationships", kind="relationship", builder=builder):
        _add_relation(fields, place=place, passages=passages, builder=builder)
    return builder.to_graph()


def to_lightrag(graph: GivenGraph) -> str:
    """Return a graph as one JSON object. An unknown source or type is written as `UNKNOWN`."""
    document = {
        "chunks": [_to_chunk(passage) for passage in graph.passages],
        "entities": [_to_entity(entity) for entity in graph.entities],
        "relationships": [_to_relationship(relation) for relation in graph.relations],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def split_sources(value: object) -> tuple[str, ...]:
    """Return the ids in a `source_id`, separated by `<SEP>`, without `UNKNOWN`."""
    ids = to_ids(to_text(value).split(SEPARATOR))
    return tuple(id for id in ids if id != UNKNOWN)


def _parse(text: str) -> dict[str, object]:
    try:
        document = parse_json(text)
    except ValueError as error:
        raise InputError(
            f"invalid JSON: {error}", hint="pass one JSON object with `chunks`, `entities` and `relationships`"
        ) from error
    if not isinstance(document, dict):
        raise InputError(
            f"expected a JSON object, got {type(document).__name__}",
            hint="pass one JSON object with `chunks`, `entities` and `relationships`",
        )
    return fold_fields(document)


def _iter_fields(
    document: Mapping[str, object], name: str, *, kind: str, builder: GraphBuilder
) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the position and fields of each record in a list."""
    items = document.get(name)
    if not isinstance(items, list | None):
        builder.skip(name, "expected a list")
        return
    for number, item in enumerate(items or (), start=1):
        if isinstance(item, dict):
            yield f"{kind} {number}", fold_fields(item)
        else:
            builder.skip(f"{kind} {number}", "expected an object")


def _iter_chunks(document: Mapping[str, object], *, builder: GraphBuilder) -> Iterator[_Chunk]:
    for place, fields in _iter_fields(document, "chunks", kind="chunk", builder=builder):
        source = to_name(fields.get("sourceid"))
        index = find_field(fields, "sourcechunkindex", "chunkorderindex")
        if not source or source == UNKNOWN:
            builder.skip(place, "source_id is missing")
        else:
            number = index if isinstance(index, int) and not isinstance(index, bool) else None
            yield _Chunk(fields=fields, source=source, index=number, place=place)


def _choose_ids(chunks: Sequence[_Chunk]) -> list[str]:
    """Return one id per chunk; if the indexes of a source are not unique, its chunks are numbered from 0."""
    indexes: dict[str, list[int | None]] = {}
    for chunk in chunks:
        indexes.setdefault(chunk.source, []).append(chunk.index)
    seen: Counter[str] = Counter()
    ids = []
    for chunk in chunks:
        known = indexes[chunk.source]
        is_unique = None not in known and len(set(known)) == len(known)
        index = chunk.index if is_unique else seen[chunk.source]
        seen[chunk.source] += 1
        ids.append(chunk.source if len(known) == 1 else f"{chunk.source}#{index}")
    return ids


def _find_passages(fields: Mapping[str, object], *, passages: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the passages of all sources of a record. A source without chunks is a passage itself."""
    listed = fields.get("sourceids")
    sources = to_ids(listed) if isinstance(listed, list) else split_sources(fields.get("sourceid"))
    return [id for source in sources for id in passages.get(source, [source])]


def _add_entity(
    fields: Mapping[str, object], *, place: str, passages: Mapping[str, Sequence[str]], builder: GraphBuilder
) -> None:
    type = to_name(find_field(fields, "entitytype", "type"))
    builder.add_entity(
        find_field(fields, "entityname", "entityid", "name"),
        place=place,
        type="" if type == UNKNOWN else type,
        description=fields.get("description"),
        aliases=fields.get("aliases"),
        notes=fields.get("notes"),
        passages=_find_passages(fields, passages=passages),
    )


def _add_relation(
    fields: Mapping[str, object], *, place: str, passages: Mapping[str, Sequence[str]], builder: GraphBuilder
) -> None:
    builder.add_relation(
        find_field(fields, "srcid", "source"),
        find_field(fields, "tgtid", "target"),
        place=place,
        type=first_keyword(fields.get("keywords")),
        weight=fields.get("weight"),
        description=fields.get("description"),
        passages=_find_passages(fields, passages=passages),
    )


def _to_chunk(passage: GivenPassage) -> dict[str, object]:
    chunk: dict[str, object] = {"content": passage.text, "source_id": passage.id}
    return {**chunk, "file_path": passage.title} if passage.title else chunk


def _to_entity(entity: GivenEntity) -> dict[str, object]:
    record: dict[str, object] = {
        "entity_name": entity.name,
        "entity_type": entity.type or UNKNOWN,
        "description": entity.description,
        **_to_sources(entity.passages),
    }
    lists = {"aliases": list(entity.aliases), "notes": list(entity.notes), "extractors": list(entity.extractors)}
    return {**record, **{name: items for name, items in lists.items() if items}}


def _to_relationship(relation: GivenRelation) -> dict[str, object]:
    return {
        "src_id": relation.source,
        "tgt_id": relation.target,
        "description": relation.description,
        # LightRAG embeds the keywords, so write words instead of snake_case.
        "keywords": relation_type(relation.type).replace("_", " "),
        "weight": relation.weight,
        **_to_sources(relation.passages),
        **({"extractors": list(relation.extractors)} if relation.extractors else {}),
    }


def _to_sources(passages: Sequence[str]) -> dict[str, object]:
    source: dict[str, object] = {"source_id": passages[0] if passages else UNKNOWN}
    is_complete = not passages or split_sources(passages[0]) == tuple(passages)
    return source if is_complete else {**source, "source_ids": list(passages)}
