"""Several processes index one corpus with the same result as one process, even if workers are killed."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import psycopg
import pytest
from logical import content
from psycopg.conninfo import conninfo_to_dict

import weft.engine.worker_pool as working
from weft.engine.opening.open_engine import open_engine
from weft.engine.worker_process import work
from weft.errors import ConfigError, WeftError
from weft.records import JobCounts
from weft.store.sqlite.database import SqliteDatabase
from weft.testing import FakeEmbedder

SAMPLE = Path(__file__).parents[2] / "examples" / "corpus"
PARTS = [SAMPLE / part for part in ("services", "code", "zh")]
"""A third of the corpus: front matter, code and two languages."""

FILES = 60
ASIDE = {"number", "weights"}  # weights go by the mean length there was, which depends on the order of writes
REFER = {"document", "chunk", "model", "entity", "head", "source", "target"}
QUIET = {"memory_from_files": False}  # facts have the time at which they were read

SLOW = """
import sys, threading, time
from weft.engine.opening.open_engine import open_engine
from weft.engine.worker_process import work
from weft.models.embedders.hashing import HashEmbedder

class Slow(HashEmbedder):
    def embed(self, texts, **options):
        print("begun", flush=True)
        time.sleep(600)

engine = open_engine(sys.argv[1], embedder=Slow(), memory_from_files=False)
work(engine, threading.Event(), lease=float(sys.argv[2]))
"""


@pytest.fixture
def corpus(tmp_path):
    """Files of eight chunks each, so that a transaction holds eight of them and a run takes several."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number in range(FILES):
        parts = [f"## Part {part}\n\n" + f"Alpha {number} depends on Beta {part}. " * 10 for part in range(8)]
        (folder / f"{number:03}.md").write_text(f"# File {number}\n\n" + "\n\n".join(parts) + "\n")
    return folder


@pytest.fixture
def server(postgres_dsn):
    """The address of a database that holds nothing, as `--db` takes it."""
    return f"postgresql:///?{urlencode(conninfo_to_dict(postgres_dsn))}"


