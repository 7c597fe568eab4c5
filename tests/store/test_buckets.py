"""The graph of a namespace in several parts is divided into buckets by entity, and answers as if it were not."""

import re
from collections import Counter
from threading import Thread

import psycopg
import pytest
from contract import MODEL
from graph_making import batch_of, view
from test_graph_soundness import fill
from test_outbox import settling_elsewhere
from test_parts import rankings, texts

from weft.records import Claim, Extraction
from weft.store.memory.store import MemoryDatabase
from weft.store.postgres import parts, schema
from weft.store.postgres.buckets import bucket_rule
from weft.store.postgres.buckets.bucket_rule import bucket_of
from weft.store.postgres.database import PostgresDatabase
from weft.store.postgres.part_names import part_names, part_of
from weft.store.postgres.session import PostgresSession
from weft.store.sql_files import load_queries
from weft.text.ids import document_id

BUCKETS = part_names("default", 4)
OWNERS = {"mention": "entity", "claim": "source", "relation": "source"}
"""The column that tells the bucket of a row."""
PATIENCE_S = 60

OF_A_BUCKET = {
    *("mention_entities", "mention_chunks", "claim_sources", "claim_chunks", "relation_sources", "relation_targets"),
    *("delete_chunk_mentions", "delete_chunk_claims", "delete_mentions", "delete_relations"),
    *("delete_entity_mentions", "delete_outgoing_relations", "delete_incoming_relations"),
    *("embedded_names", "name_vector_keys", "all_name_vectors", "chunks_with_name_vectors"),
    *("write_entity_vector", "delete_entity_vectors", "delete_name_vector", "delete_name_vectors"),
    "namespace_summary",
}
"""Statements that are asked of a bucket or a part by its name."""


@pytest.fixture
def database(postgres_dsn):
    database = PostgresDatabase(postgres_dsn)
    database.create("default", parts=4)
    yield database
    database.close()


@pytest.fixture
def store(database):
    store = database.store("default")
    store.write_model(MODEL)
    return store


@pytest.fixture
def server(postgres_dsn):
    """Give a connection that sees the rows of all namespaces."""
    with psycopg.connect(postgres_dsn, autocommit=True) as db:
        yield db


def places(server, table):
    """Return the number of rows of a table, by namespace."""
    return dict(server.execute(f"SELECT namespace, count(*) FROM weft.{table} GROUP BY 1").fetchall())


def orphans(server):
    """Return how many rows refer to a chunk or an entity that the home does not have."""
    found = Counter()
    for table, column, target in (
        ("mention", "entity", "entity"),
        ("mention", "chunk", "chunk"),
        ("claim", "chunk", "chunk"),
        ("relation", "source", "entity"),
        ("relation", "target", "entity"),
    ):
        known = f"SELECT number FROM weft.{target} WHERE namespace = 'default'"
        asked = f"SELECT count(*) FROM weft.{table} WHERE {column} NOT IN ({known})"
        found[table, column] = server.execute(asked).fetchone()[0]
    return +found


def compare(*stores):
    divided, whole = ({**texts(store), **view(store), "rankings": rankings(store)} for store in stores)
    for what in divided:
        assert divided[what] == whole[what], what


# ── where rows are ──────────────────────────────────────────────────────────────────────────────


def test_mentions_claims_and_relations_are_in_the_bucket_of_their_entity(database, server):
    """Several buckets have rows, and the home has none."""
    fill(database)

    for table, column in OWNERS.items():
        rows = server.execute(f"SELECT namespace, {column} FROM weft.{table}").fetchall()
        assert len({bucket for bucket, _ in rows}) > 1, table
        assert all(bucket == bucket_of("default", value, 4) for bucket, value in rows), table
    assert places(server, "entity").keys() == places(server, "nomination").keys() == {"default"}
    assert database.check() == []


