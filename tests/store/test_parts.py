"""A namespace in several parts answers like one in one part, and its parts are seen by nobody else."""

import re

import numpy as np
import postgres
import psycopg
import pytest
from contract import EVERYTHING, MODEL, StoreContract, make_batch
from graph_making import view
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from test_graph import STEPS, play, settle
from test_postgres_row_security import fill_all

from weft.errors import InputError
from weft.records import Filter
from weft.store.memory.store import MemoryDatabase
from weft.store.postgres import parts
from weft.store.postgres.database import PostgresDatabase
from weft.store.postgres.part_names import part_names, part_of
from weft.store.sql_files import load_queries
from weft.store.sqlite.database import SqliteDatabase
from weft.text.analyzer import query_terms
from weft.text.ids import document_id

QUESTIONS = ("auth service", "paris database", "密钥", "sr 052 oauth")
QUESTION = (np.array([1, 2, 3]) / np.sqrt(14)).astype(np.float32)
FILTERS = (EVERYTHING, Filter(source_prefix="Doc"), Filter(documents=(document_id("default", "Doc One"),)))

TEXT = re.compile(
    r"weft\.(label|posting|term|chunk_vector)\b|(?<!:)\b(text|terms|heading|start_time)(,| \|\|)|metadata"
)
"""Tables and columns that only parts have."""

OF_A_PART = {
    "filter_chunks": "search",
    "filter_chunks_by_label": "search",
    "search_vector": "search",
    "search_vector_among": "search",
    "search_vector_index": "search",
    "sample_vectors": "search",
    "indexed_vectors": "read indexes, for one part",
    "indexed_vectors_at": "read indexes, for one part",
    "term_counts": "search",
    "chunk_frequencies": "search",
    "first_postings": "search",
    "postings_of": "search",
    "postings_at": "search",
    "all_postings": "check",
    "all_term_counts": "check",
    "delete_postings": "repair",
    "delete_terms": "repair",
    "append_postings": "TermChanges",
    "write_posting": "TermChanges",
    "delete_posting": "TermChanges",
    "count_term": "TermChanges",
    "drop_terms": "TermChanges",
    "list_terms": "parts",
    "write_document": "PostgresStore",
    "write_chunk": "PostgresStore",
    "write_vector": "PostgresStore",
    "write_document_at": "outbox, in the home",
    "write_chunk_at": "outbox, in the home",
}
"""Statements that are asked of a part by its name, and by whom."""


class TestPartedStore(StoreContract):
    kind = "postgres parts"

    @settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def test_another_namespace_never_appears(self, database, data):
        """The same as elsewhere, with fewer examples."""
        self.look_for_others(database, data)


@pytest.fixture
def database(postgres_dsn):
    database = PostgresDatabase(postgres_dsn)
    yield database
    database.close()


def rankings(store):
    """Return hits and statistics of searches; scores are rounded, for sums over parts add in another order."""
    terms = [store.search_keyword(query_terms(q), limit=5, where=f) for q in QUESTIONS for f in FILTERS]
    near = [store.search_vector(QUESTION, limit=5, where=f) for f in FILTERS]
    return [
        (
            [(hit.chunk_id, round(hit.score, 6)) for hit in ranking.hits],
            [round(value, 5) for value in (ranking.mean, ranking.deviation, ranking.ceiling, ranking.count)],
        )
        for ranking in (*terms, *near)
        if ranking.hits
    ]


def texts(store):
    """Return what a reader sees of documents and chunks."""
    documents = store.find_documents(EVERYTHING)
    ids = [document.id for document in documents]
    chunks = [chunk for id in ids for chunk in store.find_chunks(id)]
    stats = store.stats()
    return {
        "documents": documents,
        "page": store.find_documents(EVERYTHING, after="Doc", limit=1),
        "some": store.documents(list(reversed(ids))),
        "chunks read": store.chunks([chunk.id for chunk in chunks]),
        "titles": store.titles([chunk.id for chunk in chunks]),
        "sample": store.sample(limit=3),
        "to embed": store.find_unembedded("another", limit=3),
        "with terms": store.find_chunks_with_terms(["auth", "servic"], limit=9),
        "written": [[(i.chunk, i.terms) for i in batch.chunks] for batch in store.batches(ids)],
        "extracted": [
            (set(item.extraction.nominations), set(item.extraction.claims))
            for batch in store.batches(ids)
            for item in batch.chunks
        ],
        "counts": (stats.documents, stats.chunks, stats.terms, stats.vectors),
    }


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
@given(steps=STEPS)
def test_any_history_in_four_parts_answers_like_its_outcome_in_one(postgres_dsn, steps):
    """Texts, scores, statistics, entities and relations are those of the store in memory."""
    database, memory = PostgresDatabase(postgres_dsn), MemoryDatabase()
    database.drop("default")
    database.create("default", parts=4)
    stores = [opened.store("default") for opened in (database, memory)]
    for store, history in zip(stores, settle(steps), strict=True):
        store.write_model(MODEL)
        play(store, history)

    divided, whole = ({**texts(store), **view(store), "rankings": rankings(store)} for store in stores)
    for what in divided:
        assert divided[what] == whole[what], what
    assert stores[0].stats().parts == 4
    assert database.check() == []
    database.close()


