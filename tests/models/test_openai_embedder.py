"""HTTP embedder against a real server on this machine: requests, retries and refusals."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from typing import cast

import numpy as np
import pytest
from loopback import Answer, Endpoint, in_json, serve

from weft.errors import BadModelOutput, ConfigError, MissingExtra, ModelUnavailable
from weft.models.embedders.openai import OpenAIEmbedder, RequestLimits
from weft.models.llm.budget import Account, Bounds

KEY = "sk-very-secret-key"


def vector_of(text: str) -> list[float]:
    """A vector that identifies its text."""
    return [float(len(text)), float(sum(map(ord, text)) % 97), 1.0]


def embed_all(request: dict[str, object]) -> Answer:
    """Response of a correct server, with its entries in another order."""
    texts = cast(list[str], request["input"])
    entries = [{"index": number, "embedding": vector_of(text)} for number, text in enumerate(texts)]
    return in_json({"data": entries[::-1]})


def expected(texts: list[str]) -> np.ndarray:
    vectors = np.array([vector_of(text or " ") for text in texts])
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The developer's proxy must not see loopback requests."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve(embed_all) as running:
        yield running


@pytest.fixture
def waits() -> list[float]:
    """The seconds the embedder wanted to sleep; nothing really sleeps."""
    return []


@pytest.fixture
def embedder(endpoint: Endpoint, waits: list[float]) -> OpenAIEmbedder:
    return open_embedder(endpoint, waits=waits)


def open_embedder(
    endpoint: Endpoint,
    *,
    waits: list[float] | None = None,
    model: str = "some-model",
    dimensions: int | None = None,
    limits: RequestLimits | None = None,
) -> OpenAIEmbedder:
    return OpenAIEmbedder(
        model,
        api_key=KEY,
        base_url=endpoint.url,
        dimensions=dimensions,
        limits=limits or RequestLimits(attempts=4),
        sleep=(waits if waits is not None else []).append,
        jitter=lambda: 0.0,
    )


def test_vectors_come_back_in_order_and_normalised(embedder: OpenAIEmbedder) -> None:
    """The server's order is undone by its `index`."""
    texts = ["a", "bb", "ccc", ""]

    vectors = embedder.embed(texts)

    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected(texts), atol=1e-6)


def test_the_request_is_what_the_api_asks_for(endpoint: Endpoint) -> None:
    """Model, input, dimensions if any, and the key in the header; an empty text becomes a space."""
    open_embedder(endpoint, dimensions=3).embed(["a", "", "\ud800"])

    assert endpoint.requests == [{"model": "some-model", "input": ["a", " ", "\ufffd"], "dimensions": 3}]
    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"


def test_large_calls_are_preferred_unless_the_cost_is_limited(endpoint: Endpoint) -> None:
    """A call then has several requests at once; at a cost limit a large call would be lost."""
    limited = Account(price=(1.0, 0.0), bounds=Bounds(cost=1.0))

    assert open_embedder(endpoint, limits=RequestLimits(texts=10, parallel=3)).texts_per_call == 30
    assert OpenAIEmbedder("any", api_key=KEY, base_url=endpoint.url, account=limited).texts_per_call == 0


def test_no_texts_make_no_request(embedder: OpenAIEmbedder, endpoint: Endpoint) -> None:
    """An empty list costs nothing."""
    assert embedder.embed([]).shape == (0, 0)
    assert endpoint.requests == []


def test_requests_stay_within_both_limits_and_rows_in_order(endpoint: Endpoint) -> None:
    """Texts and characters per request are limited; a text above the limit is a separate request."""
    embedder = open_embedder(endpoint, limits=RequestLimits(texts=3, characters=10, parallel=2))
    texts = ["a", "b", "c", "d", "e" * 25, "f" * 6, "g" * 6]

    vectors = embedder.embed(texts)

    sent = sorted(cast(list[str], request["input"]) for request in endpoint.requests)
    assert sent == [["a", "b", "c"], ["d"], ["e" * 25], ["f" * 6], ["g" * 6]]
    np.testing.assert_allclose(vectors, expected(texts), atol=1e-6)


def test_retry_after_is_obeyed(embedder: OpenAIEmbedder, endpoint: Endpoint, waits: list[float]) -> None:
    """In seconds or as a date."""
    later = format_datetime(datetime.now(timezone.utc) + timedelta(seconds=30), usegmt=True)
    endpoint.script = [
        in_json({"error": {"message": "slow down"}}, status=429, Retry_After="7"),
        in_json({"error": {"message": "slow down"}}, status=503, Retry_After=later),
    ]

    embedder.embed(["a"])

    assert waits[0] == 7
    assert 20 < waits[1] <= 30


