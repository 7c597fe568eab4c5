"""Errors of a server are clear, retried if that is safe, and never applied twice."""

import threading
import uuid
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

import postgres
import psycopg
import pytest
from contract import MODEL, keyword, make_batch
from logical import content
from psycopg.conninfo import make_conninfo

import weft.store.postgres.connect as connect
import weft.store.postgres.session as session
from weft.errors import ConfigError, SchemaMismatch, StoreError, StoreUnavailable, WeftError
from weft.records import Fact
from weft.store.postgres import citus, schema, vector_indexes, vectors
from weft.store.postgres.database import PostgresDatabase
from weft.store.postgres.failures import failed_node, node_unreachable
from weft.store.postgres.session import PostgresSession
from weft.store.relational.session import NO_VALUES
from weft.text.ids import document_id

SECRET = "hunter2hunter2"


@pytest.fixture
def database(postgres_dsn):
    database = PostgresDatabase(postgres_dsn)
    yield database
    database.close()


@pytest.fixture
def store(store):
    store.write(make_batch("a", ["alpha one", "alpha two"]))
    return store


def refused(dsn):
    """Return the error of opening a database, and assert that it does not contain the password."""
    with pytest.raises(WeftError) as caught:
        PostgresDatabase(dsn)
    error = caught.value
    while error is not None:
        assert SECRET not in f"{error} {getattr(error, 'hint', '')}"
        error = error.__cause__
    return caught.value


# ── opening ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("place", ["127.0.0.1:1", "/nowhere:5432", "not.a.host.invalid:5432"])
def test_no_server_at_the_address(place):
    """The error names the address and what to check."""
    host, _, port = place.partition(":")
    error = refused(make_conninfo("", host=host, port=port, user="me", password=SECRET, dbname="weft"))

    assert isinstance(error, StoreUnavailable)
    assert str(error) == f"no PostgreSQL server responds at {place}/weft"
    assert "host and the port" in error.hint


def test_a_malformed_address_is_not_repeated():
    """The password has an unescaped character, and the driver would quote it."""
    for place in (f"{SECRET}%zz@host/weft", f"x@{SECRET}@host/weft", f"{SECRET}@host:port/weft"):
        error = refused(f"postgresql://me:{place}")
        assert isinstance(error, ConfigError)
        assert "%XX" in error.hint


def test_no_such_database(postgres_server):
    """The server is there, the database is not."""
    error = refused(make_conninfo(postgres_server, dbname="nowhere", password=SECRET))

    assert "no such database" in str(error) and "nowhere" in str(error)
    assert "createdb" in error.hint


def test_a_role_that_may_not_create_the_extension_gets_a_hint(postgres_server):
    """An empty database without pgvector."""
    name = f"weft_bare_{uuid.uuid4().hex[:8]}"
    with (
        postgres.new_database(postgres_server, name, tables=False, pgvector=False) as dsn,
        postgres.new_role(dsn) as role,
    ):
        error = refused(role)

    assert isinstance(error, StoreUnavailable)
    assert "no extension `vector`" in str(error)
    assert error.hint.endswith("CREATE EXTENSION vector")


class WithoutPgvector(psycopg.Connection):
    """A connection to a server without pgvector."""

    def execute(self, query, params=None, **options):
        if isinstance(query, str) and query.startswith("CREATE EXTENSION"):
            query = "CREATE EXTENSION no_such_extension"
        return super().execute(query, params, **options)


def test_a_server_without_pgvector_is_refused(postgres_server):
    """The extension is not merely missing in the database: the server has none."""
    name = f"weft_bare_{uuid.uuid4().hex[:8]}"
    with (
        postgres.new_database(postgres_server, name, tables=False, pgvector=False) as dsn,
        WithoutPgvector.connect(dsn, autocommit=True) as db,
        pytest.raises(StoreUnavailable, match="no pgvector installed") as caught,
    ):
        schema.create(db, where="here")
    assert "0.8" in caught.value.hint


def test_an_old_pgvector_is_refused(postgres_server, monkeypatch):
    """Its index scans would stop before they have found enough of a namespace."""
    old = schema.ServerState(version=0, has_citus=False, pgvector="0.7.4")
    monkeypatch.setattr(schema, "read_state", lambda db: old)
    error = refused(postgres_server)

    assert "pgvector 0.7.4" in str(error)
    assert "ALTER EXTENSION vector UPDATE" in error.hint