def test_names_are_in_the_home_and_the_text_in_the_part_of_its_document(database, postgres_dsn):
    """The home has no text, no terms, no labels and no vectors; a part has no entities and no facts."""
    database.create("default", parts=4)
    fill_all(database, "default")
    with psycopg.connect(postgres_dsn) as db:
        found = dict(db.execute("SELECT id, namespace FROM weft.document WHERE namespace <> 'default'").fetchall())
        for table in ("label", "posting", "term", "chunk_vector", "entity_vector"):
            assert db.execute(f"SELECT count(*) FROM weft.{table} WHERE namespace = 'default'").fetchone() == (0,)
        for table in ("nomination", "entity", "edit", "fact", "job"):
            assert db.execute(f"SELECT count(*) FROM weft.{table} WHERE namespace <> 'default'").fetchone() == (0,)
        assert db.execute("SELECT DISTINCT text, terms FROM weft.chunk WHERE namespace = 'default'").fetchall() == [
            ("", {})
        ]

    assert len(set(found.values())) > 1
    assert all(part == part_of("default", id, 4) for id, part in found.items())
    assert set(found.values()) <= set(part_names("default", 4))


def test_a_damaged_part_is_found_and_repaired(database, postgres_dsn):
    """The check reads the postings, counts and labels of every part."""
    database.create("default", parts=4)
    fill_all(database, "default")
    with psycopg.connect(postgres_dsn, autocommit=True) as db:
        db.execute("DELETE FROM weft.posting WHERE term = 'ledger'")
        db.execute("DELETE FROM weft.label")
        db.execute("UPDATE weft.namespace SET chunks = chunks + 1 WHERE parts = 0")
    found = [problem.what for problem in database.check()]
    database.repair()

    assert any("keyword index" in what for what in found)
    assert any("labels" in what for what in found)
    assert any("part 0 counts" in what for what in found)
    assert database.check() == []


def test_an_ordinary_role_works_in_parts_and_sees_no_others(database, postgres_dsn, monkeypatch):
    """Row security is bound to the part of each statement; a session of one namespace binds no part of another."""
    monkeypatch.setattr(parts, "DEFAULT_PARTS", 3)
    with postgres.new_role(postgres_dsn, grants=postgres.ORDINARY) as role:
        mine = PostgresDatabase(role)
        fill_all(mine, "mine", "theirs")
        with mine._connections.read("mine") as db:
            for part in part_names("theirs", 3):
                assert db.run("count_documents", {"namespace": part}) == [(0,)]
                assert db.run("all_terms", {"namespace": part}) == []
            assert db.run("all_terms", {"namespace": "mine"}) != []
        assert mine.store("theirs").search_keyword(["ledger"], limit=9, where=EVERYTHING).hits
        assert mine.drop("theirs")
        mine.close()
    with psycopg.connect(postgres_dsn) as db:
        left = {name for (name,) in db.execute("SELECT namespace FROM weft.namespace").fetchall()}

    assert left == {"mine", *part_names("mine", 3)}
    assert database.namespaces() == ["mine"]


def test_the_number_of_parts_is_fixed_and_bounded(database):
    """A namespace is created once; no name leads to a part."""
    database.create("default", parts=2)
    database.create("default", parts=2)
    for number in (0, 257):
        with pytest.raises(InputError, match="invalid number of parts"):
            database.create("new", parts=number)
    with pytest.raises(InputError, match="exists with 2 parts, not 1") as caught:
        database.create("default", parts=1)
    with pytest.raises(InputError, match="invalid namespace"):
        database.store(part_names("default", 2)[0])

    assert "--drop" in caught.value.hint
    assert database.namespaces() == []
    assert database.drop("default")
    database.create("default", parts=1)


@pytest.mark.parametrize("open_it", [MemoryDatabase, lambda: SqliteDatabase(":memory:")])
def test_a_store_without_a_server_has_one_part(open_it):
    database = open_it()
    database.create("default", parts=1)
    with pytest.raises(InputError, match="cannot divide a namespace into 2 parts"):
        database.create("default", parts=2)
    database.close()


def test_no_statement_looks_for_text_in_the_home():
    """A statement that names what only parts have is sent to them, or is asked of a part by its name."""
    reading = {name for name, sql in load_queries("postgres").items() if TEXT.search(sql)}
    routed = parts.ROUTES.keys() | parts.ROW_PARTS.keys() | parts.STREAMED

    assert not routed & OF_A_PART.keys()
    assert reading - routed == OF_A_PART.keys()
    assert routed <= load_queries("postgres").keys()


def test_documents_of_one_write_in_several_parts_are_all_written_or_none(database):
    """One transaction over all parts."""
    database.create("default", parts=4)
    store = database.store("default")
    store.write_model(MODEL)
    batches = [make_batch(f"d{number}", ["alpha"]) for number in range(6)]
    with pytest.raises(InputError, match="NUL"):
        store.write(*batches, make_batch("last", ["beta\x00"]))

    assert store.stats().chunks == 0
    assert database.check() == []
