"""Random histories of a store with read indexes: two processes return the results of a scan."""

import random

import indexed
import pytest
from indexed import EMBEDDER, batch, catch_up, remember, same, search_methods, start

from weft.store.sqlite.database import SqliteDatabase

pytest.importorskip("usearch", reason="pip install 'weft-search[scale]'")

ANSWERING = """
    store = database.store("default")
    for line in sys.stdin:
        seed = int(line)
        t.same(database, range(2))
        found_by_vector = store.search_vector(t.direction(seed), limit=1, where=t.EVERYTHING).hits
        found_by_keyword = store.search_keyword([f"number{seed}"], limit=1, where=t.EVERYTHING).hits
        ids = [hit[0].chunk_id if hit else "" for hit in (found_by_vector, found_by_keyword)]
        print(*ids, *(method.split()[0] for method in t.search_methods(database)), sep="|", flush=True)
"""


@pytest.fixture(autouse=True)
def small(monkeypatch):
    indexed.small(monkeypatch)


@pytest.mark.parametrize(
    "operations, every", [(500, 25), pytest.param(10_000, 100, marks=pytest.mark.slow)], ids=["500", "10000"]
)
def test_random_operations_are_visible_to_two_processes(tmp_path, operations, every):
    """Additions, changes and deletions of documents and facts, extensions, and deletions of the index folder."""
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    chance, store = random.Random(7), database.store("default")
    store.write_model(EMBEDDER)
    seeds, known, seen = {}, set(), set()
    with start(ANSWERING, tmp_path / "weft.db") as other:
        for step in range(operations):
            operate(chance, store, seeds, known)
            if chance.random() < 0.05:
                catch_up(database)
            if chance.random() < 0.002:
                database._connections.indexes.folder.clear()
            if step % every == every - 1:
                same(database)
                source = chance.choice(sorted(seeds))
                wanted = batch(source, seeds[source]).chunks[0].chunk.id
                print(seeds[source][0], file=other.stdin, flush=True)
                near, words, *paths = other.stdout.readline().strip().split("|")
                assert near == words == wanted
                seen.update(enumerate(paths))
    assert other.returncode == 0
    assert {(place, "index") for place in range(3)} <= seen
    catch_up(database)
    assert all(method.startswith("index") for method in search_methods(database))
    assert database.compare() == []
    assert indexed.unsound(database) == []
    database.close()


def operate(chance, store, seeds, known):
    """Apply one random operation: `seeds` by document, and `known` seeds of entities with facts."""
    source, what = f"note {chance.randrange(60)}", chance.random()
    if what < 0.15 and source in seeds:
        store.delete([batch(source, []).document.id])
        del seeds[source]
    elif what < 0.75:
        kept = seeds.get(source, [])[: chance.randrange(4)]
        seeds[source] = [*kept, *(chance.randrange(10**6) for _ in range(chance.randrange(1, 9)))]
        store.write(batch(source, seeds[source]))
    elif what < 0.8 and known:
        forgotten = chance.sample(sorted(known), min(len(known), 3))
        store.facts.forget([f"f thing {seed}" for seed in forgotten])
        known.difference_update(forgotten)
    elif what < 0.9 and known:
        moved = chance.choice(sorted(known))
        store.facts.write_vectors(EMBEDDER.fingerprint, {f"thing {moved}": indexed.direction(chance.randrange(10**6))})
    else:
        new = {chance.randrange(600) for _ in range(6)} - known
        remember(store, sorted(new))
        known.update(new)