def test_entities_are_spread_evenly(database, store, server):
    """Writes draw numbers in regular steps, which would fill one bucket only."""
    for number in range(12):
        store.write(batch_of(f"Doc {number}", ["alpha"]))
    numbers = [number for (number,) in server.execute("SELECT number FROM weft.entity")]
    counts = Counter(bucket_of("default", number, 4) for number in numbers)

    assert len(numbers) >= 12
    assert counts.keys() == set(BUCKETS)


def test_a_namespace_with_one_part_has_no_buckets(postgres_dsn, server):
    database = PostgresDatabase(postgres_dsn)
    fill(database, "whole")

    for table in OWNERS:
        assert places(server, table).keys() == {"whole"}
    assert database.check() == []
    database.close()


def test_every_statement_about_rows_of_buckets_has_a_route():
    """A statement that names them is sent to the buckets, or is asked of a bucket by its name."""
    naming = {
        name
        for name, sql in load_queries("postgres").items()
        if re.search(r"weft\.(mention|claim|relation|entity_vector)\b", sql)
    }
    routed = parts.ROUTES.keys() | parts.ROW_PARTS.keys() | parts.STREAM_ROUTES.keys()

    assert {name for name in naming - routed if not name.startswith(("bucket_", "take_"))} == OF_A_BUCKET
    assert bucket_rule.ROW_COLUMNS.keys() <= naming


# ── reading ─────────────────────────────────────────────────────────────────────────────────────


def test_mentions_of_a_hub_in_several_buckets_are_ordered_as_in_one(database, store, server):
    """An entity has four names with mentions in several buckets, and relations from all of them."""
    memory = MemoryDatabase().store("default")
    memory.write_model(MODEL)
    names = ("Paris", "Database", "Auth Service", "OAuth Provider")
    batches = [batch_of(name, [f"{name} is a city."]) for name in names]
    batches += [
        batch_of(f"Doc {n}", [f"{names[n % 4]} {n}. " * (1 + n % 3) + names[n % 3] + " 密钥."]) for n in range(24)
    ]
    for own in (store, memory):
        own.write(*batches)
        for name in names[1:]:
            own.graph.write_edit("merge", name.lower(), "paris")
    entity = store.graph.find_entities(["paris"])["paris"]
    numbers = server.execute(
        "SELECT number FROM weft.entity WHERE head = (SELECT number FROM weft.entity WHERE key = 'paris')"
    )
    used = {bucket_of("default", number, 4) for (number,) in numbers.fetchall()}

    assert len(used) > 1
    for limit in (1, 2, 5, 99):
        assert store.graph.mentions_of([entity.id], limit=limit) == memory.graph.mentions_of([entity.id], limit=limit)
        assert store.graph.relations_of([entity.id], limit=limit) == memory.graph.relations_of([entity.id], limit=limit)
        for types in (["links_to"], ["links_to", "co_occurs_with"]):
            found = [own.graph.relations_of([entity.id], limit=limit, types=types) for own in (store, memory)]
            assert found[0] == found[1]
    ids = [found.id for found in store.graph.top_entities(limit=9)]
    assert store.graph.relations_between(ids) == memory.graph.relations_between(ids) != []
    with_others = [own.graph.relations_between(ids[:1], others=ids[1:]) for own in (store, memory)]
    assert with_others[0] == with_others[1] != []
    assert store.graph.census() == memory.graph.census()
    compare(store, memory)


def test_a_hop_asks_each_bucket_once(database, monkeypatch):
    """Numbers of names in the home, then all buckets, then ids in the home."""
    store = fill(database)
    ids = [entity.id for entity in store.graph.top_entities(limit=3)]
    chunks = [mention.chunk_id for mention in store.graph.mentions_of(ids, limit=9)]
    sent = []
    execute = PostgresSession._execute

    def note(self, name, values, **options):
        sent.append((name, values.get("namespace", "")))
        return execute(self, name, values, **options)

    monkeypatch.setattr(PostgresSession, "_execute", note)
    counted = {}
    for what, ask in {
        "links": lambda: store.graph.links_of(ids, limit=9),
        "mentions": lambda: store.graph.mentions_of(ids[:1], limit=9),
        "names in chunks": lambda: store.graph.mentions_in(chunks),
        "relations between": lambda: store.graph.relations_between(ids),
        "known": lambda: store.graph.find_known(["paris"], max_defining=2),
    }.items():
        sent.clear()
        ask()
        own = ("namespace_summary", "bind_namespace", "part_state")
        counted[what] = Counter(at for name, at in sent if name not in own)

    assert counted["links"] == {"default": 2, **dict.fromkeys(BUCKETS, 1)}
    assert counted["mentions"]["default"] == 2 and counted["mentions"].total() <= 2 + len(BUCKETS)
    assert counted["names in chunks"]["default"] == 2
    assert all(counted["names in chunks"][bucket] <= 2 for bucket in BUCKETS)
    assert counted["relations between"].total() <= 1 + len(BUCKETS)
    assert counted["known"].total() <= 1 + len(BUCKETS)


