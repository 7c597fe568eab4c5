"""Chat adapter against a real server on this machine: requests, retries and failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

import pytest
from loopback import Answer, Endpoint, in_json, serve

from weft.errors import BadModelOutput, ModelUnavailable
from weft.models.llm.chat import ChatLimits, HttpChat

KEY = "sk-very-secret-key"
SCHEMA = {"type": "object", "properties": {"entities": {"type": "array"}}}
REPLY = '{"entities": []}'


def completion(text: object = REPLY, *, finish: str = "stop", **more: object) -> Answer:
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 11, "completion_tokens": 7}
    return in_json({"choices": [{"message": message, "finish_reason": finish}], "usage": usage, **more})


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serve(lambda request: completion()) as running:
        yield running


class Asked:
    """A chat whose waits and failures are noted; nothing really sleeps."""

    def __init__(self, endpoint: Endpoint, *, wire: str = "openai", attempts: int = 4, seconds: float = 60) -> None:
        self.waits: list[float] = []
        self.failures: Counter[str] = Counter()
        self.chat = HttpChat(
            "tiny",
            wire="anthropic" if wire == "anthropic" else "openai",
            api_key=KEY,
            base_url=endpoint.url,
            limits=ChatLimits(attempts=attempts, timeout_seconds=seconds),
            on_failure=lambda kind: self.failures.update([kind]),
            sleep=self.waits.append,
            jitter=lambda: 0.0,
        )

    def ask(self) -> str:
        return self.chat.ask(system="Find names.", user="Ada", schema=SCHEMA).text


def test_openai_is_asked_for_the_form_and_counts_tokens(endpoint: Endpoint) -> None:
    """The schema goes along, the key stands in its header only, and tokens are the server's."""
    reply = Asked(endpoint).chat.ask(system="Find names.", user="Ada", schema=SCHEMA)

    assert (reply.text, reply.tokens_in, reply.tokens_out, reply.is_cut) == (REPLY, 11, 7, False)
    request = endpoint.requests[0]
    assert request["messages"] == [{"role": "system", "content": "Find names."}, {"role": "user", "content": "Ada"}]
    form = {"name": "extraction", "strict": True, "schema": SCHEMA}
    assert request["response_format"] == {"type": "json_schema", "json_schema": form}
    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(Asked(endpoint).chat)


