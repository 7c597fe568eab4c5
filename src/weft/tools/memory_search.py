"""The tool `memory_search` for function-calling models: its definition and its implementation."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from datetime import datetime, timezone
from importlib import resources
from typing import TYPE_CHECKING, Any

from weft.context.serialise import facts_to_dict, result_to_dict
from weft.engine.input_checks import MAX_QUESTION_CHARACTERS
from weft.errors import InputError
from weft.records import Filter, parse_time
from weft.tools.fallback import answerable

if TYPE_CHECKING:
    from weft.engine.engine import Engine

DEFAULTS: Mapping[str, Any] = {"max_results": 10, "use_graph": True, "min_graph_score": 0.3, "relations_offset": 0}
"""Defaults of missing or null arguments. They do not depend on the settings."""

MAX_RESULTS, MAX_OFFSET = 1000, 5000
MAX_BRIEF_TOKENS, MAX_WEAK_TOKENS = 1200, 400
"""Maximum tokens of a brief `context`; the second if the search is not sure."""

SPELLINGS: Mapping[str, str] = {
    "maxResults": "max_results",
    "useGraph": "use_graph",
    "minGraphScore": "min_graph_score",
    "relationsOffset": "relations_offset",
    "after": "after",
    "before": "before",
}
"""Argument names of the definition and of Python. Both are accepted."""

INPUT_SCHEMA: Mapping[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["query"],
    "additionalProperties": False,
    "properties": {
        "query": {
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_QUESTION_CHARACTERS,
            "pattern": "\\S",
            "description": "What you want to know, best as a full question in the language of the documents. Write "
            "names, ids and error codes exactly as documents do.",
        },
        "maxResults": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_RESULTS,
            "default": DEFAULTS["max_results"],
            "description": "Maximum number of passages.",
        },
        "useGraph": {
            "type": "boolean",
            "default": DEFAULTS["use_graph"],
            "description": "Also follow relations of the entities in the question, and recall facts. False searches "
            "documents by vectors and keywords only: for a quote, a code or a plain lookup.",
        },
        "minGraphScore": {
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "default": DEFAULTS["min_graph_score"],
            "description": "Weakest relation to follow: 0 for all, 1 for the strongest only. Omit it unless relations "
            "add noise.",
        },
        "relationsOffset": {
            "type": "integer",
            "minimum": 0,
            "maximum": MAX_OFFSET,
            "default": DEFAULTS["relations_offset"],
            "description": "Related things to skip in `relations`, which counts all and lists a page.",
        },
        "after": {
            "type": "string",
            "description": "Only passages of conversations at this time or later, as 2026-03-01 or "
            "2026-03-01T12:00:00Z. Documents without a time are left out.",
        },
        "before": {
            "type": "string",
            "description": "Only passages of conversations before this time, in the same form.",
        },
    },
}

DESCRIPTION = (
    "Search the user's memory: remembered facts, indexed documents and their knowledge graph. Call it before you "
    "answer anything that may depend on the user's notes, preferences, documents, decisions, people or systems. Ask "
    "about one subject per call; for a chain of facts, call again with what you found. Returns facts, and passages, "
    "best first, each with text, score and citation; `context` has both as text. Cite what you use. If `status` is "
    "`no_match`, nothing relevant is stored: say so, or rephrase; `low_confidence` is a hint at most; `degraded` means "
    "that part of the search was unavailable."
)


def _output_schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((resources.files("weft.context") / "result.schema.json").read_text("utf-8"))
    description = "The answer as text within the token budget: facts, then passages; the last line counts omissions."
    return {
        **schema,
        "title": "Answer of memory_search",
        "required": [*schema["required"], "facts", "context"],
        "properties": {**schema["properties"], "context": {"type": "string", "description": description}},
    }


MEMORY_SEARCH: Mapping[str, Any] = {
    "name": "memory_search",
    "title": "Search memory",
    "description": DESCRIPTION,
    "inputSchema": INPUT_SCHEMA,
    "outputSchema": _output_schema(),
    "annotations": {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False},
}
"""The MCP definition, published as docs/memory_search.schema.json. `weft mcp` returns a shorter answer."""


def openai_tool() -> dict[str, Any]:
    """Return the definition as an entry of `tools` for OpenAI-compatible chat completions."""
    return {
        "type": "function",
        "function": {"name": MEMORY_SEARCH["name"], "description": DESCRIPTION, "parameters": _input_schema()},
    }


def anthropic_tool() -> dict[str, Any]:
    """Return the definition as an entry of `tools` for the messages API of Anthropic."""
    return {"name": MEMORY_SEARCH["name"], "description": DESCRIPTION, "input_schema": _input_schema()}


def _input_schema() -> dict[str, Any]:
    return {name: deepcopy(value) for name, value in INPUT_SCHEMA.items() if name != "$schema"}


def memory_search(
    engine: Engine,
    /,
    query: str = "",
    *,
    max_results: int | None = None,
    use_graph: bool | None = None,
    min_graph_score: float | None = None,
    relations_offset: int | None = None,
    after: str | None = None,
    before: str | None = None,
    is_brief: bool = False,
    **aliases: Any,
) -> dict[str, Any]:
    """
    Answer a tool call of a model: the JSON of `weft query --facts --json`, and `context`, the same as text.

    There are at most `max_results` (10) results; the best half of the hybrid results is among them. Without
    `use_graph` the method is `hybrid` and no facts are recalled; otherwise the configured method is used. Facts and
    evidence share the budget of the settings. `min_graph_score` (0.3) overrides `[graph] min_graph_score`;
    `relations_offset` skips things in `relations`. `after` and `before` restrict the passages to conversations of a
    time; facts are those valid at the time `before`. If the embedder cannot be used, the search works without it and
    `degraded` has the reason. Argument names may be in
    camelCase, and numbers may be strings. `is_brief` keeps `context` short. Raises `InputError` naming the argument.
    """
    arguments = {
        "max_results": max_results,
        "use_graph": use_graph,
        "min_graph_score": min_graph_score,
        "relations_offset": relations_offset,
        "after": after,
        "before": before,
        **aliases,
    }
    values = {**DEFAULTS, **_read_arguments(arguments)}
    where = Filter(after=values.get("after"), before=values.get("before"))
    graph, offset = {"min_graph_score": values["min_graph_score"]}, values["relations_offset"]
    options = {"top_k": values["max_results"], "where": where, "graph": graph, "relations_offset": offset}
    text, recall, engine = _read_text("query", query), None, answerable(engine)
    if values["use_graph"]:
        result, recall = engine.query_with_facts(text, as_of=where.before, exact=True, **options)
    else:
        result = engine.query(text, method="hybrid", **options)
    most = MAX_WEAK_TOKENS if result.status in ("low_confidence", "no_match") else MAX_BRIEF_TOKENS
    budget = min(most, engine.settings.context.budget) if is_brief else None
    context = engine.context(result, recall=recall, budget=budget).text
    return {**result_to_dict(result), "facts": facts_to_dict(recall) if recall else None, "context": context}


def _read_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are not None, in either spelling, under their Python names."""
    values: dict[str, Any] = {}
    for spelling, value in arguments.items():
        name = SPELLINGS.get(spelling, spelling)
        if name not in _READERS:
            raise InputError(f"unknown argument {spelling[:80]!r}", hint=f"use query, {', '.join(SPELLINGS)}")
        if value is None:
            continue
        read = _READERS[name](spelling, value)
        if values.setdefault(name, read) != read:
            raise InputError(
                f"two different values of argument {name}: {values[name]!r} and {read!r}",
                hint=f"pass only {spelling}",
            )
    return values


