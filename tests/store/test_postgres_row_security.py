"""Row security of a server: an ordinary role sees its namespace, and nothing of others."""

import uuid
from dataclasses import replace
from datetime import datetime, timezone

import numpy as np
import postgres
import psycopg
import pytest
from contract import CALIBRATION, MODEL, keyword, make_batch
from logical import content
from test_graph_soundness import document, fill

from weft.engine.api_keys import Keyring
from weft.errors import AccessDenied
from weft.records import Fact, FactEvent, Job, LlmRun, Usage
from weft.store.postgres.database import PostgresDatabase
from weft.store.postgres.session import statement
from weft.store.sqlite.database import SqliteDatabase

NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
FACT = Fact(id="f1", subject="user", subject_name="User", predicate="likes", value="tea", created=NOW)

OWNER_READS = {"namespace"}
"""Tables of other namespaces that the owner can read."""

MOVE_REFUSED = psycopg.errors.FeatureNotSupported if postgres.IS_CITUS else psycopg.errors.InsufficientPrivilege
"""Error for moving a row into another namespace, which Citus never does."""

THEIRS = "theirs of 1597"
"""Name of another namespace, which no other text contains."""


def fill_all(database, *names):
    """Put something into every table, once for each namespace."""
    for name in names:
        store = fill(database, name)
        if isinstance(database, PostgresDatabase):
            database._connections.fold(name)  # what is written later stays in the tables of deltas
        store.write(document("Clock", ["The Auth Service asks the Ledger."], namespace=name))
        store.write(make_batch("labelled", ["alpha"], namespace=name, metadata={"tag": "x"}))
        store.write_calibration(CALIBRATION)
        store.facts.write([FACT], events=[FactEvent(fact_id="f1", at=NOW, action="added")])
        store.facts.write_vectors(MODEL.fingerprint, {"user": np.array([1, 0, 0], dtype=np.float32)})
        with_fact = make_batch("stated", ["beta"], namespace=name)
        store.write(replace(with_fact, facts=(FACT,)))
        store.jobs.enqueue([Job(id="j", run="r", source="waiting", content_hash="h", recipe="x")])
        store.spending.write(LlmRun(id="r", at=1.0, model="openai/tiny", usage=Usage(calls=1)))
        store.facts.write_text_vectors(MODEL.fingerprint, {"f1": np.array([0, 1, 0], dtype=np.float32)})
    return database


def tables_by_namespace(db):
    """Return every table that has a namespace, as the server knows them."""
    rows = db.execute(
        "SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'namespace'"
        " WHERE c.relnamespace = 'weft'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
    )
    return sorted(row[0] for row in rows)


def test_an_ordinary_role_reads_and_writes_through_the_adapter(postgres_dsn, tmp_path, caplog):
    """It ends up with the content that a file has; only the index over vectors is left to the owner."""
    names = ["mine", "theirs"]
    with postgres.new_role(postgres_dsn, grants=postgres.ORDINARY) as role:
        database = fill_all(PostgresDatabase(role), *names)
        expected = fill_all(SqliteDatabase(str(tmp_path / "weft.db")), *names)
        assert content(role, names) == content(postgres_dsn) == content(tmp_path / "weft.db")
        mine = database.store("mine")
        assert keyword(mine, "ledger") == keyword(expected.store("mine"), "ledger") != []
        assert database.drop("theirs") and not database.drop("theirs")
        assert expected.drop("theirs")
        assert content(postgres_dsn) == content(tmp_path / "weft.db")
        database.close()
        expected.close()


