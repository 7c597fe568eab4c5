"""
The adapters for fastembed and sentence-transformers.

Their real weights need a model hub, so a tiny module that behaves like the library stands in for it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from weft.errors import BadModelOutput, MissingExtra, ModelUnavailable
from weft.models.base import Embedder
from weft.models.embedders.fastembed import FastembedEmbedder
from weft.models.embedders.sentence_transformers import SentenceTransformersEmbedder

SEEN: list[str] = []
OPENERS: dict[str, Callable[[str], Embedder]] = {
    "fastembed": FastembedEmbedder,
    "sentence_transformers": SentenceTransformersEmbedder,
}


def row(text: str) -> np.ndarray:
    """A vector of length 5, not yet normalised; `zero` and `short` give what a model must not."""
    SEEN.append(text)
    if text.endswith("zero"):
        return np.zeros(384)
    return np.full(3 if text.endswith("short") else 384, 5 / np.sqrt(384))


class TextEmbedding:
    """fastembed's class, with the methods that are used."""

    def __init__(self, *, model_name: str, cache_dir: str | None, threads: int | None) -> None:
        if model_name == "unknown":
            raise ValueError("Model unknown is not supported")

    def passage_embed(self, texts: list[str], *, batch_size: int) -> Iterator[np.ndarray]:
        assert batch_size == 1
        return (row(text) for text in texts)

    query_embed = passage_embed


class SentenceTransformer:
    """sentence-transformers' class, with the methods that are used."""

    def __init__(self, name: str, *, device: str | None) -> None:
        if name == "unknown":
            raise OSError("unknown is not a valid model identifier")

    def encode(self, texts: list[str], *, show_progress_bar: bool, prompt: str = "") -> np.ndarray:
        return np.stack([row(prompt + text) for text in texts])

    def encode_query(self, texts: list[str], *, show_progress_bar: bool) -> np.ndarray:
        return self.encode(texts, show_progress_bar=show_progress_bar, prompt="[library's query prompt] ")

    def encode_document(self, texts: list[str], *, show_progress_bar: bool) -> np.ndarray:
        return self.encode(texts, show_progress_bar=show_progress_bar)


def put_in_place(name: str, *, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Put a stand-in for a library where Python looks for modules."""
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)
    module.TextEmbedding = TextEmbedding  # type: ignore[attr-defined]
    module.SentenceTransformer = SentenceTransformer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, name, module)
    SEEN.clear()
    return module


@pytest.fixture(params=list(OPENERS))
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each library in turn."""
    name: str = request.param
    put_in_place(name, monkeypatch=monkeypatch)
    return name


@pytest.mark.parametrize("name", list(OPENERS))
def test_an_absent_library_names_its_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening fails at once, with the pip command."""
    monkeypatch.setitem(sys.modules, name, None)

    with pytest.raises(MissingExtra) as caught:
        OPENERS[name]("bge-small-en-v1.5")

    assert caught.value.hint == f"run pip install 'weft-search[{name.replace('_', '-')}]'"


def test_a_known_model_has_its_card_before_it_is_loaded(library: str) -> None:
    """With or without the owner, in the spelling settings use."""
    card = OPENERS[library]("bge-small-en-v1.5").card

    assert card.name == f"{library.replace('_', '-')}/BAAI/bge-small-en-v1.5"
    assert (card.dimension, card.floor, card.scripts) == (384, 0.55, {"latin"})
    assert card == OPENERS[library]("BAAI/bge-small-en-v1.5").card


def test_rows_become_unit_vectors(library: str) -> None:
    """The library may return vectors of any length."""
    vectors = OPENERS[library]("BAAI/bge-small-en-v1.5").embed(["a", "b"])

    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_the_dimension_of_an_unknown_model_is_learned(library: str) -> None:
    """Until then it is 0; the fingerprint does not change with it."""
    embedder = OPENERS[library]("someone/some-model")
    before = embedder.card
    assert (before.dimension, before.floor, before.scripts) == (0, 0.3, {"*"})
    assert embedder.embed([]).shape == (0, 0)

    embedder.embed(["a"])

    assert embedder.card.dimension == 384
    assert embedder.card.fingerprint == before.fingerprint


def test_e5_gets_the_prefixes_it_was_trained_with(library: str) -> None:
    """Questions and passages begin differently."""
    embedder = OPENERS[library]("intfloat/multilingual-e5-small")

    embedder.embed(["a"], kind="query")
    embedder.embed(["b"])

    assert SEEN == ["query: a", "passage: b"]
    assert embedder.card.floor == 0.78


def test_a_model_the_library_cannot_load_is_unavailable(library: str) -> None:
    """The hint names the models that need no hub."""
    with pytest.raises(ModelUnavailable, match="cannot load 'unknown'") as caught:
        OPENERS[library]("unknown").embed(["a"])

    assert "local/" in caught.value.hint


@pytest.mark.parametrize("text", ["zero", "short"])
def test_useless_vectors_are_refused(library: str, text: str) -> None:
    """Zero vectors and vectors of another dimension are refused."""
    with pytest.raises(BadModelOutput):
        OPENERS[library]("bge-small-en-v1.5").embed([text])


def test_lone_surrogates_are_replaced(library: str) -> None:
    """The libraries would refuse the text."""
    OPENERS[library]("bge-small-en-v1.5").embed(["\ud800a"])

    assert SEEN == ["\ufffda"]


def test_sentence_transformers_choose_the_prompt_we_do_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that brings its own prompts gets them through the library."""
    put_in_place("sentence_transformers", monkeypatch=monkeypatch)

    SentenceTransformersEmbedder("someone/some-model").embed(["a"], kind="query")

    assert SEEN == ["[library's query prompt] a"]


def test_fastembed_stores_its_models_in_the_given_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own default is a temporary folder that a restart deletes."""
    given: list[object] = []

    class Recording(TextEmbedding):
        def __init__(self, **options: object) -> None:
            given.append(options)

    put_in_place("fastembed", monkeypatch=monkeypatch).TextEmbedding = Recording  # type: ignore[attr-defined]

    FastembedEmbedder("bge-small-en-v1.5", cache_dir=tmp_path, threads=2).embed(["a"])

    assert given == [{"model_name": "BAAI/bge-small-en-v1.5", "cache_dir": str(tmp_path), "threads": 2}]
