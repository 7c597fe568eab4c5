"""Read indexes beside a file: they answer as a scan does, whatever happens to the file or to them."""

import json
import queue
import threading
import time
from dataclasses import replace

import indexed
import numpy as np
import pytest
from contract import EVERYTHING
from indexed import EXTENSION_ROWS, MIN_ROWS, OURS, batch, catch_up, direction, fill, populate, remember, same, ways

from weft.records import Filter
from weft.store.sqlite import session, vectors
from weft.store.sqlite.database import SqliteDatabase
from weft.store.sqlite.index import builder
from weft.store.sqlite.index import reader as index_reader
from weft.store.sqlite.index.hnsw import EARLY_STRIDE, arrange, make_graph

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


def test_a_small_namespace_has_nothing_beside_its_file(database, tmp_path):
    """Below the size from which an index pays, there is none."""
    populate(database, range(5))

    assert catch_up(database) == 0
    assert ways(database) == ["exact"] * 3
    assert not (tmp_path / "weft.db.index").exists()


def test_indexes_answer_as_a_scan_does(database, monkeypatch):
    """Hits and scores are the same, and no scan was needed for them."""
    populate(database)
    assert ways(database) == [UNBUILT] * 3
    assert catch_up(database) == 3

    same(database, range(10))
    described = "index of 200 {} in 1 segment, 0 not yet indexed"
    assert ways(database) == [described.format(what) for what in ("vectors", "chunks", "vectors")]
    monkeypatch.setattr(vectors, "search", None)
    monkeypatch.setattr(vectors, "search_facts", None)
    monkeypatch.setattr(session, "search_postings", None)
    store = database.store("default")
    ranking = store.search_vector(direction(0), limit=10, where=EVERYTHING)
    assert ranking.count == 200
    assert ranking.mean == pytest.approx(0, abs=0.1)
    assert ranking.deviation == pytest.approx(1 / indexed.DIMENSION**0.5, abs=0.1)
    assert store.search_keyword(["alpha"], limit=10, where=EVERYTHING).hits
    assert store.facts.search_vector(direction(7), limit=1)[0][0].key == "thing 7"


def test_the_spread_of_cosines_is_that_of_the_vectors_there_are_now(database):
    """Where all vectors became others, as many as before, what is usual is another thing too."""
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


def test_what_is_newer_than_the_index_is_found_at_once(database):
    """A document is seen with its commit, a changed vector under its new place, a deleted one nowhere."""
    store = database.store("default")
    populate(database)
    catch_up(database)
    same(database)
    store.write(batch("new", [77]))
    store.delete([batch("note 3", []).document.id])
    remember(store, [777])
    store.facts.write_vectors(OURS.fingerprint, {"thing 5": direction(55_555)})
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
    assert all("not yet indexed" in way for way in ways(database))


def test_filters_are_kept(database):
    """A filter leaves the same chunks as in a scan, whether it leaves few or many."""
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


def test_vectors_are_spread_over_graphs_of_a_bounded_size(database, monkeypatch):
    """Each holds few enough that its neighbours are found; full ones stay as they are when more comes."""
    monkeypatch.setattr(builder, "MAX_SEGMENT_VECTORS", 64)
    fill(database.store("default"))
    catch_up(database)
    files = set(database._connections.indexes.folder.path.glob("vectors-*.segment"))

    assert ways(database)[0] == "index of 200 vectors in 4 segments, 0 not yet indexed"
    same(database)
    fill(database.store("default"), range(20, 23))
    catch_up(database)
    after = set(database._connections.indexes.folder.path.glob("vectors-*.segment"))
    assert len(files & after) == 3
    assert ways(database)[0] == "index of 260 vectors in 5 segments, 0 not yet indexed"
    same(database)


def test_segments_are_joined_and_what_is_gone_is_left_out(database):
    """The number of files stays small, and half-empty ones are built anew."""
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
    same(database)  # most of what the index finds is gone: a scan answers
    assert catch_up(database) == 2
    assert ways(database)[0].startswith(f"index of {10 * EXTENSION_ROWS} vectors in 1 segment")
    assert ways(database)[1].startswith(f"index of {10 * EXTENSION_ROWS} chunks in 1 segment")
    same(database)


