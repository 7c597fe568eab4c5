"""What Python callers may give, and what they are told where it cannot be used."""

import pytest

from weft.config import Settings
from weft.engine.engine import Engine, open_engine
from weft.errors import InputError
from weft.records import Filter
from weft.store.memory import MemoryDatabase
from weft.testing import FakeEmbedder


@pytest.fixture
def engine():
    return Engine(Settings(), database=MemoryDatabase(), embedder=FakeEmbedder())


@pytest.mark.parametrize("call", ["index", "preview", "count"])
def test_an_empty_path_is_not_the_working_folder(engine, call):
    """It is a variable that nobody set."""
    with pytest.raises(InputError, match="empty"):
        getattr(engine, call)("")


def test_a_text_may_bring_metadata(engine):
    """Beside that of its front matter, as over HTTP."""
    engine.add_text("---\ntype: note\n---\nThe lamp is on.", source="lamp", metadata={"room": 3})

    (document,) = engine.documents(Filter(metadata=(("room", 3), ("type", "note"))))
    assert document.source == "text:lamp"


def test_a_text_without_a_source_is_refused(engine):
    """All such texts would be one document."""
    with pytest.raises(InputError, match="no source"):
        engine.add_text("The lamp is on.", source="")


def test_a_file_of_settings_is_given_as_text_or_path(tmp_path):
    """As the database is."""
    file = tmp_path / "other.toml"
    file.write_text("[search]\ntop_k = 4\n")
    for config in (file, str(file)):
        with open_engine(":memory:", embedder="none", config=config) as engine:
            assert engine.settings.search.top_k == 4
