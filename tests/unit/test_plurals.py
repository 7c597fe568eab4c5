"""Counts with their nouns."""

import pytest

from weft.text.plurals import counted


@pytest.mark.parametrize(
    "count, nouns, expected",
    [
        (1, ["entity"], "1 entity"),
        (2000, ["entity"], "2,000 entities"),
        (0, ["day"], "0 days"),
        (3, ["match"], "3 matches"),
        (2, ["row is", "rows are"], "2 rows are"),
        (1, ["row is", "rows are"], "1 row is"),
    ],
)
def test_a_count_agrees_with_its_noun(count, nouns, expected):
    """English rules for the regular plurals, the given form for others."""
    assert counted(count, *nouns) == expected
