"""Recall scenario with the real model, as a regression test of quality."""

from pathlib import Path

import pytest

from weft.config import read_settings
from weft.evaluate.fact_recall import evaluate_facts

SCENARIO = Path(__file__).parents[2] / "examples" / "memory" / "scenario.jsonl"
MARGIN = 0.03
"""Three questions in a hundred."""


@pytest.mark.model
def test_recall_of_facts_is_not_worse_than_it_was(real_model):
    """Recall@5 0.916 and @10 0.951 were measured, 16 of 17 unknown things and 4 known ones of 111 turned away."""
    rows = evaluate_facts(SCENARIO, settings=read_settings({}))
    found = {(row["method"], row["kind"]): row for row in rows}
    ours, vector = found["recall", "all"], found["vector", "all"]

    assert ours["recall@5"] >= 0.916 - MARGIN, rows
    assert ours["recall@10"] >= 0.951 - MARGIN, rows
    assert ours["no_match"] >= 15 / 17, rows
    assert ours["turned_away"] <= 0.036 + MARGIN, rows
    assert ours["stale@10"] == 0, rows
    assert found["recall", "two-hop"]["recall@5"] >= found["vector", "two-hop"]["recall@5"] + 0.2, rows
    assert ours["recall@5"] >= vector["recall@5"], rows
