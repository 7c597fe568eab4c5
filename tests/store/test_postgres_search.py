"""Indexes of PostgreSQL return the results of an exact search."""

import random
from dataclasses import replace

import numpy as np
import psycopg
import pytest
from contract import EVERYTHING, MODEL, keyword, make_batch, unit
from logical import content
from memory_store.store import MemoryDatabase
from postgres import IS_CITUS
from psycopg.conninfo import make_conninfo

import weft.store.postgres.connect as connect
import weft.store.postgres.filters as filters
import weft.store.postgres.terms as terms
import weft.store.postgres.vectors as vectors
from weft.errors import InputError
from weft.records import Filter, StoredModel
from weft.store.postgres.connect import Connections
from weft.store.postgres.database import PostgresDatabase
from weft.store.postgres.session import PostgresSession, statement
from weft.text.analyzer import query_terms
from weft.text.ids import document_id

ODD = StoredModel(name="fake/seven", fingerprint="f7", dimension=7, active=True)
"""A dimension that is no multiple of a register width."""


@pytest.fixture
def database(postgres_dsn):
    database = PostgresDatabase(postgres_dsn)
    yield database
    assert database.check() == []
    database.close()


@pytest.fixture
def sent(monkeypatch):
    """Names of the statements that sessions send."""
    names = []

    def record(method):
        def recording(self, name, *arguments, **options):
            if arguments != ([],):  # no rows
                names.append(name)
            return method(self, name, *arguments, **options)

        return recording

    for method in (PostgresSession.run, PostgresSession.run_binary, PostgresSession.run_many):
        monkeypatch.setattr(PostgresSession, method.__name__, record(method))
    return names


# ── statements ──────────────────────────────────────────────────────────────────────────────────


def test_a_snapshot_reads_namespace_model_and_terms_once(database, sent):
    """A question asks for these several times. Another transaction and another namespace read them again."""
    for name in ("default", "other"):
        store = database.store(name)
        store.write_model(MODEL)
        store.write(make_batch("a.md", [f"{name} fox"], vectors={f"{name} fox": unit(1, 0, 0)}, namespace=name))
    store, other = database.store("default"), database.store("other")
    sent.clear()
    with store.reading():
        for _ in range(2):
            assert keyword(store, "fox") == keyword(store, "default fox")
            assert store.search_vector(unit(1, 0, 0), limit=5, where=EVERYTHING).hits
            assert [model.name for model in store.models()] == [MODEL.name] and store.calibration() is None
        assert sent.count("find_namespace") == 1
        assert sent.count("first_postings") == 2 and sent.count("bind_namespace") == (0 if IS_CITUS else 1)
        assert keyword(other, "default fox") != keyword(store, "default fox")
    assert sent.count("find_namespace") == 2
    store.delete([document_id("default", "a.md")])
    assert keyword(store, "fox") == []


def test_new_documents_and_chunks_are_sent_together(database, sent):
    """Documents that are stored, or written twice at once, are sent after the others. No number is used twice."""
    store = database.store("default")
    store.write_model(MODEL)
    many = [make_batch(f"{n}.md", [f"fox {n} {side}" for side in range(30)]) for n in range(3)]
    store.write(*many)
    assert [sent.count(name) for name in ("draw_numbers", "write_document", "write_chunk")] == [1, 1, 1]
    sent.clear()
    again = make_batch("1.md", ["fox 1 0", "axolotl"])
    store.write(again, make_batch("3.md", ["owl"]), make_batch("3.md", ["owl", "elk"]))
    assert sent.count("write_document") == 3
    found = [store.find_chunks(document_id("default", f"{n}.md")) for n in range(4)]
    assert [len(chunks) for chunks in found] == [30, 2, 30, 2]
    assert len(store.search_keyword(["fox"], limit=100, where=EVERYTHING).hits) == 61
    assert len(keyword(store, "axolotl")) == 1


@pytest.mark.parametrize("most", [0, terms.MAX_TABLE_SIZE])
def test_numbers_among_others(monkeypatch, most):
    """By a table and by search: numbers below, between and above the others, and no others at all."""
    monkeypatch.setattr(terms, "MAX_TABLE_SIZE", most)
    others = np.array([5, 8, 2**40], dtype=np.int64) if not most else np.array([5, 8, 90], dtype=np.int64)
    numbers = np.array([-(2**62), 0, 4, 5, 6, 8, 8, 89, 90, 91, 2**40, 2**62], dtype=np.int64)
    assert terms.is_among(numbers, others).tolist() == np.isin(numbers, others).tolist()
    assert not terms.is_among(numbers, others[:0]).any()