def test_server_errors_are_tried_again_with_growing_waits(
    embedder: OpenAIEmbedder, endpoint: Endpoint, waits: list[float]
) -> None:
    """Half a second, then double, until an answer comes."""
    endpoint.script = [Answer(status=500, body=b"oops"), Answer(status=502), Answer(status=429)]

    vectors = embedder.embed(["a"])

    np.testing.assert_allclose(vectors, expected(["a"]), atol=1e-6)
    assert waits == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(("failures", "said"), [(1, ["INFO"]), (3, ["INFO", "WARNING", "INFO"])])
def test_waiting_again_is_said_aloud_once(
    embedder: OpenAIEmbedder, endpoint: Endpoint, caplog: pytest.LogCaptureFixture, failures: int, said: list[str]
) -> None:
    """The second retry is logged as a warning, once."""
    endpoint.script = [Answer(status=502)] * failures

    with caplog.at_level(logging.INFO, logger="weft"):
        embedder.embed(["a"])

    waiting = [record for record in caplog.records if record.name.startswith("weft")]
    assert [record.levelname for record in waiting] == said
    assert all("retrying in" in record.message for record in waiting)


def test_jitter_shortens_a_wait_by_up_to_half(endpoint: Endpoint) -> None:
    """Clients that failed together do not come back together."""
    waits: list[float] = []
    endpoint.script = [Answer(status=500)]
    embedder = OpenAIEmbedder("m", api_key=KEY, base_url=endpoint.url, sleep=waits.append, jitter=lambda: 1.0)

    embedder.embed(["a"])

    assert waits == [0.25]


def test_a_cut_connection_is_tried_again(embedder: OpenAIEmbedder, endpoint: Endpoint, waits: list[float]) -> None:
    """Half an answer is no answer."""
    endpoint.script = [Answer(body=b'{"data": [', cut=True)]

    vectors = embedder.embed(["a"])

    np.testing.assert_allclose(vectors, expected(["a"]), atol=1e-6)
    assert len(waits) == 1


def test_an_endpoint_that_keeps_failing_is_given_up(
    embedder: OpenAIEmbedder, endpoint: Endpoint, waits: list[float]
) -> None:
    """After the last attempt there is no more waiting, and the error says what the server said."""
    endpoint.script = [in_json({"error": {"message": "overloaded"}}, status=503)] * 4

    with pytest.raises(ModelUnavailable, match="503: overloaded"):
        embedder.embed(["a"])

    assert (len(endpoint.requests), len(waits)) == (4, 3)


def test_an_endpoint_that_asks_for_too_much_patience_is_given_up(
    embedder: OpenAIEmbedder, endpoint: Endpoint, waits: list[float]
) -> None:
    """A requested wait of an hour raises an error."""
    endpoint.script = [in_json({"error": {"message": "daily limit"}}, status=429, Retry_After="3600")]

    with pytest.raises(ModelUnavailable, match="daily limit"):
        embedder.embed(["a"])

    assert waits == []


def test_an_endpoint_that_is_not_there_is_unavailable(endpoint: Endpoint, waits: list[float]) -> None:
    """The message names the address, the hint what to check."""
    endpoint.url = "http://127.0.0.1:9/v1"

    with pytest.raises(ModelUnavailable, match="cannot reach") as caught:
        open_embedder(endpoint, waits=waits).embed(["a"])

    assert len(waits) == 3
    assert "base_url" in caught.value.hint


@pytest.mark.parametrize("status", [301, 400, 401, 404, 422])
def test_a_refusal_is_not_tried_again(
    embedder: OpenAIEmbedder, endpoint: Endpoint, waits: list[float], status: int
) -> None:
    """The server's own words are in the error, trimmed."""
    endpoint.script = [in_json({"error": {"message": "no such\n  model " + "x" * 1000}}, status=status)]

    with pytest.raises(ModelUnavailable, match=f"{status}: no such model") as caught:
        embedder.embed(["a"])

    assert len(str(caught.value)) < 500
    assert (len(endpoint.requests), waits) == (1, [])


