"""Lists of chunks in the rows of relations."""

import json

import apsw
from contract import MODEL
from graph_making import batch_of
from hypothesis import given
from hypothesis import strategies as st

from weft.store.sqlite import packed_claims
from weft.store.sqlite.chunk_lists import add_chunk_list_functions, pack_chunks, unpack_chunks
from weft.store.sqlite.database import SqliteDatabase
from weft.text.ids import document_id


@given(st.sets(st.integers(1, 2**40)), st.integers(0, 2**40))
def test_a_list_is_what_was_packed(numbers, size):
    found = unpack_chunks(pack_chunks(numbers, size=size))
    assert found == (sorted(numbers), max(size, len(numbers)))


def test_a_short_list_takes_a_byte_or_two_for_each_chunk():
    assert pack_chunks([300, 5, 3]) == bytes.fromhex("0302A702")
    assert pack_chunks([300, 5, 3], size=1000) == bytes.fromhex("00E8070302A702")


def test_the_functions_of_sql_say_the_same():
    db = apsw.Connection(":memory:")
    add_chunk_list_functions(db)
    said = db.execute("SELECT list_chunks(pack_chunks('[7, 3]', 9)), count_chunks(pack_chunks('[7, 3]', 9), '[3, 4]')")
    assert said.fetchall() == [("[3, 7]", 10)]


def test_a_new_chunk_with_the_number_of_a_deleted_one_is_listed(tmp_path):
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    store = database.store("default")
    store.write_model(MODEL)
    store.write(batch_of("Paris", ["A city."]), batch_of("Lyon", ["Another."]))
    for text in ("Paris is near Lyon.", "Paris is far from Lyon."):
        store.write(batch_of("Doc", [text]))
        assert database.check() == []
    database.close()


def test_a_long_list_has_the_first_chunks_and_the_number_of_all(tmp_path, monkeypatch):
    """Support and check are right while documents come and go, whichever of them are listed."""
    monkeypatch.setattr(packed_claims, "MAX_LISTED_CHUNKS", 3)
    path = tmp_path / "weft.db"
    database = SqliteDatabase(str(path))
    store = database.store("default")
    store.write_model(MODEL)
    sources = [f"Doc {n}" for n in range(8)]
    store.write(batch_of("Paris", ["A city."]), batch_of("Lyon", ["Another."]))
    for number, source in enumerate(sources):
        store.write(batch_of(source, [f"Number {number} is near Paris and Lyon."]))

    def supported():
        with apsw.Connection(str(path)) as db:
            add_chunk_list_functions(db)
            ends = "s.key = 'lyon' AND t.key = 'paris' AND r.type = 'co_occurs_with'"
            ((support, listed),) = db.execute(
                "SELECT r.support, list_chunks(r.chunks) FROM relation AS r"
                f" JOIN entity AS s ON s.number = r.source JOIN entity AS t ON t.number = r.target WHERE {ends}"
            )
        return support, len(json.loads(listed))

    assert supported() == (8, 3)
    assert database.check() == []
    for left, source in enumerate(sources[:5], start=1):
        store.delete([document_id("default", source)])
        assert supported()[0] == 8 - left
        assert database.check() == []
    database.close()
