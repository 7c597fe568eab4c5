"""Routes for queries: `POST /query` and its alias `/search`."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from weft.context.serialise import context_to_dict, facts_to_dict, result_to_dict
from weft.engine.engine import Engine
from weft.records import Filter
from weft.server.auth import Reader
from weft.server.errors import documented
from weft.server.schemas import Question, SearchQuestion

router = APIRouter(tags=["query"])

OPTIONS = (
    "method", "top_k", "min_score", "fusion", "vector_weight", "text_weight", "gate", "rerank", "relations_offset",
)  # fmt: skip


def _schema() -> dict[str, Any]:
    """Return the JSON schema of a response: the schema of `weft query --json` and the optional `context`."""
    schema: dict[str, Any] = json.loads((resources.files("weft.context") / "result.schema.json").read_text("utf-8"))
    context = {
        "type": "object",
        "required": ["text", "tokens", "sources", "omitted"],
        "properties": {"text": {"type": "string"}, "tokens": {"type": "integer"}, "omitted": {"type": "integer"}},
    }
    schema["properties"]["context"] = context
    return schema


RESPONSES: dict[int | str, dict[str, Any]] = {
    **documented(401, 409, 501, 502, 504),
    200: {
        "description": "Cited evidence, or status `no_match`.",
        "content": {"application/json": {"schema": _schema()}},
    },
}
GRAPH_OPTIONAL = (None, "auto", "agentic", "mix")
"""Methods that become `hybrid` if a request disables the graph."""


@router.post("/query", responses=RESPONSES, response_class=JSONResponse)
@router.post("/search", responses=RESPONSES, response_class=JSONResponse, summary="Alias of /query")
async def query(question: Question, caller: Reader) -> JSONResponse:
    """Run a query. Returns evidence with scores, reasons and citations, or status `no_match`."""
    return JSONResponse(await caller.state.threads.read(lambda: _answer(caller.across(question.namespaces), question)))


def query_options(question: SearchQuestion) -> dict[str, Any]:
    """Return the arguments of `Engine.query` for a request, besides the text."""
    options: dict[str, Any] = {name: getattr(question, name) for name in OPTIONS}
    options["where"] = Filter(
        documents=tuple(question.documents),
        source_prefix=question.source_prefix,
        metadata=tuple(question.metadata.items()),
        after=question.after,
        before=question.before,
    )
    overrides = question.graph.model_dump(exclude_none=True) if question.graph else {}
    options["graph"] = {"enabled": question.use_graph, **overrides}
    if question.use_graph is False and options["method"] in GRAPH_OPTIONAL:
        options["method"] = "hybrid"  # as memory_search does: the method tells which channels were searched
    return options


def _answer(engine: Engine, question: Question) -> dict[str, Any]:
    options = query_options(question)
    recall = None
    if question.facts:
        result, recall = engine.query_with_facts(question.query, **options)
    else:
        result = engine.query(question.query, **options)
    answer = result_to_dict(result)
    if recall:
        answer["facts"] = facts_to_dict(recall)
    if question.context or question.budget:
        context = engine.context(result, format=question.context, budget=question.budget, recall=recall)
        answer["context"] = context_to_dict(context)
    return answer
