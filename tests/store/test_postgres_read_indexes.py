"""Read indexes beside a serving process return what the server returns, at the version of the question."""

import random
import re

import pytest
from contract import EVERYTHING
from indexed import EMBEDDER, batch, direction
from postgres import ORDINARY, new_role

import weft.store.postgres.change_log as change_log
import weft.store.postgres.index.namespace_index as namespace_index
import weft.store.postgres.index.registry as registry
import weft.store.postgres.vectors as vectors
from weft.records import Filter
from weft.store.postgres.database import PostgresDatabase
from weft.store.postgres.parts import PartedSession
from weft.store.sql_files import load_queries

SOME = Filter(metadata=(("part", 1),))
QUERIES = (["alpha", "mu"], ["rare7", "beta", "absent"])


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(registry, "MIN_INDEXED_CHUNKS", 1)
    monkeypatch.setattr(namespace_index, "MIN_REFILLED_CHUNKS", 20)


@pytest.fixture
def opened(postgres_dsn, tmp_path):
    """Opens databases on one server: with read indexes in a folder, or without."""
    made = []

    def open_database(folder=None, dsn=postgres_dsn):
        made.append(PostgresDatabase(dsn, index_folder=tmp_path / folder if folder else None))
        if folder:
            made[-1].prefetch(resident=True)
        return made[-1]

    yield open_database
    for database in made:
        database.close()


class Scores(list):
    """Numbers that are equal to others up to rounding."""

    def __eq__(self, other):
        return list(self) == pytest.approx(list(other), abs=1e-5)


def answers(store, seed):
    """Return what a store answers: rankings, and chunks with terms. Scores are compared approximately."""
    rankings = [store.search_vector(direction(seed), limit=7, where=where) for where in (EVERYTHING, SOME)]
    rankings += [store.search_keyword(terms, limit=8, where=where) for terms in QUERIES for where in (EVERYTHING, SOME)]
    ids = [[hit.chunk_id for hit in ranking.hits] for ranking in rankings]
    scores = [hit.score for ranking in rankings for hit in ranking.hits] + [ranking.ceiling for ranking in rankings]
    return ids, Scores(scores), [store.find_chunks_with_terms(terms, limit=20) for terms in QUERIES]


def ready(database):
    """Ask once, and wait until the index is filled."""
    database.store("default").stats()
    assert database._connections.indexes.wait()
    assert is_indexed(database)


def is_indexed(database):
    return database.store("default").stats().vector_search.startswith("read index")


def write(store, seeds=range(30), source="a"):
    store.write_model(EMBEDDER)
    store.write(batch(source, list(seeds)))


@pytest.mark.parametrize("max_exact", [10**6, 0], ids=["in memory", "files and graphs"])
def test_random_histories_are_followed_by_two_servers(opened, monkeypatch, max_exact):
    """Additions, changes and deletions by any of them; each answer equals that of the server at once."""
    pytest.importorskip("usearch", reason="pip install 'weft-search[scale]'")
    monkeypatch.setattr(vectors, "MAX_EXACT_ROWS", max_exact)
    plain, first, second = opened(), opened("first"), opened("second")
    chance, seeds = random.Random(5), {}
    write(plain.store("default"))
    used = 0
    for database in (first, second):
        ready(database)
    for step in range(24):
        writer = chance.choice((plain, first, second)).store("default")
        source = f"note {chance.randrange(12)}"
        if chance.random() < 0.2 and source in seeds:
            writer.delete([batch(source, []).document.id])
            del seeds[source]
        else:
            kept = seeds.get(source, [])[: chance.randrange(4)]
            seeds[source] = [*kept, *(chance.randrange(10**6) for _ in range(chance.randrange(1, 9)))]
            writer.write(batch(source, seeds[source]))
        if step % 4 == 3:
            wanted = answers(plain.store("default"), step)
            for database in (first, second):
                assert answers(database.store("default"), step) == wanted
                used += is_indexed(database)
    assert used > 6
    for database in (first, second):
        ready(database)
        assert answers(database.store("default"), 99) == answers(plain.store("default"), 99)


def test_a_question_with_an_index_sends_no_search_to_the_server(opened, monkeypatch):
    """Vectors and keywords are answered by the process; only the state of the namespace is read."""
    database = opened("index")
    store = database.store("default")
    write(store)
    ready(database)
    sent = []
    execute = PartedSession._execute
    monkeypatch.setattr(
        PartedSession,
        "_execute",
        lambda self, name, *rest, **named: sent.append(name) or execute(self, name, *rest, **named),
    )
    monkeypatch.setattr(PartedSession, "run_binary", lambda self, name, values: pytest.fail(name))
    with store.reading():
        assert store.search_vector(direction(3), limit=5, where=EVERYTHING).hits
        assert store.search_keyword(["alpha"], limit=5, where=EVERYTHING).hits
        assert store.find_chunks_with_terms(["number3"], limit=5)
    assert set(sent) - {"bind_namespace"} == {"namespace_summary", "chunk_ids"}


def test_a_namespace_made_again_is_not_answered_from_the_old_index(opened):
    """It has the same generation but another stamp."""
    database, other = opened("index"), opened()
    write(other.store("default"), range(30))
    ready(database)
    before = other.store("default").stats().generation
    other.drop("default")
    write(other.store("default"), range(50, 80))
    assert other.store("default").stats().generation == before
    assert answers(database.store("default"), 1) == answers(other.store("default"), 1)
    ready(database)
    assert answers(database.store("default"), 1) == answers(other.store("default"), 1)


