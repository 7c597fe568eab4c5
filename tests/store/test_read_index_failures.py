"""Damaged, missing, incomplete or foreign read indexes: a scan answers."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict, replace

import apsw
import indexed
import numpy as np
import pytest
from contract import EVERYTHING
from indexed import MIN_ROWS, batch, catch_up, direction, populate, same, search_methods, start

from weft.store.sqlite import connect
from weft.store.sqlite.database import SqliteDatabase
from weft.store.sqlite.index import builder, reader, targets

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


def unlink(paths):
    for path in paths:
        path.unlink()


def exchange(paths, change):
    """Replace files by changed copies: truncating a mapped file would end every process that reads it."""
    for path in paths:
        path.with_suffix(".other").write_bytes(change(path.read_bytes()))
        path.with_suffix(".other").replace(path)


HARMS = {
    "deleted": lambda folder: folder.clear(),
    "files missing": lambda folder: unlink(folder.path.glob("*.segment")),
    "files cut off": lambda folder: exchange(folder.path.glob("*.segment"), lambda held: held[:100]),
    "other files": lambda folder: exchange(folder.path.glob("*.segment"), lambda held: b"x" * len(held)),
    "empty manifests": lambda folder: [path.write_text("{}") for path in folder.path.glob("*.json")],
    "manifests with a letter in a number": lambda folder: [
        path.write_text(re.sub(r'("ends": {"\d)', r"\1=", path.read_text())) for path in folder.path.glob("*.json")
    ],
    "half manifests": lambda folder: [path.write_text("[1") for path in folder.path.glob("*.json")],
}


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_index_files_can_be_deleted_or_damaged_at_any_time(database, harm, caplog):
    """A scan answers until the indexes are built again."""
    folder = database._connections.indexes.folder
    populate(database)
    for _ in range(2):
        assert catch_up(database) == 3
        assert all(method.startswith("index") for method in search_methods(database))
        same(database, range(2))
        harm(folder)
        same(database, range(2))  # open files stay in use
        for path in folder.path.glob("*.json"):
            os.utime(path)
        assert search_methods(database) == [UNBUILT] * 3
        same(database, range(2))
        database._connections.indexes.clear()


def read_only(folder, monkeypatch):
    """Let the folder refuse writing."""
    folder.path.mkdir()
    open_file = apsw.Connection

    def refuse(path, **options):
        if path.startswith(str(folder.path)):
            raise apsw.CantOpenError("unable to open")
        return open_file(path, **options)

    monkeypatch.setattr(apsw, "Connection", refuse)


def a_file(folder, monkeypatch):
    folder.path.write_text("in the method")


@pytest.mark.parametrize("hinder", [read_only, a_file])
def test_a_folder_that_cannot_be_written_causes_one_warning(tmp_path, monkeypatch, caplog, hinder):
    """A scan answers."""
    monkeypatch.undo()
    monkeypatch.setattr(reader, "MIN_INDEXED_ROWS", MIN_ROWS)
    monkeypatch.setattr(builder, "DEBOUNCE_SECONDS", 0.0)
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    hinder(database._connections.indexes.folder, monkeypatch)
    populate(database)
    database._connections.index_builder.close()

    assert len([record for record in caplog.records if "cannot extend" in record.message]) == 1
    assert search_methods(database) == [UNBUILT] * 3
    same(database)
    database.close()


def test_closing_during_a_check_runs_another_check(tmp_path, monkeypatch):
    """The running check used the threshold of a process that continues."""
    monkeypatch.undo()
    monkeypatch.setattr(builder, "DEBOUNCE_SECONDS", 0.0)
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    index_builder, looked, begun = database._connections.index_builder, [], threading.Event()

    def look(*, min_rows):
        looked.append(min_rows)
        begun.set()
        assert index_builder._closing.wait(120)
        return 0

    monkeypatch.setattr(index_builder, "catch_up", look)
    index_builder.request(wrote=True)
    assert begun.wait(120)
    database.close()

    assert looked == [builder.MAX_SEGMENT_VECTORS, min(builder.MIN_EXTENSION_ROWS_AT_EXIT, reader.MIN_EXTENSION_ROWS)]


def test_indexes_of_another_state_of_the_file_are_not_used(tmp_path):
    """A restored backup assigns numbers again, to other rows."""
    path = tmp_path / "weft.db"
    database = SqliteDatabase(str(path))
    populate(database, range(6))
    database.backup(tmp_path / "backup.db")
    populate(database, range(6, 10))
    catch_up(database)
    assert all(method.startswith("index") for method in search_methods(database))
    database.close()
    for more in (range(106, 114), range(106, 108)):  # more than was there, and less
        shutil.copy(tmp_path / "backup.db", path)
        database = SqliteDatabase(str(path))
        populate(database, more)
        database.store("default").delete([batch("note 106", []).document.id])

        same(database)
        assert not any(method.startswith("index") for method in search_methods(database))
        database.close()
    database = SqliteDatabase(str(path))
    populate(database, range(120, 126))
    assert catch_up(database) == 3
    same(database)
    database.close()


def test_a_damaged_index_is_detected_and_repaired(database):
    """`check --deep` compares results; here the index contains other vectors."""
    populate(database)
    catch_up(database)
    assert database.compare() == []
    from usearch.index import Index

    folder = database._connections.indexes.folder
    wrong = Index(ndim=indexed.DIMENSION, metric="ip", dtype="i8")
    wrong.add(np.arange(1, 201, dtype=np.uint64), np.stack([direction(900_000)] * 200))
    for kind in ("vectors", "entities"):
        path, said = indexed.manifest(database, kind)
        saved = folder.write_file(path.stem, lambda target: wrong.save(str(target)))
        said["segments"][0]["files"][0] = asdict(saved)
        path.write_text(json.dumps(said))

    problems = database.compare()
    assert [problem.where for problem in problems] == ["namespace 'default'"] * 2
    assert all(problem.repairable for problem in problems)
    database.repair()
    catch_up(database)
    assert database.compare() == []


@pytest.mark.parametrize("kind, suffix", [("vectors", "ids"), ("keywords", "segment")])
def test_damaged_ids_are_detected_and_a_scan_answers(database, kind, suffix):
    """No query fails, `check --deep` reports them, and the index is built again."""
    populate(database)
    catch_up(database)
    (path,) = database._connections.indexes.folder.path.glob(f"{kind}*.{suffix}")
    content, count = re.subn(rb"c[0-9a-f]{24}", b"\xff" * 25, path.read_bytes())
    assert count == 200
    path.write_bytes(content)

    assert path.name in next(problem for problem in database.compare() if "damaged" in problem.what).what
    same(database)
    assert not path.exists()
    catch_up(database)
    same(database)
    assert database.compare() == []


def test_a_chunk_with_a_long_id_is_found_by_a_scan(database):
    """The store accepts any id; an index only ids of 25 bytes."""
    store, strange, id = database.store("default"), batch("strange", [123_456]), "c" * 26
    (item,) = strange.chunks
    strange = replace(strange, chunks=(replace(item, chunk=replace(item.chunk, id=id)),))
    populate(database)
    catch_up(database)
    store.write(strange)

    assert store.search_keyword(["number123456"], limit=9, where=EVERYTHING).hits[0].chunk_id == id
    assert store.search_vector(direction(123_456), limit=9, where=EVERYTHING).hits[0].chunk_id == id
    same(database)
    database._connections.indexes.clear()
    with pytest.raises(ValueError):
        catch_up(database)
    assert indexed.files(database) == []
    same(database)
    store.delete([strange.document.id])  # which `check` calls unsound


def test_a_changed_byte_is_detected_and_repaired(database):
    """`check --deep` verifies whole files; here one frequency is changed."""
    populate(database)
    catch_up(database)
    (path,) = indexed.files(database, "keywords")
    content = bytearray(path.read_bytes())
    content[-100] ^= 1
    path.write_bytes(content)

    assert path.name in next(problem for problem in database.compare() if "damaged" in problem.what).what
    database.repair()
    catch_up(database)
    assert database.compare() == []


STUCK = {
    "vectors": "import usearch.index; usearch.index.Index.save = lambda index, path: stuck(path)",
    "entities": "import usearch.index; usearch.index.Index.save = lambda index, path: stuck(path)",
    "keywords": "builder.merge_postings = lambda parts, kept, mean, path: stuck(path)",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_process_killed_during_a_build_blocks_nothing(database, kind):
    """Its partial files are ignored and deleted by the next build."""
    populate(database)
    catch_up(database)
    populate(database, range(20, 30))
    script = f"""
        def stuck(path):
            open(path, "wb").write(b"half a segment")
            print("building", flush=True)
            sys.stdin.read()
        {STUCK[kind]}
        find = builder.find_targets
        builder.find_targets = lambda db, min_rows: [
            target for target in find(db, min_rows=min_rows) if target.kind == "{kind}"
        ]
        builder.ReadIndexes.retain = lambda self, targets: None
        database._connections.index_builder.catch_up()
    """
    with start(script, database._connections.path) as other:
        assert other.stdout.readline() == "building\n"
        database.store("default").write(batch("meanwhile", [5]))  # writers do not wait
        assert catch_up(database) == 0, "somebody else is building"
        same(database)
        other.send_signal(signal.SIGKILL)

    assert all(method.startswith("index of 200 ") for method in search_methods(database))
    same(database)
    assert catch_up(database) == 3
    assert [method.split()[2] for method in search_methods(database)] == ["401", "401", "400"]
    assert not list(database._connections.indexes.folder.path.glob("*.partial"))
    same(database)


def test_leftovers_of_a_killed_build_are_deleted_without_a_new_build(database, monkeypatch):
    """A process that only reads requests this, too. Files of a running build stay."""
    populate(database)
    catch_up(database)
    indexes = database._connections.indexes
    listed = {path.name for path in indexes.folder.path.iterdir()}
    for name in (
        "vectors-1-1.abc.partial",
        "vectors-1-1.abc.ids",
        "keywords-1-1.json.partial",
        "keywords-9-9.a.segment",
    ):
        (indexes.folder.path / name).write_bytes(b"half a file")
    with indexes.folder.build_lock() as is_locked:
        assert is_locked
        assert catch_up(database) == 0
    assert (indexes.folder.path / "vectors-1-1.abc.partial").exists(), "somebody was building"
    requests = []
    monkeypatch.setattr(indexes, "_on_stale", lambda: requests.append(True))
    database.prefetch()
    assert requests
    assert catch_up(database) == 0

    assert {path.name for path in indexes.folder.path.iterdir()} == listed
    same(database)


@pytest.mark.parametrize("error", [builder._Cancelled, OSError("full")])
def test_a_build_that_ends_early_deletes_its_files(database, monkeypatch, error):
    """Spilled postings, too, of which no manifest knows."""
    populate(database)
    folder, written = database._connections.indexes.folder, []
    real = folder.write_file

    def fail(name, write, *, suffix="segment"):
        real(name, write, suffix=suffix)
        written.extend(folder.path.glob(f"{name}.*"))
        raise error

    monkeypatch.setattr(folder, "write_file", fail)
    with suppress(OSError):
        catch_up(database)

    assert written
    assert [path.name for path in folder.path.iterdir()] == ["lock.db"]


def test_without_the_extra_a_scan_answers_and_names_the_command(tmp_path, monkeypatch):
    """Only vector indexes need usearch; keyword indexes do not."""
    monkeypatch.setattr(targets, "is_available", lambda: False)
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    populate(database)
    assert catch_up(database) == 1
    wanted = "exact; pip install 'weft-search[scale]' for an index"
    assert search_methods(database) == [wanted, "index of 200 chunks in 1 segment, 0 not yet indexed", wanted]
    same(database, range(2))
    database.close()
    monkeypatch.setattr(connect, "_load_vector_functions", lambda db: "not authorized")
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    assert search_methods(database) == ["exact"] * 3
    database.close()


@pytest.mark.parametrize("order", ["usearch.index, onnxruntime", "onnxruntime, usearch.index"])
def test_usearch_and_onnxruntime_can_be_imported_in_any_order(order):
    """Some releases of usearch crash the process if onnxruntime is imported after them."""
    done = subprocess.run([sys.executable, "-c", f"import {order}"], capture_output=True)

    assert done.returncode == 0


def test_two_builds_at_once_share_no_file(database, monkeypatch):
    """The folder may be deleted with its lock during a build; mapped files must not be truncated."""
    populate(database)
    other, paths, gather, merge = (
        SqliteDatabase(database._connections.path),
        [],
        builder.invert_chunks,
        builder.merge_postings,
    )
    others_turn = iter([False, True])

    def gathered(rows, *, mean):
        if next(others_turn, False):
            database._connections.indexes.folder.clear()
            assert catch_up(other) == 3
        return gather(rows, mean=mean)

    def merged(*parts, path, **named):
        paths.append(path)
        return merge(*parts, path=path, **named)

    monkeypatch.setattr(builder, "invert_chunks", gathered)
    monkeypatch.setattr(builder, "merge_postings", merged)
    catch_up(database)
    assert len(paths) > 4
    assert len(set(paths)) == len(paths)
    same(database)
    same(other)
    other.close()


def test_a_folder_deleted_during_a_build_ends_the_build(database, monkeypatch):
    """The build ends without an error, and the next one starts over."""
    populate(database)
    folder, save = database._connections.indexes.folder, reader.IndexFolder.write_file

    def deleted(self, name, write, **named):
        folder.clear()
        return save(self, name, write, **named)

    monkeypatch.setattr(reader.IndexFolder, "write_file", deleted)
    assert catch_up(database) == 0
    same(database)
    monkeypatch.undo()
    indexed.small(monkeypatch)
    assert catch_up(database) == 3
    same(database)


@pytest.mark.parametrize("resident", [False, True], ids=["mapped", "resident"])
@pytest.mark.parametrize("kind, suffix", [("vectors", "segment"), ("vectors", "ids"), ("keywords", "segment")])
def test_a_flipped_bit_anywhere_never_reaches_an_answer(tmp_path, kind, suffix, resident):
    """A new process verifies the whole file, scans the store instead, and has the index built again."""
    path = tmp_path / "weft.db"
    first = SqliteDatabase(str(path))
    populate(first)
    catch_up(first)
    first.close()
    (file,) = (tmp_path / "weft.db.index").glob(f"{kind}*.{suffix}")
    content = file.read_bytes()
    for place in range(0, len(content), max(1, len(content) // 7)):
        damaged = bytearray(content)
        damaged[place] ^= 0x10
        file.write_bytes(damaged)
        database = SqliteDatabase(str(path))
        database.prefetch(resident=resident)
        for _ in range(3000):  # a resident file is verified in the background
            same(database)
            if not file.exists():
                break
            time.sleep(0.02)
        assert not file.exists()
        assert not search_methods(database)[kind == "keywords"].startswith("index")
        catch_up(database)
        same(database)
        database.close()
        (file,) = (tmp_path / "weft.db.index").glob(f"{kind}*.{suffix}")
        content = file.read_bytes()


def test_a_file_truncated_under_a_server_does_not_end_it(tmp_path):
    """The server has a private copy; in a process of its own, because SIGBUS would end the tests."""
    path = tmp_path / "weft.db"
    database = SqliteDatabase(str(path))
    populate(database)
    catch_up(database)
    database.close()
    program = f"""
import os, time, sys
sys.path[:0] = {sys.path!r}
import indexed
from indexed import same
from pathlib import Path
from weft.store.sqlite.database import SqliteDatabase
from weft.store.sqlite.index import reader, resident_vectors
reader.MIN_INDEXED_ROWS = {reader.MIN_INDEXED_ROWS}
resident_vectors.MAX_RESIDENT_CHUNKS = reader.MAX_RESIDENT_CHUNKS = {reader.MAX_RESIDENT_CHUNKS}
database = SqliteDatabase({str(path)!r})
database.prefetch(resident=True)
for _ in range(1000):
    same(database)
    if any(method.startswith("index") for method in indexed.search_methods(database)):
        break
    time.sleep(0.05)
else:
    raise SystemExit("the index was never used")
for file in Path({str(path) + ".index"!r}).glob("*.segment"):
    os.truncate(file, 100)
same(database)
same(database)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