def test_a_transaction_older_than_the_index_does_without_it(database):
    """What was deleted since is in its state of the file, and may be missing in the index."""
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
        store.facts.write_vectors(OURS.fingerprint, {f"thing {n}": direction(n + 9_000) for n in range(400, 600)})
        catch_up(database)
        assert answers() == before
    assert all(now != then for now, then in zip(answers(), before, strict=True))
    other.close()


def test_what_a_transaction_has_written_but_not_committed_is_found_in_it_and_forgotten_with_it(database):
    """Nothing that was rolled back stays in the memory of an index, though its numbers are given again."""
    store, connections = database.store("default"), database._connections
    populate(database)
    catch_up(database)
    with pytest.raises(ZeroDivisionError), connections.write() as db:
        namespace = db.namespace_key("default")
        chunk = db.one("chunk_numbers", {"namespace": namespace, "ids": json.dumps([hit(store)])})
        assert chunk
        db.run("delete_terms", {"namespace": namespace})
        assert db.search_keyword(namespace, ["alpha"], limit=3, where=EVERYTHING, chunks=200, length=2000).hits
        raise ZeroDivisionError
    store.write(batch("new", [77]))
    same(database)


def hit(store):
    return store.search_keyword(["number1000"], limit=1, where=EVERYTHING).hits[0].chunk_id


def test_what_is_dropped_or_compacted_leaves_nothing_behind(database):
    """Vectors and terms tell of the texts they were made from."""
    fill(database.store("default"))
    fill(database.store("other"))
    assert catch_up(database) == 4
    folder = database._connections.indexes.folder.path

    database.drop("other")
    assert len(indexed.files(database)) == 2
    assert database.size() > (folder.parent / "weft.db").stat().st_size
    database.compact()
    assert not folder.exists()


def test_every_vector_can_be_reached(database):
    """However often an index is built, it is the same, and asked for everything it names everything."""
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


def test_near_vectors_are_put_in_together_after_some_from_everywhere():
    """Nothing is left out or put in twice."""
    vectors = np.tile(np.eye(8, 16, dtype=np.float16), (32, 1))

    order = arrange(vectors)

    assert sorted(order.tolist()) == list(range(len(vectors)))
    early, late = np.split(order % 8, [len(vectors) // EARLY_STRIDE])
    assert set(early.tolist()) == set(range(8))
    assert np.count_nonzero(np.diff(late)) == 7
    assert arrange(vectors[:0]).tolist() == []


def test_a_build_that_nobody_waits_for_is_given_up(database, monkeypatch):
    """A process that only asked ends without finishing it, also in the midst of a graph."""
    fill(database.store("default"))
    index_builder = database._connections.index_builder
    monkeypatch.setattr(
        builder, "make_graph", lambda dimension: index_builder._cancelled.set() or make_graph(dimension)
    )

    assert catch_up(database) == 0
    assert indexed.files(database, "vectors") == []


def test_who_interrupts_the_end_does_not_wait_for_a_build(tmp_path, monkeypatch):
    """Ctrl-C gives the build up; the file is whole, and the next one that writes makes what is missing."""
    monkeypatch.undo()
    monkeypatch.setattr(index_reader, "MIN_INDEXED_ROWS", MIN_ROWS)
    building, join = threading.Event(), threading.Thread.join
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    index_builder = database._connections.index_builder

    def make(dimension):
        building.set()
        index_builder._cancelled.wait(30)
        return make_graph(dimension)

    def interrupted(thread, timeout=None):
        monkeypatch.setattr(threading.Thread, "join", join)
        assert building.wait(30)
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
    assert all(way.startswith("index of 201 ") for way in ways(reader)[:2])
    reader.close()


def test_indexes_of_an_earlier_format_are_built_anew(database):
    """They are not used, and replaced as if there were none."""
    fill(database.store("default"))
    catch_up(database)
    for path in database._connections.indexes.folder.path.glob("*.json"):
        path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "format": 2}), "utf-8")

    assert ways(database)[:2] == [UNBUILT] * 2
    assert catch_up(database) == 2
    same(database)


