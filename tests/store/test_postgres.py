"""What the PostgreSQL adapter owes beyond the contract."""

import pytest
from contract import StoreContract

from weft.store.postgres.database import PostgresDatabase


class TestPostgresStore(StoreContract):
    @pytest.fixture
    def database(self, postgres_dsn):
        database = PostgresDatabase(postgres_dsn)
        yield database
        assert database.check() == []
        database.close()
