"""Engines by namespace: one database, one model, nothing else in common."""

import pytest
from memory_store.store import MemoryDatabase

from weft.config import read_settings
from weft.engine.indexing.runs import add_receipts
from weft.engine.namespaces import Engines
from weft.engine.opening.open_engine import open_engine
from weft.errors import ConfigError
from weft.records import Receipt, Skipped


@pytest.fixture
def engines(tmp_path):
    made = Engines(read_settings({"store.db": str(tmp_path / "weft.db")}))
    yield made
    made.close()


def test_a_namespace_has_one_engine(engines):
    """Asked for twice it is the same, so that its caches are; another one has its own."""
    assert engines.engine("a") is engines.engine("a")
    assert engines.engine("a") is not engines.engine("b")
    assert engines.engine("a").store.namespace == "a"


def test_engines_share_the_model_but_not_what_they_hold(tmp_path):
    """Documents of one namespace are not found in the other."""
    made = Engines(read_settings({"models.embedder": "hash"}), database=MemoryDatabase())
    made.engine("a").add_text("The lighthouse keeper sings.", source="song")

    assert made.engine("a").embedder is made.engine("b").embedder
    assert made.engine("a").query("lighthouse", gate=False).evidence
    assert not made.engine("b").query("lighthouse", gate=False).evidence


def test_a_namespace_keeps_the_embedder_it_was_indexed_with(tmp_path):
    """If the settings name none, each namespace uses its own embedder."""
    path = str(tmp_path / "weft.db")
    first = Engines(read_settings({"store.db": path, "models.embedder": "hash"}))
    first.engine("hashed").add_text("words", source="w")
    first.close()
    later = Engines(read_settings({"store.db": path}))

    assert later.engine("hashed").embedder.card.name == "hash"
    assert later.engine("new").embedder.card.name == later.settings.models.embedder
    later.close()


def test_only_python_callers_learn_the_names_of_other_namespaces(tmp_path):
    """A caller of a server may not know the namespaces of others."""
    path = str(tmp_path / "weft.db")
    with open_engine(path, namespace="mine", embedder="hash") as mine:
        mine.add_text("The lighthouse keeper sings.", source="song")
    with open_engine(path, namespace="mien", embedder="hash") as mistyped:
        notes = mistyped.query("lighthouse").notes
    server = Engines(read_settings({"store.db": path, "models.embedder": "hash"}))

    assert notes == ("namespace 'mien' does not exist; existing namespaces: 'mine'",)
    assert server.engine("mien").query("lighthouse").notes == ("namespace 'mien' is empty: nothing has been indexed",)
    server.close()


@pytest.mark.parametrize("name", ["", "  ", "a\x00b", "x" * 201])
def test_what_is_no_name_is_refused(engines, name):
    """The check is that of the settings."""
    with pytest.raises(ConfigError):
        engines.engine(name)


def test_receipts_of_parts_add_up():
    """Counts are summed, lists follow each other."""
    one = Receipt(documents=2, added=2, chunks=3, seconds=0.5, skipped=(Skipped(source="a", reason="empty"),))
    two = Receipt(
        documents=1, changed=1, chunks=1, seconds=0.25, notes=("n",), skipped=(Skipped(source="b", reason="x"),)
    )
    both = add_receipts(one, two)

    assert (both.documents, both.added, both.changed, both.chunks, both.seconds) == (3, 2, 1, 4, 0.75)
    assert [item.source for item in both.skipped] == ["a", "b"]
    assert both.notes == ("n",)
