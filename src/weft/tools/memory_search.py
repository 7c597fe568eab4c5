"""The tool `memory_search` for function-calling models: what they are told of it, and what runs when they call it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from importlib import resources
from typing import TYPE_CHECKING, Any

from weft.context.serialise import facts_to_dict, result_to_dict
from weft.errors import InputError
from weft.tools.fallback import answerable

if TYPE_CHECKING:
    from weft.engine.engine import Engine

DEFAULTS: Mapping[str, Any] = {"max_results": 10, "use_graph": True, "min_graph_score": 0.3}
"""What an argument is where it is not given, or null. They are the tool's own, as its definition says."""

MAX_RESULTS = 1000

SPELLINGS: Mapping[str, str] = {
    "maxResults": "max_results",
    "useGraph": "use_graph",
    "minGraphScore": "min_graph_score",
}
"""Names of arguments as the definition has them, and as Python does. Both are accepted."""

INPUT_SCHEMA: Mapping[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["query"],
    "additionalProperties": False,
    "properties": {
        "query": {
            "type": "string",
            "minLength": 1,
            "pattern": "\\S",
            "description": "What you want to know, best as a whole question in the language of the documents. Write "
            "names, ids and error codes exactly as they are written there.",
        },
        "maxResults": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_RESULTS,
            "default": DEFAULTS["max_results"],
            "description": "At most so many passages.",
        },
        "useGraph": {
            "type": "boolean",
            "default": DEFAULTS["use_graph"],
            "description": "Also follow the connections between the things the question names, and recall facts. "
            "False searches documents by meaning and by words only: for a quote, a code or a plain look-up.",
        },
        "minGraphScore": {
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "default": DEFAULTS["min_graph_score"],
            "description": "Weakest connection that is followed: 0 for all, 1 for the strongest only. Leave it out "
            "unless connections bring in noise.",
        },
    },
}

DESCRIPTION = (
    "Search the user's memory: remembered facts, indexed documents and the knowledge graph of what they name. Call it "
    "before you answer anything that may depend on the user's own notes, preferences, documents, decisions, people or "
    "systems. One subject per call; for a chain of facts, call again with what you found. Gives facts, and passages, "
    "best first, each with its text, score and citation; in `context` both as text. Cite what you use. If `status` is "
    "`no_match`, nothing relevant is stored: say so, or ask again in other words; `low_confidence` is a hint at most; "
    "`degraded` means that a part of the search was not available."
)


def _output_schema() -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((resources.files("weft.context") / "result.schema.json").read_text("utf-8"))
    about = (
        "The answer as text inside the token budget: what is remembered, then passages; its last line says how much "
        "was left out."
    )
    return {
        **schema,
        "title": "Answer of memory_search",
        "required": [*schema["required"], "facts", "context"],
        "properties": {**schema["properties"], "context": {"type": "string", "description": about}},
    }


MEMORY_SEARCH: Mapping[str, Any] = {
    "name": "memory_search",
    "title": "Search memory",
    "description": DESCRIPTION,
    "inputSchema": INPUT_SCHEMA,
    "outputSchema": _output_schema(),
    "annotations": {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False},
}
"""The definition in the form of MCP; published as docs/memory_search.schema.json. `weft mcp` gives a shorter answer."""


def openai_tool() -> dict[str, Any]:
    """Return the definition as an entry of `tools` for OpenAI's chat completions, and whoever speaks like them."""
    return {
        "type": "function",
        "function": {"name": MEMORY_SEARCH["name"], "description": DESCRIPTION, "parameters": _input_schema()},
    }


def anthropic_tool() -> dict[str, Any]:
    """Return the definition as an entry of `tools` for Anthropic's messages."""
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
    **aliases: Any,
) -> dict[str, Any]:
    """
    Answer the call of a model: the document of `weft query --facts --json`, and `context`, the same as text.

    At most `max_results` (10) results: the ranked union is cut there. Without `use_graph` it is exactly the method
    `hybrid` and there are no facts, else the method of the settings; the narrative of facts and the evidence share the
    budget of the settings. `min_graph_score` (0.3) is `[graph] min_graph_score` for this call.
    Where the embedder cannot be used, the answer is found without it and `degraded` says why. Names may be in
    camelCase and numbers in text, as models write them. Raises `InputError` naming the argument.
    """
    text = _read_text("query", query)
    given = {"max_results": max_results, "use_graph": use_graph, "min_graph_score": min_graph_score, **aliases}
    asked = {**DEFAULTS, **_read_arguments(given)}
    count, graph = asked["max_results"], {"min_graph_score": asked["min_graph_score"]}
    recall = None
    engine = answerable(engine)
    if asked["use_graph"]:
        result, recall = engine.query_with_facts(text, top_k=count, graph=graph)
    else:
        result = engine.query(text, top_k=count, method="hybrid", graph=graph)
    cut = replace(result, evidence=result.evidence[:count])
    facts = facts_to_dict(recall) if recall else None
    return {**result_to_dict(cut), "facts": facts, "context": engine.context(cut, recall=recall).text}


def _read_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that are not None, in whichever spelling, by their names in Python."""
    values: dict[str, Any] = {}
    for spelling, value in given.items():
        name = SPELLINGS.get(spelling, spelling)
        if name not in _READERS:
            raise InputError(f"there is no argument {spelling[:80]!r}", hint=f"give query, {', '.join(SPELLINGS)}")
        if value is None:
            continue
        read = _READERS[name](spelling, value)
        if values.setdefault(name, read) != read:
            raise InputError(f"{name} is {values[name]!r} and {spelling} is {read!r}", hint=f"give only {spelling}")
    return values


def _read_text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _refusal(name, value, "a text that is not empty")
    return value


def _read_count(name: str, value: Any) -> int:
    number = _read_number(value)
    if not 1 <= number <= MAX_RESULTS or number != int(number):
        raise _refusal(name, value, f"a whole number from 1 to {MAX_RESULTS}")
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


_READERS: Mapping[str, Callable[[str, Any], Any]] = {
    "max_results": _read_count,
    "use_graph": _read_truth,
    "min_graph_score": _read_share,
}


def _read_number(value: Any) -> float:
    """Return a number, also one in text, or NaN, which is in no range."""
    try:
        number = float(value) if isinstance(value, str) else value
    except ValueError:
        return math.nan
    return number if isinstance(number, (int, float)) and not isinstance(number, bool) else math.nan


def _refusal(name: str, value: Any, wanted: str) -> InputError:
    shown = repr(value)
    return InputError(f"{name} is {shown if len(shown) <= 80 else shown[:80] + '…'}", hint=f"{name}: {wanted}")
