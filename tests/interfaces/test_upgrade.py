"""What 0.2.0 exported is imported: facts with their history, and edits of entities."""

import json
import re
from contextlib import chdir
from pathlib import Path

from weft import open_engine

HERE = Path(__file__).parent
FACTS = HERE / "facts-0.2.0.jsonl"
"""`weft fact export` of 0.2.0: staged, confirmed and rejected facts, one of them between entities."""
EDITS = HERE / "edits-0.2.0.json"
"""Edits written by the first script of docs/upgrading.md with 0.2.0."""
NOTE = "# Ferry Desk\n\nThe Ferry Desk sells tickets for the Harbour Line.\n\n- owner: Port Office\n"


def test_facts_of_0_2_0_are_restored(weft, tmp_path):
    """With ids, status, times, notes and history; exported again, they are the same lines."""
    done = weft("fact", "import", str(FACTS), "--json").json
    assert (done["added"], done["refused"]) == (5, [])
    weft("fact", "export", "again.jsonl")

    again = (tmp_path / "again.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in again] == [json.loads(line) for line in FACTS.read_text("utf-8").splitlines()]
    assert "confirmed" in weft("fact", "history", "fde55d6e0c136d66fd2be1aef").out


def test_edits_of_0_2_0_are_written_again(weft, tmp_path):
    """By the second script of the page, after the documents were indexed."""
    (tmp_path / "ferry.md").write_text(NOTE, "utf-8")
    weft("--db", "new.db", "index", "ferry.md", "-q")
    (tmp_path / "edits.json").write_bytes(EDITS.read_bytes())
    page = (HERE.parents[1] / "docs" / "upgrading.md").read_text("utf-8")
    _, script = (part for part in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "edits.json" in part)
    with chdir(tmp_path):
        exec(script, {})

    with open_engine(str(tmp_path / "new.db")) as engine:
        assert sorted(map(list, engine.store.graph.edits())) == json.loads(EDITS.read_text("utf-8"))
        assert engine.database.check() == []
    said = weft("--db", "new.db", "entity", "show", "Ferry Desk").out
    assert "also: Port Office" in said and "also: Ticket Office" in said
