"""Migration of older SQLite files: in steps, with progress, resumed after an interruption."""

import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from contextlib import closing
from itertools import pairwise

import apsw
import pytest

from weft.errors import SchemaMismatch, StoreUnavailable
from weft.store.sql_files import load_migrations
from weft.store.sqlite import migration
from weft.store.sqlite.connect import read_version
from weft.store.sqlite.database import SqliteDatabase

CHUNKS = 5
FIRST = 13
"""Schema of 0.1.0."""


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr(migration, "MAX_BATCH_ROWS", 2)


@pytest.fixture
def old(tmp_path):
    """Give a file of schema 13 with names, nominations, claims and vectors in several batches."""
    path = tmp_path / "old.db"
    with closing(apsw.Connection(str(path))) as db:
        for number, statements in load_migrations("sqlite").items():
            if number <= FIRST:
                db.execute(statements)
        db.execute("INSERT INTO namespace VALUES (1, 'default', 1, 5, 5)")
        db.execute("INSERT INTO document VALUES (1, 1, 'd1', 'a.md', 'A', '{}', '', 'line')")
        db.execute("INSERT INTO model VALUES (1, 1, 'm', 'f', 3, 1)")
        for n in range(1, CHUNKS + 1):
            one = bytes.fromhex("0000803f0000000000000000")  # 1, 0, 0 as float32
            text = f"Alpha was founded by Beta in 180{n}. " * 4
            terms = f'{{"180{n}": 4, "alpha": 4, "beta": 4, "by": 4, "found": 4, "in": 4, "was": 4}}'
            row = (n, f"c{n:024x}", n, text, terms)
            db.execute("INSERT INTO chunk VALUES (?, 1, 1, ?, ?, '[]', 1, 1, ?, ?, 1)", row)
            db.execute("INSERT INTO chunk_terms (namespace, chunk) VALUES (1, ?)", (n,))
            db.execute("INSERT INTO chunk_vector (chunk, model, vector) VALUES (?, 1, ?)", (n, one))
            db.execute("INSERT INTO entity_vector VALUES (?, 'alpha', 1, ?)", (n, one))
            for kind, rank in (("title", 0), ("definition", 1)):
                db.execute(
                    "INSERT INTO nomination (namespace, chunk, document, origin, key, name, kind, vote, rank, type,"
                    " description, about, alias_of, reason)"
                    " VALUES (1, ?, 1, '', ?, ?, ?, 2, ?, '', ?, 1, '', '')",
                    (n, f"alpha {n % 3}", "ALPHA" if n == 4 else "Alpha", kind, rank, f"Alpha is number {n}."),
                )
            db.execute(
                "INSERT INTO claim VALUES (1, ?, '', ?, 'beta', 'uses', 7.0, '', ?, '')", (n, f"alpha {n % 3}", n)
            )
            key = f"entity {n}"
            db.execute("INSERT INTO entity VALUES (?, 1, ?, ?, 1, ?, '', 0, 0, ?)", (n, f"e{n:024x}", key, key, n))
        db.execute(f"PRAGMA application_id = {migration.APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {FIRST}")
    return path


def dump(path):
    """Return all rows of all tables."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
        rows = {name: sorted(db.execute(f'SELECT * FROM "{name}"').fetchall(), key=repr) for name in tables}
        return rows, db.execute("PRAGMA user_version").get


def migrate(path, on_migrate=None):
    SqliteDatabase(str(path), on_migrate=on_migrate).close()


def test_the_progress_counts_rows_to_the_end(old):
    """It rises in bounded steps, and its total is known at the beginning."""
    reports = []
    migrate(old, lambda done, total: reports.append((done, total)))

    assert len({total for _, total in reports}) == 1
    assert reports[-1][0] == reports[-1][1]
    assert all(0 <= after - before <= 2 for (before, _), (after, _) in pairwise(reports))


def test_a_migration_that_is_interrupted_after_any_step_resumes(old, tmp_path):
    """The result is that of a migration without interruption, and older versions refuse the file in between."""
    whole = tmp_path / "whole.db"
    shutil.copy(old, whole)
    reports = []
    migrate(whole, lambda done, total: reports.append(done))
    for fault in range(len(reports) - 1):
        path = tmp_path / f"{fault}.db"
        shutil.copy(old, path)

        with pytest.raises(InterruptedError):
            migrate(path, fail_after(fault))
        with closing(apsw.Connection(str(path))) as db:
            version = db.execute("PRAGMA user_version").get
            tables = {name for (name,) in db.execute("SELECT name FROM sqlite_schema")}
        assert (version > migration.UNFINISHED) == ("migration" in tables)
        assert FIRST <= read_version(str(path)) < max(load_migrations("sqlite"))
        migrate(path)
        assert dump(path) == dump(whole)


def fail_after(steps):
    """Return a progress callback that raises once after this number of steps."""
    left = [steps]

    def report(done, total):
        left[0] -= 1
        if left[0] < 0:
            raise InterruptedError

    return report


KILLED = """
import os, signal, sys
from weft.store.sqlite import migration
from weft.store.sqlite.database import SqliteDatabase

