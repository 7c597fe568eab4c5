"""Endpoints whose model or dimension changed, or differs from the settings: messages, and an intact store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from embed_serving import Weft, serve_embedder, settle, vectors, weft, write_texts
from loopback import Answer, Endpoint, in_json

__all__ = ["weft"]

OTHER_LENGTH = "returned vectors of dimension 8 instead of 4"


@pytest.fixture
def endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with serve_embedder() as running:
        settle(tmp_path, running, monkeypatch)
        write_texts(tmp_path / "texts", 3)
        yield running


def test_another_model_under_the_same_name_is_refused(
    tmp_path: Path, endpoint: Endpoint, weft: Weft, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No vector is written, queries use keywords, and `reembed` switches to the model under another name."""
    weft("index", "texts")
    (tmp_path / "texts" / "new.txt").write_text("A text that is new.")
    endpoint.default = lambda request: vectors(request, dimension=8)
    message = weft("index", "texts", expect=1)

    assert OTHER_LENGTH in message and "give the new one another name and run weft reembed" in message
    assert OTHER_LENGTH in weft("query", "Passage 1")["degraded"]
    assert (weft("stats")["documents"], weft("check")) == (3, [])
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path / "another"))  # where no vector of it is known
    assert OTHER_LENGTH in weft("reembed", expect=1)
    weft("reembed", "--embedder", "openai/other")
    assert weft("index", "texts", "--embedder", "openai/other")["added"] == 1
    assert weft("check") == []


def test_the_same_name_at_another_address_is_another_model(
    endpoint: Endpoint, weft: Weft, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message does not name the one as the remedy for the other."""
    weft("index", "texts")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    message = weft("index", "texts", expect=1)

    assert "name another model with that name" in message
    assert "or restore models.base_url and models.dimensions" in message
    assert "or pass --embedder" not in message


def test_an_endpoint_that_does_not_shorten_vectors_is_reported(
    endpoint: Endpoint, weft: Weft, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The setting that asks for it is named."""
    monkeypatch.setenv("WEFT_MODELS_DIMENSIONS", "2")

    assert "remove models.dimensions" in weft("index", "texts", expect=1)


@pytest.mark.parametrize(
    ("answer", "key", "hint"),
    [
        (in_json({}, status=401), "", "set OPENAI_API_KEY; no key was sent"),
        (in_json({}, status=403), "sk-a", "set OPENAI_API_KEY to a valid key"),
        (Answer(status=404), "", "correct the name of the model, or set `models.base_url`"),
        (in_json({"error": {"code": "insufficient_quota"}}, status=429), "", "raise the quota of the account"),
        (in_json({}, status=503, Retry_After="3600"), "", "in a few minutes; finished work is kept"),
        (Answer(body=b"<html>"), "", "usually ends with /v1"),
    ],
)
def test_a_refusal_says_what_to_do(
    endpoint: Endpoint, weft: Weft, monkeypatch: pytest.MonkeyPatch, answer: Answer, key: str, hint: str
) -> None:
    """The namespace is unchanged."""
    monkeypatch.setenv("OPENAI_API_KEY", key)
    endpoint.default = lambda request: answer

    assert hint in weft("index", "texts", expect=1).partition("hint: ")[2]
    assert weft("stats")["documents"] == 0
