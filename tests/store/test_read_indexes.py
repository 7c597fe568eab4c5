"""Read indexes return the results of a scan, whatever happens to the file or to the indexes."""

import json
import queue
import threading
import time
from dataclasses import replace

import indexed
import numpy as np
import pytest
from contract import EVERYTHING
from indexed import (
    EMBEDDER,
    EXTENSION_ROWS,
    MIN_ROWS,
    batch,
    catch_up,
    direction,
    fill,
    populate,
    remember,
    same,
    search_methods,
)

from weft.records import Filter
from weft.store.index_files.hnsw import EARLY_STRIDE, arrange, make_graph
from weft.store.sqlite import ports, vectors
from weft.store.sqlite.database import SqliteDatabase
from weft.store.sqlite.index import builder
from weft.store.sqlite.index import reader as index_reader

pytest.importorskip("usearch", reason="pip install 'weft-search[scale]'")

UNBUILT = "exact; index not built yet"
KINDS = ("vectors", "keywords", "entities")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    indexed.small(monkeypatch)


@pytest.fixture
def database(tmp_path):
    opened = SqliteDatabase(str(tmp_path / "weft.db"))
    yield opened
    assert indexed.unsound(opened) == []
    opened.close()


def test_a_small_namespace_has_no_index(database, tmp_path):
    """Below the minimum size no index folder is created."""
    populate(database, range(5))

    assert catch_up(database) == 0
    assert search_methods(database) == ["exact"] * 3
    assert not (tmp_path / "weft.db.index").exists()


def test_indexes_return_the_results_of_a_scan(database, monkeypatch):
    """Hits and scores are the same, and no scan runs."""
    populate(database)
    assert search_methods(database) == [UNBUILT] * 3
    assert catch_up(database) == 3

    same(database, range(10))
    described = "index of 200 {} in 1 segment, 0 not yet indexed"
    assert search_methods(database) == [described.format(what) for what in ("vectors", "chunks", "vectors")]
    monkeypatch.setattr(vectors, "search", None)
    monkeypatch.setattr(vectors, "search_facts", None)
    monkeypatch.setattr(ports, "search_postings", None)
    store = database.store("default")
    ranking = store.search_vector(direction(0), limit=10, where=EVERYTHING)
    assert ranking.count == 200
    assert ranking.mean == pytest.approx(0, abs=0.1)
    assert ranking.deviation == pytest.approx(1 / indexed.DIMENSION**0.5, abs=0.1)
    assert store.search_keyword(["alpha"], limit=10, where=EVERYTHING).hits
    assert store.facts.search_vector(direction(7), limit=1)[0][0].key == "thing 7"


def test_cosine_statistics_follow_replaced_vectors(database):
    """Mean and deviation change if all vectors are replaced by as many others."""
    store = database.store("default")
    fill(store)
    catch_up(database)
    assert store.search_vector(direction(0), limit=1, where=EVERYTHING).mean == pytest.approx(0, abs=0.1)
    for number in range(10):
        written = batch(f"note {number}", range(number * 1000, number * 1000 + 20))
        chunks = tuple(replace(item, vector=direction(0), terms={**item.terms, "again": 1}) for item in written.chunks)
        store.write(replace(written, chunks=chunks))
    catch_up(database)

    ranking = store.search_vector(direction(0), limit=1, where=EVERYTHING)
    assert (ranking.count, ranking.mean) == (200, pytest.approx(1, abs=0.01))


