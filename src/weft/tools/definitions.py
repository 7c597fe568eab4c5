"""Definitions of the tools for models: names, descriptions, arguments and answers, in few tokens."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from weft.engine.input_checks import MAX_QUESTION_CHARACTERS
from weft.tools.memory_search import DESCRIPTION, INPUT_SCHEMA

CURSOR = {"type": "string", "description": "`cursor` of the previous answer, for the next page."}
DETAIL = {
    "type": "string",
    "enum": ["brief", "full"],
    "default": "brief",
    "description": "`full` for longer passages and more items per page.",
}
TEXT = {"type": "string"}
NUMBER = {"type": "number"}
OBJECTS = {"type": "array", "items": {"type": "object"}}
IMPAIRED = {"warning": TEXT, "action": TEXT}
"""Fields of a limited answer: the problem and its fix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """The definition of a tool."""

    name: str
    title: str
    description: str
    properties: Mapping[str, Any] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    answer: Mapping[str, Any] = field(default_factory=dict)
    """Properties of the answer, besides `warning` and `action`."""
    certain: tuple[str, ...] = ()
    """Properties that every answer has."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Accepted aliases of arguments. Case and underscores are ignored."""
    writes: bool = False
    destroys: bool = False
    repeatable: bool = True
    """True if a repeated call has no further effect."""

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        required = {"required": list(self.required)} if self.required else {}
        return {"type": "object", "properties": dict(self.properties), **required}

    @property
    def output_schema(self) -> dict[str, Any]:
        """The JSON schema of the answer."""
        required = {"required": list(self.certain)} if self.certain else {}
        return {"type": "object", "properties": {**self.answer, **IMPAIRED}, **required}

    @property
    def annotations(self) -> dict[str, bool]:
        """The MCP annotations."""
        return {
            "readOnlyHint": not self.writes,
            "destructiveHint": self.destroys,
            "idempotentHint": self.repeatable,
            "openWorldHint": False,
        }

    def to_openai(self) -> dict[str, Any]:
        """Return an entry of `tools` for OpenAI-compatible chat completions."""
        function = {"name": self.name, "description": self.description, "parameters": deepcopy(self.input_schema)}
        return {"type": "function", "function": function}

    def to_anthropic(self) -> dict[str, Any]:
        """Return an entry of `tools` for the messages API of Anthropic."""
        return {"name": self.name, "description": self.description, "input_schema": deepcopy(self.input_schema)}


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "description": description}


_QUERY_ALIASES = {"q": "query", "question": "query", "limit": "maxResults", "top_k": "maxResults", "k": "maxResults"}
_NAME_ALIASES = {"entity": "name", "entity_name": "name", "query": "name"}

