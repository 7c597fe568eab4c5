"""Scenarios of facts: parsing, replay, figures."""

import json
from datetime import datetime, timezone
from pathlib import Path

import pytest
from memory_store.store import MemoryDatabase

from weft.config import Settings
from weft.engine.engine import Engine
from weft.errors import InputError
from weft.evaluate.fact_recall import ReplayedClock, evaluate_facts, replay
from weft.evaluate.report import fact_table
from weft.evaluate.scenario import read_scenario
from weft.testing import FakeEmbedder

SHIPPED = Path(__file__).parents[2] / "examples" / "memory" / "scenario.jsonl"
LINES = [
    {"settings": {"single_valued": ["lives_in"], "confirm_sources": ["user_edit"]}},
    {"id": "b", "at": "2026-02-01", "subject": "user", "predicate": "lives_in", "object": "Lisbon"},
    {"id": "a", "at": "2026-01-01", "subject": "user", "predicate": "lives_in", "object": "Berlin"},
    {"id": "c", "at": "2026-01-01", "subject": "Lisbon", "predicate": "river", "value": "the Tagus"},
    {"id": "d", "at": "2026-01-02", "subject": "user", "predicate": "owns", "value": "a yacht", "confidence": 0.2},
    {"at": "2026-01-03", "reject": "d", "reason": "a joke"},
    {"id": "e", "at": "2026-01-04", "subject": "user", "predicate": "reads", "value": "a novel", "source": "file"},
    {"at": "2026-01-20", "expire": "e"},
    {"question": "Where do I live?", "kind": "past", "as_of": "2026-01-15", "expected": ["a"]},
    {"question": "Which river is where I live?", "kind": "two-hop", "as_of": "2026-03-01", "expected": ["b", "c"]},
    {"question": "How do volcanoes erupt?", "kind": "unknown", "as_of": "2026-03-01", "expected": []},
]


@pytest.fixture
def write(tmp_path):
    """Give a function that writes a scenario and returns its path."""

    def write(lines):
        path = tmp_path / "scenario.jsonl"
        path.write_text("\n".join(json.dumps(line) for line in lines) + "\n", encoding="utf-8")
        return path

    return write


def replayed(path):
    scenario = read_scenario(path)
    clock = ReplayedClock()
    settings = Settings()
    engine = Engine(settings, database=MemoryDatabase(), embedder=FakeEmbedder(), clock=clock)
    return replay(scenario, memory=engine.memory, clock=clock)


def test_a_scenario_is_read_in_the_order_of_time(write):
    """The order of its lines does not matter."""
    scenario = read_scenario(write(LINES))

    assert [(step.id, step.action) for step in scenario.steps] == [
        ("a", None), ("c", None), ("d", None), ("d", "reject"), ("e", None), ("e", "expire"), ("b", None),
    ]  # fmt: skip
    assert scenario.settings == {"single_valued": ("lives_in",), "confirm_sources": ("user_edit",)}
    assert scenario.cases[0].at == datetime(2026, 1, 15, tzinfo=timezone.utc)


def test_each_step_is_taken_at_its_time(write):
    """A fact is created, rejected and expired when the scenario says so."""
    facts = replayed(write(LINES))

    assert facts["a"].created == datetime(2026, 1, 1, tzinfo=timezone.utc)
    assert facts["d"].status == "rejected"
    assert facts["e"].valid_to == datetime(2026, 1, 20, tzinfo=timezone.utc)


def test_recall_is_measured_beside_vectors(write):
    """The memory answers what held at the time; plain vectors over all statements bring back what did not."""
    rows = evaluate_facts(write(LINES), settings=Settings(), embedder=FakeEmbedder())
    found = {(row["method"], row["kind"]): row for row in rows}

    assert {method for method, _ in found} == {"recall", "vector", "vector, all"}
    assert found["recall", "past"]["recall@5"] == 1.0
    assert found["recall", "two-hop"]["recall@5"] == 1.0
    assert found["recall", "unknown"]["no_match"] == 1.0
    assert found["recall", "unknown"]["recall@5"] is None
    assert found["recall", "all"]["stale@10"] == found["vector", "all"]["stale@10"] == 0.0
    assert found["vector, all", "all"]["stale@10"] > 0
    assert found["recall", "all"]["questions"] == 3
    head, cells = fact_table(rows)
    assert all(len(line) == len(head) for line in cells)
    assert next(line for line in cells if line[:2] == ["recall", "unknown"])[3:6] == ["-", "-", "1.000"]


def test_without_an_embedder_only_recall_is_measured(write):
    """The vector baseline needs an embedder."""
    rows = evaluate_facts(write(LINES), settings=Settings(models=_no_embedder()))

    assert {row["method"] for row in rows} == {"recall"}


def _no_embedder():
    return type(Settings().models)(embedder="none")


@pytest.mark.parametrize(
    "line, said",
    [
        ({"id": "a", "at": "2026-01-05", "subject": "x", "predicate": "y", "value": "z"}, "two statements"),
        ({"at": "2026-01-05", "confirm": "zz"}, "confirm of 'zz'"),
        ({"at": "2025-01-05", "reject": "a"}, "no statement before 2025"),
        ({"question": "?", "kind": "k", "as_of": "2026-01-05", "expected": ["zz"]}, "unknown statement 'zz'"),
        ({"question": "?", "kind": "k", "expected": []}, "line 12 of 'scenario.jsonl': missing key 'as_of'"),
        ({"id": "f", "at": "yesterday", "subject": "x", "predicate": "y", "value": "z"}, "yesterday"),
        ({"id": "f", "at": "2026-01-05", "subject": "x", "value": "z"}, "expected an object with subject"),
        ({"settings": {"per_entity": 3}}, "unknown setting 'per_entity'"),
        ("text", "expected a JSON object"),
    ],
)
def test_a_wrong_line_is_an_error_that_says_which(write, line, said):
    """A partly read scenario is not measured."""
    with pytest.raises(InputError) as caught:
        read_scenario(write([*LINES, line]))
    assert said in str(caught.value)


def test_an_expected_fact_must_hold_at_its_time(write):
    """A question that expects what was rejected is a mistake in the scenario."""
    wrong = {"question": "What do I own?", "kind": "user", "as_of": "2026-03-01", "expected": ["d"]}

    with pytest.raises(InputError, match="expects fact 'd', which is not valid on 2026-03-01"):
        evaluate_facts(write([*LINES, wrong]), settings=Settings(), embedder=FakeEmbedder())


def test_the_shipped_scenario_is_sound():
    """Hundreds of statements, questions of every kind, and every expected fact holds when it is asked for."""
    scenario = read_scenario(SHIPPED)
    rows = evaluate_facts(SHIPPED, settings=Settings(), embedder=FakeEmbedder())

    assert sum(step.statement is not None for step in scenario.steps) >= 300
    assert len(scenario.cases) >= 100
    kinds = {"direct", "two-hop", "user", "changed", "past", "chinese", "unknown", "held-out"}
    assert {case.kind for case in scenario.cases} == kinds
    assert rows[0]["questions"] == len(scenario.cases)
