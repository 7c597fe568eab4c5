"""Scripted language model on this machine, and engines that use it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from loopback import Answer, Endpoint, in_json, serve

from weft.engine.engine import Engine
from weft.engine.opening.open_engine import open_engine

Graph = dict[str, list[dict[str, Any]]]
NOTHING: Graph = {"entities": [], "relations": [], "facts": []}
PASSAGE = re.compile(r"(=====passage [0-9a-f]{16}=====)\n(.*)\n\1", re.DOTALL)


def passage(request: dict[str, Any]) -> str:
    """Return the text of the chunk that a request is about."""
    found = PASSAGE.search(request["messages"][-1]["content"])
    assert found
    return found[2]


def completion(text: object, *, finish: str = "stop", tokens: tuple[int, int] = (1000, 100), **more: Any) -> Answer:
    """Return what a server says whose model wrote `text`, or JSON."""
    content = text if isinstance(text, str) else json.dumps(text)
    choice = {"message": {"role": "assistant", "content": content}, "finish_reason": finish}
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    body = in_json({"choices": [choice], "usage": usage})
    return Answer(body=body.body, headers=body.headers, **more)


def message(content: object, *, stop: str = "end_turn", tokens: tuple[int, int] = (1000, 100), **more: Any) -> Answer:
    """Return what Anthropic's server says whose model wrote a text, or called the tool with JSON."""
    block = {"type": "text", "text": content} if isinstance(content, str) else {"type": "tool_use", "input": content}
    usage = {"input_tokens": tokens[0], "output_tokens": tokens[1]}
    body = in_json({"content": [block], "stop_reason": stop, "usage": usage})
    return Answer(body=body.body, headers=body.headers, **more)


def entity(name: str, type: str = "thing", description: str = "") -> dict[str, Any]:
    return {"name": name, "type": type, "description": description}


def relation(source: str, type: str, target: str, weight: float = 8, description: str = "") -> dict[str, Any]:
    return {"source": source, "target": target, "type": type, "weight": weight, "description": description}


@contextmanager
def serve_model(reply: Callable[[str], object] = lambda text: NOTHING) -> Iterator[Endpoint]:
    """Run a server whose model replies to the text of each chunk with JSON, or with what it wrote."""
    with serve(lambda request: completion(reply(passage(request)))) as endpoint:
        yield endpoint


def open_asking(folder: Path, endpoint: Endpoint, **settings: Any) -> Engine:
    """Open an engine in a folder that asks the model of an endpoint, and has no embedder."""
    settings = {
        "graph_extractor": "llm",
        "llm_model": "openai/tiny",
        "llm_base_url": endpoint.url,
        "llm_attempts": 1,
        "models_cache_dir": str(folder / "cache"),
    } | settings
    return open_engine(folder / "weft.db", embedder="none", **settings)


def asked(endpoint: Endpoint) -> list[str]:
    """Return the texts of the chunks that were sent, in any order."""
    return sorted(passage(request) for request in endpoint.requests)