TOOLS: tuple[ToolDefinition, ...] = (
    ToolDefinition(
        name="memory_search",
        title="Search memory",
        description=DESCRIPTION.replace(
            "; `context` has both as text. Cite", ". memory_get reads more. Cite"
        ),
        properties={**INPUT_SCHEMA["properties"], "detail": DETAIL, "cursor": CURSOR},
        required=("query",),
        answer={"status": TEXT, "confidence": NUMBER, "relations": {"type": "object"}, "results": OBJECTS,
                "facts": OBJECTS, "cursor": TEXT},
        certain=("status", "confidence", "results", "facts"),
        aliases=_QUERY_ALIASES,
    ),
    ToolDefinition(
        name="memory_get",
        title="Read a document or passage",
        description="Read a passage or document that memory_search cited. Long documents come in pages.",
        properties={
            "id": _text("Id of a passage or document, a source, or a citation such as docs/auth.md:3-9."),
            "cursor": CURSOR,
        },
        required=("id",),
        answer={"id": TEXT, "title": TEXT, "source": TEXT, "metadata": {"type": "object"}, "passages": OBJECTS,
                "cursor": TEXT},
        certain=("id", "title", "source", "passages"),
        aliases={"document_id": "id", "chunk_id": "id", "source": "id", "citation": "id", "path": "id"},
    ),
    ToolDefinition(
        name="memory_related",
        title="Find related documents",
        description="List documents related to one by content or graph, with reasons.",
        properties={
            "id": _text("Id of a passage or document, or a source."),
            "maxResults": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
            "cursor": CURSOR,
        },
        required=("id",),
        answer={"id": TEXT, "related": OBJECTS, "cursor": TEXT},
        certain=("id", "related"),
        aliases={"document_id": "id", "chunk_id": "id", "source": "id", "limit": "maxResults"},
    ),
    ToolDefinition(
        name="memory_timeline",
        title="List what was said in a period",
        description="List past conversations of a time by day, newest first: what was discussed last week, what "
        "changed since Monday. For a subject use memory_search.",
        properties={
            "when": {"type": "string", "maxLength": 200, "description": "E.g. `last week`, `since Monday`, 2026-03-01; "
                     "default: the latest two weeks."},
            "after": {"type": "string", "description": "Only at this time or later, as 2026-03-01."},
            "before": {"type": "string", "description": "Only before this time."},
            "cursor": CURSOR,
        },
        answer={"days": OBJECTS, "truncated": {"type": "boolean"}, "cursor": TEXT},
        certain=("days", "truncated"),
        aliases={"query": "when", "question": "when", "period": "when", "time": "when", "since": "after"},
    ),
    ToolDefinition(
        name="memory_add",
        title="Remember a fact",
        description="Remember one lasting fact that the user stated or decided: preferences, people, systems, "
        "decisions. No small talk, secrets or document contents. The fact is staged until memory_confirm; "
        "repetition strengthens it. Check `outcome`; `reason` explains a refusal.",
        properties={
            "subject": _text("Subject of the fact; `user` for the user."),
            "predicate": _text("Property or relation, e.g. `prefers`, `works_on`."),
            "value": _text("Text or number."),
            "object": _text("Instead of value: name of a related person or thing."),
            "confidence": {"type": "number", "minimum": 0, "maximum": 1, "default": 1},
            "note": {"type": "string", "description": "Reason or origin."},
            "supersedes": {"type": "string", "description": "Id of the fact this one corrects."},
        },
        required=("subject", "predicate"),
        answer={"outcome": TEXT, "reason": TEXT, "fact": {"type": "object"},
                "contradicts": {"type": "array", "items": TEXT}},
        certain=("outcome",),
        aliases={"relation": "predicate", "content": "value"},
        writes=True,
    ),
    ToolDefinition(
        name="memory_confirm",
        title="Confirm or reject a fact",
        description="Confirm a remembered fact after the user agreed. With `reject`, mark it as wrong: it is neither "
        "recalled nor learned again.",
        properties={
            "id": _text("Id of the fact."),
            "reject": {"type": "boolean", "default": False},
            "reason": {"type": "string", "description": "Why the fact is wrong."},
        },
        required=("id",),
        answer={"fact": {"type": "object"}},
        certain=("fact",),
        aliases={"fact_id": "id"},
        writes=True,
    ),
    ToolDefinition(
        name="memory_forget",
        title="Erase facts or a conversation",
        description="Erase facts and their history, or a conversation, permanently, only if the user asks. Reject "
        "wrong facts with memory_confirm; supersede changed ones with memory_add. Other documents stay.",
        properties={
            "ids": {"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": 100, "default": []},
            "entity": {"type": "string", "description": "Name: erase all facts with it as subject or object."},
            "conversation": {"type": "string", "description": "Id or source of a conversation to erase."},
        },
        answer={"forgotten": {"type": "integer"}},
        certain=("forgotten",),
        aliases={"id": "ids", "fact_id": "ids", "fact_ids": "ids", "name": "entity"},
        writes=True,
        destroys=True,
    ),
    ToolDefinition(
        name="entity_lookup",
        title="Look up an entity",
        description="Look up one person, system or thing by name: type, aliases, relations, facts with ids, and "
        "mentions in documents.",
        properties={"name": _text("Name, in any spelling."), "cursor": CURSOR},
        required=("name",),
        answer={"name": TEXT, "type": TEXT, "description": TEXT, "aliases": {"type": "array", "items": TEXT},
                "relations": OBJECTS, "mentions": OBJECTS, "facts": OBJECTS, "cursor": TEXT},
        certain=("name", "relations", "facts"),
        aliases=_NAME_ALIASES,
    ),
    ToolDefinition(
        name="graph_neighbours",
        title="List neighbours of an entity",
        description="List entities connected to one, nearest and strongest first, each with its path. For `what "
        "depends on X` and `what does X affect`.",
        properties={
            "name": _text("Name of the entity."),
            "hops": {"type": "integer", "minimum": 1, "maximum": 3, "default": 1},
            "minWeight": {"type": "number", "minimum": 1, "maximum": 10, "default": 1},
            "detail": DETAIL,
            "cursor": CURSOR,
        },
        required=("name",),
        answer={"name": TEXT, "neighbours": OBJECTS, "cursor": TEXT},
        certain=("name", "neighbours"),
        aliases={**_NAME_ALIASES, "depth": "hops", "max_hops": "hops"},
    ),
    ToolDefinition(
        name="graph_path",
        title="Find how two entities are connected",
        description="Find the best path between two entities: fewest hops, then strongest.",
        properties={
            "source": _text("First entity."),
            "target": _text("Last entity."),
            "maxHops": {"type": "integer", "minimum": 1, "maximum": 6, "default": 4},
        },
        required=("source", "target"),
        answer={"source": TEXT, "target": TEXT, "connected": {"type": "boolean"}, "path": OBJECTS},
        certain=("source", "target", "connected", "path"),
        aliases={"from": "source", "to": "target", "start": "source", "end": "target"},
    ),
    ToolDefinition(
        name="memory_stats",
        title="Show memory statistics",
        description="Count documents, entities and facts, and report search problems.",
        answer={
            name: {"type": "integer"}
            for name in ("documents", "chunks", "entities", "relations", "facts")
        }
        | {"namespace": TEXT, "embedder": TEXT},
        certain=("documents", "facts"),
    ),
    ToolDefinition(
        name="search",
        title="Search documents",
        description="Find documents for a question. Returns ids for `fetch`.",
        properties={"query": {**_text("Question."), "maxLength": MAX_QUESTION_CHARACTERS}},
        required=("query",),
        answer={"results": OBJECTS},
        certain=("results",),
        aliases={"q": "query"},
    ),
    ToolDefinition(
        name="fetch",
        title="Fetch a document",
        description="Read a document found by `search`.",
        properties={"id": _text("Document id.")},
        required=("id",),
        answer={"id": TEXT, "title": TEXT, "text": TEXT, "url": TEXT, "metadata": {"type": "object"}},
        certain=("id", "title", "text", "url"),
        aliases={"document_id": "id"},
    ),
)  # fmt: skip
