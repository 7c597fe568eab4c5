"""Measures against hand-computed values."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.evaluate.measures import all_gold, measure, ndcg, percentile, recall, reciprocal_rank
from weft.evaluate.report import COLUMNS, TIMES, table

RANKED = ["a", "x", "b", "y", "c"]
GOLD = {"a": 1, "b": 3, "z": 2}


def test_recall_is_the_share_of_gold_that_was_found():
    """Two of three, one of them first."""
    assert recall(RANKED, GOLD, k=5) == pytest.approx(2 / 3)
    assert recall(RANKED, GOLD, k=1) == pytest.approx(1 / 3)
    assert recall([], GOLD, k=5) == 0.0


def test_ndcg_weighs_grades_by_rank():
    """A grade of 3 at rank 3 counts 3 / log2(4)."""
    gain = 1 / math.log2(2) + 3 / math.log2(4)
    best = 3 / math.log2(2) + 2 / math.log2(3) + 1 / math.log2(4)

    assert ndcg(RANKED, GOLD, k=10) == pytest.approx(gain / best)
    assert ndcg(["b", "z", "a"], GOLD, k=10) == pytest.approx(1.0)
    assert ndcg(["b"], GOLD, k=1) == pytest.approx(1.0)
    assert ndcg(["x"], GOLD, k=10) == 0.0


def test_the_reciprocal_rank_is_that_of_the_first_gold_document():
    """Beyond `k` it is 0."""
    assert reciprocal_rank(["x", "y", "b", "a"], GOLD, k=10) == pytest.approx(1 / 3)
    assert reciprocal_rank(["x", "y", "b", "a"], GOLD, k=2) == 0.0


def test_all_gold_is_all_or_nothing():
    """Every document a question needs, or it cannot be answered."""
    assert all_gold(["a", "b", "z"], GOLD, k=3) == 1.0
    assert all_gold(["a", "b", "z"], GOLD, k=2) == 0.0


def test_measures_are_means_over_questions():
    """One perfect answer and one failure give 0.5."""
    figures = measure([(["a"], {"a": 1}), (["x"], {"a": 1})])

    assert set(figures) == set(COLUMNS)
    assert set(figures.values()) == {0.5}
    assert measure([]) == {}


@pytest.mark.parametrize("share, expected", [(0.0, 1), (0.1, 1), (0.25, 3), (0.5, 5), (0.51, 6), (0.95, 10), (1.0, 10)])
def test_a_percentile_is_a_value_that_occurs(share, expected):
    """By nearest rank, whatever the order."""
    assert percentile([10, 3, 1, 2, 5, 4, 9, 8, 7, 6], share) == expected
    assert percentile([], share) == 0.0


@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True),
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 3), min_size=1),
)
def test_every_measure_is_a_share(ranked, gold):
    """From 0 to 1, and finding more by looking further is never less."""
    for value in measure([(ranked, gold)]).values():
        assert 0.0 <= value <= 1.0 + 1e-12
    assert recall(ranked, gold, k=2) <= recall(ranked, gold, k=5)


def test_the_table_has_a_row_per_method():
    """Fractions with three digits, times with one."""
    row = {"method": "hybrid", **dict.fromkeys(COLUMNS, 0.12345), **dict.fromkeys(TIMES, 1.26)}
    head, cells = table([row])

    assert head == ["method", *COLUMNS, *TIMES]
    assert cells == [["hybrid", *["0.123"] * len(COLUMNS), *["1.3"] * len(TIMES)]]