def count_statements(database, parts, monkeypatch, *, chunks):
    """Return the statements of a new, a rewritten and a deleted document in a namespace with some documents."""
    name, sent = f"with {parts} for {chunks}", []
    more = [f"More of AS {n}" for n in range(chunks - 2)]
    database.create(name, parts=parts)
    store = database.store(name)
    store.write_model(MODEL)
    store.write(
        *(batch_of(f"Doc {n}", ["Paris and the Auth Service.", "密钥 of AS"], namespace=name) for n in range(9))
    )
    with monkeypatch.context() as patch:
        for method in ("_execute", "run_many"):
            real = getattr(PostgresSession, method)
            patch.setattr(
                PostgresSession, method, lambda self, *a, real=real, **o: sent.append(a) or real(self, *a, **o)
            )
        for write in (
            lambda: store.write(batch_of("New", ["Paris and the Ledger.", "Database", *more], namespace=name)),
            lambda: store.write(
                batch_of("New", ["Paris and the OAuth Provider.", *more, "Database 2"], namespace=name)
            ),
            lambda: store.delete([document_id(name, "New")]),
        ):
            before = len(sent)
            write()
            yield len(sent) - before


@pytest.mark.parametrize("chunks", [2, 24])
def test_a_small_write_asks_each_bucket_a_bounded_number_of_times(database, monkeypatch, chunks):
    """Statements of eight parts less those of four, however many chunks; half of them bind row security."""
    few, many = (list(count_statements(database, parts, monkeypatch, chunks=chunks)) for parts in (4, 8))

    for counts, limit in zip(zip(few, many, strict=True), (16, 26, 22), strict=True):
        assert (counts[1] - counts[0]) / 4 <= limit, (few, many)
    assert database.check() == []


# ── deleting ────────────────────────────────────────────────────────────────────────────────────


def test_deleted_documents_and_entities_leave_no_rows(database, store, server):
    """An alias that is no longer stated, a name of two documents, a document that is replaced, and all of them."""
    store.write(*(batch_of(f"Doc {n}", ["The Auth Service (AS) asks Paris.", "AS and 密钥."]) for n in range(6)))
    store.write(batch_of("Doc 0", ["Nothing."]))
    store.delete([document_id("default", f"Doc {n}") for n in range(1, 5)])

    assert orphans(server) == Counter()
    assert database.check() == []
    store.delete([document_id("default", f"Doc {n}") for n in (0, 5)])
    for table in ("chunk", "nomination", "entity", *OWNERS):
        assert places(server, table) == {}, table
    assert database.check() == []


@pytest.mark.parametrize("count", [1, 4])
def test_a_dropped_namespace_leaves_no_rows(postgres_dsn, server, count):
    database = PostgresDatabase(postgres_dsn)
    database.create("gone", parts=count)
    fill(database, "gone")
    assert places(server, "mention")
    assert database.drop("gone")

    for table in ("namespace", "chunk", "entity", *OWNERS):
        assert places(server, table) == {}, table
    database.close()