def test_only_an_administrator_sees_all_namespaces_and_keys(postgres_dsn):
    """An ordinary role is told so, instead of being shown an empty list; it can still check a key."""
    owner = fill_all(PostgresDatabase(postgres_dsn), "mine", "theirs")
    ring = Keyring(owner)
    with postgres.new_role(postgres_dsn, grants=postgres.ORDINARY) as role:
        database = PostgresDatabase(role)
        assert Keyring(database).is_empty()
        key, text = ring.create("laptop", namespaces=["mine"])
        for refused in (
            database.namespaces,
            database.check,
            database.repair,
            Keyring(database).all,
            lambda: Keyring(database).create("mine too", namespaces=["theirs"]),
            lambda: Keyring(database).revoke(key.id),
            lambda: Keyring(database).forget(key.id),
        ):
            with pytest.raises(AccessDenied, match="may not") as caught:
                refused()
            assert "owner" in caught.value.hint
        assert Keyring(database).find(text) == key
        assert Keyring(database).find(text[:-1] + "~") is None
        assert Keyring(database).opens()
        ring.revoke(key.id)
        assert Keyring(database).find(text) is None
        assert not Keyring(database).opens() and not Keyring(database).is_empty()
        database.close()

    assert owner.namespaces() == ["mine", "theirs"]
    assert owner.check() == owner.repair() == []
    assert [key.name for key in ring.all()] == ["laptop"]
    owner.close()


def test_a_role_that_may_not_create_an_index_gets_a_warning(postgres_dsn, caplog):
    """Vectors of a new dimension are compared one by one."""
    with postgres.new_role(postgres_dsn, grants=postgres.ORDINARY) as role:
        database = PostgresDatabase(role)
        database.store("mine").write_model(replace(MODEL, dimension=17))
        database.close()

    assert "no vector index of dimension 17" in caplog.text


def relations(db):
    """Return every table, partition and view, as the server knows them."""
    kinds = "relkind IN ('r', 'p', 'v', 'm', 'f')"
    rows = db.execute(f"SELECT oid::regclass::text FROM pg_class WHERE relnamespace = 'weft'::regnamespace AND {kinds}")
    return sorted(row[0] for row in rows)


def revealed(db, texts):
    """Return the relations in which a text can be read."""
    found = set()
    for name in relations(db):
        rows = [row for (row,) in db.execute(f"SELECT r::text FROM {name} AS r")]
        found |= {name for row in rows if any(text in row for text in texts)}
    return found


def test_nothing_reveals_a_row_or_a_name_or_a_key_or_a_term_of_another_namespace(postgres_dsn):
    """Tables, partitions and functions are checked, in bound and unbound transactions."""
    owner = fill_all(PostgresDatabase(postgres_dsn), "mine", THEIRS)
    key, _ = Keyring(owner).create("their laptop", namespaces=[THEIRS])
    Keyring(owner).create("their desktop", namespaces=[THEIRS])
    owner.close()
    with psycopg.connect(postgres_dsn) as db:
        texts = [THEIRS, key.id, key.digest, key.name]
        shown = {"weft.namespace", "weft.document", "weft.chunk", "weft.posting", "weft.api_key"}
        assert revealed(db, texts) > shown  # a superuser reads everything
    call, values = "SELECT * FROM weft.find_key(%s, %s)", [key.id, ""]
    with (
        postgres.new_role(postgres_dsn, grants=postgres.ORDINARY) as role,
        psycopg.connect(role, autocommit=True) as db,
    ):
        for bound in ("", "mine"):
            with db.transaction():
                postgres.bind(db, bound)
                assert revealed(db, texts) == set()
                assert db.execute(call, values).fetchall() == []
                assert db.execute("SELECT * FROM weft.key_presence()").fetchall() == [(True, True)]  # not how many
        count = "SELECT count(*) FROM {} AS r"
        with db.transaction():
            postgres.bind(db, "mine")
            filled = {name for name in relations(db) if db.execute(count.format(name)).fetchone() != (0,)}
        assert filled == {f"weft.{table}" for table in (*tables_by_namespace(db), "schema_version")}, "fill or guard"


def test_a_namespace_that_another_process_created_again_is_found(postgres_dsn):
    """No process keeps anything of the namespace that was dropped."""
    ours, others = PostgresDatabase(postgres_dsn), PostgresDatabase(postgres_dsn)
    for _ in range(2):
        others.drop("default")
        others.store("default").write_model(MODEL)
        others.store("default").write(make_batch("alpha", ["one"]))
        assert keyword(ours.store("default"), "one") == ["one"]
    ours.store("default").write(make_batch("be", ["two"]))
    assert keyword(others.store("default"), "two") == ["two"]
    assert others.check() == []
    ours.close()
    others.close()


