"""The embedders that need no weights keep the contract of embedders."""

from weft.models.embedders.hashing import HashEmbedder
from weft.testing import FakeEmbedder
from weft.testing.embedder_contract import EmbedderContract


class TestFakeEmbedder(EmbedderContract):
    def open_embedder(self):
        return FakeEmbedder()


class TestHashEmbedder(EmbedderContract):
    def open_embedder(self):
        return HashEmbedder()
