"""Metadata of documents, and search in it."""

from datetime import date

import pytest

from weft.config import Settings
from weft.engine.engine import Engine
from weft.errors import InputError
from weft.records import Document, Filter
from weft.testing import FakeEmbedder


@pytest.fixture
def engine(database):
    return Engine(Settings(), database=database, embedder=FakeEmbedder())


def note(**metadata):
    return Document(source="note.md", title="Lamp", text="The lamp is on.", metadata=metadata)


@pytest.mark.parametrize("colours", [["red", "green"], ("red", "green")], ids=["list", "tuple"])
def test_a_document_is_found_by_each_of_several_values(engine, colours):
    """A list or a tuple; both state the same facts."""
    engine.add([note(colour=colours)])

    for colour in ("red", "green"):
        found = engine.query("lamp", where=Filter(metadata=(("colour", colour),)))
        assert [piece.document.source for piece in found.evidence] == ["note.md"]
    assert sorted(fact.value for fact in engine.memory.list("Lamp")) == ["green", "red"]
    assert engine.database.check() == []


@pytest.mark.parametrize("value", [date(2026, 3, 4), {"red"}, float("nan"), "\ud800"], ids=repr)
def test_what_cannot_be_kept_is_an_error_that_says_what_can(engine, value):
    """Nothing is written."""
    with pytest.raises(InputError, match="cannot store") as error:
        engine.add([note(colour=value)])

    assert "lists of these" in error.value.hint
    assert engine.stats().documents == 0