# ── vectors ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("total", "limit", "expected"),
    [
        (20_001, 70, 140),
        (100_000, 70, 140),
        (100_000, 200, 400),
        (400_000, 70, 280),
        (1_000_000, 10, 443),
        (10**9, 70, 1_000),
    ],
)
def test_a_larger_namespace_has_more_candidates(total, limit, expected):
    """Four times as many vectors take twice as many, within bounds."""
    assert vectors.count_candidates(limit, total=total) == expected


def test_an_index_search_looks_at_the_candidates_of_its_namespace(postgres_dsn, monkeypatch):
    """The server has been told when the search runs; a small namespace keeps what the binding sets."""
    database, run, seen = PostgresDatabase(postgres_dsn), PostgresSession.run, []

    def recording(self, name, *arguments, **options):
        rows = run(self, name, *arguments, **options)
        if name == "search_vector_index":
            seen.append(self._db.execute("SHOW hnsw.ef_search").fetchone()[0])
        return rows

    monkeypatch.setattr(PostgresSession, "run", recording)
    monkeypatch.setattr(vectors, "MAX_EXACT_ROWS", 5)
    monkeypatch.setattr(vectors, "MIN_EF_ROWS", 10)
    for name, count in (("default", 40), ("other", 10)):
        store = database.store(name)
        store.write_model(MODEL)
        store.write(*(make_batch(f"{n}", [f"text {n}"], namespace=name) for n in range(count)))
        assert store.search_vector(unit(1, 2, 3), limit=5, where=EVERYTHING).hits
    assert seen == ["280", "140"]
    database.close()


