"""Reads from a replica. Two databases with different content stand for primary and replica."""

import os

import postgres
import pytest
from contract import EVERYTHING, MODEL, make_batch

from weft.admin.doctor import diagnose
from weft.config import read_settings
from weft.config.trust import trust
from weft.engine.opening.databases import open_database
from weft.errors import ConfigError
from weft.store.postgres.database import PostgresDatabase


@pytest.fixture(scope="module")
def replica_tables(postgres_server, worker_id):
    """Give the DSN of a second database with our tables."""
    with postgres.new_database(postgres_server, f"weft_replica_{worker_id}_{os.getpid()}") as dsn:
        yield dsn


@pytest.fixture
def replica(replica_tables):
    """Give the same, holding nothing."""
    postgres.empty(replica_tables)
    return replica_tables


def sources(store):
    return [document.source for document in store.find_documents(EVERYTHING)]


def answered(store):
    """Return what a question sees."""
    with store.reading():
        return sources(store)


def write(dsn, *names):
    """Write documents past what is tested; each is one more generation, and so is the model."""
    database = PostgresDatabase(dsn)
    store = database.store("default")
    store.write_model(MODEL)
    for name in names:
        store.write(make_batch(name, [f"text of {name}"]))
    database.close()


@pytest.fixture
def database(postgres_dsn, replica):
    write(postgres_dsn, "a", "new")
    write(replica, "a", "old")
    database = PostgresDatabase(postgres_dsn, replica=replica)
    yield database
    database.close()


def test_queries_use_the_replica_and_all_else_the_primary(database):
    """Only query results may miss writes of other processes."""
    store = database.store("default")

    assert answered(store) == ["a", "old"]
    assert sources(store) == ["a", "new"]
    with store.facts.writing():
        assert answered(store) == ["a", "new"]
    assert database.check() == []


def test_own_writes_are_never_missed(database, replica):
    """Until the replica has caught up, the primary answers; other namespaces stay with the replica."""
    store = database.store("default")
    store.write(make_batch("own", ["written here"]))
    assert answered(store) == ["a", "new", "own"]
    write(replica, "b", "c")

    assert answered(store) == ["a", "b", "c", "old"]
    assert answered(database.store("other")) == []


def test_a_dropped_namespace_stays_dropped(database):
    """Its generations may start again, so the replica is no longer used for it."""
    store = database.store("default")
    assert database.drop("default")
    assert answered(store) == []
    store.write_model(MODEL)
    store.write(make_batch("again", ["written here"]))

    assert answered(store) == ["again"]


def test_a_replica_that_does_not_answer_is_not_used(postgres_dsn, caplog):
    """The primary answers, and the log says so once, without the password."""
    write(postgres_dsn, "a")
    database = PostgresDatabase(postgres_dsn, replica="postgresql://me:sesame@127.0.0.1:1/db")
    for _ in range(2):
        assert answered(database.store("default")) == ["a"]
    database.close()

    assert caplog.text.count("the replica is not used") == 1
    assert "sesame" not in caplog.text


def test_a_replica_is_that_of_the_store_it_is_named_beside(tmp_path):
    """Another store by flag or environment does not inherit it."""
    (tmp_path / "weft.toml").write_text('[store]\ndb = "postgresql://a/db"\nreplica = "postgresql://b/db"\n')
    trust(tmp_path / "weft.toml")

    def read(overrides=None, **environment):
        return read_settings(overrides, environment=environment, folder=tmp_path).store.replica

    assert read() == "postgresql://b/db"
    assert read({"store.db": "postgresql://c/db"}) == ""
    assert read(WEFT_DB="postgresql://c/db") == ""
    assert read(WEFT_DB="postgresql://c/db", WEFT_STORE_REPLICA="postgresql://d/db") == "postgresql://d/db"
    assert read(WEFT_STORE_REPLICA="postgresql://d/db") == "postgresql://d/db"


def test_a_file_has_no_replica(tmp_path):
    """Setting one is an error."""
    settings = read_settings(
        {"store.db": str(tmp_path / "weft.db"), "store.replica": "postgresql://b/db"}, environment={}
    )

    with pytest.raises(ConfigError, match="replica"):
        open_database(settings)


def test_the_doctor_looks_at_the_replica(postgres_address, replica):
    """It checks that the replica responds and belongs to the store."""

    def found(address):
        given = {"store.db": postgres_address, "store.replica": address, "models.embedder": "hash"}
        (finding,) = [finding for finding in diagnose(read_settings(given)) if finding.what == "replica"]
        assert "sesame" not in finding.detail + finding.hint
        return finding.state

    assert found(postgres.address(replica)) == "ok"
    assert found("postgresql://me:sesame@127.0.0.1:1/db") == "problem"
