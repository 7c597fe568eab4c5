"""The number of parallel requests grows while an endpoint keeps up, and halves when it refuses."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Event
from typing import cast

import pytest
from loopback import Answer, in_json, serve

from weft.models.adaptive_limit import AdaptiveLimit
from weft.models.embedders.openai import OpenAIEmbedder, RequestLimits


def succeed(limit: AdaptiveLimit, times: int) -> None:
    for _ in range(times):
        with limit.slot():
            pass


def test_the_limit_grows_by_about_one_per_round_up_to_its_maximum() -> None:
    """Two successes at a limit of two, three at three; then the maximum holds."""
    limit = AdaptiveLimit(start=2, maximum=4)

    succeed(limit, 3)
    assert limit.current == 3
    succeed(limit, 20)
    assert limit.current == 4


def test_a_burst_of_refusals_halves_the_limit_once() -> None:
    """Requests that ran together are refused together; a refusal of a retry counts again."""
    limit = AdaptiveLimit(start=8, maximum=8)

    with ExitStack() as running:
        refusals = [running.enter_context(limit.slot()) for _ in range(8)]
        for refuse in refusals:
            refuse()
        assert limit.current == 4
        refusals[0]()
        assert limit.current == 2

    assert limit.current == 2, "a request that was refused before it succeeded does not raise the limit"


def test_the_limit_never_falls_below_one() -> None:
    """Otherwise nothing would ever be sent again."""
    limit = AdaptiveLimit(start=1, maximum=8)
    for _ in range(5):
        with limit.slot() as refuse:
            refuse()

    assert limit.current == 1
    succeed(limit, 1)
    assert limit.current == 2


def test_a_failed_request_gives_its_slot_back() -> None:
    """An exception neither raises the limit nor blocks the next request."""
    limit = AdaptiveLimit(start=1, maximum=8)
    for _ in range(3):
        with pytest.raises(ValueError), limit.slot():
            raise ValueError

    assert limit.current == 1


def test_a_request_beyond_the_limit_waits() -> None:
    """It starts as soon as another one ends."""
    limit = AdaptiveLimit(start=1, maximum=1)
    started = Event()

    def second() -> None:
        with limit.slot():
            started.set()

    with ThreadPoolExecutor(1) as pool:
        with limit.slot():
            waiting = pool.submit(second)
            assert not started.wait(0.05)
        waiting.result(timeout=60)


def embed(request: dict[str, object], *, until: Event | None = None) -> Answer:
    texts = cast(list[str], request["input"])
    body = in_json({"data": [{"embedding": [1.0, float(len(text))]} for text in texts]}).body
    return Answer(body=body, until=until)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The developer's proxy must not see loopback requests."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def test_an_endpoint_that_keeps_up_gets_more_requests_at_once() -> None:
    """It starts with two and never exceeds the maximum; all vectors arrive in order."""
    together = Event()

    def answer(request: dict[str, object]) -> Answer:
        """Answer a dozen requests at once, the next ones when three are there."""
        if endpoint.busy == 2:
            together.set()
        return embed(request, until=together if len(endpoint.requests) > 12 else None)

    with serve(answer) as endpoint:
        limits = RequestLimits(texts=1, parallel=2, max_parallel=6)
        embedder = OpenAIEmbedder("any", api_key="", base_url=endpoint.url, limits=limits)

        vectors = embedder.embed(["x" * (number + 1) for number in range(40)])

        assert [round(float(row[1] / row[0])) for row in vectors] == list(range(1, 41))
        assert 2 < endpoint.most <= 6
        embedder.close()


def test_an_overloaded_endpoint_gets_fewer_requests_and_all_texts_arrive() -> None:
    """A server that refuses more than three requests at once is not asked ten times as often as needed."""
    refused = Event()

    def overload(request: dict[str, object]) -> Answer:
        """Answer three requests when a fourth has been refused."""
        if endpoint.busy >= 3:
            refused.set()
            return in_json({"error": "slow down"}, status=429)
        return embed(request, until=refused)

    with serve(overload) as endpoint:
        limits = RequestLimits(texts=1, parallel=16, max_parallel=16, attempts=1000)
        embedder = OpenAIEmbedder(
            "any",
            api_key="",
            base_url=endpoint.url,
            limits=limits,
            sleep=lambda seconds: time.sleep(0.01),
            jitter=lambda: 0.0,
        )

        vectors = embedder.embed(["x" * (number + 1) for number in range(60)])

        assert len(vectors) == 60
        assert embedder._parallel.current < 16
        assert embedder.usage.failures.get("rate limit", 0) == len(endpoint.requests) - 60
        embedder.close()
