"""
The `memory.jsonl` of the MCP reference memory server.

The form holds entities with name, type and observations, and relations with type. It has no place for weights,
aliases, passages and descriptions; that of an entity is written as its first observation and is read as a note.
"""

from __future__ import annotations

import json

from weft.exchange.fields import find_field, find_relation_type, fold_fields
from weft.exchange.graph_builder import Collector, list_entities
from weft.exchange.json_values import iter_values
from weft.exchange.triples import find_ends
from weft.records import GivenGraph

RELATION_FIELDS = ("relationtype", "relation", "predicate", "label")


def from_memory(text: str) -> GivenGraph:
    """
    Return the graph of JSON Lines, or of one JSON object with `entities` and `relations`.

    Observations become notes. A line without `type` is a relation when it has two ends.
    """
    collector = Collector()
    for place, value in iter_values(text, skip=collector.skip):
        if not isinstance(value, dict):
            collector.skip(place, "not an object")
        elif isinstance(value.get("entities"), list) or isinstance(value.get("relations"), list):
            for kind, name in (("entity", "entities"), ("relation", "relations")):
                items = value.get(name)
                for number, item in enumerate(items if isinstance(items, list) else (), start=1):
                    _add_record(item, kind=kind, place=f"{kind} {number}", collector=collector)
        else:
            _add_record(value, kind=value.get("type"), place=place, collector=collector)
    return collector.to_graph()


def to_memory(graph: GivenGraph) -> str:
    """Return a graph as JSON Lines, entities first; an end of a relation that is not listed becomes one."""
    records: list[dict[str, object]] = [
        {
            "type": "entity",
            "name": entity.name,
            "entityType": entity.type,
            "observations": list(dict.fromkeys(filter(None, (entity.description, *entity.notes)))),
        }
        for entity in list_entities(graph)
    ]
    records += [
        {"type": "relation", "from": relation.source, "to": relation.target, "relationType": relation.type}
        for relation in graph.relations
    ]
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def _add_record(record: object, *, kind: object, place: str, collector: Collector) -> None:
    if not isinstance(record, dict):
        collector.skip(place, "not an object")
        return
    fields = fold_fields(record)
    source, target = find_ends(fields.keys())
    if kind == "relation" or (kind != "entity" and source in fields and target in fields):
        type = find_relation_type(fields, *RELATION_FIELDS)
        collector.add_relation(fields.get(source), fields.get(target), place=place, type=type)
        return
    collector.add_entity(
        fields.get("name"),
        place=place,
        type=fields.get("entitytype"),
        notes=find_field(fields, "observations"),
    )