def start(folder, db, *arguments):
    """Start `weft --db DB ARGUMENTS` in a session of its own, without waiting for it."""
    return subprocess.Popen(
        [sys.executable, "-m", "weft", "--db", str(db), *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "WEFT_EMBEDDER": "hash", "WEFT_MEMORY_FROM_FILES": "false"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        start_new_session=True,
    )


def rows(engine, dsn):
    """Return every row of a PostgreSQL database by table, numbers replaced by what they stand for, deltas folded."""
    engine.database.compact()
    with psycopg.connect(dsn) as db:
        db.execute("SET row_security = off")
        names = {}
        for table, key in (("document", "id"), ("chunk", "id"), ("model", "fingerprint"), ("entity", "key")):
            names |= dict(db.execute(f"SELECT number, '{table} ' || {key} FROM weft.{table}").fetchall())
        found = {}
        listed = db.execute(
            "SELECT table_name, column_name, data_type FROM information_schema.columns JOIN pg_class"
            " ON relname = table_name AND relnamespace = 'weft'::regnamespace AND NOT relispartition"
            " WHERE table_schema = 'weft' AND table_name NOT IN"
            " ('namespace', 'schema_version', 'number', 'job', 'change') ORDER BY table_name, ordinal_position"
        ).fetchall()
        for table in {name for name, _, _ in listed}:
            columns = [(name, kind) for owner, name, kind in listed if owner == table and name not in ASIDE]
            parts = ", ".join(name if kind == "bigint" else f"{name}::text" for name, kind in columns)
            refer = [kind == "bigint" and name in REFER for name, kind in columns]
            groups = ""
            if table == "posting":  # blocks and places depend on the numbers of this database
                parts, groups = "namespace, term, sum(octet_length(entries))", "GROUP BY namespace, term"
                refer = [False, False, False]
            values = db.execute(f"SELECT {parts} FROM weft.{table} {groups}").fetchall()
            found[table] = sorted(
                str([names[v] if is_reference else v for v, is_reference in zip(row, refer, strict=True)])
                for row in values
            )
        return found


def counts(db):
    """Return how many jobs and documents a SQLite file holds."""
    database = SqliteDatabase(str(db))
    store = database.store("default")
    found = store.jobs.counts(), store.stats().documents
    database.close()
    return found


def wait_for(condition, process):
    """Wait until something is so, or the process has ended."""
    while process.poll() is None:
        try:
            if condition():
                return
        except WeftError:  # the file may not be made yet
            pass
        time.sleep(0.01)


def test_two_workers_leave_in_postgresql_what_one_leaves(server):
    """Every row is the same but for its number, and so is the receipt; the next run finds nothing to do."""
    with open_engine(server, embedder="hash", **QUIET) as engine:
        alone = engine.index(*PARTS)
        expected = rows(engine, server)
        engine.database.drop("default")
        together = engine.index(*PARTS, workers=2)

        assert replace(together, seconds=0) == replace(alone, seconds=0)
        found = rows(engine, server)
        assert {table: len(values) for table, values in found.items()} == {t: len(v) for t, v in expected.items()}
        assert found == expected
        assert engine.store.jobs.counts() == JobCounts()
        assert engine.database.check() == []
        assert engine.index(*PARTS, workers=2).unchanged == alone.added


def test_the_jobs_of_a_killed_worker_are_done_by_another(server, tmp_path):
    """`kill -9` in the middle of its jobs: after its lease another one does them, and nothing is there twice."""
    with open_engine(server, embedder="hash", **QUIET) as engine:
        few = SAMPLE / "services"
        alone = engine.index(few)
        expected = rows(engine, server)
        engine.database.drop("default")
        receipts = []
        handing = threading.Thread(target=lambda: receipts.append(engine.index(few, workers=0)))
        victim = subprocess.Popen([sys.executable, "-c", SLOW, server, "1"], stdout=subprocess.PIPE, text=True)
        handing.start()
        assert victim.stdout.readline() == "begun\n"
        claimed = engine.store.jobs.counts().running
        victim.kill()
        victim.communicate()
        heir = start(tmp_path, server, "worker", "--until-empty", "--lease", "5", "--json")
        output, errors = heir.communicate(timeout=120)
        handing.join(timeout=60)

        assert heir.returncode == 0, errors
        assert claimed > 0
        assert f'"done": {alone.added}' in output
        assert replace(receipts[0], seconds=0) == replace(alone, seconds=0)
        assert rows(engine, server) == expected
        assert engine.database.check() == []


def test_a_worker_of_a_pool_that_dies_is_replaced(tmp_path, corpus, monkeypatch):
    """Its jobs are given back at once, and the run ends as if nothing had been."""
    with open_engine(tmp_path / "alone.db", embedder="hash", **QUIET) as engine:
        alone = engine.index(corpus)
    started = []
    start_one = working.ProcessPool._start

    def noted(pool):
        started.append(start_one(pool))
        return started[-1]

    monkeypatch.setattr(working.ProcessPool, "_start", noted)

    def kill_one(step):
        if len(started) == 2:
            started[0].process.kill()

    with open_engine(tmp_path / "together.db", embedder="hash", **QUIET) as engine:
        receipt = engine.index(corpus, workers=2, on_step=kill_one)
        assert engine.database.check() == []

    assert len(started) == 3
    assert not any(place.process.is_alive() for place in started)
    assert replace(receipt, seconds=0) == replace(alone, seconds=0)
    assert content(tmp_path / "together.db") == content(tmp_path / "alone.db")
    assert counts(tmp_path / "together.db") == (JobCounts(), FILES)


def stop_midway(folder, stop):
    """Start runs until `stop` ends one of them in the middle; return its file, the process and its messages."""
    for attempt in range(10):
        db = folder / f"{attempt}.db"
        process = start(folder, db, "index", "corpus", "--workers", "2")
        wait_for(lambda: counts(db)[1] > 0, process)  # noqa: B023
        stop(process)
        _, errors = process.communicate(timeout=120)  # ends when the workers have closed what they inherited
        if counts(db)[1] < FILES:
            return db, process, errors
    pytest.fail("every run was done before it could be stopped")


def test_interrupting_a_pool_leaves_a_sound_store_and_no_jobs(tmp_path, corpus):
    """Ctrl-C ends with one line and exit code 130; the next run goes on from there."""
    db, process, errors = stop_midway(tmp_path, lambda process: os.killpg(process.pid, signal.SIGINT))

    assert process.returncode == 130, errors
    assert "interrupted" in errors
    assert "Traceback" not in errors
    jobs, documents = counts(db)
    assert jobs == JobCounts()
    assert 0 < documents < FILES
    with open_engine(db, embedder="hash", **QUIET) as engine:
        assert engine.database.check() == []
        receipt = engine.index(corpus)
        assert (receipt.added, receipt.unchanged) == (FILES - documents, documents)


def test_workers_end_with_who_started_them(tmp_path, corpus):
    """`kill -9` of the run: its workers stop, its jobs stay, and a run without workers overtakes them."""
    db, _, _ = stop_midway(tmp_path, subprocess.Popen.kill)
    jobs, documents = counts(db)

    assert jobs.running == 0
    assert jobs.waiting > 0
    with open_engine(db, embedder="hash", **QUIET) as engine:
        assert engine.database.check() == []
        assert engine.index(corpus).added == FILES - documents
        assert engine.store.jobs.counts().open == 0
        assert engine.database.check() == []


def test_a_worker_ends_when_it_is_told_to(tmp_path):
    """SIGTERM is no failure."""
    db = tmp_path / "weft.db"
    process = start(tmp_path, db, "worker")
    wait_for(db.exists, process)  # by then it hears signals
    process.terminate()
    _, errors = process.communicate(timeout=60)

    assert process.returncode == 0, errors
    assert "indexed 0 documents" in errors


def test_a_worker_goes_by_the_embedder_of_the_namespace(tmp_path, corpus):
    """It never gives one to a namespace: neither to a new one nor to one that does without."""
    db, stop = tmp_path / "weft.db", threading.Event()
    with open_engine(db, embedder="hash", **QUIET) as engine:
        assert work(engine, stop, until="empty").done == 0
        assert engine.store.models() == []
        receipts = []

        def hand_out():
            with open_engine(db, embedder="none", **QUIET) as other:
                receipts.append(other.index(corpus, workers=0))
            stop.set()

        handing = threading.Thread(target=hand_out)
        handing.start()
        tally = work(engine, stop)
        handing.join()

        assert (tally.done, receipts[0].added, receipts[0].embedded) == (FILES, FILES, 0)
        assert engine.store.models() == []
        assert engine.database.check() == []


def test_what_cannot_be_shared_has_no_workers(tmp_path, corpus):
    """A store in memory, an embedder of the caller's own, a number that is none."""
    with open_engine(":memory:", embedder="hash") as engine, pytest.raises(ConfigError, match="in memory"):
        engine.index(corpus, workers=2)
    with (
        open_engine(tmp_path / "own.db", embedder=FakeEmbedder()) as engine,
        pytest.raises(ConfigError, match="object"),
    ):
        engine.index(corpus, workers=2)
    with open_engine(tmp_path / "many.db", embedder="hash") as engine, pytest.raises(ConfigError, match="-1"):
        engine.index(corpus, workers=-1)


def test_a_pool_that_cannot_work_says_why(tmp_path, corpus, monkeypatch):
    """The error of the last worker is that of the run."""
    with open_engine(tmp_path / "weft.db", embedder="hash") as engine:
        components = engine.indexing.components()
        values = replace(engine.settings, models=replace(engine.settings.models, embedder="no/such"))
        values = replace(values, origins={"models.embedder": "flag"})
        with pytest.raises(WeftError, match="unknown embedder"):
            working.index_with_workers([*engine_documents(engine, corpus)], components, values, size=1, is_custom=False)
        assert engine.store.jobs.counts() == JobCounts()


def engine_documents(engine, corpus):
    from weft.load.run import iter_documents

    return iter_documents([corpus], options=engine.settings.load, base=engine.base)
