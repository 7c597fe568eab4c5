"""Fallback embedder without a model: hashed words and character trigrams."""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from weft.models.base import TextKind
from weft.records import ModelCard, Vector, Vectors

DIMENSION = 256
TRIGRAM_WEIGHT = 0.5
"""Weight of a trigram relative to a word. It is below 1 because a word has several trigrams."""

_WORD = re.compile(r"\w+")

_CARD = ModelCard(
    name="hash",
    fingerprint="hash-256-v1",
    dimension=DIMENSION,
    floor=0.35,
    scripts=frozenset({"*"}),
    max_tokens=1_000_000,
    degraded="hash embedder: no semantic similarity",
)


class HashEmbedder:
    """
    Feature hashing (Weinberger et al., ICML 2009) of words and their character trigrams.

    Texts are similar if they share words. Used in tests and if no model is available; its results are marked degraded.
    """

    @property
    def card(self) -> ModelCard:
        """Description of the embedder."""
        return _CARD

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        """Return one unit-length row per text; `kind` is ignored."""
        if not texts:
            return np.zeros((0, DIMENSION), np.float32)
        return np.stack([_embed(text) for text in texts])


def _embed(text: str) -> Vector:
    vector = np.zeros(DIMENSION, np.float64)
    for feature, count in Counter(_features(text)).items():
        index, sign = _hash_feature(feature)
        weight = 1.0 if feature[0] == "w" else TRIGRAM_WEIGHT
        vector[index] += sign * weight * (1 + math.log(count))
    length = float(np.linalg.norm(vector))
    if length == 0:  # no features, or all of them cancelled out
        vector[0] = length = 1.0
    return (vector / length).astype(np.float32)


def _features(text: str) -> Iterator[str]:
    """Yield `w` + word and `t` + trigram. `<` and `>` delimit words, so words of two letters also have trigrams."""
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        yield f"w{word}"
        marked = f"<{word}>"
        for start in range(len(marked) - 2):
            yield f"t{marked[start : start + 3]}"


@lru_cache(maxsize=100_000)
def _hash_feature(feature: str) -> tuple[int, int]:
    """Return the index and the sign of a feature. Unlike Python's `hash`, they are the same in every process."""
    digest = hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    number = int.from_bytes(digest, "big")
    return number % DIMENSION, 1 if number >> 63 else -1
