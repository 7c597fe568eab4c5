"""Cost of a language model: estimated, confirmed, counted, and never paid twice."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from llm_corpus import read_unevenly, write_corpus
from llm_serving import NOTHING, asked, completion, entity, passage, serve_model
from loopback import Answer, Endpoint

from weft.cli.errors import run_reporting
from weft.cli.main import weft as command
from weft.config import read_settings
from weft.models.local.catalog import GRANITE
from weft.models.local.embedder import LocalTokenCounter

Weft = Callable[..., Any]
PRICE = "tiny=100/400"


def settle(folder: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the environment that of a user who has a model at an endpoint, and a price for it."""
    monkeypatch.chdir(folder)
    values = {"NO_PROXY": "127.0.0.1", "WEFT_EMBEDDER": "none", "WEFT_CACHE_DIR": str(folder / "cache")}
    values |= {"WEFT_LLM_BASE_URL": endpoint.url, "WEFT_LLM_PRICES": PRICE}
    for name, value in values.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def weft(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Weft:
    """Run `weft ARGUMENTS --json` in this process and return what it prints, or its message."""

    def run(*arguments: str, expect: int = 0) -> Any:
        monkeypatch.setattr(sys, "argv", ["weft", *arguments, "--json"])
        code = run_reporting(command)
        printed = capsys.readouterr()
        assert code == expect, printed.err
        return json.loads(printed.out) if printed.out else printed.err

    return run


def write_texts(folder: Path, count: int) -> Path:
    """Write texts of different lengths."""
    chance = random.Random(5)
    folder.mkdir()
    for number in range(count):
        words = chance.choices(["the", "service", "was", "moved", "to", "another", "place,", "because"], k=40)
        (folder / f"{number:03}.txt").write_text(f"Text {number}: {' '.join(words[: chance.randint(8, 40)])}.")
    return folder


def pieces(text: str) -> int:
    """Count tokens in another way than Weft."""
    return len(re.findall(r"\w{1,5}|[^\w\s]", text))


def count_like_a_model(request: dict[str, Any]) -> Answer:
    """Reply at greater length to a longer passage."""
    text = passage(request)
    reply = {**NOTHING, "entities": [entity("Zephyr", "thing", text[: len(text) // 2])]}
    question = "".join(message["content"] for message in request["messages"])
    return completion(reply, tokens=(pieces(question), pieces(json.dumps(reply))))


def test_the_estimate_is_near_the_receipt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weft: Weft) -> None:
    """After a few replies, tokens and cost of 200 documents are estimated within 10 %."""
    few, many = write_texts(tmp_path / "few", 30), write_texts(tmp_path / "many", 230)
    for path in few.iterdir():
        (many / path.name).unlink()
    with serve_model() as endpoint:
        endpoint.default = count_like_a_model
        settle(tmp_path, endpoint, monkeypatch)
        weft("index", "few", "--model", "openai/tiny", "--yes")
        before = len(endpoint.requests)
        guess = weft("estimate", "many", "--model", "openai/tiny")
        assert len(endpoint.requests) == before
        receipt = weft("index", "many", "--model", "openai/tiny", "--yes")["llm"]
        assert weft("estimate", "many", "--model", "openai/tiny")["calls"] == 0

    assert guess["documents"] == guess["calls"] == receipt["calls"] == 200
    for name in ("tokens_in", "tokens_out", "cost"):
        assert guess[name] == pytest.approx(receipt[name], rel=0.1)


def counting_server(count: Callable[[str], int]) -> Callable[[dict[str, Any]], Answer]:
    """
    Reply unevenly and count tokens with the given function.

    One of thirty replies is prose at first, which is asked again; one that is longer than it may be is cut off.
    """
    seen: set[str] = set()

    def answer(request: dict[str, Any]) -> Answer:
        text = passage(request)
        reply: object = read_unevenly(text)
        if random.Random(f"prose {text}").random() < 1 / 30 and text not in seen:
            reply = "There is little to say about this passage."
        seen.add(text)
        question = "\n".join(message["content"] for message in request["messages"])
        written = reply if isinstance(reply, str) else json.dumps(reply)
        size, most = count(written), request["max_tokens"]
        if size > most:
            return completion(written[: len(written) * most // size], finish="length", tokens=(count(question), most))
        return completion(written, tokens=(count(question), size))

    return answer


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3, 4))])
def test_a_sample_makes_the_estimate_near_the_receipt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weft: Weft, seed: int
) -> None:
    """
    200 documents, uneven replies of a model that was never asked: within 10 %, of what is left and of the whole.

    What the sample cost is counted, and is not paid for again.
    """
    write_corpus(tmp_path / "notes", 200, seed=seed)
    asking = ("--model", "openai/tiny", "--yes")
    with serve_model() as endpoint:
        endpoint.default = counting_server(pieces)
        settle(tmp_path, endpoint, monkeypatch)
        guess = weft("estimate", "notes", "--sample", "200", *asking)
        receipt = weft("index", "notes", *asking)["llm"]
        spent = weft("stats")["llm"]

    chunks = guess["chunks"]
    assert 60 <= guess["basis"] <= chunks / 2
    assert guess["in_all"]["calls"] == guess["basis"] + guess["calls"] == chunks
    assert len({passage(request) for request in endpoint.requests}) == chunks
    assert len(endpoint.requests) == spent["calls"] == guess["sample"]["calls"] + receipt["calls"]
    assert spent["failures"]["asked again"] == spent["calls"] - chunks > 0
    for name in ("tokens_in", "tokens_out", "cost"):
        assert guess[name] == pytest.approx(receipt[name], rel=0.1)
        assert guess["in_all"][name] == pytest.approx(spent[name], rel=0.1)
    assert guess["tokens_out"] == pytest.approx(receipt["tokens_out"], rel=guess["margin"])


def test_a_sample_is_as_large_as_it_must_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weft: Weft) -> None:
    """Uniform replies need a smaller sample. A second estimate sends nothing and gives the same result."""
    write_corpus(tmp_path / "notes", 150, seed=9)
    sample = ("estimate", "notes", "--sample", "100", "--model", "openai/tiny", "--yes")
    with serve_model(lambda text: NOTHING) as even:
        settle(tmp_path, even, monkeypatch)
        sure = weft(*sample)
    with serve_model() as uneven:
        uneven.default = counting_server(pieces)
        settle(tmp_path, uneven, monkeypatch)
        monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path / "other"))
        unsure, again = weft(*sample), weft(*sample)

    assert (len(even.requests), sure["basis"], sure["margin"]) == (60, 60, 0.0)
    assert 60 < unsure["basis"] <= unsure["chunks"] / 2
    assert len(uneven.requests) == unsure["sample"]["calls"]
    assert again == {**unsure, "sample": again["sample"]}
    assert again["sample"]["calls"] == 0


