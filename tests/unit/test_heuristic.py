"""Heuristic confidence, and conditions for graph expansion."""

import pytest

from weft.rank.heuristic_confidence import GRAPH_OFF, heuristic_confidence, should_expand

FIFTY = "x" * 50


@pytest.mark.parametrize(
    "query, has_entities, top, confidence",
    [
        (FIFTY, True, 0.8, 0.77),
        (FIFTY, False, None, 0.30),
        ("x" * 100, True, 1.0, 1.0),
        ("x" * 1000, True, 1.0, 1.0),
        ("", False, None, 0.15),
        ("", True, 0.0, 0.3),
        (FIFTY, True, -0.4, 0.45),
    ],
)
def test_length_entities_and_the_best_cosine_add_up(query, has_entities, top, confidence):
    """0.3 for a hundred characters, 0.3 for an entity and half of it without, 0.4 for a cosine of 1."""
    found = heuristic_confidence(query, has_entities=has_entities, top_vector_score=top)

    assert found == pytest.approx(confidence)


def test_a_promising_question_is_expanded():
    """At the threshold too, and without a reason why not."""
    assert should_expand(0.77, has_entities=True, enabled=True) == (True, "")
    assert should_expand(0.5, has_entities=True, enabled=True) == (True, "")


@pytest.mark.parametrize(
    "confidence, has_entities, enabled, reason",
    [
        (0.77, True, False, "graph expansion is switched off"),
        (0.77, False, True, "no entity of the graph was recognised in the question"),
        (0.45, True, True, "confidence 0.45 is below min_confidence 0.5"),
        (0.30, False, False, "graph expansion is switched off"),
    ],
)
def test_a_skipped_expansion_says_why(confidence, has_entities, enabled, reason):
    """The first reason that holds."""
    assert should_expand(confidence, has_entities=has_entities, enabled=enabled) == (False, reason)


def test_a_threshold_of_nothing_is_a_threshold():
    """Zero is a value, not a missing one."""
    assert should_expand(0.1, has_entities=True, enabled=True, min_confidence=0.0) == (True, "")


def test_without_the_graph_confidence_is_medium():
    """Medium confidence, whatever was found."""
    assert GRAPH_OFF == 0.5
