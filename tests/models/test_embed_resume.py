"""Interrupted runs with an embedder behind HTTP keep the received vectors and do not pay for them again."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from embed_serving import MODEL, Weft, interrupt, serve_embedder, settle, start, twice, vectors, weft, write_texts
from loopback import Answer, Endpoint, in_json

from weft.errors import ModelError, ModelUnavailable
from weft.models.embedders.openai import OpenAIEmbedder, RequestLimits
from weft.models.embedders.vector_cache import CachedEmbedder

__all__ = ["weft"]

DOWN = in_json({"error": {"message": "overloaded"}}, status=500, Retry_After="3600")
"""An answer after which no further attempt is made."""


def after(count: int, failure: Answer) -> Callable[[dict[str, Any]], Answer]:
    """Answer so many requests, then fail."""
    answered = 0

    def answer(request: dict[str, Any]) -> Answer:
        nonlocal answered
        answered += 1
        return vectors(request) if answered <= count else failure

    return answer


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.mark.parametrize("failure", [DOWN, Answer(body=b'{"data": [', cut=True), in_json({"data": []})])
def test_answers_before_a_failure_are_kept(tmp_path: Path, failure: Answer) -> None:
    """One call has many requests: a refusal, a lost connection or an invalid response ends it."""

    def embedder(endpoint: Endpoint) -> CachedEmbedder:
        limits = RequestLimits(texts=1, parallel=2, max_parallel=2, attempts=1)
        inner = OpenAIEmbedder("tiny", api_key="", base_url=endpoint.url, limits=limits)
        return CachedEmbedder(inner, path=tmp_path / "vectors.db")

    texts = [f"text {number}" for number in range(10)]
    with serve_embedder(after(4, failure)) as endpoint:
        with pytest.raises(ModelError, match=r"returned status|cannot reach|0 vectors"):
            embedder(endpoint).embed(texts)
        made = len(endpoint.requests)
        endpoint.default = vectors
        embedder(endpoint).embed(texts)

    assert made <= 6
    assert len(endpoint.requests) == made + 10 - 4


def test_an_interrupted_call_makes_no_further_request_and_does_not_wait(tmp_path: Path) -> None:
    """The one under way is finished and kept."""
    kept: list[str] = []

    def answer(request: dict[str, Any]) -> Answer:
        embedder.interrupt()
        return vectors(request) if len(endpoint.requests) < 2 else in_json({}, status=500, Retry_After="50")

    with serve_embedder(answer) as endpoint:
        limits = RequestLimits(texts=1, parallel=1, max_parallel=1)
        embedder = OpenAIEmbedder("tiny", api_key="", base_url=endpoint.url, limits=limits)
        for _ in range(2):  # the second one is at its first wait
            with pytest.raises(ModelUnavailable, match="interrupted"):
                embedder.embed_incrementally(["a", "b"], keep=lambda texts, vectors: kept.extend(texts))
        endpoint.default = vectors
        assert len(embedder.embed(["c"])) == 1

    assert (kept, len(endpoint.requests)) == (["a"], 3)


@pytest.mark.parametrize("lines", [1, 200])
def test_an_index_run_that_fails_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weft: Weft, lines: int
) -> None:
    """With many documents or one large document, no text is sent twice."""
    write_texts(tmp_path / "texts", 200 // lines, lines=lines)
    with serve_embedder(after(2, DOWN)) as endpoint:
        settle(tmp_path, endpoint, monkeypatch)
        message = weft("index", "texts", expect=1)
        paid = sum(len(request["input"]) for request in endpoint.requests[:2])  # type: ignore[arg-type]
        endpoint.default, endpoint.requests = vectors, endpoint.requests[:2]
        receipt = weft("index", "texts")

    assert "500: overloaded" in message
    assert paid > 1 and twice(endpoint) == []
    assert receipt["added"] + receipt["unchanged"] == 200 // lines
    assert receipt["chunks"] == receipt["embedded"] + receipt["cached"]
    assert weft("check") == []


def test_a_reembed_run_that_fails_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weft: Weft) -> None:
    """The namespace answers as before meanwhile."""
    write_texts(tmp_path / "texts", 300)
    with serve_embedder(after(2, DOWN)) as endpoint:
        settle(tmp_path, endpoint, monkeypatch)
        weft("index", "texts", "--embedder", "none")
        weft("reembed", expect=1)
        endpoint.default, endpoint.requests = vectors, endpoint.requests[:2]
        weft("reembed")

    assert twice(endpoint) == []
    assert [model["name"] for model in weft("stats")["models"]] == [MODEL]
    assert weft("check") == []


@pytest.mark.parametrize("verb", [("index", "texts"), ("reembed",)])
def test_an_interrupted_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weft: Weft, verb: tuple[str, ...]
) -> None:
    """Ctrl-C lets the requests under way be answered; none of their texts is sent again."""
    write_texts(tmp_path / "texts", 1, lines=400)
    interrupted = Event()
    with serve_embedder(lambda request: vectors(request, delay=0.4, until=interrupted)) as endpoint:
        endpoint.script = [vectors({"input": ["the first text tells the dimension"]})]
        settle(tmp_path, endpoint, monkeypatch)
        if verb == ("reembed",):
            weft("index", "texts", "--embedder", "none")
        process = start(*verb)
        while len(endpoint.requests) < 3 and process.poll() is None:
            time.sleep(0.005)
        interrupt(process)  # until then the requests under way stay unanswered
        interrupted.set()
        _, said = process.communicate()
        made = len(endpoint.requests)
        weft(*verb)

    assert process.returncode == 130, said
    assert 3 <= made < len(endpoint.requests)
    assert twice(endpoint) == []
    assert weft("check") == []
