"""A new store of each kind."""

import pytest
from contract import MODEL
from opening import KINDS, open_empty


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
