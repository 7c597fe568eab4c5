"""Vectors with 12 bits per component: precision, and the stored form."""

import numpy as np
import pytest

from weft.store.shared.twelve_bits import pack_twelve, round_to_twelve, unpack_twelve


@pytest.mark.parametrize("dimension", [1, 2, 3, 383, 384])
def test_the_stored_form_has_the_rounded_vector(dimension):
    """Rounding again changes nothing, so copies of copies stay equal."""
    numbers = np.random.default_rng(dimension).normal(size=(20, dimension))
    vectors = [(row / np.linalg.norm(row)).astype(np.float32) for row in numbers]
    stored = pack_twelve(vectors)

    assert {len(value) for value in stored} == {1 + dimension + (dimension + 1) // 2}
    for vector, found in zip(vectors, unpack_twelve(stored), strict=True):
        assert found.dtype == np.float32
        assert np.array_equal(found, round_to_twelve(vector))
        assert np.array_equal(found, round_to_twelve(found))
        assert np.abs(found - vector).max() <= np.abs(vector).max() / 2047


@pytest.mark.parametrize(
    "vector", [[0.0, 0.0], [1.0, 0.0, 0.0], [-1.0, 0.5], [0.99999], [1e-38, -1e-38], [np.nan, np.inf], []]
)
def test_unusual_vectors_are_stored_too(vector):
    """Zeros, powers of two, values that round up to one, and what is no number."""
    given = np.array(vector, np.float32)
    (found,) = unpack_twelve(pack_twelve([given]))

    assert np.array_equal(found, round_to_twelve(given))
    assert np.isfinite(found).all()


def test_a_damaged_vector_has_another_length():
    """Its reader reports it; the others are read."""
    (good,) = pack_twelve([np.array([1.0, 0.0, 0.0], np.float32)])
    found = unpack_twelve([good, b"", good[:4]])

    assert found[0].tolist() == [1.0, 0.0, 0.0]
    assert [len(vector) for vector in found] == [3, 0, 2]
    assert unpack_twelve([]) == pack_twelve([]) == []
