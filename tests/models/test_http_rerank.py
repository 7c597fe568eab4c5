"""`/rerank` adapter against a real server on this machine: requests, retries and failures."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from loopback import Answer, Endpoint, in_json, serve

from weft.config import read_settings
from weft.engine.adapters import open_reranker
from weft.engine.engine import Engine
from weft.engine.opening.open_engine import open_engine
from weft.errors import BadModelOutput, ConfigError, ModelUnavailable
from weft.models.rerankers.http import HttpReranker, Kind

KEY = "very-secret-key"
TEXTS = ["about cats", "about dogs", "关于猫"]


def results(*pairs: tuple[object, object], **more: object) -> Answer:
    return in_json({"results": [{"index": index, "relevance_score": score} for index, score in pairs], **more})


def by_length(request: dict[str, object]) -> Answer:
    """Score the longest text best, as Cohere answers: best first."""
    documents = request["documents"]
    assert isinstance(documents, list)
    order = sorted(range(len(documents)), key=lambda index: -len(documents[index]))
    return results(*((index, len(documents[index]) / 100) for index in order), id="x", meta={"api_version": {}})


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve(by_length) as running:
        yield running


class Asked:
    """A reranker whose waits are noted; nothing really sleeps."""

    def __init__(self, endpoint: Endpoint, *, kind: Kind = "cohere", seconds: float = 60.0) -> None:
        self.waits: list[float] = []
        self.reranker = HttpReranker(
            "tiny",
            kind=kind,
            api_key=KEY,
            base_url=endpoint.url,
            seconds=seconds,
            sleep=self.waits.append,
            jitter=lambda: 0.0,
        )

    def rerank(self) -> list[float]:
        return self.reranker.rerank("cats?", TEXTS)


def test_cohere_is_asked_for_all_documents_and_scores_come_back_in_their_order(endpoint: Endpoint) -> None:
    """The key stands in its header only."""
    asked = Asked(endpoint)
    assert asked.rerank() == [0.1, 0.1, 0.03]
    assert endpoint.requests == [{"model": "tiny", "query": "cats?", "documents": TEXTS, "top_n": 3}]
    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(asked.reranker)
    assert asked.reranker.name == "cohere/tiny"


def test_jina_does_not_send_the_documents_back(endpoint: Endpoint) -> None:
    """Its answer has them by default, and more beside the results."""
    endpoint.script = [results((2, 0.9), (0, 0.5), (1, -0.2), model="tiny", usage={"total_tokens": 3})]
    assert Asked(endpoint, kind="jina").rerank() == [0.5, -0.2, 0.9]
    assert endpoint.requests[0]["return_documents"] is False


def test_any_text_can_be_sent(endpoint: Endpoint) -> None:
    """Half a character, an empty one, and none at all."""
    reranker = Asked(endpoint, kind="http").reranker
    assert len(reranker.rerank("\ud800", ["\ud800 a", "", "🙂" * 3])) == 3
    documents = endpoint.requests[0]["documents"]
    assert isinstance(documents, list)
    assert (documents[1], documents[2]) == (" ", "🙂🙂🙂")
    assert reranker.rerank("q", []) == []
    assert len(endpoint.requests) == 1


def test_fewer_results_than_asked_for_are_the_best_ones(endpoint: Endpoint) -> None:
    """A server with a bound of its own leaves out the least relevant: they get the least score."""
    endpoint.script = [results((2, 0.9), (0, 0.4))]
    assert Asked(endpoint).rerank() == [0.4, 0.4, 0.9]


@pytest.mark.parametrize(
    "answer",
    [
        in_json([]),
        in_json({"results": []}),
        in_json({"results": {"index": 0}}),
        in_json({"results": ["a"]}),
        in_json({"data": [{"index": 0, "relevance_score": 1}]}),
        in_json({"results": [{"index": 0, "score": 1}]}),
        results((3, 0.5)),
        results((-1, 0.5)),
        results(("0", 0.5)),
        results((True, 0.5)),
        results((0, 0.5), (0, 0.6)),
        results((0, None)),
        results((0, "0.5")),
        results((0, float("nan"))),
        results((0, float("inf"))),
        Answer(body=b"<html>not found</html>"),
    ],
    ids=lambda answer: answer.body.decode()[:60],
)
def test_an_answer_of_another_form_is_refused(endpoint: Endpoint, answer: Answer) -> None:
    """Wrong schema, indices out of range or twice, scores that are no numbers, no JSON."""
    endpoint.script = [answer]
    with pytest.raises(BadModelOutput):
        Asked(endpoint).rerank()
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("answer", [Answer(status=429, body=b"{}"), Answer(status=500, body=b"{}"), Answer(cut=True)])
def test_what_may_pass_is_tried_again(endpoint: Endpoint, answer: Answer) -> None:
    """A rate limit, a failing server, a cut connection."""
    endpoint.script = [answer]
    asked = Asked(endpoint)
    assert asked.rerank() == [0.1, 0.1, 0.03]
    assert asked.waits == [0.5]


def test_it_is_not_tried_for_ever(endpoint: Endpoint) -> None:
    endpoint.script = [Answer(status=503, body=b"{}")] * 9
    with pytest.raises(ModelUnavailable, match="503"):
        Asked(endpoint).rerank()
    assert len(endpoint.requests) == 3


def test_a_wait_beyond_the_deadline_is_not_begun(endpoint: Endpoint) -> None:
    """The query would not wait for the answer."""
    endpoint.script = [Answer(status=429, body=b"{}", headers={"retry-after": "30"})]
    asked = Asked(endpoint, seconds=20)
    with pytest.raises(ModelUnavailable, match="429"):
        asked.rerank()
    assert (asked.waits, len(endpoint.requests)) == ([], 1)


def test_a_wrong_key_is_said_without_the_key(endpoint: Endpoint) -> None:
    endpoint.script = [in_json({"message": f"invalid api token {KEY}"}, status=401)]
    with pytest.raises(ModelUnavailable, match="401") as caught:
        Asked(endpoint).rerank()
    assert KEY not in str(caught.value)
    assert len(endpoint.requests) == 1


def test_a_silent_server_is_given_up(endpoint: Endpoint) -> None:
    endpoint.script = [Answer(delay=30)] * 3
    with pytest.raises(ModelUnavailable, match="Timeout"):
        Asked(endpoint, seconds=0.05).rerank()


def test_addresses_and_keys_come_from_settings_and_environment() -> None:
    """The vendors' own where none is set; `http/…` needs one; each has its own key."""
    environment = {"COHERE_API_KEY": "c-key", "JINA_API_KEY": "j-key", "RERANK_API_KEY": "r-key"}
    opened = {}
    for name, url in (("cohere/a", ""), ("jina/b", ""), ("http/c", "http://127.0.0.1:9/v1/")):
        settings = read_settings({"rerank.model": name, "rerank.base_url": url}, environment=environment)
        assert not any(key in repr(settings) for key in environment.values())
        opened[name] = repr(open_reranker(settings))
    assert opened == {
        "cohere/a": "HttpReranker(cohere/a, base_url='https://api.cohere.com/v2')",
        "jina/b": "HttpReranker(jina/b, base_url='https://api.jina.ai/v1')",
        "http/c": "HttpReranker(http/c, base_url='http://127.0.0.1:9/v1')",
    }
    with pytest.raises(ConfigError, match="is not set"):
        open_reranker(read_settings({"rerank.model": "http/c"}, environment={}))


