"""What asking a language model costs: said beforehand, consented to, counted, and never paid twice."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from llm_serving import NOTHING, asked, completion, entity, passage, read_at_length, serve_model
from loopback import Answer, Endpoint

from weft.cli.failure import run_reporting
from weft.cli.main import weft as command
from weft.config import read_settings
from weft.models.catalog import GRANITE
from weft.models.local import LocalTokenCounter

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
    """Count tokens as no part of ours does."""
    return len(re.findall(r"\w{1,5}|[^\w\s]", text))


def count_like_a_model(request: dict[str, Any]) -> Answer:
    """Reply at greater length to a longer passage."""
    text = passage(request)
    reply = {**NOTHING, "entities": [entity("Zephyr", "thing", text[: len(text) // 2])]}
    question = "".join(message["content"] for message in request["messages"])
    return completion(reply, tokens=(pieces(question), pieces(json.dumps(reply))))


def test_the_estimate_is_near_the_receipt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weft: Weft) -> None:
    """Once the model has replied a few times; 200 documents, within 10 % in tokens and money."""
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


def write_notes(folder: Path, count: int) -> Path:
    """Write texts of our own documentation, from one paragraph of prose to five."""
    chance = random.Random(11)
    docs = sorted((Path(__file__).parents[2] / "docs").rglob("*.md"))
    parts = (part for path in docs for part in path.read_text("utf-8").split("\n\n"))
    paragraphs = [part for part in parts if len(part) > 120 and part[0].isupper()]
    folder.mkdir()
    for number in range(count):
        (folder / f"{number:03}.txt").write_text("\n\n".join(chance.sample(paragraphs, chance.randint(1, 5))))
    return folder


@pytest.mark.model
def test_a_sample_makes_the_estimate_near_the_receipt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weft: Weft, real_model: None
) -> None:
    """
    Of a model that was never asked: 200 documents, a real tokenizer, replies of any length.

    Tokens in are not far off without: this vocabulary is smaller than the one the guess is fitted to. What the sample
    cost is counted, and is not paid for again.
    """
    counter = LocalTokenCounter(GRANITE, cache_dir=read_settings().cache_dir)

    def answer(request: dict[str, Any]) -> Answer:
        reply = read_at_length(passage(request))
        question = "\n".join(message["content"] for message in request["messages"])
        return completion(reply, tokens=(counter.count(question) + 7, counter.count(json.dumps(reply))))

    write_notes(tmp_path / "notes", 200)
    asking = ("--model", "openai/tiny", "--yes")
    with serve_model() as endpoint:
        endpoint.default = answer
        settle(tmp_path, endpoint, monkeypatch)
        cold = weft("estimate", "notes", "--model", "openai/tiny")
        assert endpoint.requests == []
        guess = weft("estimate", "notes", "--sample", "60", *asking)
        assert len(endpoint.requests) == guess["sample"]["calls"] == 60
        receipt = weft("index", "notes", *asking)["llm"]
        spent = weft("stats")["llm"]

    chunks = cold["calls"]
    assert (cold["basis"], cold["margin"], guess["basis"]) == (0, None, 60)
    assert guess["calls"] == receipt["calls"] == chunks - 60
    assert len(endpoint.requests) == spent["calls"] == chunks
    assert cold["tokens_in"] == pytest.approx(spent["tokens_in"], rel=0.15)
    for name in ("tokens_in", "tokens_out", "cost"):
        assert guess[name] == pytest.approx(receipt[name], rel=0.1)
    assert guess["tokens_out"] == pytest.approx(receipt["tokens_out"], rel=guess["margin"])
    assert 0 < guess["margin"] < 0.3


def test_a_sample_wants_a_yes_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weft: Weft) -> None:
    """Where it would cost more than may be spent unasked; one that is larger than what there is asks about all."""
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
    """Also that of a run that failed; those of another namespace are its own."""
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
            time.sleep(0.3)  # what was sent by then is in the log
            spent = weft("stats").get("llm", {"calls": 0})
            under_way.append(len(endpoint.requests) - spent["calls"])
        receipt = weft("index", "texts", "--model", "openai/tiny", "--yes")
        spent = weft("stats")["llm"]

    requests = asked(endpoint)
    lost = len(requests) - spent["calls"]
    assert all(later - earlier <= parallel for earlier, later in zip([0, *under_way], under_way, strict=False))
    assert lost == under_way[-1] <= parallel * len(under_way)
    assert (receipt["added"], len(set(requests))) == (count, count)
    assert len(requests) - count <= parallel * len(under_way)
    assert spent["tokens_in"] == 1000 * spent["calls"]
    assert weft("check") == []
