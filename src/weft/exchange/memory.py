"""
`memory.jsonl` of the MCP reference memory server, as a graph.

The format stores entities with name, type and observations, and relations with a type. Weights, aliases and passages
are not written. The description of an entity is written as its first observation and read back as a note.
"""

from __future__ import annotations

import json

from weft.exchange.fields import find_field, find_relation_type, fold_fields
from weft.exchange.graph_builder import GraphBuilder, list_entities
from weft.exchange.json_values import iter_values
from weft.exchange.triples import find_ends
from weft.records import GivenGraph

RELATION_FIELDS = ("relationtype", "relation", "predicate", "label")


def from_memory(text: str) -> GivenGraph:
    """
    Return the graph of JSON Lines, or of one JSON object with `entities` and `relations`.

    Observations become notes. A line without `type` is a relation if it has two ends.
    """
    builder = GraphBuilder()
    for place, value in iter_values(text, skip=builder.skip):
        if not isinstance(value, dict):
            builder.skip(place, "expected an object")
        elif isinstance(value.get("entities"), list) or isinstance(value.get("relations"), list):
            for kind, name in (("entity", "entities"), ("relation", "relations")):
                items = value.get(name)
                for number, item in enumerate(items if isinstance(items, list) else (), start=1):
                    _add_record(item, kind=kind, place=f"{kind} {number}", builder=builder)
        else:
            _add_record(value, kind=value.get("type"), place=place, builder=builder)
    return builder.to_graph()


def to_memory(graph: GivenGraph) -> str:
    """Return a graph as JSON Lines, entities first; every end of a relation is written as an entity."""
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


def _add_record(record: object, *, kind: object, place: str, builder: GraphBuilder) -> None:
    if not isinstance(record, dict):
        builder.skip(place, "expected an object")
        return
    fields = fold_fields(record)
    source, target = find_ends(fields.keys())
    if kind == "relation" or (kind != "entity" and source in fields and target in fields):
        type = find_relation_type(fields, *RELATION_FIELDS)
        builder.add_relation(fields.get(source), fields.get(target), place=place, type=type)
        return
    builder.add_entity(
        fields.get("name"),
        place=place,
        type=fields.get("entitytype"),
        notes=find_field(fields, "observations"),
    )
