"""Route for answers: `POST /answer`, whole or streamed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response, StreamingResponse

from weft.context.answers import answer_head, answer_to_dict, sentence_to_dict
from weft.engine.engine import Engine
from weft.errors import ModelUnavailable, WeftError
from weft.records import Answer
from weft.search.answer.answer import AnswerListener
from weft.server.auth import Reader
from weft.server.errors import Refused, documented, refusal
from weft.server.routes.query import query_options
from weft.server.schemas import AskedQuestion
from weft.server.threads import Threads

router = APIRouter(tags=["query"])

PING_SECONDS = 10.0
"""Seconds without a part after which a comment keeps the connection open."""


@router.post(
    "/answer",
    response_class=JSONResponse,
    responses={
        **documented(401, 409, 501, 502, 504),
        200: {
            "description": "The quoted sentence, the written sentences, and the result of the query. With `stream`, "
            "events: `quote`, then one `sentence` each, then `end` with the whole answer.",
            "content": {"application/json": {}, "text/event-stream": {}},
        },
    },
)
async def answer(question: AskedQuestion, caller: Reader) -> Response:
    """Answer a question: the best sentence, and an answer by the configured language model, with the passages."""
    engine = caller.across(question.namespaces)
    options = {"write": question.write, **query_options(question)}
    if not question.stream:
        found = await caller.state.threads.read(lambda: engine.ask(question.query, **options))
        return JSONResponse(answer_to_dict(found))
    stream = AnswerStream(engine, question.query, options)
    await stream.start(caller.state.threads)
    return StreamingResponse(stream.events(), media_type="text/event-stream")


class AnswerStream:
    """Parts of an answer that a thread finds, as server-sent events. If the client leaves, the thread stops."""

    def __init__(self, engine: Engine, question: str, options: dict[str, Any]) -> None:
        self._engine = engine
        self._question = question
        self._options = options
        self._parts: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._has_left = False
        self._first: tuple[str, Any] | None = None
        self._work: asyncio.Future[Answer] | None = None

    async def start(self, threads: Threads) -> None:
        """Wait for the first part; an error before it is raised, so it gets a status of its own."""
        self._work = asyncio.ensure_future(threads.read(self._ask))
        first = asyncio.ensure_future(self._parts.get())
        waiting: set[asyncio.Future[Any]] = {self._work, first}
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if not first.done():
            first.cancel()
            await self._work
        else:
            self._first = first.result()

    async def events(self) -> AsyncIterator[str]:
        """Yield the parts as events, a comment while the language model is silent, and `end` or `error` at last."""
        work = self._work
        assert work is not None, "start comes first"
        try:
            if self._first:
                yield _event(*self._first)
            while not (work.done() and self._parts.empty()):
                part = asyncio.ensure_future(self._parts.get())
                waiting: set[asyncio.Future[Any]] = {part, work}
                await asyncio.wait(waiting, timeout=PING_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                if part.done():
                    yield _event(*part.result())
                    continue
                part.cancel()
                if not work.done():
                    yield ": keep-alive\n\n"
            yield self._last(work)
        finally:
            self._has_left = True

    def _ask(self) -> Answer:
        to = AnswerListener(
            on_quote=lambda answer: self._send("quote", answer_head(answer)),
            on_sentence=lambda sentence: self._send("sentence", sentence_to_dict(sentence)),
        )
        return self._engine.ask(self._question, to=to, **self._options)

    def _send(self, name: str, data: Any) -> None:
        if self._has_left:
            raise ModelUnavailable("the client closed the connection")
        self._loop.call_soon_threadsafe(self._parts.put_nowait, (name, data))

    @staticmethod
    def _last(work: asyncio.Future[Answer]) -> str:
        error = work.exception()
        if error is None:
            return _event("end", answer_to_dict(work.result()))
        refused = refusal(error) if isinstance(error, WeftError) else error
        if not isinstance(refused, Refused):
            raise error
        return _event("error", {"code": refused.code, "message": refused.message, "hint": refused.hint})


def _event(name: str, data: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"
