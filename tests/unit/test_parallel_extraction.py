"""Extraction in processes beside the one that indexes."""

from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timezone

import pytest
from logical import content

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.engine.indexing import runs
from weft.engine.parsing import parallel_extraction
from weft.engine.parsing.parser_messages import make_recipe
from weft.engine.parsing.parser_pool import ParserPool
from weft.errors import InputError, WeftError
from weft.index.plan import Plan
from weft.load.file_reader import LoadError
from weft.records import Document, Skipped
from weft.store.shared.packed_text import unpack_text
from weft.testing import FakeEmbedder
from weft.text.ids import document_id

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
PASSWORD = "Qu1bble-thorn!"
TABLES = ("document", "chunk", "posting", "candidate", "stated_relation", "entity", "mention", "relation")


def notes(count):
    return [
        Document(
            source=f"note {number}.md",
            title=f"Harbour Pilot {number % 7}",
            text=f"Harbour Pilot {number % 7} is a service. It was moved from Quay {number % 5} by Ada Byron in 1912.\n"
            f"password: {PASSWORD}\n" + "Ships wait for the pilot, and the pilot waits for ships. " * 2,
            metadata={"berth": number % 3},
        )
        for number in range(count)
    ]


def open_engine(path):
    settings = read_settings({"store.db": str(path), "graph.extractor": "rules"})
    return Engine(settings, embedder=FakeEmbedder())


def rows(path):
    """Return the rows without their numbers, which depend on what each transaction happens to hold."""
    found = content(path)
    return {table: found[table] for table in TABLES}


@pytest.fixture
def early(monkeypatch):
    """Processes start with the first documents, and this one waits until they have answered."""
    monkeypatch.setattr(parallel_extraction, "MIN_DOCUMENTS", 2)
    monkeypatch.setattr(parallel_extraction, "MAX_WAIT_SECONDS", 60)
    monkeypatch.setattr(runs, "usable_cores", lambda: 3)


@pytest.fixture
def received(monkeypatch):
    """Items that came from processes, or would have."""
    found, receive = [], parallel_extraction._Ahead._receive

    def keep(self, entry):
        is_for_process = entry.is_for_process
        item = receive(self, entry)
        if is_for_process:
            found.append(item)
        return item

    monkeypatch.setattr(parallel_extraction._Ahead, "_receive", keep)
    return found


@pytest.fixture
def patient(monkeypatch):
    """No document for the processes is passed on before a process has taken it."""
    receive = parallel_extraction._Ahead._receive

    def wait(self, entry):
        if entry.is_for_process:
            with self._changed:
                assert self._changed.wait_for(lambda: entry.is_taken, 60)
        return receive(self, entry)

    monkeypatch.setattr(parallel_extraction._Ahead, "_receive", wait)


def test_a_corpus_is_stored_as_in_one_process(tmp_path, early, patient, received, monkeypatch):
    """The same rows, of which processes made some, without secrets; a second run reads nothing again."""
    documents = notes(90)
    with open_engine(tmp_path / "several.db") as engine:
        assert engine.add(documents).added == 90
        assert engine.add(documents).unchanged == 90
    assert any(isinstance(item, Plan) for item in received)
    monkeypatch.setattr(runs, "usable_cores", lambda: 1)
    with open_engine(tmp_path / "one.db") as engine:
        engine.add(documents)
    assert rows(tmp_path / "several.db") == rows(tmp_path / "one.db")
    for item in received:
        assert PASSWORD not in repr(item)
    (plan, *_) = (item for item in received if isinstance(item, Plan))
    assert [unpack_text(text) for text, _ in plan.packed] == [chunk.text for chunk in plan.chunks]


@pytest.mark.usefixtures("early", "patient")
def test_documents_of_one_source_are_stored_in_their_order(tmp_path):
    """The last one counts, also if one process reads several of them."""
    documents = notes(90)
    with open_engine(tmp_path / "several.db") as engine:
        receipt = engine.add([*documents, *(replace(document, source="note.md") for document in documents)])
        (stored,) = engine.store.documents([document_id(engine.store.namespace, "note.md")])
    assert (receipt.added, receipt.changed) == (91, 89)
    assert stored.title == documents[-1].title


class Process:
    """A process that answers as it is told."""

    is_busy = False

    def __init__(self, answer):
        self.answer = answer
        self.requests = 0

    def send(self, request):
        self.requests += 1
        return self.answer != "dead"

    def receive(self, *, cpu_seconds):
        if isinstance(self.answer, Exception):
            raise self.answer
        yield Skipped(source="note", reason="broken")
        self.is_busy = self.answer == "ended"

    def kill(self):
        self.answer = "dead"


@pytest.mark.parametrize(
    "answer", ["skipped", "ended", "dead", InputError("invalid"), LoadError("broken"), ValueError("not JSON")]
)
def test_documents_that_no_process_reads_are_read_here(tmp_path, early, patient, received, monkeypatch, answer):
    """A process that dies, or that refuses a document, loses nothing."""
    processes = []

    @contextmanager
    def lease(self, namespace):
        processes.append(Process(answer))
        yield processes[-1]

    monkeypatch.setattr(parallel_extraction.ParserPool, "lease", lease)
    with open_engine(tmp_path / "several.db") as engine:
        receipt = engine.add(notes(40))
    assert (receipt.added, receipt.skipped) == (40, ())
    assert sum(process.requests for process in processes) > 1
    assert any(isinstance(item, Document) for item in received)


def test_a_run_needs_no_process(tmp_path, early, received, monkeypatch):
    """If none can be started, all documents are extracted here."""

    @contextmanager
    def fail(self, namespace):
        raise WeftError("no process")
        yield

    monkeypatch.setattr(parallel_extraction.ParserPool, "lease", fail)
    with open_engine(tmp_path / "several.db") as engine:
        assert engine.add(notes(40)).added == 40
    assert received
    assert all(isinstance(item, Document) for item in received)


def test_documents_are_extracted_here_while_a_process_works(early, monkeypatch):
    """The one whose turn it is has been taken; the next ones have not."""
    documents = notes(3)
    with open_engine(":memory:") as engine:
        components = engine.indexing.components()
        recipe = make_recipe(engine.settings, extractor=components.extractor, now=NOW)
        ahead = parallel_extraction._Ahead(ParserPool(2), components, recipe)
        first, *others = (parallel_extraction._Pending(document, 1, True) for document in documents)
        first.is_taken = True
        ahead._waiting.extend(others)
        monkeypatch.setattr(parallel_extraction, "MAX_WAIT_SECONDS", 0)
        assert ahead._receive(first) is documents[0]
    assert [plan.document.source for plan in (ahead._receive(other) for other in others)] == [
        document.source for document in documents[1:]
    ]


def test_a_short_run_starts_no_process(tmp_path, received, monkeypatch):
    """With one document less than are loaded before processes start."""
    monkeypatch.setattr(runs, "usable_cores", lambda: 3)
    monkeypatch.setattr(parallel_extraction, "MIN_DOCUMENTS", 31)
    monkeypatch.setattr(parallel_extraction.ParserPool, "lease", lambda self, namespace: pytest.fail("a process"))
    with open_engine(tmp_path / "several.db") as engine:
        assert engine.add(notes(30)).added == 30
    assert not received


def test_an_invalid_document_is_an_error_in_its_turn(tmp_path, early):
    """Documents before it are stored."""
    documents = notes(30)
    documents.insert(20, Document(source="", title="", text="without a source"))
    with open_engine(tmp_path / "several.db") as engine, pytest.raises(InputError, match="no source"):
        engine.add(documents)
