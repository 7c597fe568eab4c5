"""Open information extraction, as HippoRAG and sets like its own keep it: the entities and triples of each passage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from weft.exchange.clean import to_name
from weft.exchange.fields import find_field, find_title, fold_fields
from weft.exchange.graph_builder import Collector
from weft.exchange.json_values import iter_values
from weft.exchange.triples import add_items
from weft.records import GivenGraph

ID_FIELDS = ("_id", "idx", "id", "passageid", "chunkid", "documentid", "docid")
TEXT_FIELDS = ("passage", "text", "content")


def from_openie(text: str) -> GivenGraph:
    """
    Return the graph of JSON Lines with one passage each, or of one JSON object with all of them under `docs`.

    Entities and relations name the passage they stand in. Its text is taken where it is given; where it is not,
    the id is that of a document which is known already. Ends of triples that are not listed stay unlisted.
    """
    collector = Collector()
    for place, value in iter_values(text, skip=collector.skip):
        if not isinstance(value, dict):
            collector.skip(place, "not an object")
        elif isinstance(value.get("docs"), list):
            for number, record in enumerate(value["docs"], start=1):
                _add_record(record, place=f"doc {number}", collector=collector)
        else:
            _add_record(value, place=place, collector=collector)
    return collector.to_graph()


def _add_record(record: object, *, place: str, collector: Collector) -> None:
    if not isinstance(record, dict):
        collector.skip(place, "not an object")
        return
    fields = fold_fields(record)
    id = to_name(find_field(fields, *ID_FIELDS))
    passages = (id,) if id else ()
    text = find_field(fields, *TEXT_FIELDS)
    if text is not None:
        collector.add_passage(id, text=text, title=find_title(fields), place=place)
    for inner, entity in _iter_list(fields, "entities", place=place, collector=collector):
        collector.add_entity(entity, place=inner, passages=passages)
    for inner, triple in _iter_list(fields, "triples", place=place, collector=collector):
        if isinstance(triple, list):
            add_items(triple, place=inner, collector=collector, passages=passages)
        else:
            collector.skip(inner, "not a list")


def _iter_list(
    fields: Mapping[str, Any], name: str, *, place: str, collector: Collector
) -> Iterator[tuple[str, object]]:
    """Yield the items of `entities` or `extracted_entities` with their places."""
    items = find_field(fields, name, f"extracted{name}")
    if not isinstance(items, list | None):
        collector.skip(place, f"{name}: not a list")
        return
    for number, item in enumerate(items or (), start=1):
        yield f"{place}, {name} {number}", item
