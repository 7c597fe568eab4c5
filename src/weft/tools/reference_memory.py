"""The nine tools of the MCP reference memory server, implemented on facts with the same arguments and answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from weft.admin.exchange_facts import export_facts
from weft.engine.engine import Engine
from weft.errors import InputError
from weft.exchange.clean import to_name, to_text
from weft.exchange.memory_facts import from_memory_facts, to_observation
from weft.extract.names import name_key, predicate_key
from weft.facts.lifecycle import is_live
from weft.records import Fact, Remembered
from weft.text.normalise import fold
from weft.tools.arguments import read_arguments
from weft.tools.calls import ToolAnswer
from weft.tools.paging import cut_page
from weft.tools.reference_memory_definitions import MEMORY_TOOLS

SOURCE = "conversation"
"""Source of facts added by these tools."""

MAX_GRAPH_CHARACTERS = 40_000
"""Maximum characters of the graph in one answer, about 10,000 tokens."""

Answer = tuple[Any, dict[str, Any], tuple[str, ...]]
"""The text, the structured answer, and notes."""


def call_memory_tool(engine: Engine, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Return the answer of one of the nine tools. Raises `InputError` and errors of the engine."""
    tool = next(tool for tool in MEMORY_TOOLS if tool.name == name)
    values = read_arguments(arguments, tool.input_schema, aliases=tool.aliases)
    shown, answer, notes = _CALLS[name](engine, values)
    text = shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False, indent=2)
    return ToolAnswer(values=answer, text=text, notes=notes)


def create_entities(engine: Engine, values: Mapping[str, Any]) -> Answer:
    """Create new entities; existing entities are not changed. An entity that occurs only in relations is new."""
    names = {key: _find_created(engine, key) for key in {name_key(entity["name"]) for entity in values["entities"]}}
    fresh: dict[str, Any] = {}
    joined: list[str] = []
    for entity in values["entities"]:
        name, key = to_name(entity["name"]), name_key(entity["name"])
        if not key:
            raise InputError(f"invalid name {entity['name'][:80]!r}", hint="use a name with letters or digits")
        if not names[key]:
            fresh[key], names[key] = entity, name
        elif names[key] != name:
            joined.append(f"{name!r} is the existing entity {names[key]!r}, which is unchanged: use add_observations")
    parsed = from_memory_facts(json.dumps({"entities": list(fresh.values())}), source=SOURCE)
    done = engine.memory.add_many(parsed.facts, entities=parsed.entities)
    refused = {(name_key(f.subject), f.value) for f, item in zip(parsed.facts, done, strict=True) if item.reason}
    made = [
        {
            **fresh[e.key],
            "observations": [t for t in fresh[e.key]["observations"] if (e.key, to_text(t)) not in refused],
        }
        for e in parsed.entities
    ]
    return made, {"entities": made}, (*joined, *parsed.skipped, *_refusals(done))


def create_relations(engine: Engine, values: Mapping[str, Any]) -> Answer:
    """Create relations; return the new ones."""
    parsed = from_memory_facts(json.dumps({"relations": values["relations"]}), source=SOURCE)
    done = engine.memory.add_many(parsed.facts)
    pairs = zip(parsed.facts, done, strict=True)
    added = {(f.subject, f.object, f.predicate) for f, item in pairs if item.outcome == "added"}
    made = []
    for relation in values["relations"]:
        key = (to_name(relation["from"]), to_name(relation["to"]), to_name(relation["relationType"]))
        if key in added:
            added.discard(key)
            made.append(relation)
    return made, {"relations": made}, (*parsed.skipped, *_refusals(done))


def add_observations(engine: Engine, values: Mapping[str, Any]) -> Answer:
    """Add observations to existing entities; return the new ones."""
    items = values["observations"]
    for item in items:
        _get(engine, item["entityName"])
    rows = [{"name": item["entityName"], "observations": item["contents"]} for item in items]
    parsed = from_memory_facts(json.dumps({"entities": rows}), source=SOURCE)
    done = engine.memory.add_many(parsed.facts)
    pairs = zip(parsed.facts, done, strict=True)
    added = {(name_key(f.subject), f.value) for f, item in pairs if item.outcome == "added"}
    results = []
    for item in items:
        key = name_key(item["entityName"])
        new = [text for text in dict.fromkeys(item["contents"]) if (key, to_text(text)) in added]
        added -= {(key, to_text(text)) for text in new}
        results.append({"entityName": item["entityName"], "addedObservations": new})
    return results, {"results": results}, (*parsed.skipped, *_refusals(done))


def delete_entities(engine: Engine, values: Mapping[str, Any]) -> Answer:
    """Delete entities with their observations and relations."""
    names = values["entityNames"]
    present = [name for name in names if _find(engine, name_key(name))]
    missing = [name for name in names if name not in present]
    if present:
        engine.memory.forget(entities=present)
    return _done("Entities", f"unknown entity: {', '.join(missing)}" if missing else "")


def delete_observations(engine: Engine, values: Mapping[str, Any]) -> Answer:
    """Delete observations of entities."""
    missing, deleted = [], 0
    for item in values["deletions"]:
        if not _find(engine, name_key(item["entityName"])):
            missing.append(item["entityName"])
            continue
        wanted = {to_text(text) for text in item["observations"]}
        ids = [f.id for f in _live(engine, item["entityName"]) if not f.object and to_observation(f) in wanted]
        deleted += engine.memory.forget(*ids) if ids else 0
    requested = sum(len(item["observations"]) for item in values["deletions"])
    note = f"{deleted} of {requested} observations existed"
    note += f"; unknown entity: {', '.join(missing)}" if missing else ""
    return _done("Observations", note if deleted != requested else "")