def test_vectors_written_alone_and_repairs_reach_the_index(opened, postgres_dsn):
    """`reembed` writes vectors without documents, and a repair may change any chunk."""
    database, other = opened("index"), opened()
    store, plain = database.store("default"), other.store("default")
    write(plain)
    ready(database)
    id = batch("a", [3]).chunks[0].chunk.id
    plain.write_vectors(EMBEDDER.fingerprint, {id: direction(1000)})
    assert is_indexed(database)
    assert answers(store, 1000) == answers(plain, 1000)
    assert store.search_vector(direction(1000), limit=1, where=EVERYTHING).hits[0].chunk_id == id
    other.repair()
    assert answers(store, 5) == answers(plain, 5)


def test_an_index_behind_the_log_is_filled_again(opened, monkeypatch):
    """The log keeps a number of writes; the server answers meanwhile."""
    monkeypatch.setattr(change_log, "MAX_LOGGED_WRITES", 2)
    monkeypatch.setattr(change_log, "TRIM_INTERVAL", 1)
    database, other = opened("index"), opened()
    write(other.store("default"))
    ready(database)
    for seed in range(100, 106):
        other.store("default").write(batch(f"note {seed}", [seed]))
    assert answers(database.store("default"), 1) == answers(other.store("default"), 1)
    ready(database)
    assert answers(database.store("default"), 1) == answers(other.store("default"), 1)


def test_the_next_process_opens_the_files_and_follows_the_log(opened, monkeypatch, tmp_path):
    """Only the changed chunks are read; damaged files are filled again."""
    pytest.importorskip("usearch", reason="pip install 'weft-search[scale]'")
    monkeypatch.setattr(vectors, "MAX_EXACT_ROWS", 0)
    first, other = opened("index"), opened()
    write(other.store("default"))
    ready(first)
    first.close()
    other.store("default").write(batch("b", [200, 201]))
    streamed = []
    stream = PartedSession.stream
    monkeypatch.setattr(
        PartedSession, "stream", lambda self, name, values: streamed.append(name) or stream(self, name, values)
    )
    second = opened("index")
    ready(second)
    assert streamed == []
    assert answers(second.store("default"), 200) == answers(other.store("default"), 200)
    second.close()
    for path in (tmp_path / "index").glob("*.vectors"):
        path.write_bytes(path.read_bytes()[:-1] + b"!")
    third = opened("index")
    ready(third)
    assert "indexed_vectors" in streamed
    assert answers(third.store("default"), 200) == answers(other.store("default"), 200)


def test_an_ordinary_role_fills_the_index_of_its_namespace_only(opened, postgres_dsn):
    """Row security applies to the thread that fills, and indexes of namespaces are separate."""
    owner = opened()
    write(owner.store("default"))
    other = owner.store("other")
    other.write_model(EMBEDDER)
    other.write(batch("b", [3]))
    with new_role(postgres_dsn, grants=ORDINARY) as dsn:
        database = opened("index", dsn=dsn)
        ready(database)
        assert answers(database.store("default"), 3) == answers(owner.store("default"), 3)
        assert len(database.store("other").search_vector(direction(3), limit=9, where=EVERYTHING).hits) == 1
        database.close()


def test_a_namespace_with_parts_has_no_read_index(opened):
    """Its searches are those of the server."""
    database = opened("index")
    database.create("default", parts=3)
    write(database.store("default"))
    answers(database.store("default"), 1)
    assert database._connections.indexes.wait()
    assert not is_indexed(database)


def test_every_statement_that_changes_indexed_rows_is_logged():
    """Others would leave an index that does not know of a change."""
    changing = re.compile(r"(INSERT INTO|UPDATE|DELETE FROM) weft\.(chunk|chunk_vector)\b")
    by_term_changes = {"write_chunk", "write_chunk_at", "move_chunk", "delete_chunk"}
    by_name = {"write_vector", "write_vector_by_id", "set_terms", "delete_bad_vectors"}
    unread = {"set_heading"}
    found = {name for name, text in load_queries("postgres").items() if changing.search(text)}
    assert found == by_term_changes | by_name | unread


def test_an_index_that_is_off_is_not_filled(opened, postgres_dsn, tmp_path):
    """A short command would end before its index is filled."""
    database = PostgresDatabase(postgres_dsn, index_folder=tmp_path)
    write(database.store("default"))
    database.prefetch()
    assert answers(database.store("default"), 1) and not is_indexed(database)
    database.close()
    assert [*tmp_path.iterdir()] == []


def test_a_worn_index_keeps_its_large_graphs(opened, monkeypatch, tmp_path):
    """Only postings and the changed vectors are written; dead chunks of a kept graph stay dead in the next process."""
    pytest.importorskip("usearch", reason="pip install 'weft-search[scale]'")
    monkeypatch.setattr(vectors, "MAX_EXACT_ROWS", 0)
    monkeypatch.setattr(namespace_index, "MIN_REFILLED_CHUNKS", 3)
    first, other = opened("index"), opened()
    plain = other.store("default")
    plain.write_model(EMBEDDER)
    plain.write(*(batch(f"note {seed}", [seed]) for seed in range(40)))
    ready(first)
    (graph,) = (tmp_path / "index").glob("*.vectors")
    plain.delete([batch("note 7", []).document.id])
    plain.write(*(batch(f"note {seed}", [seed + 100]) for seed in range(3, 6)), batch("new", [500, 501, 502]))
    ready(first)
    assert not first._connections.indexes._get("default").changed
    first.close()
    second = opened("index")
    ready(second)
    assert graph.exists() and len([*(tmp_path / "index").glob("*.vectors")]) == 2
    for seed in (3, 7, 103, 500):
        assert answers(second.store("default"), seed) == answers(plain, seed)
