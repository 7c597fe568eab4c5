"""What an index of words holds and the file does no longer, or not yet: it is looked for where there can be any."""

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


def test_what_is_gone_is_looked_for_only_where_something_is(database, monkeypatch):
    """As long as every chunk of index and tail is there, nobody looks; one out and one in, and it is looked again."""
    store, looked = database.store("default"), []
    look = keyword_search._find_deleted
    monkeypatch.setattr(keyword_search, "_find_deleted", lambda *given: looked.append(given) or look(*given))
    store.write(batch("new", [77]))
    same(database)
    assert not looked

    store.delete([batch("new", []).document.id])
    store.write(batch("other", [78]))
    same(database)
    assert looked
    assert store.search_keyword(["number77"], limit=9, where=EVERYTHING).hits == ()


def test_what_another_thread_reads_meanwhile_is_not_shown(database, monkeypatch):
    """The memory of what is newer is shared: a chunk that a transaction does not see may come in while it ranks."""
    store, rank = database.store("default"), TermRows.rank

    def disturbed(tail, *given, **named):
        monkeypatch.setattr(TermRows, "rank", rank)
        other = threading.Thread(target=write_and_ask)
        other.start()
        other.join()
        assert len(tail) == 1
        return tail.rank(*given, **named)

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
