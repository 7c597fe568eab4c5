"""Curves fitted to labelled questions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.rank.calibrate import fit_curve, roc_area, select_typical


def normal(middle, deviation, *, count=400, seed=1):
    return np.random.default_rng(seed).normal(middle, deviation, count)


def test_the_middle_of_two_alike_kinds_is_between_them():
    """Two normal distributions of one width have log-odds that grow evenly; their slope is known."""
    curve = fit_curve(normal(0.8, 0.05, count=20_000), normal(0.7, 0.05, count=20_000, seed=2), ridge=1e-6)

    assert curve.middle == pytest.approx(0.75, abs=0.003)
    assert curve.slope == pytest.approx(0.1 / 0.05**2, rel=0.05)


def test_both_kinds_count_alike_however_many_there_are():
    """A hundred foreign questions weigh as much as ten thousand."""
    own, foreign = normal(0.8, 0.05), normal(0.7, 0.05, seed=2)
    curve, repeated = fit_curve(own, foreign, ridge=0.01), fit_curve(own, np.tile(foreign, 25), ridge=0.01)

    assert (repeated.middle, repeated.slope) == pytest.approx((curve.middle, curve.slope), rel=1e-6)


def test_kinds_that_lie_apart_get_a_finite_slope():
    """Without the ridge it would grow without end."""
    own, foreign = normal(0.9, 0.01), normal(0.1, 0.01, seed=2)
    slopes = [fit_curve(own, foreign, ridge=ridge).slope for ridge in (0.001, 0.01, 0.1)]

    assert math.inf > slopes[0] > slopes[1] > slopes[2] > 0
    assert fit_curve(own, foreign, ridge=0.01).middle == pytest.approx(0.5, abs=0.01)


def test_the_scale_of_what_is_measured_does_not_matter():
    """An embedder with cosines ten times as far apart gets the same probabilities."""
    own, foreign = normal(0.8, 0.05), normal(0.7, 0.05, seed=2)
    small, large = fit_curve(own, foreign, ridge=0.01), fit_curve(10 * own - 3, 10 * foreign - 3, ridge=0.01)

    assert large.middle == pytest.approx(10 * small.middle - 3)
    assert large.slope == pytest.approx(small.slope / 10)


def test_known_odds_move_the_middle():
    """Own questions that have other evidence already need less of this one."""
    own, foreign = normal(0.8, 0.05), normal(0.7, 0.05, seed=2)
    odds = {"own_odds": np.full(len(own), 2.0), "foreign_odds": np.full(len(foreign), 2.0)}
    plain, given = fit_curve(own, foreign, ridge=1e-6), fit_curve(own, foreign, ridge=1e-6, **odds)

    assert given.slope == pytest.approx(plain.slope, rel=1e-3)
    assert given.middle == pytest.approx(plain.middle + 2.0 / plain.slope, rel=1e-3)


def test_no_curve_says_that_more_is_less_likely():
    """If foreign questions have higher values, there is no fit."""
    assert fit_curve(normal(0.7, 0.05), normal(0.8, 0.05, seed=2), ridge=0.01) is None


def test_values_without_any_difference_do_no_harm():
    """Equal values have neither a middle nor a slope."""
    assert fit_curve(np.full(40, 0.5), np.full(40, 0.5), ridge=0.01) is None


VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30).map(np.array)


@given(VALUES, VALUES)
def test_a_fit_is_finite_and_the_same_twice(own, foreign):
    """This is true for any probes."""
    curve = fit_curve(own, foreign, ridge=0.01)

    assert curve == fit_curve(own, foreign, ridge=0.01)
    if curve:
        assert math.isfinite(curve.middle)
        assert math.isfinite(curve.slope)
        assert curve.slope > 0


def test_the_area_is_how_often_an_own_question_gets_more():
    """Ties count half; nothing to compare gives nothing."""
    assert roc_area(np.array([0.9, 0.8]), np.array([0.1, 0.2])) == 1.0
    assert roc_area(np.array([0.1]), np.array([0.9])) == 0.0
    assert roc_area(np.array([0.5, 0.5]), np.array([0.5])) == 0.5
    assert roc_area(np.array([0.2, 0.6]), np.array([0.4, 0.6])) == pytest.approx(0.375)
    assert roc_area(np.array([]), np.array([0.5])) == 0.0


@given(VALUES, VALUES)
def test_the_area_of_the_reverse_is_the_rest(own, foreign):
    """However many values are equal."""
    assert roc_area(own, foreign) + roc_area(foreign, own) == pytest.approx(1.0)


def test_the_typical_rows_are_those_that_stand_out_least():
    """In order; a missing value counts as average."""
    rows = np.array([(0.5, 0.1), (0.9, 0.9), (0.4, 0.2), (np.nan, 0.1), (0.5, 0.8)])

    assert list(select_typical(rows, share=0.8)) == [0, 2, 3, 4]
    assert list(select_typical(rows, share=0.6)) == [0, 2, 3]
    assert list(select_typical(np.zeros((0, 2)), share=0.9)) == []
    assert list(select_typical(np.full((3, 2), np.nan), share=1.0)) == [0, 1, 2]
