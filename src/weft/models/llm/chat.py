"""HTTP client for language models: OpenAI's `/chat/completions` and compatible servers, or Anthropic's `/messages`."""

from __future__ import annotations

import importlib.util
import json
import random
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal, TypeAlias

from weft.errors import BadModelOutput, MissingExtra
from weft.models.base import ChatReply, replace_surrogates
from weft.models.embedders.openai import DEFAULT_URL, check_endpoint
from weft.models.http_client import RequestRefused, Transport
from weft.models.llm.chat_stream import read_stream
from weft.text.tokens import guess_model_tokens

Wire: TypeAlias = Literal["openai", "anthropic"]

ANTHROPIC_URL = "https://api.anthropic.com/v1"
ANTHROPIC_VERSION = "2023-06-01"
TOOL = "record"
"""Tool that Anthropic's models must call; its input has the requested schema."""

TOOL_PROMPT_TOKENS = 310
"""Tokens of the prompt that Anthropic adds for tools; 235 to 346 by its documentation."""

_OPTIONAL_FIELDS = ("response_format", "temperature", "max_tokens", "stream_options")
"""Fields that some OpenAI-compatible servers reject. They are omitted after an error that names them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatLimits:
    """Limits of a request: length of the reply, attempts, time."""

    output_tokens: int = 2000
    attempts: int = 6
    timeout_seconds: float = 120.0


class HttpChat:
    """
    A language model behind HTTP that replies in JSON of a requested schema, or streams text.

    Not every server enforces the schema, so callers must validate the reply.
    The API key appears in no representation, message or log.
    """

    def __init__(
        self,
        model: str,
        *,
        wire: Wire,
        api_key: str,
        base_url: str = "",
        limits: ChatLimits | None = None,
        structured: bool = True,
        on_failure: Callable[[str], None] = lambda kind: None,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Create the client; no request is sent. An empty `base_url` selects OpenAI or Anthropic."""
        if importlib.util.find_spec("httpx") is None:
            raise MissingExtra("httpx", extra="openai")
        self._model = model
        self._wire = wire
        self._base_url = (base_url or (DEFAULT_URL if wire == "openai" else ANTHROPIC_URL)).rstrip("/")
        check_endpoint(self._base_url, api_key=api_key)
        self._limits = limits or ChatLimits()
        self._omitted: set[str] = set() if structured else {"response_format"}
        self._lock = Lock()
        is_openai = wire == "openai"
        self._transport = Transport(
            f"{self._base_url}/{'chat/completions' if is_openai else 'messages'}",
            api_key=api_key,
            attempts=self._limits.attempts,
            timeout_seconds=self._limits.timeout_seconds,
            sleep=sleep,
            jitter=jitter,
            key_header="Authorization" if is_openai else "x-api-key",
            headers={} if is_openai else {"anthropic-version": ANTHROPIC_VERSION},
            setting="llm.base_url",
            key_name="OPENAI_API_KEY" if is_openai else "ANTHROPIC_API_KEY",
            on_failure=on_failure,
        )

    def __repr__(self) -> str:
        return f"HttpChat({self._wire}/{self._model}, base_url={self._base_url!r})"

    @property
    def name(self) -> str:
        """Vendor and model: `openai/gpt-4o-mini`."""
        return f"{self._wire}/{self._model}"

    def ask(self, *, system: str, user: str, schema: Mapping[str, Any]) -> ChatReply:
        """Return the reply. Raises `ModelUnavailable`, or `BadModelOutput` if the response has no text."""
        while True:
            body = self._body(replace_surrogates(system), replace_surrogates(user), schema)
            try:
                answer = self._transport.post(body)
            except RequestRefused as refusal:
                if not self._omit_rejected(refusal, body):
                    raise
                continue
            read = _read_openai if self._wire == "openai" else _read_anthropic
            return read(answer, question=system + user)

    def stream(self, *, system: str, user: str) -> Generator[str, None, ChatReply]:
        """Yield the reply as text in pieces, and return it. Raises `ModelUnavailable` or `BadModelOutput`."""
        while True:
            body = self._stream_body(replace_surrogates(system), replace_surrogates(user))
            try:
                with self._transport.stream(body) as lines:
                    return (yield from read_stream(lines, question=system + user))
            except RequestRefused as refusal:
                if not self._omit_rejected(refusal, body):
                    raise

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        self._transport.close()

    def _omit_rejected(self, refusal: RequestRefused, body: Mapping[str, Any]) -> bool:
        """Omit the fields that the error names from later requests; return True if `body` had any of them."""
        if refusal.status not in (400, 404, 422):
            return False
        message = str(refusal).replace("json_schema", "response_format")
        rejected = [name for name in _OPTIONAL_FIELDS if name in message and name in body]
        if self._wire == "anthropic" and "tool" in message and "tools" in body:
            rejected = ["response_format"]
        with self._lock:
            self._omitted.update(rejected)
        return bool(rejected)

    def _stream_body(self, system: str, user: str) -> dict[str, Any]:
        """Return the request of a reply as text, in pieces."""
        body = self._body(system, user, {})
        unused = {"tools", "tool_choice", "response_format"}
        body = {name: value for name, value in body.items() if name not in unused} | {"stream": True}
        if self._wire == "openai" and "stream_options" not in self._omitted:
            body["stream_options"] = {"include_usage": True}
        return body

    def _body(self, system: str, user: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        with self._lock:
            omitted = set(self._omitted)
        if self._wire == "anthropic":
            body = {
                "model": self._model,
                "system": system,
                "messages": [{"role": "user", "content": user}],
                "max_tokens": self._limits.output_tokens,
                "temperature": 0,
                "tools": [{"name": TOOL, "description": "Record what was found.", "input_schema": schema}],
                "tool_choice": {"type": "tool", "name": TOOL},
            }
            excluded = {"tools", "tool_choice"} if "response_format" in omitted else set()
            return {name: value for name, value in body.items() if name not in excluded | (omitted & {"temperature"})}
        form = {"name": "extraction", "strict": True, "schema": schema}
        body = {
            "model": self._model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
            "temperature": 0,
            "max_tokens": self._limits.output_tokens,
            "response_format": {"type": "json_schema", "json_schema": form},
        }
        body = {name: value for name, value in body.items() if name not in omitted}
        return body if "max_tokens" in body else {**body, "max_completion_tokens": self._limits.output_tokens}


def count_schema_tokens(wire: Wire, schema: Mapping[str, Any], *, base_url: str = "") -> int:
    """
    Return the estimated tokens that the schema of the reply adds to a request.

    Anthropic adds a prompt for tools. Other vendors' servers compile the schema to a grammar, which has no tokens.
    """
    if wire == "openai" and base_url:
        return 0
    return guess_model_tokens(json.dumps(schema)) + (TOOL_PROMPT_TOKENS if wire == "anthropic" else 0)


def _read_openai(answer: object, *, question: str) -> ChatReply:
    choices = answer.get("choices") if isinstance(answer, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message = choice.get("message")
    # An empty reply also costs money, so it counts as a reply.
    text = (message.get("content") or "") if isinstance(message, dict) else None
    if not isinstance(text, str):
        hint = "set llm.base_url to an OpenAI-compatible endpoint"
        raise BadModelOutput("the response of the endpoint has no text in `choices`", hint=hint)
    is_cut = choice.get("finish_reason") == "length"
    return _make_reply(answer, text, ("prompt_tokens", "completion_tokens"), question=question, is_cut=is_cut)


def _read_anthropic(answer: object, *, question: str) -> ChatReply:
    blocks = answer.get("content") if isinstance(answer, dict) else None
    if not isinstance(blocks, list):
        hint = "set llm.base_url to an endpoint with the API of Anthropic"
        raise BadModelOutput("the response of the endpoint has no list `content`", hint=hint)
    blocks = [block for block in blocks if isinstance(block, dict)]
    inputs = [json.dumps(block.get("input"), ensure_ascii=False) for block in blocks if block.get("type") == "tool_use"]
    texts = [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]
    is_cut = isinstance(answer, dict) and answer.get("stop_reason") == "max_tokens"
    text = inputs[0] if inputs else "\n".join(texts)
    return _make_reply(answer, text, ("input_tokens", "output_tokens"), question=question, is_cut=is_cut)


def _make_reply(answer: object, text: str, names: tuple[str, str], *, question: str, is_cut: bool) -> ChatReply:
    """Return the reply with the tokens that the server counted, or estimates if it sent none."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    counted = [usage.get(name) if isinstance(usage, dict) else None for name in names]
    tokens = [
        count if type(count) is int and count >= 0 else guess_model_tokens(of)
        for count, of in zip(counted, (question, text), strict=True)
    ]
    is_guessed = tokens != counted
    return ChatReply(text=text, tokens_in=tokens[0], tokens_out=tokens[1], is_cut=is_cut, is_guessed=is_guessed)
