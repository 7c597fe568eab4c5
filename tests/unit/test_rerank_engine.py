"""Re-ranking by the settings of an engine: switch, deadline, refused values."""

import subprocess
import sys

import pytest
from test_rerank import QUESTION, TEXTS, Blocked

from weft.context.serialise import result_to_dict
from weft.engine.namespaces import Engines
from weft.engine.opening.open_engine import open_engine
from weft.errors import ConfigError
from weft.testing import FakeEmbedder, FakeReranker


@pytest.fixture
def open_reranking(tmp_path):
    """Give a function that opens an engine with texts in it and a reranker, by name or as an object."""
    opened = []

    def open_reranking(reranker=None, **settings):
        engine = open_engine(tmp_path / "weft.db", embedder=FakeEmbedder(), reranker=reranker, **settings)
        for name, text in TEXTS.items():
            engine.add_text(text, source=name, title=name)
        opened.append(engine)
        return engine

    yield open_reranking
    for engine in opened:
        engine.close()


def test_it_is_off_unless_there_is_one(open_reranking):
    """Asking for it without one is an error that says what to set."""
    engine = open_reranking()
    values = result_to_dict(engine.query(QUESTION))

    assert (values["reranked"], values["rerank"], values["results"][0]["rerank"]) == (False, None, None)
    assert engine.query(QUESTION, rerank=False).rerank is None
    with pytest.raises(ConfigError, match=r"rerank\.model") as caught:
        engine.query(QUESTION, rerank=True)
    assert "cohere/MODEL" in caught.value.hint


def test_one_call_may_do_without_it_or_ask_for_it(open_reranking):
    """`rerank.enabled` says what holds where a call leaves it open."""
    fake = FakeReranker()
    always, on_request = open_reranking(fake), open_reranking(fake, rerank_enabled=False)

    assert always.query(QUESTION).rerank.count
    assert always.query(QUESTION, rerank=False).rerank is None
    assert on_request.query(QUESTION).rerank is None
    assert on_request.query(QUESTION, rerank=True).rerank.count
    _, about = always.retrieve(QUESTION)
    assert about["reranked"] is True
    assert always.memory_search(QUESTION)["reranked"] is True


def test_the_deadline_of_the_settings_holds(open_reranking):
    blocked = Blocked()
    result = open_reranking(blocked, rerank_deadline_ms=20).query(QUESTION)
    blocked.go.set()

    assert "deadline of 20 ms" in result.rerank.skipped
    assert result.evidence


@pytest.mark.parametrize(
    "name", ["nobody/x", "cohere", "cohere/", "llm/x", "http/x", "llm"], ids=lambda name: name.replace("/", "-")
)
def test_a_name_that_cannot_be_is_refused(open_reranking, name):
    """`http/…` without an address and `llm` without `llm.model` are refused too."""
    with pytest.raises(ConfigError):
        open_reranking(name).query(QUESTION)


def test_a_package_that_is_not_installed_is_a_reason_not_an_error(open_reranking, monkeypatch):
    """The reason says how to install it."""
    monkeypatch.setitem(sys.modules, "fastembed", None)
    result = open_reranking("fastembed/any").query(QUESTION)

    assert result.evidence
    assert "pip install 'weft-search[fastembed]'" in result.rerank.skipped


@pytest.mark.parametrize("change", [{"rerank_pool": 0}, {"rerank_deadline_ms": 0}, {"rerank_weight": 1.5}])
def test_settings_out_of_range_are_refused(tmp_path, change):
    with pytest.raises(ConfigError, match=r"rerank\."):
        open_engine(tmp_path / "weft.db", **change)


def test_namespaces_share_the_reranker_and_nothing_else(open_reranking):
    """It is given texts of the namespace that is asked, and of no other."""
    fake = FakeReranker()
    engine = open_reranking()
    engines = Engines(engine.settings, database=engine.database, embedder=FakeEmbedder(), reranker=fake)
    for name in ("secret", "public"):
        for number in range(3):
            engines.engine(name).add_text(f"the {name} sessions of cache {number}", source=f"{name}-{number}")
    result = engines.engine("public").query(QUESTION)

    assert result.rerank.count == 3
    ((_, texts),) = fake.seen
    assert not any("secret" in text for text in texts)


def test_without_it_nothing_of_it_is_imported(tmp_path):
    """No adapter, no HTTP library: a question costs what it did."""
    code = f"""
import sys
from weft.engine.opening.open_engine import open_engine
with open_engine({str(tmp_path / "weft.db")!r}, embedder="none") as engine:
    engine.add_text("the cache lost the sessions", source="a")
    engine.add_text("the cache holds sessions", source="b")
    assert engine.query("cache sessions").evidence
bad = [n for n in sys.modules if n.split(".")[0] in ("httpx", "fastembed", "sentence_transformers", "torch")]
bad += [n for n in sys.modules if n.startswith("weft.models.") and "rerank" in n]
assert not bad, bad
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
