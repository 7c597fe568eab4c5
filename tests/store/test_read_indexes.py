"""Read indexes of vectors beside a file: they answer as a scan does, whatever happens to the file or to them."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from contract import EVERYTHING, MODEL, make_batch

from weft.records import Filter
from weft.store.sqlite import connect, derived, extend, vectors
from weft.store.sqlite.database import SqliteDatabase

DIMENSION = 16
OURS = replace(MODEL, dimension=DIMENSION)
LEAST, TAIL = 120, 30

pytest.importorskip("usearch", reason="pip install 'weft[scale]'")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Let indexes begin at sizes that a test can write."""
    monkeypatch.setattr(derived, "FROM", LEAST)
    monkeypatch.setattr(derived, "TAIL", TAIL)
    monkeypatch.setattr(extend, "BLOCK", 32)
    monkeypatch.setattr(extend.Extender, "call", lambda self, wrote=False: None)


def direction(seed):
    vector = np.random.default_rng(seed).normal(size=DIMENSION).astype(np.float32)
    return vector / np.linalg.norm(vector)


def batch(source, seeds):
    texts = [f"text {seed}" for seed in seeds]
    said = dict(zip(texts, map(direction, seeds), strict=True))
    return make_batch(source, texts, vectors=said, metadata={"part": len(source) % 2})


def fill(store, documents=range(10), *, chunks=20):
    store.write_model(OURS)
    for number in documents:
        store.write(batch(f"note {number}", range(number * 1000, number * 1000 + chunks)))


def catch_up(database):
    return database._connections.extender.catch_up()


def way(database):
    return database.store("default").stats().vector_search


def exact(database, vector, *, limit=10, where=EVERYTHING):
    """Return what a scan of the same state finds."""
    with database._connections.read() as db:
        (number, model, _), *_ = db.run("indexed_models", {"least": 1})
        return vectors.search(db, number, vector, model=model, limit=limit, where=where)


def same(database, seeds=range(5)):
    """Assert that questions are answered as by a scan."""
    for seed in seeds:
        vector = direction(-seed - 1 + 2**20)
        assert (
            database.store("default").search_vector(vector, limit=10, where=EVERYTHING).hits
            == exact(database, vector).hits
        )


@pytest.fixture
def database(tmp_path):
    opened = SqliteDatabase(str(tmp_path / "weft.db"))
    yield opened
    opened.close()


def test_a_small_namespace_has_nothing_beside_its_file(database, tmp_path):
    """Below the size from which an index pays, there is none."""
    fill(database.store("default"), range(5))

    assert catch_up(database) == 0
    assert way(database) == "exact"
    assert not (tmp_path / "weft.db.index").exists()


def test_an_index_answers_as_a_scan_does(database, monkeypatch):
    """Hits and scores are the same, and no scan was needed for them."""
    fill(database.store("default"))
    assert way(database) == "exact; an index is not built yet"
    assert catch_up(database) == 1

    same(database)
    assert way(database) == "index of 200 vectors in 1 files, 0 newer ones scanned"
    monkeypatch.setattr(vectors, "search", None)
    ranking = database.store("default").search_vector(direction(0), limit=10, where=EVERYTHING)
    assert ranking.count == 200
    assert ranking.mean == pytest.approx(0, abs=0.1)
    assert ranking.deviation == pytest.approx(1 / DIMENSION**0.5, abs=0.1)


def test_what_is_newer_than_the_index_is_found_at_once(database):
    """A document is seen with its commit, a changed vector under its new place, a deleted one nowhere."""
    store = database.store("default")
    fill(store)
    catch_up(database)
    store.write(batch("new", [77]))
    store.delete([batch("note 3", []).document.id])
    first, *rest = batch("note 4", range(4000, 4020)).chunks
    moved = replace(batch("note 4", []), chunks=(replace(first, vector=direction(78)), *rest))
    store.write(moved)

    for seed, id in ((77, batch("new", [77]).chunks[0].chunk.id), (78, moved.chunks[0].chunk.id)):
        assert store.search_vector(direction(seed), limit=1, where=EVERYTHING).hits[0].chunk_id == id
    gone = {item.chunk.id for item in batch("note 3", range(3000, 3020)).chunks}
    assert not gone & {hit.chunk_id for hit in store.search_vector(direction(3000), limit=100, where=EVERYTHING).hits}
    same(database)
    assert "newer" in way(database)


def test_filters_are_kept(database):
    """A filter leaves the same chunks as in a scan."""
    store = database.store("default")
    fill(store, range(12))
    catch_up(database)
    where = Filter(metadata=(("part", 1),))

    for seed in range(3):
        found = store.search_vector(direction(seed), limit=10, where=where)
        assert found.hits == exact(database, direction(seed), where=where).hits
        assert found.hits


