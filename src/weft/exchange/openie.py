"""OpenIE output of HippoRAG: entities and triples per passage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from weft.exchange.clean import to_name
from weft.exchange.fields import find_field, find_title, fold_fields
from weft.exchange.graph_builder import GraphBuilder
from weft.exchange.json_values import iter_values
from weft.exchange.triples import add_items
from weft.records import GivenGraph

ID_FIELDS = ("_id", "idx", "id", "passageid", "chunkid", "documentid", "docid")
TEXT_FIELDS = ("passage", "text", "content")


def from_openie(text: str) -> GivenGraph:
    """
    Return the graph of JSON Lines with one passage each, or of one JSON object with a list `docs`.

    Entities and relations refer to their passage. Without a text, the id refers to a stored document. Ends of triples
    do not become entities.
    """
    builder = GraphBuilder()
    for place, value in iter_values(text, skip=builder.skip):
        if not isinstance(value, dict):
            builder.skip(place, "expected an object")
        elif isinstance(value.get("docs"), list):
            for number, record in enumerate(value["docs"], start=1):
                _add_record(record, place=f"doc {number}", builder=builder)
        else:
            _add_record(value, place=place, builder=builder)
    return builder.to_graph()


def _add_record(record: object, *, place: str, builder: GraphBuilder) -> None:
    if not isinstance(record, dict):
        builder.skip(place, "expected an object")
        return
    fields = fold_fields(record)
    id = to_name(find_field(fields, *ID_FIELDS))
    passages = (id,) if id else ()
    text = find_field(fields, *TEXT_FIELDS)
    if text is not None:
        builder.add_passage(id, text=text, title=find_title(fields), place=place)
    for inner, entity in _iter_list(fields, "entities", place=place, builder=builder):
        builder.add_entity(entity, place=inner, passages=passages)
    for inner, triple in _iter_list(fields, "triples", place=place, builder=builder):
        if isinstance(triple, list):
            add_items(triple, place=inner, builder=builder, passages=passages)
        else:
            builder.skip(inner, "expected a list")


def _iter_list(
    fields: Mapping[str, Any], name: str, *, place: str, builder: GraphBuilder
) -> Iterator[tuple[str, object]]:
    """Yield positions and items of `entities` or `extracted_entities`."""
    items = find_field(fields, name, f"extracted{name}")
    if not isinstance(items, list | None):
        builder.skip(place, f"{name}: expected a list")
        return
    for number, item in enumerate(items or (), start=1):
        yield f"{place}, {name} {number}", item
