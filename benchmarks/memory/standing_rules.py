"""
Recall of standing rules by their topic: which rules `weft hook prompt` adds to prompts that touch them, and to others.

    python benchmarks/memory/standing_rules.py [--list]

A line of `standing_rules.tsv` is a rule and three prompts: one shares a word of its topic, one is close in meaning, and
one touches no rule. The rules of a half are stated in conversations of one project, a day each, and each prompt comes
from another session there. The memory has the statements alone, so only the facts in the answers are counted.
Rules of recall were chosen on even lines; odd lines are the report. All prompts were written before any result.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness import make_parser

from weft import open_engine
from weft.daemon.hooks import Recaller
from weft.daemon.spool import Spool
from weft.daemon.state import State
from weft.load.conversations.turns import Conversation, Message, to_document
from weft.records import Document, to_microseconds

LINES = Path(__file__).with_name("standing_rules.tsv")
PROJECT = "/home/user/shop"
FIRST_DAY = datetime(2026, 1, 1, tzinfo=timezone.utc)
BUDGET = 1500
PROMPTS = ("shares a word", "close in meaning", "unrelated")


def state_rule(row: dict[str, str], day: int) -> Document:
    """Return a conversation in which the user states a rule."""
    time = to_microseconds(FIRST_DAY + timedelta(days=day))
    messages = [Message(role="user", text=row["rule"], time=time), Message(role="assistant", text="OK.", time=time)]
    fields = {"project": PROJECT, "conversation": f"s{day}"}
    return to_document(messages, Conversation(source=f"s{day}", host="benchmark", id=f"s{day}", fields=fields))


def measure(rows: Sequence[dict[str, str]], *, folder: Path, is_listed: bool) -> Counter[tuple[str, str]]:
    """Return how many prompts of each kind got their rule, and how many another one."""
    counts: Counter[tuple[str, str]] = Counter()
    with open_engine(str(folder / "rules.db")) as engine:
        documents = [state_rule(row, day) for day, row in enumerate(rows)]
        engine.add(documents)
        rule_of = {document.source: row["rule"] for document, row in zip(documents, rows, strict=True)}
        facts = [fact.id for fact in engine.memory.list()]
        stated = {id: {rule_of[source] for source in sources} for id, sources in engine.memory.sources(facts).items()}
        recaller = Recaller(engine, State(Spool("benchmark", base=folder)))
        for row in rows:
            for kind in PROMPTS:
                given = {"prompt": row[kind], "cwd": PROJECT}
                shown = recaller.answer("prompt", given, budget=BUDGET, scope="project")
                rules = set[str]().union(*(stated.get(item.id, set()) for item in shown.items))
                outcomes = ["prompts", *(["found"] if row["rule"] in rules and kind != "unrelated" else [])]
                wrong = rules - {row["rule"]} if kind != "unrelated" else rules
                outcomes += ["other"] if wrong else []
                counts.update((kind, outcome) for outcome in outcomes)
                if is_listed and (wrong or (kind != "unrelated" and row["rule"] not in rules)):
                    print(kind, row[kind], "| rule:", row["rule"], "| got:", *sorted(rules), sep="  ")
    return counts


def main() -> int:
    """Print both halves."""
    parser = make_parser(__doc__)
    parser.add_argument("--list", action="store_true", help="Print prompts without their rule, or with another.")
    arguments = parser.parse_args()
    with LINES.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    print("| half | prompts | number | with their rule | with another rule |\n| --- | --- | --- | --- | --- |")
    for half, chosen in (("even", rows[1::2]), ("odd", rows[::2])):
        with tempfile.TemporaryDirectory() as folder:
            is_listed = arguments.list and half == "even"
            counts = measure(chosen, folder=Path(folder), is_listed=is_listed)
        for kind in PROMPTS:
            row = [counts[kind, name] for name in ("prompts", "found", "other")]
            print(f"| {half} | {kind} | {' | '.join(map(str, row))} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
