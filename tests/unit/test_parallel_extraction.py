"""Extraction in processes beside the one that indexes."""

import apsw
import pytest

from weft.config import read_settings
from weft.engine import engine as engine_module
from weft.engine.engine import Engine
from weft.engine.parsing import parallel_extraction
from weft.errors import InputError, WeftError
from weft.index.plan import Plan
from weft.records import Document, Skipped
from weft.testing import FakeEmbedder

TABLES = ("document", "chunk", "posting", "nomination", "claim", "entity", "mention", "relation")


def notes(count):
    return [
        Document(
            source=f"note {number}.md",
            title=f"Harbour Pilot {number % 7}",
            text=f"Harbour Pilot {number % 7} is a service. It was moved from Quay {number % 5} by Ada Byron in 1912.",
            metadata={"berth": number % 3},
        )
        for number in range(count)
    ]


def open_engine(path):
    settings = read_settings({"store.db": str(path), "graph.extractor": "rules"})
    return Engine(settings, embedder=FakeEmbedder())


def rows(path):
    db = apsw.Connection(str(path))
    return {table: sorted(map(repr, db.execute(f"SELECT * FROM {table}"))) for table in TABLES}


@pytest.fixture
def early(monkeypatch):
    """Processes start with the first documents, and this one waits until they have answered."""
    monkeypatch.setattr(parallel_extraction, "MIN_DOCUMENTS", 2)
    monkeypatch.setattr(parallel_extraction, "MAX_WAIT_SECONDS", 60)
    monkeypatch.setattr(parallel_extraction.ParserPool, "is_ready", True)
    monkeypatch.setattr(engine_module, "usable_cores", lambda: 3)


@pytest.fixture
def received(monkeypatch):
    """Items that came from processes, or would have."""
    found, receive = [], parallel_extraction._Ahead._receive

    def keep(self, entry):
        item = receive(self, entry)
        if entry.result is not None:
            found.append(item)
        return item

    monkeypatch.setattr(parallel_extraction._Ahead, "_receive", keep)
    return found


def test_a_corpus_is_stored_as_in_one_process(tmp_path, early, received, monkeypatch):
    """The same rows, of which processes made some; a second run reads nothing again."""
    documents = notes(90)
    with open_engine(tmp_path / "several.db") as engine:
        assert engine.add(documents).added == 90
        assert engine.add(documents).unchanged == 90
    assert any(isinstance(item, Plan) for item in received)
    monkeypatch.setattr(engine_module, "usable_cores", lambda: 1)
    with open_engine(tmp_path / "one.db") as engine:
        engine.add(documents)
    assert rows(tmp_path / "several.db") == rows(tmp_path / "one.db")


@pytest.mark.parametrize("failure", [WeftError("no process"), Skipped(source="note", reason="broken")])
def test_documents_that_no_process_reads_are_read_here(tmp_path, early, received, monkeypatch, failure):
    """A process that cannot start, or that refuses a document, loses nothing."""

    def fail(self, item, recipe):
        if isinstance(failure, WeftError):
            raise failure
        yield failure

    monkeypatch.setattr(parallel_extraction.ParserPool, "prepare", fail)
    monkeypatch.setattr(parallel_extraction.ParserPool, "start", lambda self: None)
    with open_engine(tmp_path / "several.db") as engine:
        receipt = engine.add(notes(40))
    assert (receipt.added, receipt.skipped) == (40, ())
    assert received
    assert all(isinstance(item, Document) for item in received)


def test_an_invalid_document_is_an_error_in_its_turn(tmp_path, early, monkeypatch):
    """Documents before it are stored."""
    monkeypatch.setattr(parallel_extraction.ParserPool, "start", lambda self: None)
    monkeypatch.setattr(parallel_extraction.ParserPool, "prepare", lambda self, item, recipe: iter(()))
    documents = notes(30)
    documents.insert(20, Document(source="", title="", text="without a source"))
    with open_engine(tmp_path / "several.db") as engine, pytest.raises(InputError, match="no source"):
        engine.add(documents)