def test_unindexed_changes_are_visible_at_once(database):
    """A committed document is found, a changed vector at its new position, a deleted one not at all."""
    store = database.store("default")
    populate(database)
    catch_up(database)
    same(database)
    store.write(batch("new", [77]))
    store.delete([batch("note 3", []).document.id])
    remember(store, [777])
    store.facts.write_vectors(EMBEDDER.fingerprint, {"thing 5": direction(55_555)})
    store.facts.forget(["f thing 6"])
    first, *rest = batch("note 4", range(4000, 4020)).chunks
    terms = {**first.terms, "unheard": 2}
    moved = replace(batch("note 4", []), chunks=(replace(first, vector=direction(78), terms=terms), *rest))
    store.write(moved)

    for seed, id in ((77, batch("new", [77]).chunks[0].chunk.id), (78, moved.chunks[0].chunk.id)):
        assert store.search_vector(direction(seed), limit=1, where=EVERYTHING).hits[0].chunk_id == id
    for term, id in (("number77", batch("new", [77]).chunks[0].chunk.id), ("unheard", moved.chunks[0].chunk.id)):
        assert [hit.chunk_id for hit in store.search_keyword([term], limit=9, where=EVERYTHING).hits] == [id]
    gone = {item.chunk.id for item in batch("note 3", range(3000, 3020)).chunks}
    assert not gone & {hit.chunk_id for hit in store.search_vector(direction(3000), limit=100, where=EVERYTHING).hits}
    assert store.search_keyword(["number3000"], limit=9, where=EVERYTHING).hits == ()
    assert [store.facts.search_vector(direction(seed), limit=1)[0][0].key for seed in (777, 55_555)] == [
        "thing 777",
        "thing 5",
    ]
    assert store.facts.search_vector(direction(6), limit=1)[0][0].key != "thing 6"
    same(database, range(10))
    assert all("not yet indexed" in method for method in search_methods(database))


def test_filters_apply(database):
    """A filter that leaves few or many chunks gives the results of a scan."""
    store = database.store("default")
    fill(store, range(30))
    catch_up(database)
    store.write(batch("later", [5, 6, 7]))
    for where in (
        Filter(source_prefix="note 3"),
        Filter(metadata=(("part", 0),)),
        Filter(metadata=(("part", "none"),)),
    ):
        same(database, range(5), where=where)
    assert store.search_keyword(["alpha"], limit=9, where=Filter(metadata=(("part", 0),))).hits


def test_graphs_have_a_bounded_size(database, monkeypatch):
    """Full graphs are not built again when more vectors are added."""
    monkeypatch.setattr(builder, "MAX_SEGMENT_VECTORS", 64)
    fill(database.store("default"))
    catch_up(database)
    files = set(database._connections.indexes.folder.path.glob("vectors-*.segment"))

    assert search_methods(database)[0] == "index of 200 vectors in 4 segments, 0 not yet indexed"
    same(database)
    fill(database.store("default"), range(20, 23))
    catch_up(database)
    after = set(database._connections.indexes.folder.path.glob("vectors-*.segment"))
    assert len(files & after) == 3
    assert search_methods(database)[0] == "index of 260 vectors in 5 segments, 0 not yet indexed"
    same(database)


def test_segments_are_merged_without_deleted_rows(database):
    """The number of files stays small, and half-empty segments are built again."""
    store = database.store("default")
    populate(database, range(30))
    catch_up(database)
    for number in range(30, 50):
        store.write(batch(f"note {number}", range(number * 1000, number * 1000 + EXTENSION_ROWS)))
        remember(store, range(number * 1000, number * 1000 + EXTENSION_ROWS))
        assert catch_up(database) == 3
    for kind in KINDS:
        assert len(indexed.files(database, kind)) <= (2 if kind == "keywords" else 4)
    same(database)

    store.delete([batch(f"note {number}", []).document.id for number in range(40)])
    same(database)  # most candidates of the index are deleted: a scan answers
    assert catch_up(database) == 2
    assert search_methods(database)[0].startswith(f"index of {10 * EXTENSION_ROWS} vectors in 1 segment")
    assert search_methods(database)[1].startswith(f"index of {10 * EXTENSION_ROWS} chunks in 1 segment")
    same(database)


def test_a_transaction_older_than_the_index_scans_the_file(database):
    """Rows deleted since are in its snapshot and may be missing in the index."""
    store = database.store("default")
    populate(database)
    catch_up(database)
    other = SqliteDatabase(database._connections.path)

    def answers():
        near = other.store("default").search_vector(direction(3000), limit=10, where=EVERYTHING).hits
        held = other.store("default").search_keyword(["number3000", "alpha"], limit=10, where=EVERYTHING).hits
        meant = [entity.key for entity, _ in other.store("default").facts.search_vector(direction(30), limit=5)]
        return near, held, meant

    with other.store("default").reading():
        before = answers()
        store.delete([batch(f"note {number}", []).document.id for number in range(4)])
        store.facts.forget([f"f thing {seed}" for seed in range(80)])
        populate(database, range(20, 30))
        store.facts.write_vectors(EMBEDDER.fingerprint, {f"thing {n}": direction(n + 9_000) for n in range(400, 600)})
        catch_up(database)
        assert answers() == before
    assert all(now != then for now, then in zip(answers(), before, strict=True))
    other.close()