def test_a_document_deleted_from_a_part_keeps_the_rows_of_the_bucket_until_it_is_settled(
    database, store, server, postgres_dsn
):
    """The rows of part and bucket have the same namespace; the settler subtracts those of the bucket."""
    store.write(*(batch_of(f"Doc {n}", ["Paris and the Auth Service.", "密钥"]) for n in range(4)))
    before = {table: places(server, table) for table in OWNERS}
    with settling_elsewhere(postgres_dsn):
        store.delete([document_id("default", f"Doc {n}") for n in range(4)])
        assert places(server, "posting") == {}
        assert {table: places(server, table) for table in OWNERS} == before
    store.settle_graph()

    assert {table: places(server, table) for table in OWNERS} == {table: {} for table in OWNERS}
    assert database.check() == []


def test_a_settler_and_a_writer_of_a_part_do_not_wait_for_each_other(database, store, server):
    """The settler adds rows to the buckets of all parts while a writer has locked its part, and the other way round."""
    sources = {part_of("default", document_id("default", f"Doc {n}"), 4): f"Doc {n}" for n in range(40)}
    with settling_elsewhere(database._connections._dsn):
        store.write(*(batch_of(source, ["Paris and the Auth Service."]) for source in sources.values()))
    own = document_id("default", sources[BUCKETS[0]])
    with database._connections.write_documents("default", [own]) as db:
        db.run("document_number", {"namespace": BUCKETS[0], "id": own})
        settler = Thread(target=store.settle_graph)
        settler.start()
        settler.join(PATIENCE_S)
        assert not settler.is_alive()

    assert store.stats().waiting_documents == 0
    with database._connections.settle("default", wait=True) as db:
        rows = server.execute("SELECT entity, chunk, count, about, place FROM weft.mention").fetchall()
        copied = [dict(zip(("entity", "chunk", "count", "about", "place"), row, strict=True)) for row in rows]
        db.run_many("delete_mention", [{"namespace": "default", **row} for row in copied])
        db.run_many("write_mention", [{"namespace": "default", **row} for row in copied])
        writer = Thread(target=lambda: database.store("default").write(batch_of(sources[BUCKETS[0]], ["Rome."])))
        writer.start()
        writer.join(PATIENCE_S)
        assert not writer.is_alive()
    store.settle_graph()
    assert database.check() == []


# ── check and repair ────────────────────────────────────────────────────────────────────────────

MISSING = 2**40
"""Number of no chunk and no entity."""

FIRST = f"WHERE (entity, chunk) = (SELECT entity, chunk FROM weft.mention WHERE chunk <> {MISSING} LIMIT 1)"
CLAIM = (
    f"INSERT INTO weft.claim SELECT namespace, {MISSING}, origin, source, target, type, weight, description, place,"
    " extractor FROM weft.claim"
)
RELATION = f"type, weight, support, place FROM weft.relation WHERE source <> {MISSING} LIMIT 1"

DAMAGE = {
    "mention of no chunk": f"UPDATE weft.mention SET chunk = {MISSING} {FIRST}",
    "mention of no entity": f"UPDATE weft.mention SET entity = {MISSING} {FIRST}",
    "stated claim of no chunk": f"{CLAIM} WHERE origin = 'triples' AND source = 'rome'",
    "derived claim of no chunk": f"{CLAIM} WHERE origin = '*' LIMIT 1",
    "relation from no entity": f"INSERT INTO weft.relation SELECT namespace, {MISSING}, target, {RELATION}",
    "relation to no entity": f"INSERT INTO weft.relation SELECT namespace, source, {MISSING}, {RELATION}",
}

MISPLACED = {
    "all in the home": {
        f"{table}s are in the wrong bucket": f"UPDATE weft.{table} SET namespace = 'default'" for table in OWNERS
    },
    "a stated claim in another bucket": {
        "1 claim is in the wrong bucket": (
            f"UPDATE weft.claim SET namespace = CASE namespace WHEN '{BUCKETS[0]}' THEN '{BUCKETS[1]}'"
            f" ELSE '{BUCKETS[0]}' END WHERE source = 'rome' AND type = 'near'"
        )
    },
}


