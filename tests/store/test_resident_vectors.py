"""Resident vectors of small namespaces return the results of a scan."""

import random
import threading
from dataclasses import replace

import pytest
from contract import EVERYTHING, make_batch, unit
from indexed import EMBEDDER, batch, direction, exact_vectors, fill, words

from weft.records import Filter
from weft.store.sqlite import vectors
from weft.store.sqlite.database import SqliteDatabase
from weft.store.sqlite.index import reader, resident_vectors


@pytest.fixture
def database(tmp_path):
    opened = SqliteDatabase(str(tmp_path / "weft.db"))
    fill(opened.store("default"), range(4))
    yield opened
    opened.close()


def ask(database, vector, *, limit=10, where=EVERYTHING):
    """Return a ranking, and assert that a scan returns the same."""
    ranking = database.store("default").search_vector(vector, limit=limit, where=where)
    scanned = exact_vectors(database, vector, limit=limit, where=where)
    assert [hit[:2] for hit in ranking.hits] == [hit[:2] for hit in scanned]
    assert [hit.score for hit in ranking.hits] == pytest.approx([hit.score for hit in scanned], abs=1e-6)
    return ranking


def count_reads(monkeypatch):
    """Return a list that grows whenever vectors are read from the file."""
    reads = []
    for name in ("_update", "_extend"):
        read = getattr(resident_vectors, name)
        monkeypatch.setattr(resident_vectors, name, lambda *a, read=read, **k: reads.append(1) or read(*a, **k))
    return reads


def test_vectors_are_read_once_and_after_changes(database, monkeypatch):
    """A query on the same state reads no vectors and does not scan."""
    reads = count_reads(monkeypatch)
    first = ask(database, direction(1))
    ask(database, direction(2))
    assert len(reads) == 1

    database.store("default").write(batch("another", range(5000, 5005)))
    more = ask(database, direction(5003))
    assert len(reads) == 2
    assert (first.count, more.count) == (80, 85)
    assert more.hits[0].score == pytest.approx(1.0, abs=1e-6)
    monkeypatch.setattr(vectors, "search", None)
    assert database.store("default").search_vector(direction(3), limit=1, where=EVERYTHING).hits


def test_any_history_gives_the_results_of_a_scan(database):
    """Documents are added, changed and deleted; filters apply."""
    store, chance = database.store("default"), random.Random(1)
    for step in range(40):
        name = f"note {chance.randrange(8)}"
        if chance.random() < 0.3:
            store.delete([document.id for document in store.find_documents(Filter(source_prefix=name))])
        else:
            store.write(batch(name, range(step * 100, step * 100 + chance.randrange(1, 9))))
        ask(database, direction(step * 100), limit=chance.choice([1, 10, 200]))
        ask(database, direction(step), where=Filter(metadata=(("part", step % 2),)))
        wanted = {"terms": [words(step * 100).split()[0]], "limit": 10, "where": EVERYTHING}
        alone = store.search_keyword(**wanted)
        with store.reading():
            store.search_vector(direction(step), limit=1, where=EVERYTHING)
            assert store.search_keyword(**wanted) == alone, "ids that came with vectors"


def test_mean_and_deviation_are_those_of_all_vectors(database):
    """They are computed over the namespace, whatever the filter."""
    vector = direction(7)
    whole = ask(database, vector)
    some = ask(database, vector, where=Filter(source_prefix="note 1"))
    assert (whole.mean, whole.deviation, whole.count) == (some.mean, some.deviation, some.count)
    with database._connections.read() as db:
        found = db.namespace("default")
        scanned = vectors.search(db, found.key, vector, model=found.active.number, limit=1, where=EVERYTHING)
    assert whole.mean == pytest.approx(scanned.mean, abs=1e-6)
    assert whole.deviation == pytest.approx(scanned.deviation, abs=1e-6)


def test_each_reader_sees_its_own_state(database):
    """A transaction older than a write gets the old state, even after another thread queried the new one."""
    store = database.store("default")
    with store.reading():
        assert ask(database, direction(1)).count == 80
        writer = threading.Thread(target=lambda: store.write(batch("another", [9001])))
        writer.start()
        writer.join()
        asker = threading.Thread(target=lambda: seen.append(ask(database, direction(9001)).count))
        seen = []
        asker.start()
        asker.join()
        assert seen == [81]
        assert ask(database, direction(9001)).count == 80


def test_embedders_and_namespaces_are_separate(database):
    """Vectors of one are not found in the other."""
    other = database.store("other")
    other.write_model(replace(EMBEDDER, fingerprint="f9", dimension=3))
    assert other.search_vector(unit(1, 2, 3), limit=9, where=EVERYTHING).hits == ()
    ask(database, direction(1))
    assert other.search_vector(unit(1, 2, 3), limit=9, where=EVERYTHING).count == 0


@pytest.mark.parametrize("least", [reader.MIN_INDEXED_ROWS, 20])
def test_the_number_of_a_dropped_embedder_may_be_reused(tmp_path, database, monkeypatch, least):
    """A running process drops the old vectors, with resident vectors and with an index."""
    monkeypatch.setattr(reader, "MIN_INDEXED_ROWS", least)
    ask(database, direction(1))
    database._connections.index_builder.catch_up()
    ask(database, direction(1))
    elsewhere = SqliteDatabase(str(tmp_path / "weft.db"))
    elsewhere.drop("default")
    store, texts = elsewhere.store("other"), [f"text {number}" for number in range(80)]
    store.write_model(replace(EMBEDDER, fingerprint="f3", dimension=3))
    said = {text: unit(1, place, 1) for place, text in enumerate(texts)}
    store.write(make_batch("new", texts, namespace="other", vectors=said, model="f3"))
    elsewhere.close()

    found = database.store("other").search_vector(unit(1, 7, 1), limit=3, where=EVERYTHING)
    assert (found.hits[0].score, found.count) == (pytest.approx(1.0, abs=1e-3), 80)


def test_least_recently_used_vectors_are_dropped(database, monkeypatch):
    """Memory is bounded for any number of namespaces."""
    monkeypatch.setattr(resident_vectors, "MAX_RESIDENT_BYTES", 80 * 16 * 4 + 1)
    second = database.store("second")
    fill(second, range(4))
    reads = count_reads(monkeypatch)
    ask(database, direction(1))
    second.search_vector(direction(1), limit=3, where=EVERYTHING)
    ask(database, direction(1))
    assert len(reads) == 3
    assert len(database._connections.indexes._resident._by_model) == 1