def test_uncommitted_rows_never_reach_an_index(database):
    """Rows that were rolled back do not stay in a memtable, although their numbers are assigned again."""
    store, connections = database.store("default"), database._connections
    populate(database)
    catch_up(database)
    with pytest.raises(ZeroDivisionError), connections.write() as db:
        namespace, found = db.namespace_key("default"), db.namespace("default")
        chunk = db.one("chunk_numbers", {"namespace": namespace, "ids": json.dumps([hit(store)])})
        assert chunk
        db.run("delete_terms", {"namespace": namespace})
        assert db.keywords.best(found, ["alpha"], limit=3, where=EVERYTHING).hits
        raise ZeroDivisionError
    store.write(batch("new", [77]))
    same(database)


def hit(store):
    return store.search_keyword(["number1000"], limit=1, where=EVERYTHING).hits[0].chunk_id


def test_drop_and_compact_delete_index_files(database):
    """Vectors and terms reveal the texts that they were made from."""
    fill(database.store("default"))
    fill(database.store("other"))
    assert catch_up(database) == 4
    folder = database._connections.indexes.folder.path

    database.drop("other")
    assert len(indexed.files(database)) == 2
    assert database.size() > (folder.parent / "weft.db").stat().st_size
    database.compact()
    assert not folder.exists()


def test_every_vector_is_reachable(database):
    """Builds are deterministic, and a search for all vectors returns all of them."""
    fill(database.store("default"))
    contents = set()
    for _ in range(40):
        catch_up(database)
        (file,) = indexed.files(database, "vectors")
        contents.add(file.read_bytes())
        hits = database.store("default").search_vector(direction(1), limit=200, where=EVERYTHING).hits
        assert len(hits) == 200
        database._connections.indexes.clear()
    assert len(contents) == 1


def test_similar_vectors_are_added_together_after_a_sample():
    """Each vector occurs once in the order."""
    vectors = np.tile(np.eye(8, 16, dtype=np.float16), (32, 1))

    order = arrange(vectors)

    assert sorted(order.tolist()) == list(range(len(vectors)))
    early, late = np.split(order % 8, [len(vectors) // EARLY_STRIDE])
    assert set(early.tolist()) == set(range(8))
    assert np.count_nonzero(np.diff(late)) == 7
    assert arrange(vectors[:0]).tolist() == []


def test_a_cancelled_build_stops(database, monkeypatch):
    """A process that only queried exits without finishing a graph."""
    fill(database.store("default"))
    index_builder = database._connections.index_builder
    monkeypatch.setattr(builder, "make_graph", lambda dimension: index_builder.cancelled.set() or make_graph(dimension))

    assert catch_up(database) == 0
    assert indexed.files(database, "vectors") == []


def test_ctrl_c_at_exit_cancels_the_build(tmp_path, monkeypatch):
    """The file is intact, and the next process that writes builds the missing index."""
    monkeypatch.undo()
    monkeypatch.setattr(index_reader, "MIN_INDEXED_ROWS", MIN_ROWS)
    building, join = threading.Event(), threading.Thread.join
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    index_builder = database._connections.index_builder

    def make(dimension):
        building.set()
        index_builder.cancelled.wait(120)
        return make_graph(dimension)

    def interrupted(thread, timeout=None):
        monkeypatch.setattr(threading.Thread, "join", join)
        assert building.wait(120)
        raise KeyboardInterrupt

    monkeypatch.setattr(builder, "make_graph", make)
    fill(database.store("default"))
    monkeypatch.setattr(threading.Thread, "join", interrupted)
    with pytest.raises(KeyboardInterrupt):
        database.close()
    assert not index_builder._thread.is_alive()
    assert indexed.files(database, "vectors") == []
    database.close()

    monkeypatch.setattr(builder, "make_graph", make_graph)
    again = SqliteDatabase(str(tmp_path / "weft.db"))
    again.store("default").write(batch("one more", [77]))
    again.close()
    reader = SqliteDatabase(str(tmp_path / "weft.db"))
    assert all(method.startswith("index of 201 ") for method in search_methods(reader)[:2])
    reader.close()


def test_indexes_of_an_earlier_format_are_replaced(database):
    """They are not used and are built again."""
    fill(database.store("default"))
    catch_up(database)
    for path in database._connections.indexes.folder.path.glob("*.json"):
        path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "format": 2}), "utf-8")

    assert search_methods(database)[:2] == [UNBUILT] * 2
    assert catch_up(database) == 2
    same(database)


