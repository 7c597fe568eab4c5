"""
Cross-encoders of fastembed and sentence-transformers.

No package index has weights of one, and a model hub is not for tests: a stand-in for the library shows how it is
called, and where the real library is installed it runs a tiny model that is made here, with all parts but a meaning.
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
from weft.models.base import Reranker
from weft.models.rerankers.fastembed import FastembedReranker
from weft.models.rerankers.sentence_transformers import SentenceTransformersReranker

OPENERS: dict[str, Callable[[str], Reranker]] = {
    "fastembed": FastembedReranker,
    "sentence_transformers": SentenceTransformersReranker,
}
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "cats", "sleep", "dogs", "bark"]
LOADED: list[str] = []


class TextCrossEncoder:
    """fastembed's class, with the methods that are used."""

    def __init__(self, *, model_name: str, cache_dir: str | None, threads: int | None) -> None:
        LOADED.append(model_name)
        if model_name == "unknown":
            raise ValueError("Model unknown is not supported")

    def rerank(self, query: str, documents: list[str], *, batch_size: int) -> Iterator[np.float32]:
        assert batch_size == 1
        return (np.float32(text.count(query) - 3) for text in documents)


class CrossEncoder:
    """sentence-transformers' class, with the methods that are used."""

    def __init__(self, name: str, *, device: str | None) -> None:
        LOADED.append(name)
        self._labels = 3 if name == "labels" else 1
        if name == "unknown":
            raise OSError("unknown is not a valid model identifier")

    def predict(self, pairs: list[tuple[str, str]], *, show_progress_bar: bool) -> np.ndarray:
        scores = np.array([text.count(query) - 3 for query, text in pairs], np.float32)
        return scores if self._labels == 1 else np.stack([scores] * self._labels, axis=1)


@pytest.fixture(params=list(OPENERS))
def opener(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Reranker]:
    """Install a fake library as a module, and return a function that opens the adapter for it."""
    name: str = request.param
    for path in (name, *(f"{name}.rerank", f"{name}.rerank.cross_encoder") * (name == "fastembed")):
        module = ModuleType(path)
        module.__spec__ = ModuleSpec(path, None)
        module.TextCrossEncoder = TextCrossEncoder  # type: ignore[attr-defined]
        module.CrossEncoder = CrossEncoder  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, path, module)
    LOADED.clear()
    return OPENERS[name]


def test_texts_are_scored_in_their_order(opener: Callable[[str], Reranker]) -> None:
    """Scores are plain numbers and may be logits; the first call loads the model once."""
    reranker = opener("owner/model")
    assert LOADED == []
    for _ in range(2):
        scores = reranker.rerank("cat", ["cat cat", "dog", "cat \ud800", ""])
        assert scores == [-1.0, -3.0, -2.0, -3.0]
        assert all(type(score) is float for score in scores)
    assert LOADED == ["owner/model"]
    assert reranker.name.endswith("/owner/model")
    assert reranker.rerank("cat", []) == []


def test_a_model_that_cannot_be_loaded_says_why(opener: Callable[[str], Reranker]) -> None:
    with pytest.raises(ModelUnavailable, match="unknown"):
        opener("unknown").rerank("q", ["a"])


@pytest.mark.parametrize("opener", ["sentence_transformers"], indirect=True)
def test_a_classifier_is_no_reranker(opener: Callable[[str], Reranker]) -> None:
    """A model with several labels gives several numbers for a text; fastembed lists none."""
    with pytest.raises(BadModelOutput, match="returned scores of shape"):
        opener("labels").rerank("q", ["a", "b"])


@pytest.mark.parametrize("name", list(OPENERS))
def test_a_library_that_is_not_installed_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra) as caught:
        OPENERS[name]("any")
    assert name.replace("_", "-") in caught.value.hint


# ── the real libraries ──────────────────────────────────────────────────────────────────────────


def make_tokenizer(folder: Path) -> None:
    """Write a tokenizer of eight words in the form both libraries read."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    tokenizer = Tokenizer(WordLevel({word: id for id, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    special = '"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"'
    (folder / "special_tokens_map.json").write_text(f"{{{special}}}")
    kind = '"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 64'
    (folder / "tokenizer_config.json").write_text(f"{{{special}, {kind}}}")


def make_onnx(path: Path) -> None:
    """Write a graph that scores a pair by the mean of its token ids."""
    from onnx import TensorProto, helper, save

    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"])
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])
    nodes = [
        helper.make_node("Cast", ["input_ids"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMean", ["numbers"], ["logits"], axes=[1], keepdims=1),
    ]
    graph = helper.make_graph(nodes, "tiny", [ids], [logits])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(path))


@pytest.mark.filterwarnings("ignore")
def test_fastembed_itself_runs_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tiny graph under a name of its own; scores are those of the graph, whatever stands beside a text."""
    pytest.importorskip("fastembed", reason="the extra fastembed is not installed")
    from fastembed.common.model_description import ModelSource
    from fastembed.rerank import cross_encoder

    make_tokenizer(tmp_path)
    make_onnx(tmp_path / "model.onnx")
    (tmp_path / "config.json").write_text('{"pad_token_id": 0}')
    real = cross_encoder.TextCrossEncoder
    real.add_custom_model("test/tiny", sources=ModelSource(hf="test/tiny"), model_file="model.onnx")
    monkeypatch.setattr(
        cross_encoder, "TextCrossEncoder", lambda **given: real(**given, specific_model_path=str(tmp_path))
    )
    reranker = FastembedReranker("test/tiny", cache_dir=tmp_path / "cache")

    # [CLS] cats [SEP] dogs bark [SEP] is 2 4 3 6 7 3
    together = reranker.rerank("cats", ["dogs bark", "sleep", ""])
    assert together == pytest.approx([25 / 6, 17 / 5, 12 / 4])
    assert reranker.rerank("cats", ["dogs bark"]) == together[:1]
    monkeypatch.undo()
    with pytest.raises(ModelUnavailable, match="nobody/nothing"):
        FastembedReranker("nobody/nothing").rerank("q", ["a"])


@pytest.mark.filterwarnings("ignore")
def test_sentence_transformers_itself_runs_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tiny BERT with random weights; the order of texts does not matter to their scores."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    pytest.importorskip("sentence_transformers", reason="the extra sentence-transformers is not installed")
    from transformers import BertConfig, BertForSequenceClassification

    for labels in (1, 3):
        folder = tmp_path / str(labels)
        folder.mkdir()
        make_tokenizer(folder)
        config = BertConfig(
            vocab_size=len(WORDS),
            hidden_size=8,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            num_labels=labels,
            initializer_range=1.0,
        )
        BertForSequenceClassification(config).save_pretrained(folder)
    reranker = SentenceTransformersReranker(str(tmp_path / "1"), device="cpu")

    first = reranker.rerank("cats", ["dogs bark", "sleep", "cats"])
    assert len(set(first)) == 3
    assert reranker.rerank("cats", ["cats", "sleep", "dogs bark"]) == pytest.approx(first[::-1], abs=1e-5)
    with pytest.raises(BadModelOutput, match="returned scores of shape"):
        SentenceTransformersReranker(str(tmp_path / "3"), device="cpu").rerank("q", ["cats"])
    with pytest.raises(ModelUnavailable, match="nowhere"):
        SentenceTransformersReranker(str(tmp_path / "nowhere"), device="cpu").rerank("q", ["a"])
