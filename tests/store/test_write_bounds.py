"""A write changes the rows of its own documents, and a bounded number of rows of names."""

from dataclasses import replace
from itertools import pairwise

import pytest
from contract import MODEL, make_batch, unit
from graph_making import NAMES, batch_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from logical import content
from opening import contradictions, open_empty, where

from weft.extract.names import name_key
from weft.records import Candidate, Extraction
from weft.store.sqlite.database import SqliteDatabase
from weft.text.ids import document_id

OWNED = (
    "document",
    "label",
    "chunk",
    "chunk_vector",
    "candidate",
    "stated_relation",
    "mention",
    "entity_vector",
    "posting",
)
"""Tables with the statements of documents."""

OTHERS = [
    ("Paris", ["Paris and the Auth Service (AS). The Ledgers of AS are in Paris.", "密钥 of SR-052."]),
    ("Ledgers", ["Ledgers keep books for the Auth Service Team. We met C++ in Paris."]),
    ("Night Watch", ["The Auth Service knows no database, and the Data Base no C."]),
]
"""Documents that mention names of which some are entities and some are not yet."""

SENTENCES = [f"We saw {name} and {other}." for name, other in pairwise(NAMES)]
TEXTS = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=3)


def fill(database):
    store = database.store("default")
    store.write_model(MODEL)
    for source, texts in OTHERS:
        store.write(batch_of(source, texts))
    return store


def owned(tables):
    return {name: tables[name] for name in OWNED}


def added(before, after):
    """Return the new rows of each table; none may be gone."""
    assert {table: before[table] - after[table] for table in before} == {table: set() for table in before}
    return {table: after[table] - before[table] for table in before}


def check_write(database, at, source, texts):
    """Write a document, a second version of it, and delete it; compare the tables with those before."""
    store = fill(database)
    everything = content(at)
    before = owned(everything)
    mine = {chunk.chunk.id for chunk in batch_of(source, texts).chunks}
    assert not mine & {chunk.chunk.id for other in OTHERS for chunk in batch_of(*other).chunks}

    store.write(batch_of(source, texts))
    new = added(before, owned(content(at)))
    for table in ("candidate", "stated_relation", "mention", "entity_vector", "chunk_vector"):
        of_chunk = {row[2] if table == "mention" else row[1] for row in new[table]}
        assert {chunk for _, chunk in of_chunk} <= mine, table
    store.write(batch_of(source, [*texts, "More of it."]))
    added(before, owned(content(at)))
    store.delete([document_id("default", source)])
    assert content(at) == everything
    assert contradictions(database) == []
    database.close()


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(source=st.sampled_from(NAMES[:4] + NAMES[8:14] + ["Rome"]), texts=TEXTS)
def test_a_write_changes_no_row_of_another_document(tmp_path_factory, source, texts):
    """Whatever it is about: names that others mention become entities, and only rows of entities change."""
    path = tmp_path_factory.mktemp("write") / "weft.db"
    check_write(SqliteDatabase(str(path)), path, source, [f"{source} is new here.", *texts])


@pytest.mark.parametrize("source", ["Auth Service", "Database", "密钥"])
def test_a_write_on_a_server_changes_no_row_of_another_document(request, source):
    """The same rules as in a file."""
    database = open_empty("postgres", request)
    texts = [f"{source} is new here. We saw the Auth Service in Paris."]
    check_write(database, where("postgres", request), source, texts)


# ── common words ────────────────────────────────────────────────────────────────────────────────


def page(number):
    """Return a document whose text has two common words; it proposes one of them."""
    title = f"Page {number}"
    candidates = (
        Candidate(key=name_key(title), name=title, kind="title", about=True),
        Candidate(key="manual", name="Manual", kind="phrase"),
    )
    batch = make_batch(title, [f"{title} of the Manual. A Harbour is near, and the Harbour Crane."])
    extraction = Extraction(candidates=candidates)
    return replace(batch, chunks=tuple(replace(item, extraction=extraction) for item in batch.chunks))


def named(title):
    candidate = Candidate(key=name_key(title), name=title, kind="title", about=True, description="A word.")
    batch = make_batch(title, [f"{title} is a common word."])
    extraction = Extraction(candidates=(candidate,))
    vectors = {candidate.key: unit(1, 2, 3)}
    items = [replace(item, extraction=extraction, entity_vectors=vectors) for item in batch.chunks]
    return replace(batch, chunks=tuple(items))


def written_rows(database, title):
    """Return the number of rows changed by adding, changing and deleting a document with this title."""
    store = database.store("default")
    counts = []
    for act in (
        lambda: store.write(named(title)),
        lambda: store.write(replace(named(title), chunks=named(title).chunks[:0])),
        lambda: store.write(named(title)),
        lambda: store.delete([document_id("default", title)]),
    ):
        with database._connections.bare() as db:
            before = db.total_changes()
        act()
        with database._connections.bare() as db:
            counts.append(db.total_changes() - before)
    return counts


@pytest.mark.parametrize("title", ["Harbour", "Manual"], ids=["in all texts", "proposed by all chunks"])
def test_a_title_that_is_a_common_word_changes_few_rows(tmp_path, title):
    """As many in a store of 50 documents as in one of 500, and all of them are taken back."""
    database = SqliteDatabase(str(tmp_path / "weft.db"))
    store = database.store("default")
    store.write_model(MODEL)
    counts = []
    for start, stop in ((0, 50), (50, 500)):
        store.write(*(page(number) for number in range(start, stop)))
        before = content(tmp_path / "weft.db")
        counts.append(written_rows(database, title))
        assert content(tmp_path / "weft.db") == before

    assert max(counts[0]) < 60
    assert counts[1] == counts[0]
    assert contradictions(database) == []
    database.close()
