"""Deterministic fakes for tests: an embedder and a reranker without weights and network."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from weft.errors import ModelUnavailable
from weft.models.base import TextKind
from weft.records import ModelCard, Vectors
from weft.text.analyzer import terms


class FakeEmbedder:
    """
    An embedder for tests: texts that share words have similar vectors.

    Each term is hashed to a direction, so the same text has the same vector on every machine. `seen` records every
    embedded text. Calls raise `ModelUnavailable` while `failing` is set.
    """

    def __init__(
        self,
        *,
        name: str = "fake/words",
        dimension: int = 64,
        scripts: frozenset[str] | None = None,
        weak_scripts: frozenset[str] = frozenset(),
    ) -> None:
        self._card = ModelCard(
            name=name,
            fingerprint=f"{name}-{dimension}",
            dimension=dimension,
            floor=0.4,
            scripts=scripts or frozenset({"*"}),
            weak_scripts=weak_scripts,
        )
        self.seen: list[str] = []
        self.failing = ""

    @property
    def card(self) -> ModelCard:
        return self._card

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        if self.failing:
            raise ModelUnavailable(self.failing)
        self.seen += texts
        return (
            np.stack([self._vector(text) for text in texts])
            if texts
            else np.zeros((0, self.card.dimension), np.float32)
        )

    def _vector(self, text: str) -> Vectors:
        total = np.full(self.card.dimension, 1e-3)
        for term in terms(text):
            total += direction(term, self.card.dimension)
        unit: Vectors = (total / np.linalg.norm(total)).astype(np.float32)
        return unit


class FakeReranker:
    """
    A reranker for tests that scores by shared words.

    `seen` records every call. Calls raise `ModelUnavailable` while `failing` is set.
    """

    def __init__(self, *, name: str = "fake/overlap") -> None:
        self.name = name
        self.seen: list[tuple[str, tuple[str, ...]]] = []
        self.failing = ""

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        if self.failing:
            raise ModelUnavailable(self.failing)
        self.seen.append((query, tuple(texts)))
        wanted = set(terms(query))
        return [len(wanted & set(terms(text))) / max(1, len(wanted)) for text in texts]


def direction(term: str, dimension: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    seed = int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
    return np.random.default_rng(seed).standard_normal(dimension)