migration.MAX_BATCH_ROWS = 2
reports = []

def report(done, total):
    reports.append(done)
    if len(reports) == 9:
        os.kill(os.getpid(), signal.SIGKILL)

SqliteDatabase(sys.argv[1], on_migrate=report)
"""


def test_a_killed_migration_resumes(old, tmp_path):
    """The steps that were committed before SIGKILL are not run again."""
    whole = tmp_path / "whole.db"
    shutil.copy(old, whole)
    steps = []
    migrate(whole, lambda done, total: steps.append(done))
    killed = subprocess.run([sys.executable, "-c", KILLED, str(old)], env=os.environ, check=False)
    assert killed.returncode == -signal.SIGKILL

    reports = []
    migrate(old, lambda done, total: reports.append(done))
    assert len(reports) == len(steps) - 9
    assert dump(old) == dump(whole)


def test_terms_vectors_descriptions_and_names_are_read_as_before(old):
    """They are stored in fewer bytes."""
    with closing(SqliteDatabase(str(old))) as database:
        (document,) = database.store("default").batches(["d1"])
        third = document.chunks[2]
        assert third.chunk.text == "Alpha was founded by Beta in 1803. " * 4
        assert third.terms == {"1803": 4, "alpha": 4, "beta": 4, "by": 4, "found": 4, "in": 4, "was": 4}
        assert third.vector.tolist() == [1.0, 0.0, 0.0]
        described = {(item.kind, item.description) for item in third.extraction.nominations}
        assert described == {("title", "Alpha is number 3."), ("definition", "Alpha is number 3.")}
        names = [item.name for chunk in document.chunks for item in chunk.extraction.nominations]
        assert sorted(names) == ["ALPHA"] * 2 + ["Alpha"] * 8
    rows, _ = dump(old)
    assert all(len(row[9]) < 70 for row in rows["chunk"])
    assert Counter(row[6] for row in rows["nomination"]) == {None: 8, "ALPHA": 2}


def test_a_note_says_what_can_be_freed(old):
    """The first process after the migration says it, the next one does not."""
    with closing(SqliteDatabase(str(old))) as database:
        (note,) = database.notes
        assert note.startswith(f"migrated from schema {FIRST} to ") and "`weft compact` frees" in note
    with closing(SqliteDatabase(str(old))) as database:
        assert database.notes == ()


def test_a_file_that_another_process_uses_is_not_migrated(old, monkeypatch):
    """An older version could write old rows between two steps."""
    monkeypatch.setattr("weft.store.sqlite.connect.BUSY_TIMEOUT_MS", 0)
    with closing(apsw.Connection(str(old))) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("SELECT count(*) FROM chunk").fetchall()
        with pytest.raises(StoreUnavailable, match="another process uses the file"):
            migrate(old)
        assert read_version(str(old)) == FIRST
    migrate(old)
    assert read_version(str(old)) == max(load_migrations("sqlite"))


def test_an_unfinished_migration_to_a_newer_schema_is_refused(old):
    """Its steps are unknown."""
    with closing(apsw.Connection(str(old))) as db:
        db.execute(f"PRAGMA user_version = {migration.UNFINISHED + 900}")
    with pytest.raises(SchemaMismatch):
        migrate(old)
