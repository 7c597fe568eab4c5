"""Written answers: the request, the stream of both protocols, the limits, and what a reply can do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from llm_spending import spent
from loopback import Answer, Endpoint, in_json, serve

from weft.engine.engine import Engine
from weft.engine.opening.open_engine import open_engine
from weft.errors import ConfigError
from weft.search.answer.answer import AnswerListener

MARKER = re.compile(r"^=====passage (\d+) ([0-9a-f]{16})=====$", re.MULTILINE)
QUESTION = "when does the key rotation run?"
STATED = "The key rotation runs at 02:00 every night [1].\n"


def events(*pieces: str, tokens: tuple[int, int] = (900, 40)) -> Answer:
    """Return a stream as OpenAI's servers send it."""
    chunks: list[object] = [{"choices": [{"delta": {"content": piece}}]} for piece in pieces]
    chunks += [{"choices": [{"delta": {}, "finish_reason": "stop"}]}]
    chunks += [{"choices": [], "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}}]
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
    return Answer(body=body.encode(), headers={"Content-Type": "text/event-stream"})


def anthropic_events(*pieces: str) -> Answer:
    """Return a stream as Anthropic sends it."""
    chunks: list[dict[str, object]] = [{"type": "message_start", "message": {"usage": {"input_tokens": 900}}}]
    chunks += [{"type": "content_block_delta", "delta": {"type": "text_delta", "text": piece}} for piece in pieces]
    chunks += [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 40}}]
    body = "".join(f"event: {chunk['type']}\ndata: {json.dumps(chunk)}\n\n" for chunk in chunks)
    return Answer(body=body.encode(), headers={"Content-Type": "text/event-stream"})


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", "k-secret")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k-secret")
    with serve(lambda request: events(STATED)) as running:
        yield running


def open_notes(folder: Path, endpoint: Endpoint, **settings: object) -> Engine:
    """Open an engine with two notes whose language model is the endpoint."""
    options = {"llm_model": "openai/tiny", "llm_base_url": endpoint.url} | settings
    engine = open_engine(folder / "weft.db", embedder="none", **options)
    engine.add_text("# Vault\n\nThe key rotation runs at 02:00 every night. It takes ten minutes.", source="vault.md")
    engine.add_text("# Lunch\n\nThe canteen opens at noon. Bring your own cup.", source="lunch.md")
    return engine


def test_each_sentence_has_its_citations_and_arrives_when_it_is_complete(tmp_path, endpoint):
    endpoint.script = [events("The key rot", "ation runs at 02:00", " every night [1].\nIt takes", " ten minutes [1]")]
    arrived: list[str] = []
    to = AnswerListener(
        on_quote=lambda answer: arrived.append(answer.quote.text if answer.quote else ""),
        on_sentence=lambda sentence: arrived.append(sentence.text),
    )
    with open_notes(tmp_path, endpoint) as engine:
        answer = engine.ask(QUESTION, to=to)
        usage = spent(engine.store)[1]

    assert [sentence.text for sentence in answer.sentences] == [
        "The key rotation runs at 02:00 every night.",
        "It takes ten minutes",
    ]
    assert all(sentence.is_supported for sentence in answer.sentences)
    assert {sentence.citations for sentence in answer.sentences} == {(answer.result.evidence[0].citation,)}
    assert arrived == ["The key rotation runs at 02:00 every night.", *(s.text for s in answer.sentences)]
    assert (usage.calls, usage.tokens_in, usage.tokens_out) == (1, 900, 40)
    request = endpoint.requests[0]
    assert request["stream"] is True and "response_format" not in request
    found = MARKER.findall(request["messages"][1]["content"])
    assert len({mark for _, mark in found}) == 1 and "02:00 every night" in request["messages"][1]["content"]
    assert endpoint.headers[0]["authorization"] == "Bearer k-secret"