def test_the_tables_of_another_version_are_refused(postgres_dsn):
    """They are neither read nor written."""
    for version, said, hint in (
        (99, "newer Weft (schema 99", "pip install --upgrade"),
        (17, "made by Weft 0.2 or older (schema 17", "docs/upgrading.md"),
    ):
        with psycopg.connect(postgres_dsn, autocommit=True) as db:
            db.execute("UPDATE weft.schema_version SET version = %s", [version])
        try:
            error = refused(postgres_dsn)
        finally:
            with psycopg.connect(postgres_dsn, autocommit=True) as db:
                db.execute("UPDATE weft.schema_version SET version = %s", [schema.VERSION])
        assert isinstance(error, SchemaMismatch)
        assert said in str(error) and hint in error.hint


# ── refusals while it is open ───────────────────────────────────────────────────────────────────


def test_a_read_only_server_answers_and_refuses_writes(postgres_dsn, store):
    """A replica behaves the same."""
    database = PostgresDatabase(make_conninfo(postgres_dsn, options="-c default_transaction_read_only=on"))
    replica = database.store("default")

    assert keyword(replica, "alpha") == keyword(store, "alpha")
    with pytest.raises(StoreUnavailable, match="read-only") as caught:
        replica.write(make_batch("b", ["beta"]))
    assert "primary server" in caught.value.hint
    assert keyword(replica, "beta") == []
    database.close()


@pytest.mark.parametrize(
    "setting, said",
    [
        pytest.param("statement_timeout=3000", "took too long", id="slow"),
        pytest.param(
            "lock_timeout=100",
            "is busy",
            id="busy",
            marks=pytest.mark.skipif(postgres.IS_CITUS, reason="`lock_timeout` does not reach the nodes"),
        ),
    ],
)
def test_a_timeout_of_the_server_is_reported(postgres_dsn, store, setting, said):
    """A writer waits for another one longer than the server allows."""
    database = PostgresDatabase(make_conninfo(postgres_dsn, options=f"-c {setting}"))
    before = content(postgres_dsn)
    with (
        store.facts.writing(),
        pytest.raises(StoreUnavailable, match=said) as caught,
    ):
        database.store("default").delete([document_id("default", "a")])
    assert "run the command again" in caught.value.hint
    assert content(postgres_dsn) == before
    database.close()


def test_a_writer_does_not_wait_for_ever(postgres_dsn, store, monkeypatch):
    """Without a timeout of the server, the wait for another writer is limited. A later statement has no limit."""
    database = PostgresDatabase(postgres_dsn)
    other = database.store("default")
    with (
        monkeypatch.context() as impatient,
        store.facts.writing(),
        pytest.raises(StoreUnavailable, match=r"another writer of namespace 'default' .* within 0\.1 s"),
    ):
        impatient.setattr(session, "MAX_LOCK_SECONDS", 0.1)
        other.delete([document_id("default", "a")])
    with database._connections.write("default") as db:
        assert db._db.execute("SHOW statement_timeout").fetchone() == ("0",)
    assert other.delete([document_id("default", "a")]) == 1
    database.close()


REMOTE = "connection to the remote node postgres@worker1:5432 failed with the following error: timed out"


@pytest.fixture
def dead_node(monkeypatch):
    """A node of a cluster that does not answer for the namespace `other`."""
    run, bind, bound = PostgresSession.run, PostgresSession.bind, {}

    def noting(self, namespace):
        bind(self, namespace)
        bound[self] = namespace

    def failing(self, name, values=NO_VALUES, *, dimension=0):
        is_dead = self.is_snapshot and bound.get(self) == "other"
        if is_dead or (name == "list_namespaces" and self._has_citus):
            raise psycopg.errors.ConnectionFailure(REMOTE)
        return run(self, name, values, dimension=dimension)

    monkeypatch.setattr(PostgresSession, "bind", noting)
    monkeypatch.setattr(PostgresSession, "run", failing)


def test_a_dead_node_is_named_and_the_others_answer(database, store, dead_node):
    """Its namespace cannot be read; it is listed, reported by the check, and no other one is affected."""
    database.store("other")
    with pytest.raises(StoreUnavailable, match=r"node worker1:5432 .*: timed out; namespace 'other' cannot be reached"):
        database.store("other").stats()
    with psycopg.connect(database._connections._dsn, autocommit=True) as db:
        db.execute("INSERT INTO weft.namespace (namespace) VALUES ('other')")

    assert database.namespaces() == ["default", "other"]
    (problem,) = database.check()
    assert problem.where == "namespace 'other'" and "not checked: node worker1:5432" in problem.what
    assert keyword(store, "alpha") != []