def test_many_threads_search_at_once(database):
    """Each gets the results of a scan."""
    populate(database)
    catch_up(database)
    failures = []

    def ask(seed):
        try:
            for _ in range(10):
                same(database, [seed])
        except AssertionError as error:
            failures.append(error)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_without_queries_only_full_segments_are_built(database, monkeypatch):
    """A smaller graph would have to be built again with the next rows."""
    monkeypatch.setattr(builder, "MAX_SEGMENT_VECTORS", 150)
    index_builder = database._connections.index_builder
    fill(database.store("default"), range(7))
    assert index_builder.catch_up(min_rows=150) == 0
    assert search_methods(database)[:2] == [UNBUILT] * 2
    assert not database._connections.indexes.folder.path.exists()
    fill(database.store("default"), range(10))
    assert index_builder.catch_up(min_rows=150) == 2
    assert [segment["count"] for segment in indexed.manifest(database, "vectors")[1]["segments"]] == [160, 40]
    same(database)


def test_the_extension_threshold_depends_on_the_request(tmp_path, monkeypatch):
    """A commit needs a full segment, a query a large memtable, an exit few rows."""
    monkeypatch.undo()
    monkeypatch.setattr(index_reader, "MIN_INDEXED_ROWS", MIN_ROWS)
    monkeypatch.setattr(builder, "DEBOUNCE_SECONDS", 0.0)
    due = queue.Queue()
    monkeypatch.setattr(builder.IndexBuilder, "catch_up", lambda self, *, min_rows: due.put(min_rows))
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    populate(database)
    assert due.get(timeout=120) == builder.MAX_SEGMENT_VECTORS
    database.store("default").search_keyword(["alpha"], limit=10, where=EVERYTHING)
    while (least := due.get(timeout=120)) == builder.MAX_SEGMENT_VECTORS:
        pass
    assert least == index_reader.MIN_EXTENSION_ROWS
    database.close()
    assert list(due.queue)[-1] == builder.MIN_EXTENSION_ROWS_AT_EXIT


def test_a_writer_extends_in_the_background_and_at_exit(tmp_path, monkeypatch):
    """No command is needed, and few rows stay unindexed; a process that only reads exits at once."""
    monkeypatch.undo()
    monkeypatch.setattr(index_reader, "MIN_INDEXED_ROWS", MIN_ROWS)
    monkeypatch.setattr(index_reader, "MIN_EXTENSION_ROWS", EXTENSION_ROWS)
    monkeypatch.setattr(builder, "DEBOUNCE_SECONDS", 60.0)
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    populate(database)
    database.close()
    reader = SqliteDatabase(str(tmp_path / "weft.db"))
    assert all(method.startswith("index of 200 ") for method in search_methods(reader))
    monkeypatch.setattr(builder, "MIN_EXTENSION_ROWS_AT_EXIT", 5)
    for number in (5, 4):
        writer = SqliteDatabase(str(tmp_path / "weft.db"))
        writer.store("default").write(batch(f"{number} more", range(9000, 9000 + number)))
        writer.close()
    for method in search_methods(reader)[:2]:
        assert method.startswith("index of 205 ") and method.endswith(", 4 not yet indexed")
    reader._connections.indexes.clear()
    reader.store("default").search_vector(direction(1), limit=10, where=EVERYTHING)
    reader.close()
    assert not (tmp_path / "weft.db.index").exists()

    monkeypatch.setattr(builder, "DEBOUNCE_SECONDS", 0.0)
    server = SqliteDatabase(str(tmp_path / "weft.db"))
    server.store("default").search_keyword(["alpha"], limit=10, where=EVERYTHING)
    deadline = time.monotonic() + 120
    while not all(method.startswith("index") for method in search_methods(server)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [method.split()[2] for method in search_methods(server)] == ["209", "209", "200"]
    server.close()