def _read_text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _refusal(name, value, "a non-empty string")
    return value


def _read_count(name: str, value: Any) -> int:
    number = _read_number(value)
    if not 1 <= number <= MAX_RESULTS or number != int(number):
        raise _refusal(name, value, f"a whole number from 1 to {MAX_RESULTS}")
    return int(number)


def _read_offset(name: str, value: Any) -> int:
    number = _read_number(value)
    if not 0 <= number <= MAX_OFFSET or number != int(number):
        raise _refusal(name, value, f"a whole number from 0 to {MAX_OFFSET}")
    return int(number)


def _read_share(name: str, value: Any) -> float:
    number = _read_number(value)
    if not 0 <= number <= 1:
        raise _refusal(name, value, "a number from 0 to 1")
    return float(number)


def _read_truth(name: str, value: Any) -> bool:
    known = {"true": True, "false": False}.get(value.strip().lower()) if isinstance(value, str) else value
    if not isinstance(known, bool):
        raise _refusal(name, value, "true or false")
    return known


def _read_time(name: str, value: Any) -> datetime:
    try:
        time = parse_time(value.strip()) if isinstance(value, str) else None
    except ValueError:
        time = None
    if time is None:
        raise _refusal(name, value, "a time such as 2026-03-01 or 2026-03-01T12:00:00Z")
    return time if time.tzinfo else time.replace(tzinfo=timezone.utc)


_READERS: Mapping[str, Callable[[str, Any], Any]] = {
    "max_results": _read_count,
    "use_graph": _read_truth,
    "min_graph_score": _read_share,
    "relations_offset": _read_offset,
    "after": _read_time,
    "before": _read_time,
}


def _read_number(value: Any) -> float:
    """Return a number or a parsed string; NaN, which is outside every range, for other values."""
    try:
        number = float(value) if isinstance(value, str) else value
    except ValueError:
        return math.nan
    return number if isinstance(number, (int, float)) and not isinstance(number, bool) else math.nan


def _refusal(name: str, value: Any, wanted: str) -> InputError:
    shown = repr(value)
    return InputError(
        f"invalid {name}: {shown if len(shown) <= 80 else shown[:80] + '…'}", hint=f"pass {name} as {wanted}"
    )