@pytest.mark.skipif(postgres.IS_CITUS, reason="replaces a function of Citus")
def test_namespaces_of_the_other_nodes_are_listed(database, store, dead_node, caplog):
    """The nodes are asked one by one, because one query over all of them fails."""
    with psycopg.connect(database._connections._dsn, autocommit=True) as db:
        db.execute(
            "CREATE FUNCTION run_command_on_placements(text, text) RETURNS TABLE"
            " (nodename text, nodeport int, shardid bigint, success boolean, result text) LANGUAGE sql AS $$VALUES"
            " ('worker1', 5432, 1, FALSE, 'timed out'), ('worker2', 5432, 2, TRUE, '[\"default\"]')$$"
        )
    database._connections.has_citus = True
    unanswered = "node worker1:5432 does not respond; its namespaces are not listed"

    assert database.namespaces() == ["default"]
    assert caplog.messages == [unanswered]
    assert [problem.what for problem in database.check()] == [unanswered]
    with psycopg.connect(database._connections._dsn, autocommit=True) as db:
        db.execute("DROP FUNCTION run_command_on_placements")


class Reported(NamedTuple):
    """Fields of an error that a node has reported."""

    context: str = "while executing command on worker1:5432"


@pytest.mark.parametrize(
    ("kind", "message", "node"),
    [
        (psycopg.errors.ProgramLimitExceeded, "index row size 2800 exceeds maximum", ""),
        (psycopg.errors.DiskFull, "could not extend file", ""),
        (psycopg.errors.InsufficientPrivilege, "permission denied for table chunk", ""),
        (psycopg.errors.AdminShutdown, "terminating connection", "worker1:5432"),
        (psycopg.errors.InternalError_, "server closed the connection unexpectedly", "worker1:5432"),
        (psycopg.errors.InternalError_, "SSL SYSCALL error: EOF detected", "worker1:5432"),
        (psycopg.errors.ConnectionFailure, REMOTE, "worker1:5432"),
    ],
)
def test_only_a_lost_connection_means_that_a_node_does_not_respond(monkeypatch, kind, message, node):
    """Citus names the node in the context of every error that a node reports."""
    monkeypatch.setattr(psycopg.Error, "diag", Reported())
    assert failed_node(kind(message)) == node


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        ('FATAL:  password authentication failed for user "app"', 'password authentication failed for user "app"'),
        ("fe_sendauth: no password supplied", "fe_sendauth: no password supplied"),
        ('FATAL:  database "weft" does not exist', 'database "weft" does not exist'),
    ],
)
def test_a_node_that_refuses_the_login_is_not_called_dead(reason, message):
    """The role has no password, or a wrong one, in the list of logins of the nodes."""
    error = psycopg.errors.ConnectionFailure(REMOTE.replace("timed out", reason))
    found = node_unreachable("here", failed_node(error), "mine", error)

    assert str(found).startswith(
        f"node worker1:5432 of the cluster here refused the login: {message}; namespace 'mine'"
    )
    assert "pg_dist_authinfo" in found.hint


@pytest.mark.skipif(postgres.IS_CITUS, reason="replaces tables of Citus")
@pytest.mark.parametrize(("group", "is_refused"), [(0, False), (7, True)])
def test_only_the_coordinator_of_a_cluster_is_used(postgres_dsn, monkeypatch, group, is_refused):
    """The other nodes number rows in ranges of their own, so an older change would seem newer."""
    monkeypatch.setattr(citus, "is_distributed", lambda db: True)
    with psycopg.connect(postgres_dsn, autocommit=True) as db:
        db.execute("CREATE TABLE public.pg_dist_local_group (groupid int)")
        db.execute("INSERT INTO public.pg_dist_local_group VALUES (%s)", [group])
    try:
        if is_refused:
            assert "not the coordinator" in str(refused(postgres_dsn))
        else:
            PostgresDatabase(postgres_dsn).close()
    finally:
        with psycopg.connect(postgres_dsn, autocommit=True) as db:
            db.execute("DROP TABLE public.pg_dist_local_group")


def test_an_index_that_cannot_be_created_does_not_fail_the_write(database, monkeypatch, caplog):
    """The documents are stored; the next write tries again."""

    def refuse(*arguments, **options):
        raise StoreUnavailable("node worker2:5432 does not respond")

    monkeypatch.setattr(vectors, "MAX_EXACT_ROWS", 1)
    monkeypatch.setattr(vector_indexes, "create_vector_indexes", refuse)
    store = database.store("default")
    monkeypatch.setattr(store._connections, "prepare_vectors", lambda dimension: None)
    store.write_model(MODEL)
    for source in ("a", "b"):
        caplog.clear()
        store.write(make_batch(source, ["alpha one", "alpha two"]))
        assert "worker2:5432" in caplog.text
    assert store.stats().documents == 2


