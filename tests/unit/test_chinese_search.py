"""A question in one script or language finds a document in another, through words and through entities."""

import pytest
from making import sources

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.rank.gate import shipped_calibration
from weft.search.confidence import fit_question
from weft.search.question.entities import recognise_names
from weft.search.question.read import read_question
from weft.testing import FakeEmbedder


@pytest.fixture
def engine(tmp_path):
    settings = read_settings({"store.db": str(tmp_path / "weft.db")}, environment={}, folder=tmp_path)
    engine = Engine(settings, embedder=FakeEmbedder())
    engine.add_text("圖檢索（Graph Retrieval）沿著關係尋找相關文件。", source="zh", title="圖檢索")
    engine.add_text(
        "Spreading Activation (扩散激活) walks an associative network.", source="en", title="Spreading Activation"
    )
    engine.add_text("会话存储保存用户的登录状态。", source="session", title="会话存储")
    engine.add_text("Bread needs flour, water and patience.", source="bread", title="Bread")
    yield engine
    engine.close()


def first(engine, question, method="mix"):
    return sources(engine.query(question, method=method, min_score=0.0))[:1]


@pytest.mark.parametrize("method", ["keyword", "mix"])
def test_a_simplified_question_finds_a_traditional_document_and_the_reverse(engine, method):
    """Terms and names are folded; what is shown is not."""
    assert first(engine, "图检索是什么？", method) == ["text:zh"]
    assert first(engine, "會話存儲", method) == ["text:session"]
    shown = engine.query("图检索", method=method).evidence[0].chunk.text
    assert "圖檢索" in shown


def test_an_english_question_finds_a_chinese_document_through_its_entity(engine):
    """The document calls itself by both names."""
    result = engine.query("How does Graph Retrieval work?", method="mix")

    assert sources(result)[:1] == ["text:zh"]
    assert [
        seed.entity.name
        for seed in recognise_names(read_question("How does Graph Retrieval work?"), graph=engine.store.graph)
    ] == ["圖檢索"]


def test_a_chinese_question_finds_an_english_document_through_its_entity(engine):
    """The other way round, without spaces around the name."""
    question = "谁提出了扩散激活这个方法？"

    assert [seed.entity.name for seed in recognise_names(read_question(question), graph=engine.store.graph)] == [
        "Spreading Activation"
    ]
    assert first(engine, question) == ["text:en"]


@pytest.mark.parametrize("question", ["今天天气怎么样？", "他的代表作有哪些？", "这是什么？"])
def test_a_question_that_names_nothing_starts_nowhere(engine, question):
    """Question words are no names."""
    assert recognise_names(read_question(question), graph=engine.store.graph) == []


def test_a_long_chinese_question_needs_a_smaller_share_of_its_bigrams():
    """One that asks two things finds half of its words in one passage, and few chunks share so many by chance."""
    short = "会话存储保存什么"
    long = "用户的登录状态保存在哪里，服务器重新启动之后为什么需要再次登录，怎样才能避免这种情况发生"
    curves = [fit_question(shipped_calibration(None), read_question(text)).words for text in (short, long)]

    assert curves[0].middle > shipped_calibration(None).pairs.middle > curves[1].middle > 0.05
    assert curves[0].slope == curves[1].slope
