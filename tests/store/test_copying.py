"""A namespace moves from one store to another and stays the same."""

import itertools
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import logical
import psycopg
import pytest
from contract import CALIBRATION
from memory_store.store import MemoryDatabase

from weft.admin import copy_parts
from weft.admin.copy import compare, copy_namespace, copy_namespaces
from weft.config import read_settings
from weft.engine.engine import Engine
from weft.engine.opening.databases import open_database
from weft.errors import InputError, SchemaMismatch, StoreUnavailable
from weft.records import Candidate, Document, Extraction, FactEntity, Filter, LlmRun, StatedRelation, Usage
from weft.store.relational import fact_store
from weft.store.sqlite.database import SqliteDatabase
from weft.testing import FakeEmbedder

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
QUESTIONS = (
    "what does the auth service rely on",
    "who owns the ledger",
    "部署 之后 检查 密钥",
    "owner of the login flow",
)


def note(name, text, **metadata):
    front = "".join(f"- {key}: {value}\n" for key, value in metadata.items())
    return Document(
        source=f"notes/{name}.md",
        title=name,
        text=f"# {name}\n\n{front}\n{text}\n\n## More\n\nFurther words about {name}, which is described here.\n",
        metadata={"tags": ["a", "b"], **metadata},
        form="markdown",
    )


NOTES = (
    note("Auth Service", "Auth Service is a service that checks tokens. It needs [[Ledger]].", owner="Identity Team"),
    note("Ledger", "The Ledger (LDG) keeps every booking. [[Login Flow]] asks it.", owner="Payments Team", tier=1),
    note("Login Flow", "Where people sign in, by [[Auth Service]].", owner="Identity Team"),
    note("部署", "重跑gen-itgc后检查密钥。"),
)


def open_at(db, *, embedder=None, clock=NOW):
    settings = read_settings({"store.db": str(db)}, environment={})
    return Engine(settings, embedder=embedder or FakeEmbedder(), clock=lambda: clock)


def fill(db):
    """Make a namespace with something of everything."""
    with open_at(db) as engine:
        engine.add(NOTES)
        engine.memory.add("User", "lives_in", value="Paris")
        engine.memory.add("Ledger", "owner", object="Payments Team")  # a note says so too
        rome = engine.memory.add("User", "lives_in", value="Rome").fact
    with open_at(db, clock=NOW + timedelta(days=3)) as engine:
        engine.memory.confirm(rome.id)
        engine.memory.recall("where does the user live")
        engine.store.facts.write([], entities=[FactEntity(key="loner", name="Loner", type="thing", declared=True)])
        first = engine.store.find_documents(Filter())[0]
        chunk = engine.store.find_chunks(first.id)[0]
        said = Extraction(
            candidates=(Candidate(key="token box", name="Token Box", kind="given", description="holds tokens"),),
            stated_relations=(
                StatedRelation(
                    source="token box", target="ledger", type="feeds", weight=6.5, description="it feeds it"
                ),
            ),
        )
        engine.store.annotations.write("graph.json", {chunk.id: said})
        engine.reembed()
        engine.store.graph.write_edit("alias", "ledger", "the books")
        engine.store.write_calibration(CALIBRATION)
        engine.store.spending.write(LlmRun(id="r1", at=5.5, model="openai/tiny", usage=Usage(calls=3, cost=0.1)))


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """Give the file of a namespace with something of everything; it is not to be changed."""
    path = tmp_path_factory.mktemp("filled") / "weft.db"
    fill(path)
    held = logical.content(path)
    assert all(rows for table, rows in held.items()), [table for table, rows in held.items() if not rows]
    return path


@pytest.fixture
def small_pages(monkeypatch):
    monkeypatch.setattr(copy_parts, "PAGE_ITEMS", 2)
    monkeypatch.setattr(copy_parts, "PAGE_CHUNKS", 2)


SETTINGS = read_settings(environment={})


def copy(source, target, **options):
    (receipt,) = copy_namespaces(str(source), str(target), settings=SETTINGS, **options)
    return receipt


def answers(db):
    """Return what questions and recalls give."""
    with open_at(db) as engine:
        results = [engine.query(question, method="mix", gate=False) for question in QUESTIONS]
        recalled = [engine.memory.recall(question) for question in QUESTIONS]
    return (
        [[(e.chunk.id, round(e.score, 5)) for e in result.evidence] for result in results],
        [[piece.fact.id for piece in recall.facts] for recall in recalled],
    )