def check_walls(db, mine, theirs, *, open_to_read=frozenset()):
    """Assert that statements without a namespace filter reach only the bound namespace."""
    for table in tables_by_namespace(db):
        with db.transaction(force_rollback=True):
            seen = f"SELECT DISTINCT namespace FROM weft.{table}"
            assert table in open_to_read or db.execute(seen).fetchall() == [], table
            assert db.execute(f"DELETE FROM weft.{table}").rowcount == 0, table
            postgres.bind(db, mine)
            expected = {(mine,), (theirs,)} if table in open_to_read else {(mine,)}
            assert set(db.execute(seen).fetchall()) == expected, f"fill or guard {table}"
            with pytest.raises(MOVE_REFUSED), db.transaction():
                db.execute(f"UPDATE weft.{table} SET namespace = %s WHERE namespace = %s", [theirs, mine])
            assert db.execute(f"UPDATE weft.{table} SET namespace = namespace").rowcount > 0, table
            deleted = db.execute(f"DELETE FROM weft.{table} RETURNING namespace").fetchall()
            assert set(deleted) == {(mine,)}, table


def test_a_statement_without_its_filter_stays_inside_the_namespace(postgres_dsn):
    """In every table there is, for reading, changing, moving and deleting."""
    fill_all(PostgresDatabase(postgres_dsn), "mine", "theirs").close()
    with (
        postgres.new_role(postgres_dsn, grants=postgres.ORDINARY) as role,
        psycopg.connect(role, autocommit=True) as db,
    ):
        assert len(tables_by_namespace(db)) > 20
        check_walls(db, "mine", "theirs")
        torn = statement("sample_chunks").replace("c.namespace = %(namespace)s", "TRUE")
        torn = torn.replace("d.namespace = %(namespace)s", "TRUE")
        whole = statement("sample_chunks")
        if postgres.IS_CITUS:
            with pytest.raises(psycopg.Error, match="requires repartitioning"):
                db.execute(torn, {"limit": 99})
            return
        with db.transaction():
            postgres.bind(db, "mine")
            found = db.execute(torn, {"limit": 99}).fetchall()
            assert found == db.execute(whole, {"namespace": "mine", "limit": 99}).fetchall() != []
            assert db.execute(whole, {"namespace": "theirs", "limit": 99}).fetchall() == []


def test_an_owner_without_bypassrls_administers_and_serves_an_ordinary_role(postgres_server):
    """The functions run with the rights of the owner, and row security keeps the index of terms in use."""
    name = f"weft_owned_{uuid.uuid4().hex[:8]}"
    with postgres.new_database(postgres_server, name, tables=False) as dsn:
        with psycopg.connect(dsn, autocommit=True) as db:
            db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        with postgres.new_role(dsn, name=f"{postgres.ROLE}_owner", grants=[f"CREATE ON DATABASE {name}"]) as role:
            database = fill_all(PostgresDatabase(role), "mine", "theirs")
            key, text = Keyring(database).create("laptop", namespaces=["mine"])
            assert database.namespaces() == ["mine", "theirs"]
            assert database.check() == []
            assert Keyring(database).all() == [key]
            with postgres.new_role(role, grants=postgres.ORDINARY, creator=dsn) as app:
                served = PostgresDatabase(app)
                assert Keyring(served).find(text) == key
                assert keyword(served.store("mine"), "ledger") == keyword(database.store("mine"), "ledger") != []
                served.close()
            with psycopg.connect(role, autocommit=True) as db:
                db.execute("SET enable_seqscan = off")
                plan = db.execute("EXPLAIN SELECT entries FROM weft.posting WHERE namespace = 'mine' AND term = 'a'")
                assert "(term = 'a'" in "\n".join(line for (line,) in plan if "Index Cond" in line)
                if not postgres.IS_CITUS:  # there the owner has no walls: shards are moved as the owner
                    check_walls(db, "mine", "theirs", open_to_read=OWNER_READS)
            database.close()
