"""What these tests share."""

import pytest

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.store.memory import MemoryDatabase
from weft.store.sqlite.database import SqliteDatabase
from weft.testing import FakeEmbedder


@pytest.fixture
def embedder():
    return FakeEmbedder()


@pytest.fixture(params=["memory", "sqlite"])
def database(request, tmp_path):
    """Give a new database, one of each kind in turn."""
    database = MemoryDatabase() if request.param == "memory" else SqliteDatabase(str(tmp_path / "weft.db"))
    yield database
    database.close()


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
