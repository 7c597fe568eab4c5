"""Counters and postings of PostgreSQL that writes append and that are folded later."""

import random
import threading

import psycopg
import pytest
from contract import EVERYTHING, MODEL
from graph_making import NAMES, batch_of
from logical import content
from postgres import IS_CITUS, bind

from weft.store.postgres import deltas
from weft.store.postgres.database import PostgresDatabase
from weft.store.postgres.session import PostgresSession
from weft.store.sqlite.database import SqliteDatabase
from weft.text.ids import document_id

TEXTS = {
    name: [f"The {name} of Paris asks the Auth Service (AS).", f"{NAMES[place - 1]} and 密钥 in the Ledgers of Paris."]
    for place, name in enumerate(NAMES[:10])
}
TERMS = ["pari", "auth", "ledger", "ask", "sr", "c"]
DERIVED = {"posting", "term", "namespace"}
"""Tables with rows that writes would share."""


@pytest.fixture
def database(postgres_dsn):
    with_model = PostgresDatabase(postgres_dsn)
    with_model.store("default").write_model(MODEL)
    yield with_model
    with_model.close()


@pytest.fixture
def file(tmp_path):
    database = SqliteDatabase(str(tmp_path / "expected.db"))
    database.store("default").write_model(MODEL)
    yield database
    database.close()


def pending(dsn):
    """Return the numbers of rows in the tables of deltas."""
    with psycopg.connect(dsn) as db:
        bind(db, "default")
        counts = [
            db.execute(f"SELECT count(*) FROM weft.{name}").fetchone() for name in ("write_delta", "mention_delta")
        ]
    return tuple(count for (count,) in counts)


def answers(store):
    """Return everything that counters and postings change for a reader."""
    found = store.stats()
    ranked = {term: store.search_keyword([term], limit=9, where=EVERYTHING) for term in TERMS}
    best = store.search_keyword(TERMS, limit=9, where=EVERYTHING)
    return {
        "counts": (found.documents, found.chunks, found.terms),
        "statistics": store.keyword_statistics(TERMS),
        "ranked": {term: [(hit.chunk_id, round(hit.score, 9)) for hit in found.hits] for term, found in ranked.items()},
        "best": [(hit.chunk_id, round(hit.score, 9)) for hit in best.hits],
        "chunks": sorted(store.find_chunks_with_terms([["pari", "ledger"]], limit=99)[0] or ()),
        "entities": [(entity.name, entity.mentions, entity.chunks) for entity in store.graph.top_entities(limit=9)],
    }


def test_two_writers_give_what_one_gives_before_and_after_folding(database, file, postgres_dsn, tmp_path):
    """Each writes half of the documents; one of them replaces and deletes some, too."""
    store, expected = database.store("default"), file.store("default")
    halves = [NAMES[:10:2], NAMES[1:10:2]]

    def write(names, target):
        for name in names:
            target.write(batch_of(name, TEXTS[name]))
        target.write(batch_of(names[0], ["Another text of Paris."]))
        target.delete([document_id("default", names[1])])

    threads = [threading.Thread(target=write, args=[half, store]) for half in halves]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for half in halves:
        write(half, expected)
    assert min(pending(postgres_dsn)) > 10
    for _ in range(2):
        assert answers(store) == answers(expected)
        assert database.check() == []
        assert content(postgres_dsn) == content(tmp_path / "expected.db")
        database.compact()
        assert pending(postgres_dsn) == (0, 0)


@pytest.mark.parametrize("seed", [1, 2])
def test_histories_with_folding_at_any_time_are_those_of_a_file(
    database, file, postgres_dsn, tmp_path, monkeypatch, seed
):
    """Documents come, change and go; a bound is sometimes reached within a write."""
    chance = random.Random(seed)
    store, expected = database.store("default"), file.store("default")
    for step in range(24):
        monkeypatch.setattr(deltas, "MAX_PENDING_CHUNKS", chance.choice([1, 6, 99]))
        names = chance.sample(NAMES[:6], 2)
        if chance.random() < 0.3:
            ids = [document_id("default", name) for name in names]
            assert store.delete(ids) == expected.delete(ids)
        else:
            texts = [chance.choice(TEXTS[name]) for name in chance.sample(NAMES[:6], 3)]
            batches = [batch_of(name, texts[: chance.randint(1, 3)]) for name in names]
            store.write(*batches)
            expected.write(*batches)
        if step % 8 == 7:
            assert answers(store) == answers(expected)
            assert content(postgres_dsn) == content(tmp_path / "expected.db")
    assert database.check() == []


def test_a_bound_of_pending_writes_is_kept(database, postgres_dsn, monkeypatch):
    """Whoever finds more folds all."""
    monkeypatch.setattr(deltas, "MAX_PENDING_ROWS", 4)
    store, counts = database.store("default"), []
    for place in range(9):
        store.write(batch_of("Paris", [f"Text {place} of Paris."]))
        counts.append(pending(postgres_dsn)[0])
    assert max(counts) <= 4
    assert 0 in counts[1:]


@pytest.mark.skipif(IS_CITUS, reason="writers of a cluster take turns from the beginning")
def test_a_write_holds_no_lock_on_shared_counters(database, postgres_dsn, monkeypatch):
    """Shown by the locks of a writer that has written its rows; another commits the same names meanwhile."""
    lock, ready, resume, process = PostgresSession.lock, threading.Event(), threading.Event(), []

    def pause(self, name, turn="next", **options):
        if turn == "next" and threading.current_thread() is slow:
            process.append(self._db.info.backend_pid)
            ready.set()
            assert resume.wait(60)
        lock(self, name, turn, **options)

    store = database.store("default")
    store.write(batch_of("Paris", TEXTS["Paris"]))
    monkeypatch.setattr(PostgresSession, "lock", pause)
    slow = threading.Thread(target=lambda: store.write(batch_of("Auth Service", TEXTS["Auth Service"])))
    slow.start()
    assert ready.wait(60)
    with psycopg.connect(postgres_dsn, autocommit=True) as db:
        asked = (
            "SELECT c.relname, l.mode FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation"
            " WHERE l.pid = %s AND c.relkind = 'r' AND l.mode <> 'AccessShareLock'"
        )
        held = db.execute(asked, process).fetchall()
    store.write(batch_of("OAuth Provider", TEXTS["Auth Service"]))
    resume.set()
    slow.join()
    tables = {name.rstrip("_0123456789"): mode for name, mode in held}
    assert {"chunk", "candidate", "mention", "write_delta", "mention_delta"} <= tables.keys()
    assert not {"posting", "term", "entity", "relation"} & tables.keys()
    assert tables.get("namespace", "RowShareLock") == "RowShareLock"
    assert store.stats().documents == 3
    assert database.check() == []
