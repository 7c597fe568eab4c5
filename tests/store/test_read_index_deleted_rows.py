"""Rows of a keyword index that the file no longer has, or that a transaction does not see yet."""

import threading

import indexed
import pytest
from contract import EVERYTHING
from indexed import batch, catch_up, exact_keywords, fill, same

from weft.store.sqlite.database import SqliteDatabase
from weft.store.sqlite.index import keyword_search
from weft.store.sqlite.index.memtable import TermRows

pytest.importorskip("usearch", reason="pip install 'weft-search[scale]'")


@pytest.fixture
def database(tmp_path, monkeypatch):
    indexed.small(monkeypatch)
    opened = SqliteDatabase(str(tmp_path / "weft.db"))
    fill(opened.store("default"))
    catch_up(opened)
    yield opened
    assert indexed.unsound(opened) == []
    opened.close()


def test_deleted_rows_are_looked_up_only_if_there_are_any(database, monkeypatch):
    """No lookup while index and memtable have as many chunks as the file; a deletion and an addition cause one."""
    store, lookups = database.store("default"), []
    find_deleted = keyword_search._find_deleted
    monkeypatch.setattr(
        keyword_search, "_find_deleted", lambda *values: lookups.append(values) or find_deleted(*values)
    )
    store.write(batch("new", [77]))
    same(database)
    assert not lookups

    store.delete([batch("new", []).document.id])
    store.write(batch("other", [78]))
    same(database)
    assert lookups
    assert store.search_keyword(["number77"], limit=9, where=EVERYTHING).hits == ()


def test_rows_read_by_another_thread_are_not_visible(database, monkeypatch):
    """Threads share the memtable: a row that a transaction does not see may be added while it ranks."""
    store, rank = database.store("default"), TermRows.rank

    def disturbed(memtable, *values, **named):
        monkeypatch.setattr(TermRows, "rank", rank)
        other = threading.Thread(target=write_and_ask)
        other.start()
        other.join()
        assert len(memtable) == 1
        return memtable.rank(*values, **named)

    def write_and_ask():
        store.write(batch("new", [77]))
        assert store.search_keyword(["number77"], limit=9, where=EVERYTHING).hits

    with store.reading():
        assert store.stats().chunks == 200
        monkeypatch.setattr(TermRows, "rank", disturbed)
        assert store.search_keyword(["number77"], limit=9, where=EVERYTHING).hits == ()
        assert store.search_keyword(["alpha"], limit=9, where=EVERYTHING) == exact_keywords(
            database, ["alpha"], limit=9
        )
    assert len(store.search_keyword(["number77"], limit=9, where=EVERYTHING).hits) == 1
