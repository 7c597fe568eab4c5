"""Definitions of the nine tools that are compatible with the MCP reference memory server."""

from __future__ import annotations

from typing import Any

from weft.engine.input_checks import MAX_QUESTION_CHARACTERS
from weft.tools.definitions import CURSOR, TEXT, ToolDefinition

MAX_ITEMS = 1000
"""Entities or relations per call."""


def _objects(properties: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "array", "maxItems": MAX_ITEMS, "items": schema}


def _texts(description: str) -> dict[str, Any]:
    return {"type": "array", "items": TEXT, "description": description}


_ENTITIES = _objects(
    {
        "name": {"type": "string", "description": "Name of the entity"},
        "entityType": {"type": "string", "description": "Type of the entity"},
        "observations": _texts("Statements about it"),
    }
)
_RELATIONS = _objects(
    {
        "from": {"type": "string", "description": "Source entity"},
        "to": {"type": "string", "description": "Target entity"},
        "relationType": {"type": "string", "description": "Relation in active voice"},
    }
)
_GRAPH = {
    "entities": _objects({"name": TEXT, "entityType": TEXT, "observations": {"type": "array", "items": TEXT}}),
    "relations": _objects({"from": TEXT, "to": TEXT, "relationType": TEXT}),
}
_DONE = {"success": {"type": "boolean"}, "message": TEXT}

MEMORY_TOOLS: tuple[ToolDefinition, ...] = (
    ToolDefinition(
        name="create_entities",
        title="Create Entities",
        description="Create entities in the knowledge graph, each with a type and observations. Existing entities stay "
        "unchanged.",
        properties={"entities": _ENTITIES},
        required=("entities",),
        answer={"entities": _GRAPH["entities"]},
        certain=("entities",),
        writes=True,
        repeatable=False,
    ),
    ToolDefinition(
        name="create_relations",
        title="Create Relations",
        description="Create relations between entities in the knowledge graph, in active voice.",
        properties={"relations": _RELATIONS},
        required=("relations",),
        answer={"relations": _GRAPH["relations"]},
        certain=("relations",),
        writes=True,
        repeatable=False,
    ),
    ToolDefinition(
        name="add_observations",
        title="Add Observations",
        description="Add observations to existing entities in the knowledge graph.",
        properties={
            "observations": _objects(
                {
                    "entityName": {"type": "string", "description": "Name of the entity"},
                    "contents": _texts("Observations to add"),
                }
            )
        },
        required=("observations",),
        answer={"results": _objects({"entityName": TEXT, "addedObservations": {"type": "array", "items": TEXT}})},
        certain=("results",),
        writes=True,
        repeatable=False,
    ),
    ToolDefinition(
        name="delete_entities",
        title="Delete Entities",
        description="Delete entities with their observations and relations from the knowledge graph.",
        properties={"entityNames": _texts("Names of the entities")},
        required=("entityNames",),
        answer=_DONE,
        certain=("success", "message"),
        writes=True,
        destroys=True,
    ),
    ToolDefinition(
        name="delete_observations",
        title="Delete Observations",
        description="Delete observations of entities from the knowledge graph.",
        properties={
            "deletions": _objects(
                {
                    "entityName": {"type": "string", "description": "Name of the entity"},
                    "observations": _texts("Observations to delete, verbatim"),
                }
            )
        },
        required=("deletions",),
        answer=_DONE,
        certain=("success", "message"),
        writes=True,
        destroys=True,
    ),
    ToolDefinition(
        name="delete_relations",
        title="Delete Relations",
        description="Delete relations from the knowledge graph.",
        properties={"relations": _RELATIONS},
        required=("relations",),
        answer=_DONE,
        certain=("success", "message"),
        writes=True,
        destroys=True,
    ),
    ToolDefinition(
        name="read_graph",
        title="Read Graph",
        description="Read the knowledge graph, in pages if large; search_nodes is faster.",
        properties={"cursor": CURSOR},
        answer=_GRAPH,
        certain=("entities", "relations"),
    ),
    ToolDefinition(
        name="search_nodes",
        title="Search Nodes",
        description="Find entities whose name, type or observations contain a text, with their relations.",
        properties={
            "query": {"type": "string", "maxLength": MAX_QUESTION_CHARACTERS, "description": "Text to find"},
            "cursor": CURSOR,
        },
        required=("query",),
        answer=_GRAPH,
        certain=("entities", "relations"),
    ),
    ToolDefinition(
        name="open_nodes",
        title="Open Nodes",
        description="Read entities of the knowledge graph by name, with their relations.",
        properties={"names": _texts("Names of the entities"), "cursor": CURSOR},
        required=("names",),
        answer=_GRAPH,
        certain=("entities", "relations"),
    ),
)
