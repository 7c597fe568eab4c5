"""Activation against dense matrices."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.graph.activate import activate, pagerank

NODES = "abcdef"
WEIGHTS = st.dictionaries(
    st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), st.floats(0.01, 1), max_size=20
)  # (from, to); cycles, self loops and dangling nodes are among them
SEEDS = st.dictionaries(st.sampled_from(NODES), st.floats(0.01, 10), min_size=1)


def decay(gamma, hops):
    """Return the coefficients of a walk with exponential decay: γᵗ."""
    return tuple(gamma**t for t in range(hops + 1))


def column_normalised(weights):
    """Return what a node gives to its neighbours as shares of all it gives."""
    out = {node: sum(w for (source, _), w in weights.items() if source == node) for node in NODES}
    return {(source, target): w / out[source] for (source, target), w in weights.items()}


def dense(weights):
    """Return T, whose column is where a node's activation goes."""
    matrix = np.zeros((len(NODES), len(NODES)))
    for (source, target), weight in weights.items():
        matrix[NODES.index(target), NODES.index(source)] = weight
    return matrix


def over(weights):
    """Return the same as a function on sparse activation."""

    def spread(x):
        result = {}
        for (source, target), weight in sorted(weights.items()):
            if source in x:
                result[target] = result.get(target, 0.0) + weight * x[source]
        return result

    return spread


def vector(values):
    return np.array([values.get(node, 0.0) for node in NODES])


@given(WEIGHTS, SEEDS, st.floats(0, 0.9), st.integers(0, 8))
def test_pagerank_is_the_power_series_of_the_matrix(weights, seeds, damping, rounds):
    """(1−d)·Σ dᵗ·Tᵗ·x, and what is missing from the limit is at most d^(rounds+1)."""
    shares = column_normalised(weights)
    matrix, x = dense(shares), vector(seeds) / vector(seeds).sum()
    series = sum((1 - damping) * damping**t * np.linalg.matrix_power(matrix, t) @ x for t in range(rounds + 1))
    limit = np.linalg.solve(np.eye(len(NODES)) - damping * matrix, (1 - damping) * x)
    found = vector(activate(over(shares), seeds, coefficients=pagerank(damping, rounds)))

    assert found == pytest.approx(series, abs=1e-12)
    assert np.abs(limit - found).sum() <= damping ** (rounds + 1) + 1e-9


@given(WEIGHTS, SEEDS, st.floats(0, 1), st.integers(0, 4))
def test_decay_sums_the_hops(weights, seeds, gamma, hops):
    """Σ γᵗ·Tᵗ·x up to k hops."""
    matrix, x = dense(weights), vector(seeds) / vector(seeds).sum()
    expected = sum(gamma**t * np.linalg.matrix_power(matrix, t) @ x for t in range(hops + 1))
    found = activate(over(weights), seeds, coefficients=decay(gamma, hops))

    assert vector(found) == pytest.approx(expected, abs=1e-12)


@given(WEIGHTS, SEEDS, st.floats(0, 0.3), st.integers(0, 4))
def test_weak_entries_are_dropped_in_each_round(weights, seeds, prune, hops):
    """x = T·x without what is below the threshold."""
    matrix, x = dense(weights), vector(seeds) / vector(seeds).sum()
    expected, near = x, False
    for _ in range(hops):
        x = matrix @ x
        near = near or bool(np.any(np.abs(x - prune) < 1e-9))
        x = np.where(x < prune, 0.0, x)
        expected = expected + x
    found = activate(over(weights), seeds, coefficients=decay(1.0, hops), prune=prune)

    assert near or vector(found) == pytest.approx(expected, abs=1e-12)  # near: rounding decides


@given(WEIGHTS, SEEDS, st.integers(0, 5), st.integers(1, 4))
def test_a_bounded_frontier_keeps_the_strongest(weights, seeds, keep, rounds):
    """Each round keeps at most `keep` entries, by strength, then by id."""
    given_to = []
    spread = over(weights)

    def recording(x):
        given_to.append(x)
        return spread(x)

    activate(recording, seeds, coefficients=decay(0.5, rounds), keep=keep)
    for before, after in pairwise(given_to):
        full = sorted(spread(before).items(), key=lambda item: (-item[1], item[0]))
        assert after == dict(full[:keep])
    assert all(list(x) == sorted(x) for x in given_to)


@given(WEIGHTS, SEEDS, st.randoms())
def test_the_order_of_the_seeds_makes_no_difference(weights, seeds, random):
    """The results are bit-identical and ordered by id."""
    shuffled = list(seeds.items())
    random.shuffle(shuffled)
    first = activate(over(weights), seeds, coefficients=pagerank(0.5, 4))
    second = activate(over(weights), dict(shuffled), coefficients=pagerank(0.5, 4))

    assert list(first.items()) == list(second.items())
    assert list(first) == sorted(first)


@pytest.mark.parametrize("seeds", [{}, {"a": 0.0}, {"a": -1.0}])
def test_nothing_to_start_from_activates_nothing(seeds):
    """An empty question is not an error."""
    assert activate(over({("a", "b"): 1.0}), seeds, coefficients=decay(0.5, 2)) == {}


def test_the_example_of_the_module_is_right():
    """Two seeds, three edges, one hop; `prune` drops the weakest neighbour."""
    edges = {"A": ["C"], "B": ["C", "D"], "C": ["A", "B"], "D": ["B"]}

    def spread(x):
        reached = {}
        for node, value in x.items():
            for other in edges[node]:
                reached[other] = reached.get(other, 0.0) + value / len(edges[node])
        return reached

    found = activate(spread, {"A": 3, "B": 1}, coefficients=decay(0.5, 1))
    pruned = activate(spread, {"A": 3, "B": 1}, coefficients=decay(0.5, 1), prune=0.2)
    assert found == pytest.approx({"A": 0.75, "B": 0.25, "C": 0.4375, "D": 0.0625})
    assert pruned == pytest.approx({"A": 0.75, "B": 0.25, "C": 0.4375})


def test_no_coefficients_activate_nothing():
    """The seeds are not activated either."""
    assert activate(over({("a", "b"): 1.0}), {"a": 1.0}, coefficients=()) == {}


def test_a_cycle_comes_round_again():
    """Activation that returns to the seed is added to it."""
    found = activate(over({("a", "b"): 1.0, ("b", "a"): 1.0}), {"a": 3.0}, coefficients=decay(0.5, 2))

    assert found == {"a": 1.25, "b": 0.5}


def test_a_dangling_node_keeps_what_it_got():
    """It gives nothing back, and the walk ends there."""
    assert activate(over({("a", "b"): 1.0}), {"a": 1.0}, coefficients=decay(0.5, 9)) == {"a": 1.0, "b": 0.5}


def test_seeds_may_be_left_out_of_the_answer():
    """A first coefficient of 0 reports only what they lead to."""
    assert activate(over({("a", "b"): 1.0}), {"a": 1.0}, coefficients=(0.0, 1.0)) == {"b": 1.0}


def test_coefficients_are_those_of_the_formulas():
    """(1−d)·dᵗ, from t = 0."""
    assert pagerank(0.5, 3) == (0.5, 0.25, 0.125, 0.0625)
