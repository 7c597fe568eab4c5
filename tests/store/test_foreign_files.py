"""Files beside a store that a stranger planted: nothing else of the user is read, written or deleted."""

import json
import os
import struct

import apsw
import pytest

from weft.config import read_settings
from weft.errors import ConfigError, StoreUnavailable
from weft.store.index_files.segments import IndexFolder, Manifest
from weft.store.shared.file_checks import COMPANIONS, JOURNAL_MAGIC
from weft.store.sqlite.connect import read_version
from weft.store.sqlite.database import SqliteDatabase

pytestmark = pytest.mark.hostile

TEXT = "of the user\n" * 1000


@pytest.fixture
def folder(tmp_path):
    """A cloned folder with a store, and a folder of the user beside it."""
    made = tmp_path / "cloned"
    made.mkdir()
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "notes.txt").write_text(TEXT)
    SqliteDatabase(str(made / "weft.db")).close()
    return made


@pytest.fixture
def own(tmp_path, folder):
    """The file of the user, which nothing may change."""
    path = tmp_path / "own" / "notes.txt"
    yield path
    assert path.read_text() == TEXT
    assert [file.name for file in path.parent.iterdir()] == ["notes.txt"]


def plant_journal(db, victim):
    """Write a rollback journal that makes some versions of SQLite delete a file."""
    name, sector, page = str(victim).encode(), 512, 4096
    head = JOURNAL_MAGIC + struct.pack(">IIIII", 0, 1, db.stat().st_size // page, sector, page)
    tail = struct.pack(">I", 0x40000000 // page + 1) + name + struct.pack(">II", len(name), sum(name)) + JOURNAL_MAGIC
    db.with_name(db.name + "-journal").write_bytes(head.ljust(sector, b"\0") + tail)


def open_all(db):
    """Open a store in each way; return the errors."""
    for call in (SqliteDatabase, read_version):
        with pytest.raises(StoreUnavailable) as refused:
            call(str(db))
        yield str(refused.value)


@pytest.mark.parametrize("suffix", COMPANIONS)
def test_a_companion_of_the_file_that_is_a_link_is_refused(folder, own, suffix):
    """SQLite would write the log of changes into the file of the user."""
    (folder / f"weft.db{suffix}").symlink_to(own)

    assert all("link" in said for said in open_all(folder / "weft.db"))


def test_a_journal_that_names_a_file_of_the_user_is_refused(folder, own):
    """SQLite 3.40 deletes the file."""
    plant_journal(folder / "weft.db", own)

    assert all("would delete" in said for said in open_all(folder / "weft.db"))


def test_an_ordinary_journal_is_rolled_back(folder):
    """A process was killed before the file used a log of changes."""
    (folder / "weft.db-journal").write_bytes(b"")

    SqliteDatabase(str(folder / "weft.db")).close()


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "device"])
def test_a_store_that_is_no_file_is_refused(folder, make):
    """It is not waited for."""
    (folder / "weft.db").unlink()
    make(folder / "weft.db")

    assert all("ordinary file" in said for said in open_all(folder / "weft.db"))


def test_the_default_store_is_no_link_out_of_the_folder(folder, own, tmp_path):
    """A cloned repository would open the user's own store. A link inside the folder is followed, and so is `--db`."""
    (folder / "weft.db").unlink()
    (folder / "weft.db").symlink_to(own)
    with pytest.raises(ConfigError, match="outside this folder"):
        read_settings(folder=folder, environment={})
    given = {"store.db": str(folder / "weft.db")}
    assert read_settings(given, folder=folder, environment={}).store.db == given["store.db"]

    (folder / "weft.db").unlink()
    (folder / "weft.db").symlink_to("memory.db")
    assert read_settings(folder=folder, environment={}).store.db == "weft.db"


def test_an_index_folder_that_is_a_link_is_left_alone(folder, own):
    """`weft compact` deletes the read indexes: it deleted every file of the folder behind the link."""
    (folder / "weft.db.index").symlink_to(own.parent)
    index = IndexFolder(folder / "weft.db.index")
    with pytest.raises(OSError, match="link"), index.build_lock():
        pytest.fail("the lock was taken")
    assert index.size() == 0
    index.retain([])
    index.discard("notes")
    index.delete_leftovers()

    database = SqliteDatabase(str(folder / "weft.db"))
    database.compact()
    database.close()


def test_nothing_is_written_through_a_link_in_the_index_folder(folder, own):
    """The name of a new manifest can be guessed, and so can that of the lock."""
    index = IndexFolder(folder / "weft.db.index")
    index.path.mkdir()
    (index.path / "terms.json.partial").symlink_to(own)
    index.write_manifest("terms", Manifest(dimension=0, generation=1))
    assert index.read_manifest("terms") is not None

    (index.path / "lock.db").symlink_to(own)
    with pytest.raises(OSError, match="link"), index.build_lock():
        pytest.fail("the lock was taken")


def manifest_of(file, size):
    """Return a manifest with one file."""
    files = [{"file": file, "size": size, "head": 0, "crc": 0}]
    segment = {"files": files, "low": 0, "high": 1, "count": 1, "ends": {}}
    return json.dumps({"format": 4, "dimension": 0, "generation": 1, "segments": [segment]})


@pytest.mark.parametrize("name", ["../../own/notes.txt", "linked.segment", "piped.segment"])
def test_an_index_reads_ordinary_files_of_its_folder_only(folder, own, name):
    """Neither a path, nor a link, nor a pipe, which would be waited for."""
    index = IndexFolder(folder / "weft.db.index")
    index.path.mkdir()
    (index.path / "linked.segment").symlink_to(own)
    os.mkfifo(index.path / "piped.segment")
    size = 0 if name == "piped.segment" else len(TEXT)
    (index.path / "terms.json").write_text(manifest_of(name, size))
    assert index.read_manifest("terms") is None

    (index.path / "own.segment").write_text(TEXT)
    (index.path / "terms.json").write_text(manifest_of("own.segment", len(TEXT)))
    assert index.read_manifest("terms") is not None


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.write_text("[" * 100_000)], ids=["pipe", "nested"])
def test_an_odd_manifest_is_no_manifest(folder, make):
    """It is neither waited for nor an error of Python."""
    index = IndexFolder(folder / "weft.db.index")
    index.path.mkdir()
    make(index.path / "terms.json")

    assert index.read_manifest("terms") is None


def test_a_schema_may_not_load_programs(folder):
    """Neither a trigger nor a view of a planted store; a view may not call functions with side effects."""
    database = SqliteDatabase(str(folder / "weft.db"))
    with database._connections.bare() as db:
        assert db.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, -1) == 0
        assert db.config(apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, -1) == 0
        with pytest.raises(apsw.Error):
            db.execute("SELECT load_extension('x')").fetchall()
    database.close()
