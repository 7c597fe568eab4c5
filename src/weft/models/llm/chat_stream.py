"""Replies of language models that arrive as server-sent events, in the protocols of OpenAI and Anthropic."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from weft.errors import BadModelOutput, ModelUnavailable
from weft.models.base import ChatReply
from weft.text.tokens import guess_model_tokens

MAX_REPLY_CHARACTERS = 20_000
"""A server that sends more ignores the limit of the request; the rest is not read."""


@dataclass
class _Usage:
    """Tokens that the server counted so far; None if it sent no count."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    is_cut: bool = False


def read_stream(lines: Iterable[str], *, question: str) -> Generator[str, None, ChatReply]:
    """
    Yield the text of a streamed reply in pieces, and return the whole reply.

    Events of both protocols are read, because gateways translate one into the other. Raises `BadModelOutput` for a
    stream without events, and `ModelUnavailable` for an event that reports an error.
    """
    usage, text, has_events = _Usage(), "", False
    for event in _events(lines):
        has_events = True
        _check_error(event)
        _count(event, usage)
        piece = _piece(event)
        if piece:
            text += piece
            yield piece
        if len(text) > MAX_REPLY_CHARACTERS:
            usage.is_cut = True
            break
    if not has_events:
        raise BadModelOutput("the endpoint sent no events", hint="set llm.base_url to an endpoint that can stream")
    return ChatReply(
        text=text,
        tokens_in=guess_model_tokens(question) if usage.tokens_in is None else usage.tokens_in,
        tokens_out=guess_model_tokens(text) if usage.tokens_out is None else usage.tokens_out,
        is_cut=usage.is_cut,
        is_guessed=None in (usage.tokens_in, usage.tokens_out),
    )


def _events(lines: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON objects of the `data:` lines. A whole reply on one line, from a server without streaming, too."""
    for line in lines:
        data = line.removeprefix("data:").strip()
        if data == "[DONE]":
            return
        if not data.startswith("{"):
            continue
        try:
            event = json.loads(data)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event


def _check_error(event: Mapping[str, Any]) -> None:
    error = event.get("error")
    if error:
        message = error.get("message", error) if isinstance(error, dict) else error
        raise ModelUnavailable(f"the endpoint stopped: {str(message)[:300]}", hint="retry in a few seconds")


def _piece(event: Mapping[str, Any]) -> str:
    """Return the new text of an event, or the text of a whole reply."""
    choice = _first(event.get("choices"))
    part = choice.get("delta") or choice.get("message") or event.get("delta")
    if isinstance(part, dict):
        text = part.get("content") or part.get("text")
    else:
        text = _first(event.get("content")).get("text")
    return text if isinstance(text, str) else ""


def _count(event: Mapping[str, Any], usage: _Usage) -> None:
    """Add the token counts of an event, and whether the reply was cut."""
    delta, message = event.get("delta"), event.get("message")
    for holder in (event, message if isinstance(message, dict) else {}):
        counts = holder.get("usage")
        if not isinstance(counts, dict):
            continue
        for name, field in (("prompt_tokens", "tokens_in"), ("input_tokens", "tokens_in")):
            _keep(usage, field, counts.get(name))
        for name, field in (("completion_tokens", "tokens_out"), ("output_tokens", "tokens_out")):
            _keep(usage, field, counts.get(name))
    reasons = {_first(event.get("choices")).get("finish_reason")}
    reasons.add(delta.get("stop_reason") if isinstance(delta, dict) else event.get("stop_reason"))
    usage.is_cut |= bool(reasons & {"length", "max_tokens"})


def _keep(usage: _Usage, field: str, count: object) -> None:
    if type(count) is int and count >= 0:
        setattr(usage, field, count)


def _first(items: object) -> Mapping[str, Any]:
    """Return the first item of a list of objects; empty if there is none."""
    return items[0] if isinstance(items, list) and items and isinstance(items[0], dict) else {}