def delete_relations(engine: Engine, values: Mapping[str, Any]) -> Answer:
    """Delete relations between entities."""
    deleted = 0
    for relation in values["relations"]:
        target, type = name_key(relation["to"]), predicate_key(relation["relationType"])
        known = [f for f in _live(engine, relation["from"]) if f.object]
        ids = [f.id for f in known if (f.object, f.predicate) == (target, type)]
        deleted += engine.memory.forget(*ids) if ids else 0
    requested = len(values["relations"])
    return _done("Relations", f"{deleted} of {requested} relations existed" if deleted != requested else "")


def read_graph(engine: Engine, values: Mapping[str, Any]) -> Answer:
    """Return a page of all entities and relations."""
    entities, relations = _read(engine)
    return _shown(engine, entities, relations, known=entities, cursor=values.get("cursor", ""))


def search_nodes(engine: Engine, values: Mapping[str, Any]) -> Answer:
    """Return entities whose name, type or observations contain a text, with their relations."""
    wanted = fold(values["query"])

    def holds(entity: Mapping[str, Any]) -> bool:
        return any(wanted in fold(text) for text in (entity["name"], entity["entityType"], *entity["observations"]))

    entities, relations = _read(engine)
    found = _around([e for e in entities if holds(e)], relations)
    return _shown(engine, *found, known=entities, cursor=values.get("cursor", ""))


def open_nodes(engine: Engine, values: Mapping[str, Any]) -> Answer:
    """Return entities by name, with their relations."""
    keys = {name_key(name) for name in values["names"]}
    entities, relations = _read(engine)
    found = _around([entity for entity in entities if name_key(entity["name"]) in keys], relations)
    return _shown(engine, *found, known=entities, cursor=values.get("cursor", ""))


_CALLS: Mapping[str, Callable[[Engine, Mapping[str, Any]], Answer]] = {
    call.__name__: call
    for call in (
        create_entities,
        create_relations,
        add_observations,
        delete_entities,
        delete_observations,
        delete_relations,
        read_graph,
        search_nodes,
        open_nodes,
    )
}


def _read(engine: Engine) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return all entities and relations in the format of the reference server."""
    entities: list[dict[str, Any]] = []
    relations: list[dict[str, Any]] = []
    for line in export_facts(engine, form="memory"):
        record = json.loads(line)
        (entities if record.pop("type") == "entity" else relations).append(record)
    return entities, relations


def _around(
    entities: list[dict[str, Any]], relations: Sequence[dict[str, Any]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return entities with the relations that begin or end at one of them."""
    keys = {name_key(entity["name"]) for entity in entities}
    return entities, [r for r in relations if {name_key(r["from"]), name_key(r["to"])} & keys]


def _shown(
    engine: Engine,
    entities: list[dict[str, Any]],
    relations: list[dict[str, Any]],
    *,
    known: Sequence[object],
    cursor: str,
) -> Answer:
    """Return a page of the graph: entities first, then relations. An empty namespace gets a note."""
    items = [*(part for entity in entities for part in _parts(entity)), *relations]
    page, after = cut_page(items, cursor=cursor, characters=MAX_GRAPH_CHARACTERS, limit=10_000)
    graph = {"entities": [i for i in page if "name" in i], "relations": [i for i in page if "name" not in i]}
    notes = []
    if not known:
        notes.append(f"namespace {engine.store.namespace!r} has no entities yet: create_entities adds some")
    if after:
        rest = f"{len(items) - int(after):,} more entities and relations do not fit"
        notes.append(f"{rest}: narrow with search_nodes, or continue with cursor {after!r}")
    return graph, graph, tuple(notes)


def _parts(entity: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield an entity in parts, each with as many of its observations as fit into one answer."""
    cursor = ""
    while True:
        page, cursor = cut_page(
            entity["observations"], cursor=cursor, characters=MAX_GRAPH_CHARACTERS * 9 // 10, limit=10_000
        )
        yield {**entity, "observations": page}
        if not cursor:
            return


def _done(what: str, note: str) -> Answer:
    """Return the answer to a deletion, with the fixed text of the reference server. A note lists missing items."""
    message = f"{what} deleted successfully"
    return message, {"success": True, "message": message}, (note,) if note else ()


def _find(engine: Engine, key: str) -> bool:
    return bool(key and engine.store.facts.find_entities([key]))


def _find_created(engine: Engine, key: str) -> str:
    """Return the name of an entity that was created or has observations; empty if it occurs only in relations."""
    entity = engine.store.facts.find_entities([key]).get(key) if key else None
    is_created = entity and (entity.declared or any(not fact.object for fact in _live(engine, key)))
    return entity.name if entity and is_created else ""


def _get(engine: Engine, name: str) -> None:
    if not _find(engine, name_key(name)):
        raise InputError(f"Entity with name {name[:80]} not found", hint="create the entity first with create_entities")


def _live(engine: Engine, name: str) -> list[Fact]:
    return [fact for fact in engine.memory.list(name) if is_live(fact)] if name_key(name) else []


def _refusals(done: Sequence[Remembered]) -> list[str]:
    return [f"one statement was refused: {item.reason}" for item in done if item.reason]
