"""
Contract of an embedder: what indexing and search rely on, as tests for pytest.

A class of your tests inherits it and opens the embedder:

    class TestMyEmbedder(EmbedderContract):
        def open_embedder(self) -> Embedder:
            return MyEmbedder()
"""

from __future__ import annotations

import numpy as np
import pytest

from weft.models.base import Embedder
from weft.records import Vectors

TEXTS = (
    "The gateway retries a payment twice.",
    "Roses need water.",
    "支付网关超时",
    "def retry(): ...",
    "retry 1",
    "x",
)
ODD_TEXTS = ("", " ", "*", "\n\n", "\ud800", "a" * 20_000, "\x00", "👩‍👩‍👧")
MAX_DIFFERENCE = 1e-3
"""Largest difference of an element of a vector, by the order of sums on several threads."""


class EmbedderContract:
    """Tests of an embedder. A subclass overrides `open_embedder`, or the fixture `embedder`."""

    def open_embedder(self) -> Embedder:
        """Return the embedder."""
        raise NotImplementedError

    @pytest.fixture
    def embedder(self) -> Embedder:
        """Give the embedder."""
        return self.open_embedder()

    def test_the_card_describes_the_vectors(self, embedder: Embedder) -> None:
        """Name and fingerprint are stored with the index, and the dimension is that of the vectors."""
        card = embedder.card

        assert card.name and card.fingerprint
        assert embedder.embed(TEXTS).shape == (len(TEXTS), card.dimension)
        assert -1 <= card.floor <= 1

    def test_vectors_are_rows_of_length_one(self, embedder: Embedder) -> None:
        """Stores compare them by their product."""
        vectors = embedder.embed(TEXTS)

        assert vectors.dtype == np.float32
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-3)

    def test_no_text_gives_no_vector(self, embedder: Embedder) -> None:
        """The dimension stays."""
        assert embedder.embed(()).shape == (0, embedder.card.dimension)

    def test_a_vector_depends_on_its_text_alone(self, embedder: Embedder) -> None:
        """Neither on the other texts of the call nor on the time of the call."""
        together = embedder.embed(TEXTS)

        assert _are_close(together, np.concatenate([embedder.embed((text,)) for text in TEXTS]))
        assert _are_close(together[::-1], embedder.embed(TEXTS[::-1]))

    def test_different_texts_have_different_vectors(self, embedder: Embedder) -> None:
        """And a text is closer to itself than to another one."""
        vectors = embedder.embed(TEXTS)
        products = vectors @ vectors.T

        assert (products.argmax(axis=1) == np.arange(len(TEXTS))).all()

    def test_a_question_is_close_to_its_text(self, embedder: Embedder) -> None:
        """Vectors of `query` and `document` are in one space."""
        questions, documents = embedder.embed(TEXTS[:2], kind="query"), embedder.embed(TEXTS[:2])

        assert ((questions @ documents.T).argmax(axis=1) == np.arange(2)).all()

    def test_any_text_has_a_vector(self, embedder: Embedder) -> None:
        """Empty ones, long ones, and those that no font shows."""
        vectors = embedder.embed(ODD_TEXTS)

        assert vectors.shape == (len(ODD_TEXTS), embedder.card.dimension)
        assert np.isfinite(vectors).all()


def _are_close(some: Vectors, others: Vectors) -> bool:
    return some.shape == others.shape and bool(np.abs(some - others).max() < MAX_DIFFERENCE)