def test_a_sample_ends_at_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weft: Weft) -> None:
    """The estimate then uses the cached replies."""
    write_texts(tmp_path / "texts", 90)
    with serve_model() as endpoint:
        settle(tmp_path, endpoint, monkeypatch)
        monkeypatch.setenv("WEFT_LLM_MAX_TOKENS", "50_000")
        monkeypatch.setenv("WEFT_LLM_PARALLEL", "1")
        guess = weft("estimate", "texts", "--sample", "80", "--model", "openai/tiny", "--yes")

    assert 5 <= guess["basis"] == len(endpoint.requests) < 60
    assert guess["sample"]["stopped"] == "50,000 tokens"
    assert guess["calls"] == 90 - guess["basis"]


@pytest.mark.model
def test_tokens_in_are_known_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weft: Weft, real_model: None
) -> None:
    """Within 10 % of what a real vocabulary counts, which is not among those with the fewest tokens."""
    counter = LocalTokenCounter(GRANITE, cache_dir=read_settings().cache_dir)
    write_corpus(tmp_path / "notes", 80, seed=1)
    with serve_model() as endpoint:
        endpoint.default = counting_server(counter.count)
        settle(tmp_path, endpoint, monkeypatch)
        guess = weft("estimate", "notes", "--model", "openai/tiny")
        assert endpoint.requests == []
        receipt = weft("index", "notes", "--model", "openai/tiny", "--yes")["llm"]

    assert (guess["basis"], guess["margin"], guess["in_all"]["margin"]) == (0, None, None)
    assert guess["tokens_in"] == pytest.approx(receipt["tokens_in"], rel=0.1)


def test_a_sample_wants_a_yes_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weft: Weft) -> None:
    """A sample above `llm.ask_above` needs --yes; a sample larger than the corpus sends all chunks."""
    write_texts(tmp_path / "texts", 9)
    with serve_model() as endpoint:
        settle(tmp_path, endpoint, monkeypatch)
        refusal = weft("estimate", "texts", "--model", "openai/tiny", "--sample", "8", expect=2)
        assert "8 chunks" in refusal
        assert endpoint.requests == []
        done = weft("estimate", "texts", "--model", "openai/tiny", "--sample", "50", "--yes")
        assert (done["calls"], done["cached"], done["sample"]["calls"]) == (0, 9, 9)
        assert weft("estimate", "texts", "--model", "openai/tiny", "--sample", "50")["sample"]["calls"] == 0
    assert len(endpoint.requests) == 9


