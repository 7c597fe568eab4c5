"""Random kills of a process that writes: acknowledged calls survive, and the store stays sound."""

import time
from collections import Counter

import psycopg
import pytest
from fault_settings import chance, count
from store_state import lost
from store_writer import VERBS, read_journal

KILLS_PER_STORE = 50
"""Kills after which a new, empty store is used, so that kills also hit its creation."""
KILLS_PER_DEEP_CHECK = 10
MAX_VERBS, MAX_SECONDS = 12, 0.03
"""A process is killed at most so many seconds after at most so many verbs."""


@pytest.fixture
def new_store(request, tmp_path, kind):
    """Give a function that makes an empty store and the folder of its writer."""
    made = []

    def make():
        folder = tmp_path / f"store{len(made)}"
        folder.mkdir()
        made.append(folder)
        if kind == "sqlite":
            return str(folder / "weft.db"), folder
        import postgres

        dsn = request.getfixturevalue("postgres_dsn")
        postgres.empty(dsn)
        return postgres.address(dsn), folder

    return make


def wait_for_server(db):
    """Wait until the server has ended the sessions of killed clients: a commit may be on its way."""
    with psycopg.connect(db, autocommit=True) as connection:
        others = "datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        for _ in range(2000):
            if not connection.execute(f"SELECT count(*) FROM pg_stat_activity WHERE {others}").fetchone()[0]:
                return
            time.sleep(0.005)
    raise AssertionError("the server keeps a session of a killed client")


def kill_once(fork_server, db, folder, *, seed, lines, seconds):
    """Start a writer, kill it, and return how it ended and its journal."""
    journal = folder / "journal"
    journal.unlink(missing_ok=True)
    ended = fork_server.call(
        "store_writer:write", kill=(str(journal), lines, seconds), db=db, folder=str(folder), seed=seed
    )
    assert ended.status == -9 and not ended.timed_out, f"the writer failed by itself ({seed=})\n{ended.errors}"
    return read_journal(journal)


@pytest.mark.parametrize("kind, kills", [("sqlite", 1000), ("postgres", 200)])
def test_a_killed_process_loses_nothing_acknowledged(fork_server, new_store, kind, kills):
    """
    After every kill: state as acknowledged, `check` sound. After every tenth, and at the end: `check --deep` sound.

    The verb in progress may be done, not done, or done for some of its items; it may touch nothing else.
    """
    random, killed, done = chance("kills", kind), Counter(), Counter()
    total = count(kills)
    for number in range(total):
        if number % KILLS_PER_STORE == 0:
            (db, folder), known = new_store(), {}
        seed = random.randrange(10**9)
        lines, seconds = random.randrange(2 * MAX_VERBS), random.random() * MAX_SECONDS
        acknowledged, begun, allowed, finished, wrong = kill_once(
            fork_server, db, folder, seed=seed, lines=lines, seconds=seconds
        )
        if kind == "postgres":
            wait_for_server(db)
        deep = number % KILLS_PER_DEEP_CHECK == 0 or number == total - 1
        found = fork_server.value("store_writer:inspect", db=db, deep=deep)
        context = f"kill {number}, {seed=}, in progress: {begun or 'none'}"
        assert wrong == [], context
        assert lost(acknowledged or known, found["state"], allowed) == {}, context
        assert found["problems"] == [], context
        if (folder / "copy.db").exists():
            assert fork_server.value("store_writer:inspect", db=str(folder / "copy.db"), deep=False)["problems"] == []
        known = found["state"]
        killed[begun] += 1
        done.update(finished)
        if (number + 1) % KILLS_PER_STORE == 0 or number + 1 == total:
            print(f"\n{kind}: {number + 1} kills, {done.total()} verbs acknowledged; killed during {dict(killed)}")
    if total == kills:
        assert {verb.__name__ for verb in VERBS} <= done.keys()