def test_anthropic_is_made_to_call_a_tool_of_the_form(endpoint: Endpoint) -> None:
    usage = {"input_tokens": 5, "output_tokens": 3}
    block = {"type": "tool_use", "name": "record", "input": {"entities": []}}
    endpoint.script = [in_json({"content": [block], "stop_reason": "max_tokens", "usage": usage})]
    reply = Asked(endpoint, wire="anthropic").chat.ask(system="Find names.", user="Ada", schema=SCHEMA)

    assert (reply.text, reply.tokens_in, reply.tokens_out, reply.is_cut) == (REPLY, 5, 3, True)
    request, headers = endpoint.requests[0], endpoint.headers[0]
    assert request["tool_choice"] == {"type": "tool", "name": "record"}
    assert (headers["x-api-key"], headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert "authorization" not in headers


def test_what_a_server_does_not_take_is_left_out_from_then_on(endpoint: Endpoint) -> None:
    """A rejected schema is omitted, and a rejected limit gets its newer name."""
    asked = Asked(endpoint)
    endpoint.script = [
        in_json({"error": {"message": "response_format is not supported"}}, status=400),
        in_json({"error": {"message": "'max_tokens' is not supported, use max_completion_tokens"}}, status=400),
    ]
    assert asked.ask() == asked.ask() == REPLY
    last = endpoint.requests[-1]
    assert len(endpoint.requests) == 4
    assert "response_format" not in last
    assert "max_tokens" not in last
    assert last["max_completion_tokens"] == 2000


def in_seconds(seconds: float) -> str:
    return (datetime.now(timezone.utc) + timedelta(seconds=seconds)).isoformat()


@pytest.mark.parametrize(
    "headers, wait",
    [
        ({}, 0.5),
        ({"retry-after": "7"}, 7),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m2.5s"}, 62.5),
        ({"x-ratelimit-remaining-tokens": "9", "x-ratelimit-reset-tokens": "40s"}, 0.5),
        ({"anthropic-ratelimit-input-tokens-remaining": "0", "anthropic-ratelimit-input-tokens-reset": "30"}, 30),
    ],
)
def test_a_rate_limit_is_waited_for_as_the_headers_say(
    endpoint: Endpoint, headers: dict[str, str], wait: float
) -> None:
    """Without a header the default wait applies; a wait that is too long ends the attempts."""
    endpoint.script = [Answer(status=429, body=b"{}", headers=headers)]
    asked = Asked(endpoint)
    if wait > 60:
        with pytest.raises(ModelUnavailable, match="429"):
            asked.ask()
        assert asked.waits == []
    else:
        assert asked.ask() == REPLY
        assert asked.waits == [wait]
    assert asked.failures == {"rate limit": 1}


def test_a_limit_that_is_lifted_at_a_time_is_waited_for(endpoint: Endpoint) -> None:
    headers = {"anthropic-ratelimit-requests-remaining": "0", "anthropic-ratelimit-requests-reset": in_seconds(20)}
    endpoint.script = [Answer(status=429, body=b"{}", headers=headers)]
    asked = Asked(endpoint)
    asked.ask()
    assert 5 < asked.waits[0] <= 20


@pytest.mark.parametrize(
    "answer, kind",
    [
        (Answer(status=500, body=b"oops"), "server"),
        (Answer(status=529, body=b"{}"), "server"),
        (Answer(body=b'{"choices": [', cut=True), "connection"),
        (Answer(body=b"{}", delay=30), "timeout"),
    ],
)
def test_what_may_pass_is_tried_again_and_counted(endpoint: Endpoint, answer: Answer, kind: str) -> None:
    endpoint.script = [answer, answer]
    asked = Asked(endpoint, seconds=2 if kind == "timeout" else 60)
    assert asked.ask() == REPLY
    assert asked.failures == {kind: 2}
    assert asked.waits == [0.5, 1.0]


def test_attempts_are_bounded(endpoint: Endpoint) -> None:
    endpoint.script = [Answer(status=500, body=b"oops")] * 9
    asked = Asked(endpoint, attempts=3)
    with pytest.raises(ModelUnavailable, match="500"):
        asked.ask()
    assert len(endpoint.requests) == 3


def test_a_wrong_key_is_not_retried_and_not_shown(endpoint: Endpoint) -> None:
    endpoint.script = [in_json({"error": {"message": f"no such key {KEY}"}}, status=401)]
    asked = Asked(endpoint)
    with pytest.raises(ModelUnavailable, match="401") as raised:
        asked.ask()
    assert KEY not in str(raised.value)
    assert asked.waits == []


@pytest.mark.parametrize("body", [{}, [], {"choices": []}, {"choices": [{"message": 7}]}, {"content": "text"}])
@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_an_answer_without_text_is_bad_output(endpoint: Endpoint, body: object, wire: str) -> None:
    endpoint.script = [in_json(body)]
    with pytest.raises(BadModelOutput):
        Asked(endpoint, wire=wire).ask()


@pytest.mark.parametrize(
    "wire, answer",
    [
        ("openai", completion(None)),
        ("anthropic", in_json({"content": [], "usage": {"input_tokens": 11, "output_tokens": 7}})),
    ],
)
def test_a_model_that_says_nothing_was_paid_for(endpoint: Endpoint, wire: str, answer: Answer) -> None:
    """It is a reply without text, with its tokens."""
    endpoint.script = [answer]
    reply = Asked(endpoint, wire=wire).chat.ask(system="Find names.", user="Ada", schema=SCHEMA)
    assert (reply.text, reply.tokens_in, reply.tokens_out) == ("", 11, 7)