def test_a_cluster_refreshes_its_statistics_by_itself(database, monkeypatch):
    """One statement would go to every shard of every node, and fail if one of them does not respond."""
    monkeypatch.setattr(connect, "MIN_ANALYZED_CHUNKS", 1)
    monkeypatch.setattr(connect, "ANALYZE", "SELECT no_such_function()")
    database._connections.has_citus = True
    store = database.store("default")
    store.write_model(MODEL)
    store.write(make_batch("a", ["alpha one", "alpha two"]))
    database._connections.has_citus = False
    with pytest.raises(StoreError, match="no_such_function"):
        store.write(make_batch("b", ["alpha one", "alpha two"]))


def test_all_connections_in_use_is_not_taken_for_a_missing_server(postgres_dsn, monkeypatch):
    """Another thread uses the only connection."""
    monkeypatch.setattr(connect, "MAX_CONNECTIONS", 1)
    database = PostgresDatabase(postgres_dsn)
    errors = []

    def ask():
        try:
            database.store("default").stats()
        except StoreUnavailable as error:
            errors.append(str(error))

    with database.store("default").reading():
        (pool,) = database._connections._pools.values()
        pool.timeout = 0.1  # for the other thread; opening the connection may take longer
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    assert "connections" in errors[0] and "in use" in errors[0]
    database.close()


# ── lost connections ────────────────────────────────────────────────────────────────────────────


def cut(monkeypatch, dsn, name, *, times=1):
    """Let the server end the connection just before the statement called `name`; return how often it was run."""
    ran = []

    def ending(method):
        def run_cut(self, asked, *arguments, **options):
            if asked == name:
                ran.append(name)
                if len(ran) <= times:
                    end(dsn, self._db.info.backend_pid)
            return method(self, asked, *arguments, **options)

        return run_cut

    for method in (PostgresSession.run, PostgresSession.run_many):
        monkeypatch.setattr(PostgresSession, method.__name__, ending(method))
    return ran


def end(dsn, pid):
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute("SELECT pg_terminate_backend(%s::int, 5000::bigint)", [pid])


def test_idle_connections_that_were_ended_are_replaced(postgres_dsn, store):
    """The pool checks a connection before use."""
    postgres.end_others(postgres_dsn)
    assert len(keyword(store, "alpha")) == 2
    postgres.end_others(postgres_dsn)
    store.write(make_batch("b", ["beta"]))
    assert keyword(store, "beta") == ["beta"]


def test_a_read_is_retried_after_a_lost_connection(postgres_dsn, store, monkeypatch):
    """The caller sees an answer."""
    ran = cut(monkeypatch, postgres_dsn, "chunk_ids")

    assert len(keyword(store, "alpha")) == 2
    assert len(ran) == 2


@pytest.mark.parametrize("statement", ["write_document", "write_chunk", "touch_namespace"])
def test_a_write_is_retried_if_the_connection_is_lost_before_the_commit(
    database, postgres_dsn, store, monkeypatch, statement
):
    """The tables equal those after an undisturbed write."""
    store.write(make_batch("b", ["beta", "gamma"]))
    before = store.stats().generation
    store.delete([document_id("default", "b")])
    store.write(make_batch("b", ["beta", "gamma"]))
    expected, generation = content(postgres_dsn), store.stats().generation
    store.delete([document_id("default", "b")])
    ran = cut(monkeypatch, postgres_dsn, statement)
    store.write(make_batch("b", ["beta", "gamma"]))

    assert len(ran) >= 2
    assert content(postgres_dsn) == expected
    assert store.stats().generation - generation == generation - before
    assert database.check() == []


def test_a_write_that_loses_two_connections_fails_and_leaves_nothing(database, postgres_dsn, store, monkeypatch):
    """The error says that the change was rolled back."""
    before = content(postgres_dsn)
    cut(monkeypatch, postgres_dsn, "touch_namespace", times=2)

    with pytest.raises(StoreUnavailable, match="was lost") as caught:
        store.write(make_batch("b", ["beta"]))
    assert "rolled back" in caught.value.hint
    assert content(postgres_dsn) == before
    store.write(make_batch("b", ["beta"]))
    assert keyword(store, "beta") == ["beta"]


