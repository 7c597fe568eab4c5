"""What these tests share."""

import pytest

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
