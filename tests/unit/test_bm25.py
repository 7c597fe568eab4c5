"""BM25 against hand-computed scores."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.rank.bm25 import K1, B, ceiling, idf, term_scores


def test_a_score_agrees_with_one_reckoned_by_hand():
    """One of ten chunks contains the term twice and has twice the mean length."""
    weight = idf(1, total=10)
    score = term_scores(np.array([2.0]), np.array([20.0]), weight=weight, mean_length=10.0)[0]

    assert weight == pytest.approx(math.log(1 + 9.5 / 1.5))
    assert score == pytest.approx(weight * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 2)))


def test_the_example_of_the_module_is_right():
    """A term in one of three chunks, once and twice in a chunk of mean length."""
    weight = idf(1, total=3)
    scores = term_scores(np.array([1.0, 2.0]), np.array([5.0, 5.0]), weight=weight, mean_length=5.0)

    assert [weight, *scores, ceiling([weight])] == pytest.approx([0.981, 0.981, 1.349, 2.158], abs=0.001)


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_a_term_never_counts_against_a_chunk(count, more):
    """This is true even if every chunk contains the term; rarer terms weigh more."""
    total = count + more
    assert idf(count, total=total) > 0
    assert idf(count, total=total + 1) > idf(count + 1, total=total + 1)


@given(st.floats(1, 255), st.floats(1, 65535), st.floats(1, 5000))
def test_no_chunk_exceeds_the_ceiling(frequency, length, mean):
    """The ceiling is what a chunk full of the term approaches."""
    score = term_scores(np.array([frequency]), np.array([length]), weight=2.0, mean_length=mean)[0]

    assert 0 < score < ceiling([2.0]) == 2.0 * (K1 + 1)


def test_chunks_without_terms_are_no_division_by_zero():
    """A namespace may hold nothing but symbols we do not index."""
    assert term_scores(np.array([0.0]), np.array([0.0]), weight=1.0, mean_length=0.0)[0] == 0.0
    assert 0 < B < 1