# ── a question over it ──────────────────────────────────────────────────────────────────────────


def open_asking(endpoint: Endpoint, **settings: object) -> Engine:
    """Open an engine in memory that asks the endpoint for the order, with three texts in it."""
    given = {"rerank_base_url": endpoint.url, "rerank_weight": 0.0, "rerank_deadline_ms": 60_000, **settings}
    engine = open_engine(":memory:", embedder="none", reranker="http/tiny", **given)
    for length in (1, 9, 5):
        engine.add_text("cats sleep " + "long " * length, source=f"t{length}")
    return engine


def found(engine: Engine) -> list[str]:
    return [piece.document.source for piece in engine.query("cats sleep").evidence]


def test_a_question_is_answered_in_the_order_of_the_endpoint(endpoint: Endpoint) -> None:
    with open_asking(endpoint) as engine:
        assert found(engine) == ["text:t9", "text:t5", "text:t1"]
        assert engine.query("cats sleep").rerank is not None


@pytest.mark.parametrize(
    "script, why",
    [
        ([Answer(status=401, body=b"{}")], "401"),
        ([Answer(status=429, body=b"{}", headers={"retry-after": "50"})], "429"),
        ([Answer(status=400, body=b"{}")], "400"),
        ([results((7, 0.1))], "returned the invalid index"),
        ([results((0, float("nan")))], "nan"),
        ([Answer(delay=30)], "deadline of 200 ms"),
    ],
    ids=["key", "rate limit", "refused", "index", "nan", "late"],
)
def test_whatever_fails_the_question_is_answered(endpoint: Endpoint, script: list[Answer], why: str) -> None:
    """In the order of the search, with a warning that says why."""
    with open_asking(endpoint, rerank_deadline_ms=200 if "deadline" in why else 30_000) as engine:
        plain = [piece.document.source for piece in engine.query("cats sleep", rerank=False).evidence]
        assert not endpoint.requests
        endpoint.script = script
        result = engine.query("cats sleep")

        assert [piece.document.source for piece in result.evidence] == plain
        assert result.rerank is not None
        assert why in result.rerank.skipped
        assert "not re-ranked" in result.notes[-1]
        assert result.status == engine.query("cats sleep", rerank=False).status
