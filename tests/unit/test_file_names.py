"""A bare file name names its page."""

import pytest

from weft.engine.opening.open_engine import open_engine
from weft.errors import NotFound
from weft.testing import FakeEmbedder

PAGES = {
    "docs/auth.md": "# Authentication\n\nTokens are checked here. See [store](sub/store.md).\n",
    "docs/login.md": "# Login Flow\n\nUsers sign in. See [auth](auth.md).\n",
    "docs/sub/store.md": "# Session Store\n\nSessions live for a day.\n",
    "docs/one/setup.md": "# First Setup\n\nInstall it.\n",
    "docs/two/setup.md": "# Second Setup\n\nInstall it again.\n",
}


@pytest.fixture(params=["x.db", ":memory:"])
def engine(request, tmp_path):
    for source, text in PAGES.items():
        path = tmp_path / "notes" / source
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    store = tmp_path / request.param if request.param != ":memory:" else request.param
    with open_engine(store, embedder=FakeEmbedder()) as engine:
        engine.index(tmp_path / "notes")
        yield engine


def test_a_file_name_names_the_entity_of_its_page(engine):
    """In `neighbours` and `path`."""
    assert engine.entities.get("auth.md").name == "Authentication"
    assert "Session Store" in [entity.name for entity, _ in engine.entities.neighbours("auth.md")]
    assert engine.entities.path("login.md", "store.md") == engine.entities.path("Login Flow", "Session Store")


def test_a_file_name_names_its_document(engine):
    """In `related`."""
    assert engine.get("auth.md")[0].source.endswith("docs/auth.md")
    assert [r.document.id for r in engine.related("auth.md")] == [
        r.document.id for r in engine.related(engine.get("auth.md")[0].source)
    ]


def test_a_question_about_relations_may_name_a_file(engine):
    """The answer is that of the title."""
    result = engine.query("Which pages link to auth.md?")

    assert result.relations is not None
    assert [item.name for item in result.relations.items] == ["Login Flow"]


@pytest.mark.parametrize("name", ["setup.md", "missing.md", "auth", "|", "/", ".md", "auth.txt"])
def test_a_name_of_several_files_or_of_none_names_nothing(engine, name):
    """A part of a file name is no file name."""
    with pytest.raises(NotFound):
        engine.get(name)
    with pytest.raises(NotFound):
        engine.entities.get(name)
