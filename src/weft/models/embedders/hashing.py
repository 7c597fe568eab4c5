"""The emergency embedder: hashed words and letters, no model at all."""

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
"""A word has several trigrams; at this weight they bind spelling variants without outvoting words."""

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

    Texts are similar when they share words. For tests, and for when there is nothing better: every
    result that rests on it is marked degraded.
    """

    @property
    def card(self) -> ModelCard:
        """What the embedder knows of itself."""
        return _CARD

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        """Return one unit-length row per text; `kind` makes no difference."""
        if not texts:
            return np.zeros((0, DIMENSION), np.float32)
        return np.stack([_embed(text) for text in texts])


def _embed(text: str) -> Vector:
    vector = np.zeros(DIMENSION, np.float64)
    for feature, count in Counter(_features(text)).items():
        place, sign = _place(feature)
        weight = 1.0 if feature[0] == "w" else TRIGRAM_WEIGHT
        vector[place] += sign * weight * (1 + math.log(count))
    length = float(np.linalg.norm(vector))
    if length == 0:  # nothing to hash, or all of it cancelled out
        vector[0] = length = 1.0
    return (vector / length).astype(np.float32)


def _features(text: str) -> Iterator[str]:
    """Yield `w` + word and `t` + trigram; words carry marks at both ends, so two letters have trigrams."""
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        yield f"w{word}"
        marked = f"<{word}>"
        for start in range(len(marked) - 2):
            yield f"t{marked[start : start + 3]}"


@lru_cache(maxsize=100_000)
def _place(feature: str) -> tuple[int, int]:
    """Return where a feature goes and its sign; the same on every machine, unlike Python's `hash`."""
    digest = hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    number = int.from_bytes(digest, "big")
    return number % DIMENSION, 1 if number >> 63 else -1
