"""A new store of each kind."""

from pathlib import Path

import pytest
from contract import MODEL
from opening import KINDS, open_empty

SERVER_FIXTURES = {"postgres_server", "postgres_tables", "postgres_dsn", "postgres_address"}


def pytest_collection_modifyitems(items):
    """Mark the tests of this folder that use PostgreSQL, so that they can be run alone, for example on a cluster."""
    for item in items:
        if item.path.parent == Path(__file__).parent and uses_server(item):
            item.add_marker(pytest.mark.postgres)


def uses_server(item):
    """Return True if a test has a fixture or a parameter of PostgreSQL, or a module of its own about it."""
    values = item.callspec.params.values() if hasattr(item, "callspec") else ()
    is_named = "postgres" in item.path.name or "citus" in item.path.name
    return is_named or not SERVER_FIXTURES.isdisjoint(item.fixturenames) or any("postgres" in str(v) for v in values)


@pytest.fixture(params=KINDS)
def database(request):
    database = open_empty(request.param, request)
    yield database
    database.close()


@pytest.fixture
def store(database):
    store = database.store("default")
    store.write_model(MODEL)
    return store
