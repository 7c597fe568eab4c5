"""`weft eval --facts` on the command line."""

import json

LINES = [
    {"id": "a", "at": "2026-01-01", "subject": "user", "predicate": "prefers", "value": "dark mode"},
    {"id": "b", "at": "2026-01-02", "subject": "Kiln Log", "predicate": "stores_data_in", "value": "SQLite"},
    {"question": "Where does Kiln Log store its data?", "kind": "direct", "as_of": "2026-02-01", "expected": ["b"]},
    {"question": "How do volcanoes erupt?", "kind": "unknown", "as_of": "2026-02-01", "expected": []},
]


def write(folder, lines=LINES):
    (folder / "scenario.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")


def test_a_scenario_is_measured(weft, tmp_path):
    """The output has one row per method and kind, as a table or as JSON, and the store is deleted."""
    write(tmp_path)
    shown = weft("eval", "--facts", "scenario.jsonl", "-q").out.splitlines()
    rows = weft("eval", "--facts", "scenario.jsonl", "--json", "-q").json

    assert shown[0].split("\t")[:4] == ["method", "kind", "questions", "recall@5"]
    assert shown[1].split("\t")[:5] == ["recall", "all", "2", "1.000", "1.000"]
    assert [(row["method"], row["kind"]) for row in rows[:3]] == [
        ("recall", "all"),
        ("recall", "direct"),
        ("recall", "unknown"),
    ]
    assert rows[0]["no_match"] == 1.0
    assert [path.name for path in tmp_path.iterdir()] == ["scenario.jsonl"]


def test_what_cannot_be_measured_is_said(weft, tmp_path):
    """Facts and folders do not mix, and a broken scenario names its line."""
    write(tmp_path, [*LINES, {"question": "?"}])

    assert "line 5" in weft("eval", "--facts", "scenario.jsonl", expect=1).err
    assert "--facts cannot be combined" in weft("eval", "--facts", "scenario.jsonl", "--all", expect=2).err
    assert "pass FOLDERS, or --facts FILE" in weft("eval", expect=2).err
    assert "pass FOLDERS, or --facts FILE" in weft("eval", ".", "--facts", "scenario.jsonl", expect=2).err
