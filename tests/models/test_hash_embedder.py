"""Hash embedder: the same vectors on every machine, and results marked as degraded."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from weft.models.embedders.hashing import HashEmbedder


def test_it_says_that_it_is_degraded() -> None:
    """Every result that rests on it carries the reason."""
    assert HashEmbedder().card.degraded == "hash embedder: no semantic similarity"
    assert HashEmbedder().card.scripts == {"*"}


def test_shared_words_make_texts_similar_and_others_do_not() -> None:
    """The floor lies between the two."""
    first, second, other = HashEmbedder().embed(["the red fox jumps", "a red fox jumped", "quarterly tax statement"])

    assert first @ second > HashEmbedder().card.floor > abs(first @ other)


def test_case_and_width_do_not_matter() -> None:
    """Letters are folded before they are hashed."""
    first, second = HashEmbedder().embed(["Straße ＡＢＣ", "STRASSE abc"])

    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("text", ["", "   ", "\x00", "\ud800", "…!?", "汉字", "a" * 1_000_000])
def test_any_text_gets_a_unit_vector(text: str) -> None:
    """Texts without a word too."""
    (vector,) = HashEmbedder().embed([text])

    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


def test_no_texts_give_no_rows() -> None:
    """In the right shape."""
    assert HashEmbedder().embed([]).shape == (0, 256)


def test_every_process_computes_the_same_bytes() -> None:
    """Python's hash changes with each process; with such a hash an index would be useless."""
    code = (
        "import hashlib; from weft.models.embedders.hashing import HashEmbedder;"
        "print(hashlib.sha256(HashEmbedder().embed(['the red fox']).tobytes()).hexdigest())"
    )
    other = subprocess.check_output([sys.executable, "-c", code], text=True).strip()

    assert other == hashlib.sha256(HashEmbedder().embed(["the red fox"]).tobytes()).hexdigest()
