"""Tool calls of models, with answers of bounded size."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from weft.admin.forget import Selection, find_forgettable, forget
from weft.context.build import flat, quoted
from weft.context.serialise import (
    document_to_dict,
    entity_to_dict,
    fact_to_dict,
    readers_to_dict,
    remembered_to_dict,
    step_to_dict,
)
from weft.engine.engine import Engine
from weft.errors import InputError, NotFound
from weft.extract.names import name_key
from weft.facts.lifecycle import is_live
from weft.records import Chunk, DocumentInfo
from weft.search.cite import cite, find_hidden_prefix
from weft.tools.arguments import read_arguments
from weft.tools.definitions import TOOLS, ToolDefinition
from weft.tools.fallback import LIMITED_ACTION, answerable, find_problem
from weft.tools.paging import PAGE_CHARACTERS, cut_page, measure, shorten
from weft.tools.timeline import memory_timeline

MAX_SNIPPET_CHARACTERS = 1200
"""Maximum characters of a passage in a full search answer; memory_get returns the whole passage."""
MAX_SEARCH_CHARACTERS, MAX_WEAK_CHARACTERS, MAX_NEIGHBOUR_CHARACTERS = 6000, 2000, 4000
"""Maximum size of the JSON of brief answers: of a search, of one that is not sure, and of neighbours."""
SNIPPETS_PER_ANSWER = 8
RESULTS_SHARE, FACTS_SHARE, ENTITIES_SHARE = 0.7, 0.2, 0.05
"""Shares of a brief answer; the rest is for notes."""

MAX_DOCUMENT_CHARACTERS = 60_000
"""Maximum characters of a document in answers of `fetch` and in resources."""

MAX_METADATA_CHARACTERS = 1000
"""Maximum characters of one metadata value; all values together may have four times as many."""

MAX_ENTITY_ITEMS = 20
"""Maximum number of relations, and of mentions, in the answer about an entity."""

NOT_FOUND_HINT = "search with memory_search; its answers contain ids and names"

_BY_NAME = {tool.name: tool for tool in TOOLS}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """The answer of a tool: values in the form of its definition, and the same content as text."""

    values: Mapping[str, Any]
    text: str
    notes: tuple[str, ...] = ()
    """Messages outside the values, one line each."""


def call_tool(engine: Engine, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
    """
    Return the answer of a tool.

    If the search is limited, `warning` names the problem and `action` the fix. Raises `InputError` and `NotFound`,
    whose hints a model can act on, and errors of the engine.
    """
    tool = _BY_NAME.get(name)
    if tool is None:
        raise InputError(f"unknown tool {name[:80]!r}", hint=f"call one of {', '.join(_BY_NAME)}")
    values = read_arguments(arguments, tool.input_schema, aliases=tool.aliases)
    try:
        answer = _CALLS[name](engine, values)
    except NotFound as error:
        raise NotFound(str(error), hint=_find_hint(engine, values)) from error
    context = answer.pop("context", None)
    answer |= _impairment(engine, tool, answer)
    return ToolAnswer(values=answer, text=to_json(answer) if context is None else _search_text(answer, context))


def to_json(value: Any) -> str:
    """Return a value as JSON without escaping non-ASCII characters."""
    return json.dumps(value, ensure_ascii=False)


def memory_search(engine: Engine, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of passages, connected ones last, and facts for a question, within the budget of `detail`."""
    arguments = {name: value for name, value in values.items() if name not in ("cursor", "detail")}
    is_full = values["detail"] == "full"
    found = engine.memory_search(**arguments, is_brief=not is_full)
    is_weak = found["status"] in ("low_confidence", "no_match")
    size = PAGE_CHARACTERS if is_full else MAX_WEAK_CHARACTERS if is_weak else MAX_SEARCH_CHARACTERS
    snippet = MAX_SNIPPET_CHARACTERS if is_full else size // SNIPPETS_PER_ANSWER
    passages = [_result_to_dict(item, snippet=snippet) for item in (*found["results"], *found["connected"])]
    share = size if is_full else round(RESULTS_SHARE * size)
    results, cursor = cut_page(passages, cursor=values.get("cursor", ""), characters=share)
    facts = [_remembered_fact(fact) for fact in (found["facts"] or {"facts": ()})["facts"]]
    context = found["context"]
    if values.get("cursor"):  # facts and context are part of the first page only
        facts, context = [], "\n\n".join(map(_further, results))
    return {
        "status": found["status"],
        "confidence": found["confidence"],
        "method": found["method"],
        **_page_of(found, size, is_first=not values.get("cursor")),
        "results": results,
        "facts": _cut(facts, share=FACTS_SHARE, size=size, is_full=is_full),
        "entities": _cut(
            (found["graph_context"] or {"recognised": []})["recognised"],
            share=ENTITIES_SHARE,
            size=size,
            is_full=is_full,
        ),
        "notes": found["notes"],
        **({"rejected": found["rejected"]} if found["rejected"] else {}),
        **_next(cursor),
        **({"degraded": found["degraded"]} if found["degraded"] else {}),
        "context": context,
    }