def test_what_costs_more_than_may_be_spent_unasked_wants_a_yes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weft: Weft
) -> None:
    write_texts(tmp_path / "texts", 24)
    with serve_model() as endpoint:
        settle(tmp_path, endpoint, monkeypatch)
        refusal = weft("index", "texts", "--model", "openai/tiny", expect=2)
        assert "24 chunks" in refusal
        assert "--yes" in refusal
        weft("index", "texts", "--model", "openai/tiny", "--dry-run")
        assert endpoint.requests == []
        bounded = weft("index", "texts", "--model", "openai/tiny", "--max-cost", "0.99")
        assert bounded["llm"]["cost"] <= 0.99
        done = weft("index", "texts", "--model", "openai/tiny", "--yes")
        assert bounded["added"] + done["added"] == 24
    assert len(endpoint.requests) == 24


def test_a_price_that_is_not_known_wants_a_yes_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weft: Weft) -> None:
    write_texts(tmp_path / "texts", 1)
    with serve_model() as endpoint:
        settle(tmp_path, endpoint, monkeypatch)
        monkeypatch.setenv("WEFT_LLM_BASE_URL", "https://models.example.org/v1")
        refusal = weft("index", "texts", "--model", "openai/strange", expect=2)
        assert "unknown price" in refusal
        assert weft("estimate", "texts", "--model", "openai/strange")["cost"] is None


def test_receipts_are_kept_and_summed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weft: Weft) -> None:
    """Receipts of failed runs are included, receipts of other namespaces are not."""
    write_texts(tmp_path / "texts", 3)
    monkeypatch.setenv("WEFT_LLM_ATTEMPTS", "1")
    monkeypatch.setenv("WEFT_LLM_PARALLEL", "1")
    with serve_model() as endpoint:
        settle(tmp_path, endpoint, monkeypatch)
        endpoint.script = [completion(NOTHING), Answer(status=500, body=b"down")]
        weft("index", "texts", "--model", "openai/tiny", "--yes", expect=1)
        weft("index", "texts", "--model", "openai/tiny", "--yes")
        weft("index", "texts", "--model", "openai/tiny", "--yes", "-N", "other")
        spent, other = weft("stats")["llm"], weft("stats", "-N", "other")["llm"]

    assert (spent["runs"], spent["calls"], spent["cached"], spent["failures"]) == (2, 3, 1, {"server": 1})
    assert (spent["tokens_in"], spent["tokens_out"], spent["cost"]) == (3000, 300, 0.42)
    assert (other["runs"], other["calls"], other["cached"], other["cached_share"]) == (1, 0, 3, 1.0)


def wait_for_requests(endpoint: Endpoint) -> None:
    """Wait until the log holds what a process had sent when it ended: its connections are accepted, and closed."""
    address = urlsplit(endpoint.url)
    with socket.create_connection((address.hostname, address.port)) as last:  # accepted after all earlier ones
        while last.getsockname() not in endpoint.clients:
            time.sleep(0.005)
    while endpoint.clients:
        time.sleep(0.005)


@pytest.mark.slow
def test_killed_runs_pay_for_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weft: Weft) -> None:
    """Killed at several moments: only chunks under way are asked about again, and only their cost is unknown."""
    parallel, count = 3, 24
    write_texts(tmp_path / "texts", count)
    monkeypatch.setenv("WEFT_LLM_PARALLEL", str(parallel))
    with serve_model() as endpoint:
        settle(tmp_path, endpoint, monkeypatch)
        endpoint.default = lambda request: completion(NOTHING, delay=0.1)
        under_way = []
        for moment in (1, 9, 20):
            killed = subprocess.Popen(
                [sys.executable, "-m", "weft", "index", "texts", "--model", "openai/tiny", "--yes"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=dict(os.environ),
            )
            while len(endpoint.requests) < moment and killed.poll() is None:
                time.sleep(0.005)
            killed.send_signal(signal.SIGKILL)
            assert killed.wait() == -signal.SIGKILL
            wait_for_requests(endpoint)
            spent = weft("stats").get("llm", {"calls": 0})
            under_way.append(len(endpoint.requests) - spent["calls"])
        receipt = weft("index", "texts", "--model", "openai/tiny", "--yes")
        spent = weft("stats")["llm"]

    requests = asked(endpoint)
    lost = len(requests) - spent["calls"]
    assert all(later - earlier <= parallel for earlier, later in zip([0, *under_way], under_way, strict=False))
    assert lost == under_way[-1] <= parallel * len(under_way)
    assert (receipt["added"] + receipt["unchanged"], len(set(requests))) == (count, count)
    assert len(requests) - count <= parallel * len(under_way)
    assert spent["tokens_in"] == 1000 * spent["calls"]
    assert weft("check") == []