def test_segments_are_joined_and_what_is_gone_is_left_out(database):
    """The number of files stays small, and half-empty ones are built anew."""
    store = database.store("default")
    fill(store, range(30))
    catch_up(database)
    for number in range(30, 50):
        store.write(batch(f"note {number}", range(number * 1000, number * 1000 + TAIL)))
        assert catch_up(database) == 1
    files = list(database._connections.indexes.folder.path.glob("*.usearch*"))
    assert len(files) <= 4
    same(database)

    store.delete([batch(f"note {number}", []).document.id for number in range(40)])
    same(database)  # most of what the index finds is gone: a scan answers
    assert catch_up(database) == 1
    assert way(database).startswith(f"index of {10 * TAIL} vectors in 1 files")
    same(database)


def test_it_can_be_deleted_or_damaged_at_any_time(database):
    """Without its files, or with others in their place, a scan answers until they are built again."""
    store, folder = database.store("default"), database._connections.indexes.folder
    fill(store)
    for harm in (
        folder.clear,
        lambda: [path.unlink() for path in folder.path.glob("*.usearch")],
        lambda: [path.write_bytes(path.read_bytes()[:100]) for path in folder.path.glob("*.usearch")],
        lambda: [path.write_text("{}") for path in folder.path.glob("*.json")],
        lambda: [path.write_text("[1") for path in folder.path.glob("*.json")],
    ):
        assert catch_up(database) == 1
        assert way(database).startswith("index")
        harm()
        for path in folder.path.glob("*.json"):
            os.utime(path)
        assert way(database) == "exact; an index is not built yet"
        same(database, range(2))


def test_an_index_of_another_state_of_the_file_is_not_used(tmp_path):
    """A backup in the file's place gives the numbers of vectors again, to other vectors."""
    path = tmp_path / "weft.db"
    database = SqliteDatabase(str(path))
    fill(database.store("default"), range(6), chunks=20)
    database.backup(tmp_path / "backup.db")
    fill(database.store("default"), range(6, 10))
    catch_up(database)
    assert way(database).startswith("index")
    database.close()
    shutil.copy(tmp_path / "backup.db", path)
    database = SqliteDatabase(str(path))
    fill(database.store("default"), range(106, 114))

    same(database)
    assert way(database) == "exact; an index is not built yet"
    assert catch_up(database) == 1
    same(database)
    database.close()


def test_a_transaction_older_than_the_index_does_without_it(database):
    """What was deleted since is in its state of the file, and may be missing in the index."""
    store = database.store("default")
    fill(store)
    catch_up(database)
    other = SqliteDatabase(database._connections.path)
    with other.store("default").reading():
        before = other.store("default").search_vector(direction(3000), limit=10, where=EVERYTHING).hits
        store.delete([batch(f"note {number}", []).document.id for number in range(4)])
        fill(store, range(20, 30))
        catch_up(database)
        assert other.store("default").search_vector(direction(3000), limit=10, where=EVERYTHING).hits == before
    assert other.store("default").search_vector(direction(3000), limit=10, where=EVERYTHING).hits != before
    other.close()


def test_what_is_dropped_or_compacted_leaves_no_vectors_behind(database):
    """Vectors tell of the texts they were made from."""
    fill(database.store("default"))
    fill(database.store("other"))
    assert catch_up(database) == 2
    folder = database._connections.indexes.folder.path

    database.drop("other")
    assert len(list(folder.glob("*.usearch"))) == 1
    assert database.size() > (folder.parent / "weft.db").stat().st_size
    database.compact()
    assert not folder.exists()


def test_a_damaged_index_is_noticed_and_repaired(database):
    """`check --deep` compares answers; here the vectors of another store stand in the index."""
    fill(database.store("default"))
    catch_up(database)
    assert database.compare() == []
    from usearch.index import Index

    folder = database._connections.indexes.folder
    manifest = json.loads(next(folder.path.glob("*.json")).read_text())
    segment = manifest["segments"][0]
    wrong = Index(ndim=DIMENSION, metric="ip", dtype="i8")
    wrong.add(np.arange(1, 201, dtype=np.uint64), np.stack([direction(900_000)] * 200))
    segment["size"] = folder.save(wrong, segment["file"])
    next(folder.path.glob("*.json")).write_text(json.dumps(manifest))

    (problem,) = database.compare()
    assert problem.where == "namespace default"
    assert problem.repairable
    database.repair()
    catch_up(database)
    assert database.compare() == []


SECOND = """
    import sys
    import test_read_indexes as t
    from weft.store.sqlite import derived, extend
    derived.FROM, derived.TAIL, extend.BLOCK, extend.PAUSE = t.LEAST, t.TAIL, 32, 0.0
    database = t.SqliteDatabase(sys.argv[1])
"""


def start(script, *arguments):
    code = textwrap.dedent(SECOND) + textwrap.dedent(script)
    here = str(Path(__file__).parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([here, *sys.path])}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": environment}
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], **pipes)


ANSWERING = """
    store = database.store("default")
    for line in sys.stdin:
        t.same(database, range(2))
        found = store.search_vector(t.direction(int(line)), limit=1, where=t.EVERYTHING)
        print(found.hits[0].chunk_id if found.hits else "", t.way(database), sep="|", flush=True)
"""