def _page_of(found: Mapping[str, Any], size: int, *, is_first: bool) -> dict[str, Any]:
    """Return the answer about relations with the items that fit into a page; `relationsOffset` lists the next ones."""
    relations = found.get("relations") if is_first else None
    return {"relations": {**relations, "items": cut_page(relations["items"], characters=size)[0]}} if relations else {}


def _cut(items: list[Any], *, share: float, size: int, is_full: bool) -> list[Any]:
    """Return the first items that fit into a share of a brief answer, or into a page of a full one."""
    page = cut_page(items, characters=size if is_full else round(share * size))[0]
    return page if is_full or measure(page) <= size else []


def memory_get(engine: Engine, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document or a passage, in pages if it is long."""
    document, chunks = engine.get(values["id"].strip())
    hidden = find_hidden_prefix(engine.reader, [document.source])
    shown = [_passage(document, chunk, hidden=hidden) for chunk in chunks]
    passages, cursor = cut_page(shown, cursor=values.get("cursor", ""))
    described = {**document_to_dict(document), "metadata": _metadata(document)}
    return {**described, "passages": passages, **_next(cursor)}


def memory_related(engine: Engine, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the documents related to a document or a passage."""
    document, chunks = engine.get(values["id"].strip())
    name = chunks[0].id if len(chunks) == 1 else document.id
    items = [
        {
            "id": item.document.id,
            "title": item.document.title,
            "citation": engine.cite(item.chunk.id),
            "cosine": item.cosine,
            "shared": list(item.shared),
            "relations": [step_to_dict(step) for step in item.relations],
        }
        for item in engine.related(name, limit=values["maxResults"])
    ]
    page, cursor = cut_page(items, cursor=values.get("cursor", ""))
    return {"id": name, "related": page, **_next(cursor)}


def memory_add(engine: Engine, values: Mapping[str, Any]) -> dict[str, Any]:
    """Add a fact from the conversation."""
    if ("value" in values) == ("object" in values):
        raise InputError("expected either a value or an object", hint="pass value, or the name of an entity as object")
    done = remembered_to_dict(engine.memory.add(**{"value": "", **values}, source="conversation"))
    return {name: value for name, value in done.items() if value is not None}


def memory_confirm(engine: Engine, values: Mapping[str, Any]) -> dict[str, Any]:
    """Confirm or reject a fact."""
    memory = engine.memory
    if values["reject"]:
        return {"fact": fact_to_dict(memory.reject(values["id"], reason=values.get("reason", "")))}
    return {"fact": fact_to_dict(memory.confirm(values["id"]))}


def memory_forget(engine: Engine, values: Mapping[str, Any]) -> dict[str, Any]:
    """Erase facts by id, all facts of an entity, or a conversation. A call with several of them is refused."""
    entities = [values["entity"]] if values.get("entity") else []
    conversation = values.get("conversation", "")
    selected = sum(map(bool, (values["ids"], entities, conversation)))
    if not selected:
        raise InputError(
            "ids, entity and conversation are missing", hint="pass ids of facts, an entity, or a conversation"
        )
    if selected > 1:
        raise InputError(
            "ids, entity and conversation cannot be combined",
            hint="pass ids for these facts, entity for all of its facts, or conversation",
        )
    if not conversation:
        return {"forgotten": engine.memory.forget(*values["ids"], entities=entities)}
    found = find_forgettable(engine, Selection(conversation=conversation))
    if not found:
        raise NotFound(f"no conversation {conversation[:80]!r}", hint="find its source with memory_search")
    forget(engine, found)
    return {"forgotten": len(found.documents)}


def entity_lookup(engine: Engine, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entity of a name with its relations, mentions and facts."""
    name, cursor = values["name"], values.get("cursor", "")
    try:
        view = engine.entities.show(name, limit=MAX_ENTITY_ITEMS)
    except NotFound:
        remembered = engine.reader.facts.find_entities([name_key(name)]).get(name_key(name))
        facts = _facts_of(engine, [name], cursor=cursor)
        if remembered is None or not facts["facts"]:
            raise
        # None of the entity's facts is valid now.
        known = {"name": remembered.name, "type": remembered.type, "description": remembered.description}
        return {**known, "aliases": [], "relations": [], "mentions": [], **facts}
    places = [
        {"citation": engine.cite(m.chunk_id), "id": m.chunk_id, "about": m.about}
        for m in view.mentions[:MAX_ENTITY_ITEMS]
    ]
    relations = [
        {"type": step.type, "target": step.target, "weight": step.weight, **readers_to_dict(step)}
        for step in view.relations
    ]
    facts = _facts_of(engine, [view.entity.name, *view.entity.aliases, name], cursor=cursor)
    return {**entity_to_dict(view.entity), "relations": relations, "mentions": places, **facts}


def graph_neighbours(engine: Engine, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the neighbours of an entity."""
    entities = engine.entities
    start = entities.get(values["name"])
    found = entities.neighbours(values["name"], hops=values["hops"], min_weight=values["minWeight"])
    paths = entities.in_words([near.path for _, near in found])
    items = [
        {
            "name": entity.name,
            "type": entity.type,
            "hops": near.hops,
            "weight": near.weight,
            "path": [step_to_dict(step) for step in path],
        }
        for (entity, near), path in zip(found, paths, strict=True)
    ]
    size = PAGE_CHARACTERS if values["detail"] == "full" else MAX_NEIGHBOUR_CHARACTERS
    page, cursor = cut_page(items, cursor=values.get("cursor", ""), characters=size)
    return {"name": start.name, "neighbours": page, **_next(cursor)}


def graph_path(engine: Engine, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the best path between two entities."""
    entities = engine.entities
    source, target = entities.get(values["source"]), entities.get(values["target"])
    steps = entities.path(values["source"], values["target"], max_hops=values["maxHops"])
    path = [step_to_dict(step) for step in steps or ()]
    return {"source": source.name, "target": target.name, "connected": steps is not None, "path": path}


def memory_stats(engine: Engine, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the counts of the namespace."""
    stats, (entities, relations) = engine.stats(), engine.reader.graph.count()
    active = next((model.name for model in stats.models if model.active), None)
    return {
        "namespace": engine.reader.namespace,
        "documents": stats.documents,
        "chunks": stats.chunks,
        "entities": entities,
        "relations": relations,
        "facts": engine.memory.stats()["facts"],
        **({"embedder": active} if active else {}),
    }


def search(engine: Engine, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return documents for a question in the format of connector clients."""
    found = answerable(engine).query(values["query"])
    documents = {piece.document.id: piece.document for piece in (*found.evidence, *found.connected)}
    results = [{"id": d.id, "title": d.title, "url": url_of(d)} for d in documents.values()]
    return {"results": results, **({"degraded": found.degraded} if found.degraded else {})}


def fetch(engine: Engine, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document in the format of connector clients."""
    document, chunks = engine.get(values["id"].strip())
    metadata = {**_metadata(document), "source": document.source}
    text = whole_text(engine, document, chunks)
    return {"id": values["id"], "title": document.title, "text": text, "url": url_of(document), "metadata": metadata}


_CALLS: Mapping[str, Callable[[Engine, Mapping[str, Any]], dict[str, Any]]] = {
    call.__name__: call
    for call in (
        memory_search,
        memory_get,
        memory_related,
        memory_timeline,
        memory_add,
        memory_confirm,
        memory_forget,
        entity_lookup,
        graph_neighbours,
        graph_path,
        memory_stats,
        search,
        fetch,
    )
}


def whole_text(engine: Engine, document: DocumentInfo, chunks: list[Chunk]) -> str:
    """Return the text of a document from its chunks, cut at `MAX_DOCUMENT_CHARACTERS`."""
    text: list[str] = []
    size = 0
    for chunk in chunks:
        if text and size + len(chunk.text) > MAX_DOCUMENT_CHARACTERS:
            text.append(f"[… continues at {engine.cite(chunk.id)}; memory_get reads it in pages]")
            break
        text.append(shorten(chunk.text, size=MAX_DOCUMENT_CHARACTERS))
        size += len(chunk.text)
    return "\n\n".join(text)


def url_of(document: DocumentInfo) -> str:
    """Return the web address of a document, or the URI of its resource."""
    is_web = document.source.startswith(("https://", "http://"))
    return document.source if is_web else f"weft://document/{quote(document.id, safe='')}"


def _impairment(engine: Engine, tool: ToolDefinition, answer: dict[str, Any]) -> dict[str, str]:
    """Return `warning` and `action` if the search is limited. Removes `degraded` from the answer."""
    degraded = str(answer.pop("degraded", ""))
    if tool.name not in ("memory_search", "memory_stats", "search"):
        return {}
    is_empty = not (answer.get("results") or answer.get("facts") or answer.get("documents"))
    if is_empty and not engine.stats().documents and not engine.memory.stats()["facts"]:
        return {
            "warning": f"namespace {engine.reader.namespace!r} is empty: it has no documents and no facts",
            "action": "ask the user to run `weft index PATH` for this namespace, or add facts with memory_add",
        }
    problem = find_problem(engine) if degraded or tool.name == "memory_stats" else None
    warning, action = problem or (degraded, LIMITED_ACTION)
    return {"warning": degraded or warning, "action": action} if warning else {}


def _search_text(answer: Mapping[str, Any], context: str) -> str:
    """Return a search answer as text: status, warning, notes, evidence, ids of facts."""
    parts = [f"status: {answer['status']}, confidence {answer['confidence']:.2f}"]
    parts += [f"{name}: {answer[name]}" for name in ("warning", "action") if name in answer]
    parts += [f"note: {note}" for note in answer["notes"]]
    if "rejected" in answer:
        parts.append(f"closest, not shown: {flat(answer['rejected']['citation'])}")
    if facts := [
        fact for fact in answer["facts"] if fact["source"] != "file"
    ]:  # facts from files change with the files
        ids = "; ".join(f"{fact['id']} = {fact['subject']} {fact['predicate']} ({fact['status']})" for fact in facts)
        context += f"\nIds of facts: {ids}"
    more = [f"More results: cursor {answer['cursor']}"] if "cursor" in answer else []
    return "\n".join([*parts, *([context] if context else []), *more])


def _find_hint(engine: Engine, values: Mapping[str, Any]) -> str:
    """Return the hint for a name that was not found."""
    names = [values[name] for name in ("name", "source", "target") if name in values]
    if _facts_of(engine, [name for name in names if not _is_known(engine, name)], cursor="")["facts"]:
        return "it occurs only in facts that are not valid now: entity_lookup shows them"
    return NOT_FOUND_HINT


def _is_known(engine: Engine, name: str) -> bool:
    try:
        engine.entities.get(name)
    except NotFound:
        return False
    return True


def _facts_of(engine: Engine, names: Sequence[str], *, cursor: str) -> dict[str, Any]:
    """Return a page of the live facts of an entity with these names."""
    keys = dict.fromkeys(filter(None, map(name_key, names)))
    found = [fact for key in keys for fact in engine.memory.list(key) if is_live(fact)]
    page, after = cut_page([_remembered_fact(fact_to_dict(fact)) for fact in found], cursor=cursor)
    return {"facts": page, **_next(after)}


def _result_to_dict(result: Mapping[str, Any], *, snippet: int) -> dict[str, Any]:
    chunk, document = result["chunk"], result["document"]
    return {
        "id": chunk["id"],
        "citation": result["citation"],
        "score": result["score"],
        "title": " › ".join((document["title"], *chunk["heading"])),
        "snippet": shorten(chunk["text"], size=snippet),
        "path": document["source"],
        "startLine": chunk["start_line"],
        "endLine": chunk["end_line"],
        "source": result["source"],
        **({"neighbourOf": result["neighbour_of"]} if "neighbour_of" in result else {}),
        **({"lost": True} if "lost" in document else {}),
    }


def _further(result: Mapping[str, Any]) -> str:
    """Return a result of a later page as text for a model."""
    return f"{quoted(flat(result['title']))}\n{quoted(result['snippet'])}\nSource: {flat(result['citation'])}"


def _remembered_fact(fact: Mapping[str, Any]) -> dict[str, Any]:
    wanted = ("id", "subject", "predicate", "object", "value", "confidence", "source", "status", "valid_to", "score")
    return {name: fact[name] for name in wanted if fact.get(name) is not None}


def _passage(document: DocumentInfo, chunk: Chunk, *, hidden: str) -> dict[str, Any]:
    return {
        "id": chunk.id,
        "citation": cite(document, chunk, hidden=hidden),
        "heading": list(chunk.heading),
        "text": shorten(chunk.text, size=MAX_DOCUMENT_CHARACTERS),
    }


def _metadata(document: DocumentInfo) -> dict[str, Any]:
    """Return the metadata of a document that fits into an answer; long values become shortened JSON."""
    short = {
        name: value
        if measure(value) <= MAX_METADATA_CHARACTERS
        else shorten(to_json(value), size=MAX_METADATA_CHARACTERS)
        for name, value in document.metadata.items()
    }
    return dict(cut_page(short.items(), characters=4 * MAX_METADATA_CHARACTERS)[0])


def _next(cursor: str) -> dict[str, str]:
    return {"cursor": cursor} if cursor else {}