def sound(db):
    with open_at(db) as engine:
        return engine.database.check() == []


def test_a_file_comes_back_from_a_server_as_it_was(filled, postgres_address, tmp_path):
    """Every row but the counters of the namespace; and both give the same answers on the way."""
    there = copy(filled, postgres_address)
    back = copy(postgres_address, tmp_path / "back.db")

    assert there.differences == back.differences == ()
    assert there.documents == len(NOTES)
    assert there.written == back.written
    assert logical.content(tmp_path / "back.db") == logical.content(filled)
    assert sound(tmp_path / "back.db")
    assert sound(postgres_address)
    assert answers(postgres_address) == answers(tmp_path / "back.db")
    assert answers(tmp_path / "back.db")[0][0]


def test_a_second_run_writes_only_what_differs(filled, tmp_path):
    """Changes of the source are copied; items that only the target has are reported, and deleted with `prune`."""
    here, there = tmp_path / "here.db", tmp_path / "there.db"
    fill(here)
    assert copy(here, there).written["document"] == len(NOTES)
    assert copy(here, there).written == {}
    with open_at(here) as engine:
        engine.add([note("Ledger", "The Ledger keeps most bookings.", owner="Payments Team")])
        engine.delete("notes/部署.md")
        engine.memory.recall("where does the user live")
        engine.store.graph.write_edit("alias", "ledger", "the books", undo=True)
        engine.store.annotations.write("graph.json", {})
        engine.store.write_calibration(None)
    again = copy(here, there)

    assert again.written["document"] == 1
    assert {(found.what, found.how) for found in again.differences} == {
        ("document", "extra"), ("edit", "extra"), ("import", "extra"), ("calibration", "extra"),
    }  # fmt: skip
    assert "notes/部署.md" in [found.name for found in again.differences]
    pruned = copy(here, there, prune=True)
    assert pruned.differences == ()
    assert pruned.removed["document"] == 1
    assert logical.content(there) == logical.content(here)


class Killed(Exception):
    """The process ended here."""


@contextmanager
def killed_at(database, write):
    """Let the write of this number fail just before its commit, as if the process was killed there."""
    connections, numbers = database._connections, itertools.count()

    def dying(real):
        @contextmanager
        def write_or_die(*arguments, **options):
            with real(*arguments, **options) as session:
                yield session
                if next(numbers) == write:
                    raise Killed

        return write_or_die

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(connections, "write", dying(connections.write))
        yield


def copy_killed_at(source, target, write):
    """Copy until the write of this number; return whether it was reached, and what is wrong with the target."""
    settings = [replace(SETTINGS, store=replace(SETTINGS.store, db=str(db))) for db in (source, target)]
    with closing(open_database(settings[0])) as here, closing(open_database(settings[1])) as there:
        try:
            with killed_at(there, write):
                copy_namespace(here.store("default"), there.store("default"))
            killed = False
        except Killed:
            killed = True
        return killed, [*there.check(), *there.compare()]


@pytest.mark.parametrize("kind", ["file", "server"])
def test_a_copy_killed_at_every_write_is_sound_and_resumes(filled, small_pages, request, tmp_path, kind):
    """Each run commits one write and dies at its second one; nothing is written twice."""
    target = tmp_path / "copy.db" if kind == "file" else request.getfixturevalue("postgres_address")
    for kills in range(100):
        killed, problems = copy_killed_at(filled, target, write=1)
        assert problems == [], f"after {kills} kills"
        if not killed:
            break
    done = copy(filled, target)

    assert len(NOTES) + 5 < kills < 99
    assert done.differences == ()
    assert done.written == {}
    if kind == "file":
        assert logical.content(target) == logical.content(filled)


@pytest.mark.faults
def test_a_new_copy_killed_at_every_write_is_sound_and_resumes(filled, small_pages, tmp_path):
    """Each run begins with an empty target."""
    for write in range(100):
        target = tmp_path / f"{write}.db"
        killed, problems = copy_killed_at(filled, target, write=write)
        assert problems == [], f"killed at write {write}"
        if not killed:
            break
        assert copy(filled, target).differences == ()
        assert logical.content(target) == logical.content(filled)
    assert len(NOTES) + 5 < write < 99


