"""Compressed terms of chunks in SQLite."""

import json

import apsw
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.store.sqlite.packed_terms import add_packing_functions, pack_terms, unpack_terms

PROSE = (
    "The keeper of the lighthouse wrote every evening into the log: wind, visibility, ships that passed. "
    "On stormy evenings the log is longer, and the handwriting of the keeper is worse."
)
TERMS = {"the": 5, "keeper": 2, "log": 2} | dict.fromkeys(
    ("lighthous", "wrote", "everi", "wind", "visibl", "ship", "storm", "longer", "handwrit", "wors"), 1
)


@settings(max_examples=40)
@given(st.text(), st.dictionaries(st.text(), st.integers(1, 300)))
def test_all_terms_are_read_as_they_were_written(text, terms):
    """Also those with spaces, quotes and line breaks, and those that the text does not contain."""
    stored = pack_terms(json.dumps(terms, ensure_ascii=False), text)
    assert json.loads(unpack_terms(stored, text)) == terms


def test_terms_of_prose_take_less_and_a_few_terms_stay_readable():
    """A term takes a few bytes, because it is in the text."""
    terms = json.dumps(TERMS)

    assert len(pack_terms(terms, PROSE)) < 0.6 * len(terms)
    assert pack_terms('{"pie": 1}', "plum pie") == '{"pie": 1}'


def test_damaged_terms_are_no_json():
    """So `weft check` reports them and `weft repair` replaces them."""
    terms = pack_terms(json.dumps(TERMS), PROSE)

    assert unpack_terms(b"\xff" + terms[1:], PROSE) == ""
    assert unpack_terms(terms, "another text") == ""
    assert pack_terms("{damaged", PROSE) == "{damaged"
    assert pack_terms('{"a": "b"}', PROSE) == '{"a": "b"}'


def test_sql_reads_and_writes_them():
    """The functions are registered by name."""
    db = apsw.Connection(":memory:")
    add_packing_functions(db)
    db.execute("CREATE TABLE t (text TEXT, terms ANY) STRICT")
    values = {"text": PROSE, "terms": json.dumps(TERMS)}
    db.execute("INSERT INTO t VALUES (:text, pack_terms(:terms, :text))", values)

    ((kind, terms),) = db.execute("SELECT typeof(terms), unpack_terms(terms, text) FROM t")
    assert (kind, json.loads(terms)) == ("blob", TERMS)
