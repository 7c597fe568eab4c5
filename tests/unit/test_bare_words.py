"""Questions of one common word, or of an affirmation."""

import pytest

from weft.engine.opening.open_engine import open_engine
from weft.records import Document
from weft.search.question.bare_words import BARE
from weft.testing import FakeEmbedder


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    pages = [
        Document(source=f"{n}.md", title=f"Gate {n}", text=f"Gate {n} keeps a file of visitors. Yes, thanks, it works.")
        for n in range(30)
    ]
    pages.append(Document(source="list.md", title="Visitors", text="Visitors sign a book of blue paper."))
    with open_engine(tmp_path_factory.mktemp("bare") / "weft.db", embedder=FakeEmbedder()) as engine:
        engine.add(pages)
        yield engine


@pytest.mark.parametrize("question", ["yes", "Yes.", "ok, thanks", "file", "好的"])
@pytest.mark.parametrize("method", ["auto", "hybrid", "keyword"])
def test_they_are_never_certain(engine, question, method):
    """Whatever the scores say."""
    result = engine.query(question, method=method)

    assert result.status != "ok"
    assert result.confidence < 0.5


@pytest.mark.parametrize("question", ["visitors", "blue paper", "Gate 7"])
def test_a_title_or_a_rare_word_is_a_question(engine, question):
    """The title of a page is asked for, however common the word."""
    result = engine.query(question)

    assert result.status == "ok"
    assert BARE not in result.notes