@pytest.mark.parametrize(
    "reply, expected",
    [
        ("The key rotation runs at 03:00 every night [1].", [False]),
        ("The key rotation runs at 02:00 every night.", [False]),
        ("Rotations were invented by a Norwegian engineer [1].", [False]),
        ("The key rotation runs at 02:00 every night [9].", [False]),
        ("The rotation runs at 02:00 [1, 7].", [True]),
        ("- The rotation runs at 02:00 [1]\n\n* It takes ten minutes [1]", [True, True]),
        ("\n".join(["It takes ten minutes [1]."] * 9), [True] * 5),
        ("NO ANSWER", []),
        ("no answer.", []),
        ("", []),
        ("[1] [2]\n---", []),
    ],
    ids=["number", "uncited", "foreign", "unknown", "list", "marks", "many", "none", "lower", "empty", "wordless"],
)
def test_a_sentence_that_its_passages_do_not_support_is_marked(tmp_path, endpoint, reply, expected):
    endpoint.script = [events(reply)]
    with open_notes(tmp_path, endpoint) as engine:
        answer = engine.ask(QUESTION)
    assert [sentence.is_supported for sentence in answer.sentences] == expected
    assert bool(answer.note) == (not expected)
    assert answer.quote is not None, "the quote needs no model"


def test_no_match_stays_no_match_and_nothing_is_sent(tmp_path, endpoint):
    with open_notes(tmp_path, endpoint) as engine:
        answer = engine.ask("wie backt man Sauerteigbrot?")
    assert (answer.result.status, answer.quote, answer.sentences, endpoint.requests) == ("no_match", None, (), [])


def test_a_failing_model_leaves_the_quote_and_says_why(tmp_path, endpoint):
    """A refusal, a broken connection, an error in the stream, no stream at all; never the key."""
    broken = events(STATED, "More")
    failure = Answer(body=b'data: {"error": {"message": "overloaded"}}\n\n')
    endpoint.script = [
        in_json({"error": {"message": "bad key k-secret"}}, status=401),
        Answer(body=broken.body.partition(b"data: [DONE]")[0], headers=broken.headers, cut=True),
        failure,
        Answer(body=b"<html>login</html>"),
    ]
    with open_notes(tmp_path, endpoint) as engine:
        answers = [engine.ask(QUESTION) for _ in range(4)]
    assert all(answer.quote is not None for answer in answers)
    assert [len(answer.sentences) for answer in answers] == [0, 1, 0, 0]
    for answer, word in zip(answers, ("401", "cannot reach", "overloaded", "no events"), strict=True):
        assert word in answer.note and "k-secret" not in answer.note


def test_fields_that_a_server_rejects_are_omitted_and_a_whole_reply_is_read(tmp_path, endpoint):
    whole = {"choices": [{"message": {"content": STATED}}], "usage": {"prompt_tokens": 5, "completion_tokens": 6}}
    endpoint.script = [in_json({"error": {"message": "unknown field stream_options"}}, status=400), in_json(whole)]
    with open_notes(tmp_path, endpoint) as engine:
        answer = engine.ask(QUESTION)
    assert [sentence.is_supported for sentence in answer.sentences] == [True]
    assert ["stream_options" in request for request in endpoint.requests] == [True, False]


def test_anthropic_streams_too(tmp_path, endpoint):
    endpoint.script = [anthropic_events("The key rotation runs", " at 02:00 every night [1].")]
    with open_notes(tmp_path, endpoint, llm_model="anthropic/tiny") as engine:
        answer = engine.ask(QUESTION)
        usage = spent(engine.store)[1]
    assert [sentence.text for sentence in answer.sentences] == ["The key rotation runs at 02:00 every night."]
    assert (usage.tokens_in, usage.tokens_out) == (900, 40)
    assert "tools" not in endpoint.requests[0]


def test_the_model_writes_only_if_wanted_and_within_the_limits(tmp_path, endpoint):
    with open_notes(tmp_path, endpoint, llm_max_tokens=10) as engine:
        limited, off = engine.ask(QUESTION), engine.ask(QUESTION, write=False)
    assert "reached the limit of 10 tokens" in limited.note
    assert (off.note, off.model, endpoint.requests) == ("", "", [])
    with open_notes(tmp_path, endpoint, llm_model="") as engine, pytest.raises(ConfigError, match=r"llm\.model"):
        engine.ask(QUESTION, write=True)


def test_the_cost_of_an_abandoned_answer_is_counted(tmp_path, endpoint):
    def leave(sentence: object) -> None:
        raise KeyboardInterrupt

    endpoint.script = [events(STATED, "More follows [1].\n" * 50)]
    with open_notes(tmp_path, endpoint) as engine:
        with pytest.raises(KeyboardInterrupt):
            engine.ask(QUESTION, to=AnswerListener(on_sentence=leave))
        usage = spent(engine.store)[1]
    assert usage.calls == 1 and usage.tokens_in > 100 and usage.guessed == 1