def test_every_vector_can_be_reached(database, tmp_path):
    """However often an index is built, it is the same, and asked for everything it names everything."""
    fill(database.store("default"))
    contents = set()
    for _ in range(40):
        catch_up(database)
        (file,) = (tmp_path / "weft.db.index").glob("*.usearch")
        contents.add(file.read_bytes())
        hits = database.store("default").search_vector(direction(1), limit=200, where=EVERYTHING).hits
        assert len(hits) == 200
        database._connections.indexes.forget()
    assert len(contents) == 1


def test_random_changes_are_seen_alike_by_two_processes(database):
    """Adds, changes and deletes, extensions at any time: both answer as a scan does, and the other one at once."""
    chance, store = random.Random(7), database.store("default")
    store.write_model(OURS)
    held = {}
    ways = set()
    with start(ANSWERING, database._connections.path) as other:
        for step in range(300):
            source = f"note {chance.randrange(60)}"
            if chance.random() < 0.25 and source in held:
                store.delete([batch(source, []).document.id])
                del held[source]
            else:
                held[source] = [chance.randrange(10**6) for _ in range(chance.randrange(1, 12))]
                store.write(batch(source, held[source]))
            if chance.random() < 0.2:
                catch_up(database)
            if step % 20 == 19:
                same(database, range(3))
                source = chance.choice(sorted(held))
                wanted = batch(source, held[source]).chunks[0].chunk.id
                print(held[source][0], file=other.stdin, flush=True)
                answer, path = other.stdout.readline().strip().split("|")
                assert answer == wanted
                ways.add(path.split()[0])
    assert other.returncode == 0
    assert "index" in ways
    assert database.compare() == []


def test_a_process_killed_while_it_extends_costs_at_most_a_rebuild(database, tmp_path):
    """What it leaves is no index, and holds nobody up."""
    fill(database.store("default"))
    catch_up(database)
    fill(database.store("default"), range(20, 30))
    script = """
        def stuck(index, path):
            open(path, "wb").write(b"half a segment")
            print("building", flush=True)
            sys.stdin.read()
        import usearch.index
        usearch.index.Index.save = stuck
        database._connections.extender.catch_up()
    """
    with start(script, database._connections.path) as other:
        assert other.stdout.readline() == "building\n"
        database.store("default").write(batch("meanwhile", [5]))  # writers do not wait
        assert catch_up(database) == 0, "somebody else is building"
        same(database)
        other.send_signal(signal.SIGKILL)

    assert way(database).startswith("index of 200 vectors")
    same(database)
    assert catch_up(database) == 1
    assert way(database).startswith("index of 401 vectors")
    assert not list(database._connections.indexes.folder.path.glob("*.partial"))
    same(database)


def test_a_writer_extends_in_the_background_and_before_it_ends(tmp_path, monkeypatch):
    """Nothing has to be asked for; who only reads leaves at once."""
    monkeypatch.undo()
    monkeypatch.setattr(derived, "FROM", LEAST)
    monkeypatch.setattr(derived, "TAIL", TAIL)
    monkeypatch.setattr(extend, "PAUSE", 60.0)
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    fill(database.store("default"))
    database.close()
    reader = SqliteDatabase(str(tmp_path / "weft.db"))
    assert way(reader).startswith("index of 200 vectors")
    reader._connections.indexes.forget()
    reader.store("default").search_vector(direction(1), limit=10, where=EVERYTHING)
    reader.close()
    assert not (tmp_path / "weft.db.index").exists()

    monkeypatch.setattr(extend, "PAUSE", 0.0)
    server = SqliteDatabase(str(tmp_path / "weft.db"))
    server.store("default").search_vector(direction(1), limit=10, where=EVERYTHING)
    deadline = time.monotonic() + 30
    while not way(server).startswith("index") and time.monotonic() < deadline:
        time.sleep(0.02)
    assert way(server).startswith("index of 200 vectors")
    server.close()


def test_without_the_extra_a_scan_answers_and_says_what_would_help(tmp_path, monkeypatch):
    """usearch is never needed for an answer; nor is it used where sqlite-vec is missing."""
    monkeypatch.setattr(derived, "can_index", lambda: False)
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    fill(database.store("default"))
    assert catch_up(database) == 0
    assert way(database) == "exact; pip install 'weft[scale]' for an index"
    same(database, range(2))
    database.close()
    monkeypatch.setattr(connect, "_load_vector_functions", lambda db: "not authorized")
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    assert way(database) == "exact"
    database.close()


@pytest.mark.parametrize("order", ["usearch.index, onnxruntime", "onnxruntime, usearch.index"])
def test_the_library_gets_on_with_that_of_the_model(order):
    """Some releases crash the process when the model is loaded after them."""
    done = subprocess.run([sys.executable, "-c", f"import {order}"], capture_output=True)

    assert done.returncode == 0
