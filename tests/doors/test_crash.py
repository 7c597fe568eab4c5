"""`kill -9` at any moment, Ctrl-C, and two processes on one file."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest
from logical import content

from weft.engine.engine import open_engine
from weft.errors import WeftError
from weft.store.sqlite.database import SqliteDatabase

FILES = 60
KILLS = 20
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "部署", "密钥", "检查"]


@pytest.fixture
def corpus(tmp_path):
    """Files with a few chunks each, the same on every run."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    chance = random.Random(7)
    for number in range(FILES):
        sections = [
            f"## Part {part}\n\n" + " ".join(chance.choices(WORDS, k=120)) + f" file{number}." for part in range(3)
        ]
        (folder / f"{number:03}.md").write_text(f"# File {number}\n\n" + "\n\n".join(sections) + "\n")
    return folder


def start(tmp_path, db, *arguments):
    """Start `weft --db DB ARGUMENTS` without waiting for it."""
    return subprocess.Popen(
        [sys.executable, "-m", "weft", "--db", str(db), *map(str, arguments)],
        cwd=tmp_path,
        env={**os.environ, "WEFT_EMBEDDER": "hash"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_interrupts,
    )


def hear_interrupts():
    """A test run in the background ignores Ctrl-C, and what it starts would too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def wait_for_documents(db, count, process):
    """Wait until the store holds so many documents or the process is done."""
    while process.poll() is None:
        if db.exists():
            try:
                database = SqliteDatabase(str(db))
                found = database.store("default").stats().documents
                database.close()
                if found >= count:
                    return
            except WeftError:  # the file may not be made yet
                pass
        time.sleep(0.005)


def test_killed_runs_leave_a_sound_store_that_goes_on(tmp_path, corpus):
    """Twenty kills at random moments: the store opens, is sound, and ends up equal to an uninterrupted one."""
    with open_engine(tmp_path / "whole.db", embedder="hash") as engine:
        engine.index(corpus)
    expected = content(tmp_path / "whole.db")
    chance = random.Random(11)
    interrupted = 0
    for kill in range(KILLS):
        db = tmp_path / f"kill{kill}.db"
        process = start(tmp_path, db, "index", "corpus", "--quiet")
        wait_for_documents(db, chance.randrange(FILES), process)
        time.sleep(chance.random() * 0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        database = SqliteDatabase(str(db))
        assert database.check() == []
        interrupted += database.store("default").stats().documents < FILES
        database.close()
        with open_engine(db, embedder="hash") as engine:
            receipt = engine.index(corpus)
            assert receipt.added + receipt.unchanged == FILES
            assert engine.database.check() == []
        assert content(db) == expected

    assert interrupted >= KILLS / 2, "the kills came too late to test anything"


def test_interrupting_keeps_what_was_done(tmp_path, corpus):
    """Ctrl-C ends with exit code 130 and one line, and the store is sound."""
    db = tmp_path / "weft.db"
    process = start(tmp_path, db, "index", "corpus")
    wait_for_documents(db, 20, process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)

    assert process.returncode == 130, errors
    assert "interrupted" in errors
    assert "Traceback" not in errors
    database = SqliteDatabase(str(db))
    assert database.check() == []
    assert 20 <= database.store("default").stats().documents < FILES
    database.close()


def test_two_processes_index_one_file_while_a_third_asks(tmp_path, corpus):
    """Writers take turns, readers never fail, and nothing is lost."""
    other = tmp_path / "other"
    other.mkdir()
    for path in corpus.iterdir():
        (other / path.name).write_text(path.read_text().replace("File", "Other"))
    db = tmp_path / "weft.db"
    with open_engine(db, embedder="hash") as engine:
        writers = [start(tmp_path, db, "index", name, "--quiet") for name in ("corpus", "other")]
        asked = 0
        while any(writer.poll() is None for writer in writers):
            result = engine.query("alpha kappa", gate=False)
            assert result.status in ("no_match", "ok", "degraded")
            asked += 1
        for writer in writers:
            _, errors = writer.communicate()
            assert writer.returncode == 0, errors

        assert asked > 1
        assert engine.stats().documents == 2 * FILES
        assert engine.database.check() == []
