"""Processes that find mentions: the same as this process finds, also when they fail."""

import sys
from collections import defaultdict

import pytest
from contract import MODEL
from graph_making import batch_of, view

from weft.extract.mentions import find_mentions
from weft.extract.names import LazyWords, NameSet
from weft.store.mention_readers import reader_pool
from weft.store.mention_readers.reader_pool import ReaderPool, TextBatch
from weft.store.relational import graph_mentions
from weft.store.sqlite.database import SqliteDatabase

NAMES = ["paris", "cafe de flore", "auth service", "水星", "a\nline"]
TEXTS = {
    1: "Paris has the Café de Flore. The Auth Service is in Paris.",
    2: "水星是行星。",
    3: "Nothing is here, not even “quotes” or \n lines.",
    4: "",
}
SUBJECTS = defaultdict(set, {1: {"paris", "unknown"}, 2: {"水星"}})
BATCHES = [TextBatch({number: TEXTS[number]}, SUBJECTS) for number in TEXTS]

FAILING = {
    "ends at once": "pass",
    "cannot be read": "import sys; sys.stdin.readline(); sys.stdin.readline(); print('[[[99, 1], []]]')",
    "leaves texts out": "import sys; sys.stdin.readline(); sys.stdin.readline(); print('[]')",
}


def read(batch):
    known = NameSet(dict.fromkeys(NAMES))
    return [
        find_mentions(text, known=known, about=batch.subjects[number], found=LazyWords(text))
        for number, text in batch.texts.items()
    ]


def read_all(pool, read_here):
    found = pool.read(NAMES, iter(BATCHES), read_here=read_here)
    return {number: one for batch, named in found for number, one in zip(batch.texts, named, strict=True)}


def test_a_process_finds_what_this_one_finds():
    here = []

    def read_late(batch):
        """Read the first batch after the process has answered, so that it has its share."""
        with pool._changed:
            assert here or pool._changed.wait_for(lambda: pool._answers, 60)
        here.append(batch)
        return read(batch)

    pool = ReaderPool(1)
    try:
        found = read_all(pool, read_late)
    finally:
        pool.close()
    assert len(here) < len(BATCHES)
    assert found == {number: one for batch in BATCHES for number, one in zip(batch.texts, read(batch), strict=True)}
    assert found[1].counts == {"paris": 2, "cafe de flore": 1, "auth service": 1}


@pytest.mark.parametrize("program", FAILING.values(), ids=FAILING)
def test_nothing_is_lost_if_processes_fail(program):
    pool = ReaderPool(2, command=(sys.executable, "-c", program))
    try:
        found = read_all(pool, read)
    finally:
        pool.close()
    assert found.keys() == TEXTS.keys()
    assert found[1].counts["paris"] == 2


def test_no_error_of_a_thread_loses_texts(monkeypatch):
    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(reader_pool, "_receive", fail)
    pool = ReaderPool(2)
    try:
        assert read_all(pool, read).keys() == TEXTS.keys()
    finally:
        pool.close()


def test_without_processes_everything_is_read_here():
    pool = ReaderPool(2, command=("no-such-program",))
    assert read_all(pool, read).keys() == TEXTS.keys()
    pool.close()


def test_a_first_load_gets_the_same_graph(tmp_path, monkeypatch):
    seen = []
    for least in (1, 100):
        monkeypatch.setattr(graph_mentions, "MIN_READERS_CHUNKS", least)
        monkeypatch.setattr(graph_mentions, "MIN_BULK_CHUNKS", 1)
        monkeypatch.setattr(graph_mentions, "usable_cores", lambda: 2)
        database = SqliteDatabase(str(tmp_path / f"{least}.db"))
        store = database.store("default")
        store.write_model(MODEL)
        for source in ("Paris", "Lyon", "Nice"):
            store.write(batch_of(source, [f"{source} is far from Lyon and Nice.", "Paris."]), defer_graph=True)
        store.settle_graph()
        assert database.check() == []
        seen.append(view(store))
        database.close()
    assert seen[0] == seen[1]