def test_an_embedder_adopted_for_copied_facts_comes_with_their_vectors(small_pages, tmp_path):
    """The facts were copied before the source had an embedder. The next copies die at each write."""
    here, there = tmp_path / "here.db", tmp_path / "there.db"
    with Engine(read_settings({"store.db": str(here), "models.embedder": "none"}, environment={})) as engine:
        for number in range(5):
            engine.memory.add(f"Person {number}", "lives_in", value="Paris")
    copy(here, there)
    with open_at(here) as engine:
        engine.reembed()
    for write in range(100):
        killed, problems = copy_killed_at(here, there, write=write)
        assert problems == []
        if not killed:
            break

    assert 5 < write < 99
    assert copy(here, there).written == {}
    assert logical.content(there) == logical.content(here)


def cut(dsn):
    """End every other connection to a database, as a server does that is stopped."""
    with psycopg.connect(dsn, autocommit=True) as server:
        server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_a_connection_lost_in_the_middle_is_said_and_the_next_run_goes_on(
    filled, small_pages, postgres_address, postgres_dsn, monkeypatch
):
    """No item is half written. A connection lost between two writes is opened again."""
    real = fact_store.restore_facts

    def lose(*arguments, **options):
        real(*arguments, **options)
        cut(postgres_dsn)

    with monkeypatch.context() as patched:
        patched.setattr(fact_store, "restore_facts", lose)
        with pytest.raises(StoreUnavailable, match="lost") as raised:
            copy(filled, postgres_address)
    assert "run the command again" in raised.value.hint
    assert sound(postgres_address)
    once = iter([True])
    done = copy(filled, postgres_address, on_step=lambda count: next(once, False) and cut(postgres_dsn))

    assert done.differences == ()
    assert "document" not in done.written
    assert done.written["fact"] == done.facts


def test_what_is_not_the_same_is_named(filled, tmp_path):
    """A changed vector, term or access count is reported."""
    copy(filled, tmp_path / "copy.db")
    here, there = SqliteDatabase(str(filled)), SqliteDatabase(str(tmp_path / "copy.db"))
    source, target = here.store("default"), there.store("default")
    assert list(compare(source, target)) == []
    (batch,) = target.batches([target.find_documents(Filter())[0].id])
    first = replace(batch.chunks[0], vector=batch.chunks[0].vector[::-1].copy())
    target.write(replace(batch, chunks=(first, *batch.chunks[1:])))
    fact = target.facts.facts_after("", limit=1)[0]
    target.facts.touch([fact.id], at=NOW + timedelta(days=30))
    found = {(item.what, item.name, item.how) for item in compare(source, target)}
    here.close()
    there.close()

    assert ("document", batch.document.source, "differs") in found
    assert ("fact", fact.id, "differs") in found


def test_what_a_server_cannot_hold_is_named_and_left_out(tmp_path, postgres_address):
    """The rest is copied."""
    db = tmp_path / "weft.db"
    with open_at(db) as engine:
        engine.add([*NOTES[:2], Document(source="nul.txt", title="Nul", text="before\0after")])
    receipt = copy(db, postgres_address)

    assert receipt.written["document"] == 2
    assert "nul.txt" in receipt.refused[0]
    assert [(found.name, found.how) for found in receipt.differences] == [("nul.txt", "missing")]


def test_what_cannot_be_copied_is_refused(filled, tmp_path):
    """The store itself, a namespace that is not there, another embedder there."""
    with pytest.raises(InputError, match="the same store"):
        copy(filled, filled)
    with pytest.raises(InputError, match="no namespace"):
        copy(filled, tmp_path / "copy.db", namespaces=["nobody"])
    with pytest.raises(InputError, match="does not exist"):
        copy(tmp_path / "none.db", tmp_path / "copy.db")
    with open_at(tmp_path / "other.db", embedder=FakeEmbedder(name="fake/other")) as engine:
        engine.add(NOTES[:1])
    with pytest.raises(SchemaMismatch, match="fake/other"):
        copy(filled, tmp_path / "other.db")


def test_a_store_in_memory_can_be_filled_too(filled):
    """The store that is short enough to read keeps to the same."""
    database = SqliteDatabase(str(filled))
    memory = MemoryDatabase().store("default")
    receipt = copy_namespace(database.store("default"), memory)
    database.close()

    assert receipt.differences == ()
    assert receipt.facts > 0
