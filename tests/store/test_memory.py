import pytest
from contract import StoreContract

from weft.store.memory import MemoryDatabase


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def database(self):
        return MemoryDatabase()