def test_an_exhausted_quota_is_not_tried_again(
    embedder: OpenAIEmbedder, endpoint: Endpoint, waits: list[float]
) -> None:
    """It comes as 429, but waiting brings no money."""
    endpoint.script = [in_json({"error": {"message": "pay", "code": "insufficient_quota"}}, status=429)]

    with pytest.raises(ModelUnavailable, match="pay"):
        embedder.embed(["a"])

    assert waits == []


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (Answer(body=b"<html>hello"), "is not JSON"),
        (Answer(body=b"\xff\xfe{"), "is not JSON"),
        (in_json([]), "no list"),
        (in_json({"data": ["x", "y"]}), "no list"),
        (in_json({"data": [{"index": 0, "embedding": [1.0]}]}), "1 vector for 2 texts"),
        (in_json({"data": [{"index": 0, "embedding": [1.0]}] * 2}), "with the indexes"),
        (in_json({"data": [{"index": "0", "embedding": [1.0]}] * 2}), "with the indexes"),
        (in_json({"data": [{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}]}), "invalid vectors"),
        (in_json({"data": [{"embedding": "abc"}, {"embedding": "abc"}]}), "invalid vectors"),
        (in_json({"data": [{"embedding": []}, {"embedding": []}]}), "shape"),
        (in_json({"data": [{}, {}]}), "shape|invalid vectors"),
        (in_json({"data": [{"embedding": [1.0]}, {"embedding": [float("nan")]}]}), "non-finite"),
        (in_json({"data": [{"embedding": [1.0]}, {"embedding": [0.0]}]}), "zero"),
    ],
)
def test_an_answer_in_another_form_is_refused(
    embedder: OpenAIEmbedder, endpoint: Endpoint, answer: Answer, complaint: str
) -> None:
    """Garbage never becomes a vector."""
    endpoint.script = [answer]

    with pytest.raises(BadModelOutput, match=complaint):
        embedder.embed(["a", "b"])


def test_an_answer_without_index_is_taken_in_order(embedder: OpenAIEmbedder, endpoint: Endpoint) -> None:
    """Some servers leave it out."""
    endpoint.script = [in_json({"data": [{"embedding": [1, 0]}, {"embedding": [0, 2]}]})]

    np.testing.assert_array_equal(embedder.embed(["a", "b"]), np.eye(2, dtype=np.float32))


def test_the_dimension_is_learned_by_the_first_call(embedder: OpenAIEmbedder, endpoint: Endpoint) -> None:
    """From then on another one is an error; the fingerprint stays."""
    before = embedder.card
    assert before.dimension == 0

    embedder.embed(["a"])

    assert embedder.card.dimension == 3
    assert embedder.card.fingerprint == before.fingerprint
    endpoint.script = [in_json({"data": [{"embedding": [1.0, 2.0]}]})]
    with pytest.raises(BadModelOutput, match="dimension 2 instead of 3"):
        embedder.embed(["b"])


def test_known_models_have_their_card_without_network() -> None:
    """Dimension and floor come from the table; asking for fewer dimensions changes the fingerprint."""
    large = OpenAIEmbedder("text-embedding-3-large", api_key=KEY, base_url="")
    short = OpenAIEmbedder("text-embedding-3-large", api_key=KEY, dimensions=256)

    assert (large.card.name, large.card.dimension) == ("openai/text-embedding-3-large", 3072)
    assert short.card.dimension == 256
    assert large.card.fingerprint != short.card.fingerprint
    assert OpenAIEmbedder("text-embedding-ada-002", api_key=KEY).card.floor == 0.72


def test_known_models_are_the_same_behind_any_address_and_others_are_not() -> None:
    """A gateway in between changes nothing; two servers may each call their own model `embed`."""

    def fingerprint(model: str, *, port: int) -> str:
        return OpenAIEmbedder(model, api_key=KEY, base_url=f"http://127.0.0.1:{port}").card.fingerprint

    assert fingerprint("text-embedding-3-small", port=1) == fingerprint("text-embedding-3-small", port=2)
    assert fingerprint("embed", port=1) != fingerprint("embed", port=2)


def test_the_key_is_nowhere_to_be_seen(
    embedder: OpenAIEmbedder, endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    """The representation, logs and errors that quote the key are checked."""
    endpoint.script = [
        Answer(status=500, body=KEY.encode()),
        in_json({"error": {"message": f"Incorrect API key provided: {KEY}"}}, status=401),
    ]

    with caplog.at_level(logging.DEBUG), pytest.raises(ModelUnavailable, match=r"provided: \*\*\*") as caught:
        embedder.embed(["a"])

    assert "key" in caught.value.hint
    assert KEY not in repr(embedder) + repr(vars(embedder)) + str(caught.value) + caplog.text


@pytest.mark.parametrize("key", ["sk-a\nb", "sk-ü", " sk-a"])
def test_a_key_that_no_header_can_hold_is_refused_without_quoting_it(key: str) -> None:
    """The HTTP library's own error would quote it."""
    with pytest.raises(ConfigError) as caught:
        OpenAIEmbedder("m", api_key=key)

    assert key not in str(caught.value)


def test_an_address_without_a_scheme_is_refused() -> None:
    """A usual slip, and the library's message for it is no help."""
    with pytest.raises(ConfigError, match="address"):
        OpenAIEmbedder("m", api_key=KEY, base_url="localhost:8080")


def test_without_httpx_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening fails at once, with the pip command."""
    monkeypatch.setitem(sys.modules, "httpx", None)

    with pytest.raises(MissingExtra) as caught:
        OpenAIEmbedder("m", api_key=KEY)

    assert "weft-search[openai]" in caught.value.hint
