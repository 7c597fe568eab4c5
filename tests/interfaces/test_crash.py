"""`kill -9` at any moment, Ctrl-C, and two processes on one file."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest
from logical import content

from weft.engine.opening.open_engine import open_engine
from weft.store.sqlite.database import SqliteDatabase

FILES = 60
KILLS = 2
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]
CHINESE = ["部署", "密钥", "检查"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Files with a few chunks each, some in Chinese, the same on every run."""
    folder = tmp_path_factory.mktemp("crash") / "corpus"
    folder.mkdir()
    chance = random.Random(7)
    for number in range(FILES):
        words = WORDS if number % 10 else WORDS + CHINESE
        sections = [
            f"## Part {part}\n\n" + " ".join(chance.choices(words, k=40)) + f" file{number}." for part in range(3)
        ]
        (folder / f"{number:03}.md").write_text(f"# File {number}\n\n" + "\n\n".join(sections) + "\n")
    return folder


@pytest.fixture(scope="module")
def expected(corpus):
    """Content of a store that was never interrupted."""
    db = corpus.parent / "whole.db"
    with open_engine(db, embedder="hash") as engine:
        engine.index(corpus)
    return content(db)


ENDLESS = """
import time
from weft.index import batch_writer

batch_writer.TEXTS_PER_GROUP = 8
batch_writer.FIRST_LOAD_SECONDS = batch_writer.FIRST_LOAD_SHARE = 0.0
flush = batch_writer.BatchWriter.flush
batch_writer.BatchWriter.flush = lambda self, source=None: flush(self, source) if source else time.sleep(600)
from weft.cli.entry import main
main()
"""
"""A command that writes a few documents at a time and never writes the last of them, so no signal comes too late."""


def start(folder, db, *arguments, program=("-m", "weft")):
    """Start `weft --db DB ARGUMENTS` in a folder without waiting for it."""
    return subprocess.Popen(
        [sys.executable, *program, "--db", str(db), *map(str, arguments)],
        cwd=folder,
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
        try:
            with closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as connection:
                if connection.execute("SELECT count(*) FROM document").fetchone()[0] >= count:
                    return
        except sqlite3.OperationalError:  # the file may not be made yet
            pass
        time.sleep(0.005)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
def test_killed_runs_leave_a_sound_store_that_goes_on(corpus, expected, seed):
    """Kills at random moments: the store opens, is sound, and ends up equal to an uninterrupted one."""
    chance = random.Random(seed)
    for kill in range(KILLS):
        db = corpus.parent / f"kill{seed}-{kill}.db"
        process = start(corpus.parent, db, "index", "corpus", "--quiet", program=("-c", ENDLESS))
        wait_for_documents(db, chance.randrange(FILES * 3 // 4), process)
        time.sleep(chance.random() * 0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        database = SqliteDatabase(str(db))
        assert database.check() == []
        assert database.store("default").stats().documents < FILES
        database.close()
        with open_engine(db, embedder="hash") as engine:
            receipt = engine.index(corpus)
            assert receipt.added + receipt.unchanged == FILES
            assert engine.database.check() == []
        assert content(db) == expected


def test_interrupting_keeps_what_was_done(tmp_path, corpus):
    """Ctrl-C ends with exit code 130 and one line, and the store is sound."""
    db = tmp_path / "weft.db"
    process = start(corpus.parent, db, "index", "corpus", program=("-c", ENDLESS))
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
        writers = [start(folder.parent, db, "index", folder.name, "--quiet") for folder in (corpus, other)]
        asked = 0
        while any(writer.poll() is None for writer in writers):
            result = engine.query("alpha kappa", gate=False)
            assert result.status in ("no_match", "ok", "degraded")
            asked += 1
            time.sleep(0.01)  # or asking takes the processor that writing needs
        for writer in writers:
            _, errors = writer.communicate()
            assert writer.returncode == 0, errors

        assert asked > 1
        assert engine.stats().documents == 2 * FILES
        assert engine.database.check() == []