def test_an_index_returns_the_results_of_an_exact_search(postgres_dsn, monkeypatch):
    """With an odd dimension: the same best ten, with and without filters, and the same mean and deviation."""
    database = PostgresDatabase(make_conninfo(postgres_dsn, options="-c enable_seqscan=off -c enable_sort=off"))
    directions = np.random.default_rng(3).standard_normal((300, 7))
    made = {f"text {n}": unit(*row) for n, row in enumerate(directions)}
    monkeypatch.setattr(vectors, "MAX_EXACT_ROWS", 100)  # the write of more chunks creates the index
    for name, count in (("default", 200), ("other", 40)):
        store = database.store(name)
        store.write_model(ODD)
        groups = [
            make_batch(f"{side}/{n}", [f"text {n}"], vectors=made, model="f7", namespace=name, metadata={"side": side})
            for side, numbers in (("left", range(count)), ("right", range(200, 200 + count // 4)))
            for n in numbers
        ]
        store.write(*groups)
    store = database.store("default")
    wheres = [
        EVERYTHING,
        Filter(source_prefix="left/"),
        Filter(metadata=(("side", "right"),)),
        Filter(documents=("x",)),
    ]
    asked = [unit(*row) for row in np.random.default_rng(4).standard_normal((5, 7))]

    def rankings():
        return [store.search_vector(vector, limit=10, where=where) for vector in asked for where in wheres]

    monkeypatch.setattr(vectors, "MAX_EXACT_ROWS", 1_000)
    exact, ran = rankings(), []
    run = PostgresSession.run
    monkeypatch.setattr(
        PostgresSession, "run", lambda self, name, *a, **k: ran.append(name) or run(self, name, *a, **k)
    )
    monkeypatch.setattr(vectors, "MAX_EXACT_ROWS", 100)
    monkeypatch.setattr(vectors, "ROWS_PER_CANDIDATE", 0)
    for slow, quick in zip(exact, rankings(), strict=True):
        assert [hit.chunk_id for hit in quick.hits] == [hit.chunk_id for hit in slow.hits]
        assert [hit.score for hit in quick.hits] == pytest.approx([hit.score for hit in slow.hits], abs=1e-6)
        if slow.hits:
            assert (quick.mean, quick.deviation) == pytest.approx((slow.mean, slow.deviation), abs=1e-4)
    assert {"search_vector_index", "search_vector_among"} <= set(ran)
    assert "search_vector" not in ran
    database.close()


def test_a_filter_that_keeps_distant_chunks_returns_as_many(database, monkeypatch):
    """None of the candidates of the index passes; the same chunks are found as by an exact search."""
    directions = np.random.default_rng(5).standard_normal((300, 7)) / 10
    directions[:, 0] += np.where(np.arange(300) < 150, 1, -1)
    made = {f"text {n}": unit(*row) for n, row in enumerate(directions)}
    monkeypatch.setattr(vectors, "MAX_EXACT_ROWS", 100)
    store = database.store("default")
    store.write_model(ODD)
    store.write(
        *(
            make_batch(
                f"{n}.md", [f"text {n}"], vectors=made, model="f7", metadata={"side": "far" if n > 149 else "near"}
            )
            for n in range(300)
        )
    )
    found = {}
    for most in (100, 1_000):
        monkeypatch.setattr(vectors, "MAX_EXACT_ROWS", most)
        monkeypatch.setattr(vectors, "ROWS_PER_CANDIDATE", 0)
        asked = store.search_vector(unit(1, 0, 0, 0, 0, 0, 0), limit=10, where=Filter(metadata=(("side", "far"),)))
        found[most] = [hit.chunk_id for hit in asked.hits]
    assert len(found[100]) == 10 and found[100] == found[1_000]


def test_the_index_of_a_dimension_is_created_on_first_use(postgres_dsn, database, monkeypatch):
    """The planner uses it, also with a namespace of another dimension. Small namespaces need no index of chunks."""
    eleven = StoredModel(name="fake/eleven", fingerprint="f11", dimension=11, active=True)
    database.store("small").write_model(eleven)
    small = make_batch("a", ["alpha"], vectors={"alpha": unit(*range(1, 12))}, model="f11", namespace="small")
    database.store("small").write(small)
    monkeypatch.setattr(vectors, "MAX_EXACT_ROWS", 0)
    database.store("default").write_model(ODD)
    database.store("default").write(make_batch("a", ["alpha"], vectors={"alpha": unit(*range(1, 8))}, model="f7"))
    database.store("other").write_model(MODEL)
    database.store("other").write(make_batch("a", ["alpha"], namespace="other"))
    values = {"namespace": "default", "model": 1, "vector": str([1.0] * 7), "looks": 10, "limit": 10}
    with psycopg.connect(postgres_dsn) as db:
        made = db.execute("SELECT indexname FROM pg_indexes WHERE schemaname = 'weft' AND indexdef LIKE '%hnsw%'")
        names = {row[0] for row in made}
        db.execute("SET enable_seqscan = off")
        db.execute("SET enable_sort = off")
        plan = "\n".join(row[0] for row in db.execute("EXPLAIN " + statement("search_vector_index", 7), values))

    assert {
        f"{table}_hnsw_{n}" for table in ("chunk_vector", "fact_vector", "fact_text_vector") for n in (3, 7)
    } <= names
    assert "chunk_vector_hnsw_11" not in names and "fact_vector_hnsw_11" in names
    assert "halfvec" in plan and "Index Scan" in plan


def test_a_first_load_gets_its_vector_index_at_the_end(postgres_dsn, database, monkeypatch):
    """Or with the next write that does not defer. Until then every vector is compared."""
    monkeypatch.setattr(vectors, "MAX_EXACT_ROWS", 0)
    ending = {"default": lambda store: store.finish_load(), "other": lambda store: store.write(_odd("b", "other"))}
    with psycopg.connect(postgres_dsn, autocommit=True) as db:
        for name, end in ending.items():
            store = database.store(name)
            store.write_model(ODD)
            db.execute("DROP INDEX IF EXISTS weft.chunk_vector_hnsw_7")
            database._connections._indexed_chunk_dimensions.clear()
            store.write(_odd("a", name), defer_indexes=True)
            is_absent = db.execute("SELECT to_regclass('weft.chunk_vector_hnsw_7')").fetchone() == (None,)
            found = store.search_vector(unit(*range(1, 8)), limit=5, where=EVERYTHING)
            end(store)
            assert is_absent and len(found.hits) == 1
            assert db.execute("SELECT to_regclass('weft.chunk_vector_hnsw_7')").fetchone() != (None,)


def _odd(source, namespace):
    return make_batch(source, [source], vectors={source: unit(*range(1, 8))}, model="f7", namespace=namespace)


def test_vectors_too_long_for_an_index_are_compared_one_by_one(database):
    """No index is created, and they are found."""
    long = StoredModel(name="fake/long", fingerprint="f", dimension=5000, active=True)
    store = database.store("default")
    store.write_model(long)
    made = {"alpha": unit(*[1] * 5000), "beta": unit(*[-1] * 4999, 1)}
    store.write(make_batch("a", ["alpha", "beta"], vectors=made, model="f"))

    (first, second) = store.search_vector(made["alpha"], limit=2, where=EVERYTHING).hits
    assert (first.score, second.score) == pytest.approx((1.0, -0.9996), abs=1e-4)


# ── filters ─────────────────────────────────────────────────────────────────────────────────────


def test_a_filter_is_evaluated_again_only_after_a_change(database, postgres_dsn, sent):
    """The chunks of a filter are kept until anyone writes to the namespace."""
    store, other = database.store("default"), PostgresDatabase(postgres_dsn)
    store.write_model(MODEL)
    store.write(make_batch("a", ["alpha one"], metadata={"team": "x"}), make_batch("b", ["alpha two"]))
    where = Filter(metadata=(("team", "x"),))

    def found():
        return len(store.search_keyword(["alpha"], limit=9, where=where).hits), sent.count("filter_chunks_by_label")

    sent.clear()
    assert [found(), found()] == [(1, 1), (1, 1)]
    other.store("default").write(make_batch("b", ["alpha two"], metadata={"team": "x"}))
    assert [found(), found()] == [(2, 2), (2, 2)]
    assert len(store.search_keyword(["alpha"], limit=9, where=Filter(metadata=(("team", "y"),))).hits) == 0
    other.close()


def test_a_namespace_that_is_created_again_has_its_own_filters(database):
    """Name and generation are the same as before."""
    store, where = database.store("default"), Filter(source_prefix="a")
    found = []
    for source in ("a", "ab"):
        database.drop("default")
        store.write_model(MODEL)
        store.write(make_batch(source, ["alpha"]))
        hits = store.search_keyword(["alpha"], limit=9, where=where).hits
        found.append((store.stats().generation, [hit.chunk_id for hit in hits]))

    (first, old), (second, new) = found
    assert first == second
    assert len(old) == len(new) == 1 and old != new


def test_few_filters_are_kept(database, monkeypatch, sent):
    """The oldest is dropped first; one that many chunks pass is not kept."""
    monkeypatch.setattr(filters, "MAX_KEPT_FILTERS", 2)
    monkeypatch.setattr(filters, "MAX_KEPT_CHUNKS", 2)
    store = database.store("default")
    store.write_model(MODEL)
    store.write(*(make_batch(source, ["alpha"]) for source in ("a", "b", "c", "cd", "ce")))
    sent.clear()
    for prefix in "abababcacc":
        assert store.search_keyword(["alpha"], limit=9, where=Filter(source_prefix=prefix)).hits
    assert sent.count("filter_chunks") == 2 + 3


# ── words ───────────────────────────────────────────────────────────────────────────────────────

WORDS = [f"w{number}" for number in range(60)]
QUESTIONS = ["w0", "w1 w2", "w0 w1 w2 w3", "w50", "w40 w0", "w59 w58 w0 w1 w2", "w10 w20 w30", "w0 w0 nothing"]


def corpus(seed, count):
    """Return texts of a few to many words, most of them common; every fifth is one of ten repeated texts."""
    chance = random.Random(seed)
    weights = [1 / (place + 1) for place in range(len(WORDS))]
    texts = [" ".join(chance.choices(WORDS, weights, k=chance.choice([0, 3, 8, 40, 120]))) for _ in range(count)]
    return [texts[number % 10] if number % 5 == 0 else text for number, text in enumerate(texts)]


@pytest.mark.parametrize("seed", [1, 2])
def test_the_best_ten_by_keywords_are_exact(database, monkeypatch, seed):
    """This is true even if only the rarest terms are searched first and few candidates are scored."""
    stores = [database.store("default"), MemoryDatabase().store("default")]
    batches = [make_batch(f"d{n}", [text], model="") for n, text in enumerate(corpus(seed, 200))]
    for store in stores:
        store.write(*batches)
    wheres = [EVERYTHING, Filter(source_prefix="d1")]
    for postings, margin, cost in ((4096, 50, 9), (20, 0, 9), (1, 0, 0), (1, 0, 2), (20, 50, 0), (40, 0, 99)):
        monkeypatch.setattr(terms, "MIN_FIRST_POSTINGS", postings)
        monkeypatch.setattr(terms, "FIRST_POSTINGS_SHARE", 0)
        monkeypatch.setattr(terms, "POSTINGS_PER_ROW", cost)
        monkeypatch.setattr(terms, "EXTRA_CANDIDATES", margin)
        for question, where in [(question, where) for question in QUESTIONS for where in wheres]:
            quick, slow = (store.search_keyword(query_terms(question), limit=10, where=where) for store in stores)
            assert [hit.chunk_id for hit in quick.hits] == [hit.chunk_id for hit in slow.hits], question
            assert [hit.score for hit in quick.hits] == pytest.approx([hit.score for hit in slow.hits], abs=1e-9)
            assert quick.ceiling == pytest.approx(slow.ceiling)


def test_a_changed_mean_length_moves_no_first_place(database):
    """Short documents first, then long ones: old weights only select candidates."""
    chance = random.Random(5)
    lengths = [*[4] * 60, *[80] * 60]
    texts = [" ".join(chance.choices(WORDS[:20], k=length)) for length in lengths]
    stores = [database.store("default"), MemoryDatabase().store("default")]
    for store in stores:
        for start in range(0, len(texts), 10):
            store.write(*(make_batch(f"d{n}", [texts[n]], model="") for n in range(start, start + 10)))
    for question in ("w1", "w2 w3", "w4 w5 w6 w7"):
        quick, slow = (store.search_keyword(query_terms(question), limit=10, where=EVERYTHING) for store in stores)
        assert [hit.chunk_id for hit in quick.hits] == [hit.chunk_id for hit in slow.hits], question


def test_frequencies_are_capped_as_in_other_stores(database):
    """An empty chunk is stored and never found."""
    texts = ["zebra " * 1000, "zebra " * 300, "zebra lion", ""]
    rankings = []
    for opened in (database, MemoryDatabase()):
        store = opened.store("default")
        store.write(*(make_batch(f"d{n}", [text], model="") for n, text in enumerate(texts)))
        rankings.append(store.search_keyword(["zebra"], limit=9, where=EVERYTHING))

    assert [hit.chunk_id for hit in rankings[0].hits] == [hit.chunk_id for hit in rankings[1].hits]
    assert [hit.score for hit in rankings[0].hits] == pytest.approx([hit.score for hit in rankings[1].hits])
    assert database.store("default").find_chunks(document_id("default", "d3"))[0].text == ""


# ── what a server cannot keep ───────────────────────────────────────────────────────────────────


def noise(count):
    """Return incompressible text."""
    return "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=count))


@pytest.mark.parametrize(
    "source, text, said",
    [
        (noise(8000), "text", "too long"),
        ("a\x00b", "text", "NUL"),
        ("b", "te\x00xt", "NUL"),
        ("b", "text\ud800", "unpaired surrogates"),
    ],
    ids=["a long source", "a zero in a source", "a zero in a text", "half a character"],
)
def test_text_that_a_server_cannot_store_is_refused(database, postgres_dsn, source, text, said):
    """The whole write is rolled back; the next one works."""
    store = database.store("default")
    store.write_model(MODEL)
    store.write(make_batch("a", ["alpha"]))
    before = content(postgres_dsn)
    good = make_batch("good", ["good"])
    bad = as_given(source, text)

    with pytest.raises(InputError, match=said) as caught:
        store.write(good, bad)
    assert len(str(caught.value)) < 300
    assert content(postgres_dsn) == before
    store.write(good)
    assert keyword(store, "good") == ["good"]


def as_given(source, text):
    """Return a document that no loader has cleaned."""
    batch = make_batch("b", ["placeholder"])
    (item,) = batch.chunks
    item = replace(item, chunk=replace(item.chunk, text=text))
    return replace(batch, document=replace(batch.document, source=source), chunks=(item,))


def test_a_long_term_is_stored(database):
    """A word of thousands of letters exceeds no index key."""
    store = database.store("default")
    store.write(make_batch("a", [f"{noise(6000)} alpha"], model=""))

    assert len(keyword(store, "alpha")) == 1


@pytest.mark.skipif(IS_CITUS, reason="each node analyses its shards by itself")
def test_statistics_are_refreshed_after_the_first_chunks_and_at_each_doubling(database, monkeypatch):
    """Without statistics the planner expects one row of each table."""
    refreshed = []
    bare = Connections.bare
    monkeypatch.setattr(connect, "MIN_ANALYZED_CHUNKS", 3)
    monkeypatch.setattr(Connections, "bare", lambda self: refreshed.append(size) or bare(self))
    store = database.store("default")
    for size in range(1, 10):
        store.write(make_batch(f"d{size}", ["one fox"], model=""))
    store.delete([document_id("default", "d1")])
    assert refreshed == [3, 6]
    monkeypatch.undo()
    with psycopg.connect(database._connections._dsn) as db:
        asked = "SELECT reltuples >= 6 FROM pg_class WHERE oid = 'weft.document'::regclass"
        assert db.execute(asked).fetchone() == (True,)
