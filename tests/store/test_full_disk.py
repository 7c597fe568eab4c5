"""Full disk: clear errors and no lost data."""

import resource
from contextlib import contextmanager

import pytest
from contract import EVERYTHING, MODEL, make_batch

from weft.errors import StoreError, StoreFull
from weft.server.errors import refusal
from weft.store.sqlite.database import SqliteDatabase


@contextmanager
def room_for(size):
    """Let no file grow beyond so many bytes, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_store_on_a_full_disk_cannot_be_opened_and_says_why(tmp_path):
    """SQLite makes a file beside it, also for those who only ask."""
    path = str(tmp_path / "weft.db")
    SqliteDatabase(path).close()

    with room_for(16_384), pytest.raises(StoreFull, match="no space left") as error:
        SqliteDatabase(path)
    assert "free disk space" in error.value.hint
    refused = refusal(error.value)
    assert (refused.status_code, refused.code) == (507, "store_full")
    assert str(tmp_path) not in refused.message


def test_what_was_committed_stays_where_a_write_finds_no_room(tmp_path):
    """The error names the file and what to look at, and the next write is done when there is room again."""
    path = tmp_path / "weft.db"
    database = SqliteDatabase(str(path))
    store = database.store("default")
    store.write_model(MODEL)
    store.write(make_batch("a", ["first"]))
    with room_for(path.with_name("weft.db-wal").stat().st_size + 4096):
        with pytest.raises(StoreError, match=r"cannot read or write .*weft\.db'") as error:
            store.write(make_batch("b", [f"second {number} " + "long " * 200 for number in range(40)]))
        assert "check the disk" in error.value.hint
        assert [document.source for document in store.find_documents(EVERYTHING)] == ["a"]
    store.write(make_batch("b", ["second"]))

    assert [document.source for document in store.find_documents(EVERYTHING)] == ["a", "b"]
    assert database.check() == []
    database.close()