@pytest.mark.parametrize("arrives", [True, False], ids=["the commit arrived", "the commit did not arrive"])
def test_a_lost_commit_is_unknown_and_running_again_is_safe(postgres_dsn, store, monkeypatch, arrives):
    """It is not retried; a second run by the user leaves one copy."""
    execute, commits = psycopg.Connection.execute, []

    def lose(self, query, *arguments, **options):
        if query != "COMMIT" or commits:
            return execute(self, query, *arguments, **options)
        commits.append(query)
        if arrives:
            execute(self, query)
        end(postgres_dsn, self.info.backend_pid)
        return execute(self, "SELECT 1" if arrives else query)

    before = content(postgres_dsn)
    batch = make_batch("b", ["beta"])
    with monkeypatch.context() as patch:
        patch.setattr(psycopg.Connection, "execute", lose)
        with pytest.raises(StoreUnavailable, match="may or may not be applied") as caught:
            store.write(batch)
    assert "not applied twice" in caught.value.hint
    assert (content(postgres_dsn) != before) == arrives
    store.write(batch)
    written = content(postgres_dsn)
    assert keyword(store, "beta") == ["beta"]
    store.write(batch)
    assert content(postgres_dsn) == written


def test_a_part_of_a_transaction_is_not_retried(postgres_dsn, store, monkeypatch):
    """The whole transaction fails and is rolled back."""
    fact = Fact(
        id="f1",
        subject="user",
        subject_name="User",
        predicate="likes",
        value="tea",
        created=datetime(2026, 3, 1, tzinfo=timezone.utc),
    )
    ran = cut(monkeypatch, postgres_dsn, "write_fact")
    with pytest.raises(StoreUnavailable, match="was lost"), store.facts.writing():
        store.facts.write([fact])

    assert len(ran) == 1
    assert store.facts.count() == (0, 0)
    with store.facts.writing():
        store.facts.write([fact])
    assert store.facts.count() == (1, 1)


# ── a server of our own ─────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def own_server():
    """Give a server that a test may restart, and that reads its rules from a file of ours."""
    if postgres.DSN:
        pytest.skip("the server is not ours to restart")
    server = postgres.launch(uuid.uuid4().hex)
    yield server
    server.cleanup()


def test_a_wrong_password_is_reported_and_not_shown(own_server):
    """By a server that asks for one."""
    dsn = own_server.get_uri()
    with psycopg.connect(dsn, autocommit=True) as db, postgres.new_role(dsn, password="right") as role:
        (rules,) = db.execute("SHOW hba_file").fetchone()
        kept = Path(rules).read_text()
        Path(rules).write_text(f"local all {postgres.ROLE} scram-sha-256\n{kept}")
        db.execute("SELECT pg_reload_conf()")
        error = refused(make_conninfo(role, password=SECRET))

    assert "refused the login" in str(error)
    assert "user and the password" in error.hint


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_restart_between_calls_has_no_effect(own_server, mode):
    """After a clean or an immediate shutdown, committed data is there."""
    with postgres.new_database(own_server.get_uri(), f"again_{mode}") as dsn:
        database = PostgresDatabase(make_conninfo(dsn, options="-c synchronous_commit=on"))
        store = database.store("default")
        store.write_model(MODEL)
        store.write(make_batch("a", ["alpha"]))
        postgres.restart(own_server, mode)
        assert keyword(store, "alpha") == ["alpha"]
        store.write(make_batch("b", ["beta"]))
        assert keyword(store, "beta") == ["beta"]
        assert database.check() == []
        database.close()


def test_a_write_survives_a_crash_of_the_server(own_server, monkeypatch):
    """The write is retried once the server is back."""
    with postgres.new_database(own_server.get_uri(), "middle") as dsn:
        database = PostgresDatabase(make_conninfo(dsn, options="-c synchronous_commit=on"))
        store = database.store("default")
        store.write_model(MODEL)
        run, died = PostgresSession.run, []

        def die(self, name, *arguments, **options):
            if name == "touch_namespace" and not died:
                died.append(name)
                postgres.restart(own_server, "immediate")
            return run(self, name, *arguments, **options)

        monkeypatch.setattr(PostgresSession, "run", die)
        store.write(make_batch("a", ["alpha"]))
        assert died and keyword(store, "alpha") == ["alpha"]
        assert database.check() == []
        database.close()


def test_a_closed_database_says_so(postgres_dsn):
    """Using it after closing it is a clear error; closing twice is none."""
    database = PostgresDatabase(postgres_dsn)
    database.close()
    database.close()

    with pytest.raises(StoreError, match="closed"):
        database.namespaces()