@pytest.mark.parametrize("count", [1, 4])
def test_rows_of_missing_chunks_and_entities_are_found_and_mended(postgres_dsn, server, count):
    database = PostgresDatabase(postgres_dsn)
    database.create("default", parts=count)
    store = fill(database)
    before = view(store)
    for case, statement in DAMAGE.items():
        assert server.execute(statement).rowcount == 1, case
    found = [problem.what for problem in database.check()]
    database.repair()

    for table in OWNERS:
        assert f"2 {table}s are of a missing chunk or entity" in found
    assert orphans(server) == Counter()
    assert view(store) == before
    assert database.check() == []
    database.close()


@pytest.mark.parametrize("case", MISPLACED)
def test_rows_in_the_wrong_bucket_are_found_and_mended(database, server, case):
    """A stated claim exists once, so it is moved and not derived again."""
    store = fill(database)
    before = view(store)
    for statement in MISPLACED[case].values():
        assert server.execute(statement).rowcount
    found = [problem.what for problem in database.check()]
    database.repair()

    for said in MISPLACED[case]:
        assert any(what.endswith(said) for what in found), found
    assert view(store) == before
    assert database.check() == []


# ── migration ───────────────────────────────────────────────────────────────────────────────────


class InterruptedAtRelations(psycopg.Connection):
    """A connection whose user gives up after mentions and claims were moved."""

    def execute(self, query, params=None, **options):
        if isinstance(query, str) and "DELETE FROM weft.relation" in query:
            raise KeyboardInterrupt
        return super().execute(query, params, **options)


def test_a_graph_in_the_home_is_moved_to_its_buckets(postgres_dsn, server):
    """A namespace of schema 15 with four parts, one with one part, and a migration that is interrupted."""
    database = PostgresDatabase(postgres_dsn)
    database.create("default", parts=4)
    stores = [fill(database, name) for name in ("default", "other")]
    before, rows = [view(store) for store in stores], {table: places(server, table) for table in OWNERS}
    for table in OWNERS:
        server.execute(f"UPDATE weft.{table} SET namespace = 'default' WHERE namespace LIKE 'default%'")
        server.execute(f"ALTER TABLE weft.{table} DROP CONSTRAINT {table}_namespace_fkey")
        for column, target in (("chunk", "chunk"), ("entity", "entity"), ("source", "entity"), ("target", "entity")):
            if (table, column) in {("claim", "source"), ("claim", "target")} or not has_column(server, table, column):
                continue
            server.execute(
                f"ALTER TABLE weft.{table} ADD FOREIGN KEY (namespace, {column})"
                f" REFERENCES weft.{target} (namespace, number) ON DELETE CASCADE"
            )
    server.execute("UPDATE weft.schema_version SET version = 15")
    with InterruptedAtRelations.connect(postgres_dsn, autocommit=True) as db, pytest.raises(KeyboardInterrupt):
        schema.migrate(db, where="here")
    assert places(server, "mention").keys() == {"default", "other"}
    with psycopg.connect(postgres_dsn, autocommit=True) as db:
        assert schema.migrate(db, where="here") == ["schema 16", "schema 17", "schema 18"]

    assert {table: places(server, table) for table in OWNERS} == rows
    assert [view(store) for store in stores] == before
    assert database.check() == []
    database.close()


def has_column(server, table, column):
    asked = (
        "SELECT 1 FROM information_schema.columns WHERE table_schema = 'weft' AND table_name = %s AND column_name = %s"
    )
    return server.execute(asked, [table, column]).fetchone() is not None


def test_an_import_of_one_part_is_read_from_all_buckets(database, store):
    """Its claims are in the buckets of their sources; replacing it deletes them there."""
    store.write(batch_of("Paris", ["Paris and Lyon."]))
    (chunk,) = store.find_chunks(document_id("default", "Paris"))
    claims = tuple(Claim(source=f"city {n}", target="paris", type="near", weight=2.0) for n in range(8))
    store.annotate("triples", {chunk.id: Extraction(claims=claims)})
    assert store.imports() == ["triples"]
    store.annotate("triples", {})

    assert store.imports() == []
    assert database.check() == []
