"""What models are told of the tools: names, descriptions, arguments and answers, in as few tokens as do the job."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from weft.tools.memory_search import DESCRIPTION, INPUT_SCHEMA

CURSOR = {"type": "string", "description": "The `cursor` of the answer before, for what follows it."}
TEXT = {"type": "string"}
NUMBER = {"type": "number"}
OBJECTS = {"type": "array", "items": {"type": "object"}}
IMPAIRED = {"warning": TEXT, "action": TEXT}
"""Stand in an answer where something does not work as it should: what, and what helps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """A tool as models see it."""

    name: str
    title: str
    description: str
    properties: Mapping[str, Any] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    answer: Mapping[str, Any] = field(default_factory=dict)
    """Properties of the answer; `warning` and `action` may stand in every one."""
    certain: tuple[str, ...] = ()
    """Those that every answer has."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Further names of arguments, beside other spellings of the same name."""
    writes: bool = False
    destroys: bool = False
    repeatable: bool = True
    """Whether calling it again changes nothing more."""

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
        """What a client may know before it asks its user."""
        return {
            "readOnlyHint": not self.writes,
            "destructiveHint": self.destroys,
            "idempotentHint": self.repeatable,
            "openWorldHint": False,
        }

    def to_openai(self) -> dict[str, Any]:
        """Return it as an entry of `tools` for OpenAI's chat completions, and whoever speaks like them."""
        told = {"name": self.name, "description": self.description, "parameters": deepcopy(self.input_schema)}
        return {"type": "function", "function": told}

    def to_anthropic(self) -> dict[str, Any]:
        """Return it as an entry of `tools` for Anthropic's messages."""
        return {"name": self.name, "description": self.description, "input_schema": deepcopy(self.input_schema)}


def _text(about: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "description": about, **more}


_QUERY_ALIASES = {"q": "query", "question": "query", "limit": "maxResults", "top_k": "maxResults", "k": "maxResults"}
_NAME_ALIASES = {"entity": "name", "entity_name": "name", "query": "name"}

TOOLS: tuple[ToolDefinition, ...] = (
    ToolDefinition(
        name="memory_search",
        title="Search memory",
        description=DESCRIPTION.replace(
            "; in `context` both as text. Cite what you use.", ". Cite what you use; memory_get reads on."
        ),
        properties={**INPUT_SCHEMA["properties"], "cursor": CURSOR},
        required=("query",),
        answer={"status": TEXT, "confidence": NUMBER, "results": OBJECTS, "facts": OBJECTS, "cursor": TEXT},
        certain=("status", "confidence", "results", "facts"),
        aliases=_QUERY_ALIASES,
    ),
    ToolDefinition(
        name="memory_get",
        title="Read a document or passage",
        description="Read one passage, or a whole document, that memory_search cited. Long ones come in parts.",
        properties={
            "id": _text("Id of a passage or document, its source, or a citation such as docs/auth.md:3-9."),
            "cursor": CURSOR,
        },
        required=("id",),
        answer={"id": TEXT, "title": TEXT, "source": TEXT, "metadata": {"type": "object"}, "passages": OBJECTS,
                "cursor": TEXT},
        certain=("id", "title", "source", "passages"),
        aliases={"document_id": "id", "chunk_id": "id", "source": "id", "citation": "id", "path": "id"},
    ),
    ToolDefinition(
        name="memory_add",
        title="Remember a fact",
        description="Remember one lasting fact that the user stated or decided: preferences, people, systems, "
        "decisions. Not small talk, secrets, or what documents say. It is staged until memory_confirm; stated again "
        "it grows stronger. Look at `outcome`: a refusal has its `reason`.",
        properties={
            "subject": _text("Who or what it is about; `user` for the user."),
            "predicate": _text("What is said of it, e.g. `prefers`, `works_on`."),
            "value": _text("A text or number."),
            "object": _text("Instead of value: the name of the person or thing it leads to."),
            "confidence": {"type": "number", "minimum": 0, "maximum": 1, "default": 1},
            "note": {"type": "string", "description": "Why, or who said so."},
            "supersedes": {"type": "string", "description": "Id of the fact that this one corrects."},
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
        description="Confirm a remembered fact once the user has agreed to it; with `reject`, mark it as wrong, so "
        "that it is neither recalled nor learned again.",
        properties={
            "id": _text("Id of the fact."),
            "reject": {"type": "boolean", "default": False},
            "reason": {"type": "string", "description": "Why it is wrong."},
        },
        required=("id",),
        answer={"fact": {"type": "object"}},
        certain=("fact",),
        aliases={"fact_id": "id"},
        writes=True,
    ),
    ToolDefinition(
        name="memory_forget",
        title="Forget facts for good",
        description="Erase facts with their history, for good. Only when the user asks for it; what is merely wrong "
        "is rejected with memory_confirm, what changed is superseded with memory_add. Documents stay.",
        properties={
            "ids": {"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": 100, "default": []},
            "entity": {"type": "string", "description": "All facts about this name, and leading to it."},
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
        description="What is known of one person, system or thing by name: type, other names, relations, facts with "
        "their ids, and where documents mention it.",
        properties={"name": _text("Its name, in any spelling."), "cursor": CURSOR},
        required=("name",),
        answer={"name": TEXT, "type": TEXT, "description": TEXT, "aliases": {"type": "array", "items": TEXT},
                "relations": OBJECTS, "mentions": OBJECTS, "facts": OBJECTS, "cursor": TEXT},
        certain=("name", "relations", "facts"),
        aliases=_NAME_ALIASES,
    ),
    ToolDefinition(
        name="graph_neighbours",
        title="List what surrounds an entity",
        description="The entities connected to one, nearest and strongest first, each with the path to it. For "
        "`what depends on X` and `what does X touch`.",
        properties={
            "name": _text("Name of the entity."),
            "hops": {"type": "integer", "minimum": 1, "maximum": 3, "default": 1},
            "minWeight": {"type": "number", "minimum": 1, "maximum": 10, "default": 1},
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
        description="The best path between two entities: fewest steps, then strongest.",
        properties={
            "source": _text("Name it starts from."),
            "target": _text("Name it leads to."),
            "maxHops": {"type": "integer", "minimum": 1, "maximum": 6, "default": 4},
        },
        required=("source", "target"),
        answer={"source": TEXT, "target": TEXT, "connected": {"type": "boolean"}, "path": OBJECTS},
        certain=("source", "target", "connected", "path"),
        aliases={"from": "source", "to": "target", "start": "source", "end": "target"},
    ),
    ToolDefinition(
        name="memory_stats",
        title="Say what memory holds",
        description="How many documents, entities and facts there are, and whether search works as it should.",
        answer={name: {"type": "integer"} for name in ("documents", "chunks", "entities", "relations", "facts")}
        | {"namespace": TEXT, "embedder": TEXT},
        certain=("documents", "facts"),
    ),
    ToolDefinition(
        name="search",
        title="Search documents",
        description="Find documents for a question. Gives ids for `fetch`.",
        properties={"query": _text("The question.")},
        required=("query",),
        answer={"results": OBJECTS},
        certain=("results",),
        aliases={"q": "query"},
    ),
    ToolDefinition(
        name="fetch",
        title="Fetch a document",
        description="The text of a document that `search` found.",
        properties={"id": _text("Its id.")},
        required=("id",),
        answer={"id": TEXT, "title": TEXT, "text": TEXT, "url": TEXT, "metadata": {"type": "object"}},
        certain=("id", "title", "text", "url"),
        aliases={"document_id": "id"},
    ),
)  # fmt: skip