def test_many_threads_ask_at_once(database):
    """Each gets the answer it would get alone."""
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


def test_while_nobody_asks_only_whole_segments_are_made(database, monkeypatch):
    """A graph that would have to be built anew for what is still to come is not built."""
    monkeypatch.setattr(builder, "MAX_SEGMENT_VECTORS", 150)
    index_builder = database._connections.index_builder
    fill(database.store("default"), range(7))
    assert index_builder.catch_up(min_rows=150) == 0
    assert ways(database)[:2] == [UNBUILT] * 2
    assert not database._connections.indexes.folder.path.exists()
    fill(database.store("default"), range(10))
    assert index_builder.catch_up(min_rows=150) == 2
    assert [segment["count"] for segment in indexed.manifest(database, "vectors")[1]["segments"]] == [160, 40]
    same(database)


def test_what_is_due_depends_on_who_calls(tmp_path, monkeypatch):
    """After a commit it is a whole segment, after a question any tail that costs it time, at the end nearly all."""
    monkeypatch.undo()
    monkeypatch.setattr(index_reader, "MIN_INDEXED_ROWS", MIN_ROWS)
    monkeypatch.setattr(builder, "DEBOUNCE_SECONDS", 0.0)
    due = queue.Queue()
    monkeypatch.setattr(builder.IndexBuilder, "catch_up", lambda self, *, min_rows: due.put(min_rows))
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    populate(database)
    assert due.get(timeout=30) == builder.MAX_SEGMENT_VECTORS
    database.store("default").search_keyword(["alpha"], limit=10, where=EVERYTHING)
    while (least := due.get(timeout=30)) == builder.MAX_SEGMENT_VECTORS:
        pass
    assert least == index_reader.MIN_EXTENSION_ROWS
    database.close()
    assert list(due.queue)[-1] == builder.MIN_EXTENSION_ROWS_AT_EXIT


def test_a_writer_extends_in_the_background_and_before_it_ends(tmp_path, monkeypatch):
    """Nothing has to be asked for, and little is left to compare in full; who only reads leaves at once."""
    monkeypatch.undo()
    monkeypatch.setattr(index_reader, "MIN_INDEXED_ROWS", MIN_ROWS)
    monkeypatch.setattr(index_reader, "MIN_EXTENSION_ROWS", EXTENSION_ROWS)
    monkeypatch.setattr(builder, "DEBOUNCE_SECONDS", 60.0)
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    populate(database)
    database.close()
    reader = SqliteDatabase(str(tmp_path / "weft.db"))
    assert all(way.startswith("index of 200 ") for way in ways(reader))
    monkeypatch.setattr(builder, "MIN_EXTENSION_ROWS_AT_EXIT", 5)
    for number in (5, 4):
        writer = SqliteDatabase(str(tmp_path / "weft.db"))
        writer.store("default").write(batch(f"{number} more", range(9000, 9000 + number)))
        writer.close()
    for way in ways(reader)[:2]:
        assert way.startswith("index of 205 ") and way.endswith(", 4 not yet indexed")
    reader._connections.indexes.clear()
    reader.store("default").search_vector(direction(1), limit=10, where=EVERYTHING)
    reader.close()
    assert not (tmp_path / "weft.db.index").exists()

    monkeypatch.setattr(builder, "DEBOUNCE_SECONDS", 0.0)
    server = SqliteDatabase(str(tmp_path / "weft.db"))
    server.store("default").search_keyword(["alpha"], limit=10, where=EVERYTHING)
    deadline = time.monotonic() + 30
    while not all(way.startswith("index") for way in ways(server)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [way.split()[2] for way in ways(server)] == ["209", "209", "200"]
    server.close()
