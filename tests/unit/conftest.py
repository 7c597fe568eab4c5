"""Fixtures of the unit tests."""

import pytest
from opening import open_empty, open_shared

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.testing import FakeEmbedder


@pytest.fixture
def embedder():
    return FakeEmbedder()


KINDS = ["sqlite", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("memory", "postgres"))]
"""The contract in `tests/store` compares all stores; here the others would say a second time what one says."""


@pytest.fixture(params=KINDS)
def database(request):
    """Give a new database, one of each kind in turn."""
    database = open_empty(request.param, request)
    yield database
    database.close()


@pytest.fixture(scope="module", params=KINDS)
def shared_database(request):
    """Give one database of each kind in turn to all tests of a module, for those that only read."""
    with open_shared(request.param, request) as database:
        yield database


@pytest.fixture
def open_at(tmp_path):
    """Give a function that opens an engine on a namespace of the same file, and close what it opened."""
    opened = []

    def open_at(namespace="default", *, extractor="none"):
        given = {"store.db": str(tmp_path / "weft.db"), "store.namespace": namespace, "graph.extractor": extractor}
        engine = Engine(read_settings(given, environment={}, folder=tmp_path), embedder=FakeEmbedder())
        opened.append(engine)
        return engine

    yield open_at
    for engine in opened:
        engine.close()
