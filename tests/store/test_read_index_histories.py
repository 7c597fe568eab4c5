"""Random histories of a store with read indexes: at every checkpoint two processes answer as a scan does."""

import random

import indexed
import pytest
from indexed import OURS, batch, catch_up, remember, same, start, ways

from weft.store.sqlite.database import SqliteDatabase

pytest.importorskip("usearch", reason="pip install 'weft-search[scale]'")

ANSWERING = """
    store = database.store("default")
    for line in sys.stdin:
        seed = int(line)
        t.same(database, range(2))
        near = store.search_vector(t.direction(seed), limit=1, where=t.EVERYTHING).hits
        held = store.search_keyword([f"number{seed}"], limit=1, where=t.EVERYTHING).hits
        ids = [hit[0].chunk_id if hit else "" for hit in (near, held)]
        print(*ids, *(way.split()[0] for way in t.ways(database)), sep="|", flush=True)
"""


@pytest.fixture(autouse=True)
def small(monkeypatch):
    indexed.small(monkeypatch)


@pytest.mark.parametrize(
    "operations, every", [(500, 25), pytest.param(10_000, 100, marks=pytest.mark.slow)], ids=["500", "10000"]
)
def test_random_operations_are_seen_alike_by_two_processes(tmp_path, operations, every):
    """Adds, changes and deletes, facts come and go, extensions at any time, the folder deleted now and then."""
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    chance, store = random.Random(7), database.store("default")
    store.write_model(OURS)
    held, known, seen = {}, set(), set()
    with start(ANSWERING, tmp_path / "weft.db") as other:
        for step in range(operations):
            operate(chance, store, held, known)
            if chance.random() < 0.05:
                catch_up(database)
            if chance.random() < 0.002:
                database._connections.indexes.folder.clear()
            if step % every == every - 1:
                same(database)
                source = chance.choice(sorted(held))
                wanted = batch(source, held[source]).chunks[0].chunk.id
                print(held[source][0], file=other.stdin, flush=True)
                near, words, *paths = other.stdout.readline().strip().split("|")
                assert near == words == wanted
                seen.update(enumerate(paths))
    assert other.returncode == 0
    assert {(place, "index") for place in range(3)} <= seen
    catch_up(database)
    assert all(way.startswith("index") for way in ways(database))
    assert database.compare() == []
    assert indexed.unsound(database) == []
    database.close()


def operate(chance, store, held, known):
    """Do one thing to a store: `held` are the seeds of each document, `known` those of entities with facts."""
    source, what = f"note {chance.randrange(60)}", chance.random()
    if what < 0.15 and source in held:
        store.delete([batch(source, []).document.id])
        del held[source]
    elif what < 0.75:
        kept = held.get(source, [])[: chance.randrange(4)]
        held[source] = [*kept, *(chance.randrange(10**6) for _ in range(chance.randrange(1, 9)))]
        store.write(batch(source, held[source]))
    elif what < 0.8 and known:
        gone = chance.sample(sorted(known), min(len(known), 3))
        store.facts.forget([f"f thing {seed}" for seed in gone])
        known.difference_update(gone)
    elif what < 0.9 and known:
        moved = chance.choice(sorted(known))
        store.facts.write_vectors(OURS.fingerprint, {f"thing {moved}": indexed.direction(chance.randrange(10**6))})
    else:
        new = {chance.randrange(600) for _ in range(6)} - known
        remember(store, sorted(new))
        known.update(new)
