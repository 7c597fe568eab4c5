"""Arguments that Python callers may pass, and the errors for invalid ones."""

from datetime import date

import pytest
from memory_store.store import MemoryDatabase

from weft.config import Settings
from weft.engine.engine import Engine
from weft.engine.opening.open_engine import open_engine
from weft.errors import InputError, NotFound, StoreUnavailable
from weft.integrations.passages import check_options
from weft.records import Filter
from weft.testing import FakeEmbedder


@pytest.fixture
def engine():
    return Engine(Settings(), database=MemoryDatabase(), embedder=FakeEmbedder())


@pytest.mark.parametrize("call", ["index", "preview", "count"])
def test_an_empty_path_is_not_the_working_folder(engine, call):
    """It is a variable that nobody set."""
    with pytest.raises(InputError, match="empty"):
        getattr(engine.indexing if call == "count" else engine, call)("")


def test_a_text_may_bring_metadata(engine):
    """Beside that of its front matter, as over HTTP."""
    engine.add_text("---\ntype: note\n---\nThe lamp is on.", source="lamp", metadata={"room": 3})

    (document,) = engine.documents(Filter(metadata=(("room", 3), ("type", "note"))))
    assert document.source == "text:lamp"


@pytest.mark.parametrize("source", ["text:lamp", "upload:lamp"])
def test_a_text_that_is_called_by_its_bare_name_is_not_found_but_named(engine, source):
    """Texts and uploads have a scheme before what their owner calls them."""
    engine.add_text("The lamp is on.", source=source)

    for call in (engine.get, engine.delete):
        with pytest.raises(NotFound) as error:
            call("lamp")
        assert error.value.hint == f"did you mean {source!r}?"
        with pytest.raises(NotFound) as error:
            call("lam")
        assert error.value.hint == "run `weft list` to list all documents"


def test_a_text_without_a_source_is_refused(engine):
    """All such texts would be one document."""
    with pytest.raises(InputError, match="source of the text is empty"):
        engine.add_text("The lamp is on.", source="")


@pytest.mark.parametrize("question", [None, 5, b"lamp", ["lamp"]], ids=repr)
def test_a_question_that_is_no_text_is_refused(engine, question):
    """By every call that takes one."""
    for ask in (engine.query, engine.query_with_facts, engine.retrieve, engine.memory.recall):
        with pytest.raises(InputError, match="question") as error:
            ask(question)
        assert error.value.hint


@pytest.mark.parametrize(
    "where",
    [
        "notes/",
        {"source_prefix": "notes/"},
        Filter(metadata={"type": "decision"}),
        Filter(metadata="type"),
        Filter(metadata=(("type",),)),
        Filter(documents="d1"),
    ],
    ids=repr,
)
def test_a_filter_that_is_none_is_refused_with_its_form(engine, where):
    """Queries, document lists and retrievers check it."""
    for ask in (
        lambda: engine.query("lamp", where=where),
        lambda: engine.documents(where),
        lambda: check_options(engine, {"where": where}),
    ):
        with pytest.raises(InputError) as error:
            ask()
        assert "Filter(" in error.value.hint


@pytest.mark.parametrize(
    "wrong",
    [
        {"value": 5},
        {"value": None},
        {"subject": None},
        {"object": ["a"]},
        {"note": 1},
        {"confidence": "high"},
        {"valid_from": "2026-01-01"},
        {"valid_to": date(2026, 1, 1)},
    ],
    ids=repr,
)
def test_a_fact_of_other_types_is_refused(engine, wrong):
    """With the field and its value, or the time."""
    with pytest.raises(InputError) as error:
        engine.memory.add(**{"subject": "user", "predicate": "age", "value": "42", **wrong})

    (value,) = wrong.values()
    assert str(value) in str(error.value)
    assert error.value.hint


def test_a_time_that_is_none_is_refused(engine):
    """A text is read by the doors that take texts."""
    with pytest.raises(InputError, match="invalid time"):
        engine.memory.recall("lamp", as_of="2026-01-01")


def test_a_folder_is_no_store(tmp_path):
    """The hint does not mention permissions."""
    with pytest.raises(StoreUnavailable) as error:
        open_engine(tmp_path, embedder="none")

    assert error.value.hint == "set --db to a file in this folder"


def test_a_file_of_settings_is_given_as_text_or_path(tmp_path):
    """The database accepts both too."""
    file = tmp_path / "other.toml"
    file.write_text("[search]\ntop_k = 4\n")
    for config in (file, str(file)):
        with open_engine(":memory:", embedder="none", config=config) as engine:
            assert engine.settings.search.top_k == 4
