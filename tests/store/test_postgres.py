"""Behaviour of the PostgreSQL adapter beyond the contract."""

import test_sqlite
from contract import StoreContract
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from weft.store.postgres.database import PostgresDatabase


class TestPostgresStore(StoreContract):
    kind = "postgres"

    @settings(max_examples=settings.default.max_examples // 10, deadline=None, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def test_another_namespace_never_appears(self, database, data):
        """The same as elsewhere, with fewer examples: each asks a server a hundred times."""
        self.look_for_others(database, data)


@settings(max_examples=settings.default.max_examples // 10, deadline=None, suppress_health_check=list(HealthCheck))
@given(before=test_sqlite.STEPS, texts=test_sqlite.TEXTS)
def test_delete_after_add_restores_every_table(postgres_dsn, before, texts):
    """`delete(add(x))` is the identity on the logical content of the whole database."""
    database = PostgresDatabase(postgres_dsn)
    database.drop("default")
    test_sqlite.add_and_delete(database, postgres_dsn, before, texts)


@settings(max_examples=settings.default.max_examples // 10, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=test_sqlite.STEPS)
def test_a_server_holds_what_a_file_holds_after_the_last_words(postgres_dsn, tmp_path_factory, steps):
    """Any history gives the rows that SQLite has after the final state alone, and ranks alike."""
    database = PostgresDatabase(postgres_dsn)
    database.drop("default")
    test_sqlite.compare(database, postgres_dsn, tmp_path_factory.mktemp("history") / "short.db", steps)
