"""
Precision of the rules that read facts out of conversations (`weft.extract.user_statements`).

    WEFT_DATA=DIR python benchmarks/memory/statements.py          precision by rule
    WEFT_DATA=DIR python benchmarks/memory/statements.py --list   clauses without a label, to be labelled
    python benchmarks/memory/statements.py --lines FILE…          the same for other texts: a line is a turn

The clauses are those of the user's turns of $WEFT_DATA/longmemeval-open. `statement_labels.tsv` has a verdict for each
clause that a rule reads: `right` if the clause states the fact about the user, else `wrong`, with the reason. A clause
is named by the first 12 digits of its SHA-256, so that the file contains no text of the set.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness import data_folder, make_parser

from weft.extract.user_statements import iter_stated
from weft.load.conversations.turns import Conversation, Message, to_document

LABELS = Path(__file__).with_name("statement_labels.tsv")
RULES = ("lives_in", "from", "graduated", "prefers", "usually", "likes", "decided", "remember")
KINDS = ("rule", "correct", "prefers")
"""First words of predicates of `user_rules.py`, and predicates that are rules; others are of `my … is`."""


def iter_statements(conversations: Iterable[Sequence[Message]]) -> Iterator[tuple[str, str, str]]:
    """Yield id, rule and text of each distinct clause that states a fact."""
    seen = set()
    for messages in conversations:
        document = to_document(messages, Conversation(source="s", host="benchmark", id="s"))
        for clause, stated, _ in iter_stated(document):
            id = hashlib.sha256(clause.strip().encode()).hexdigest()[:12]
            if id not in seen:
                seen.add(id)
                yield id, rule_of(stated.predicate), f"{stated.predicate} = {stated.value} | {clause}"


def rule_of(predicate: str) -> str:
    """Return the rule that read a predicate."""
    kind, _, rest = predicate.partition(" ")
    if rest and kind in KINDS:
        return f"{kind} …"
    return predicate if predicate in RULES else "my … is"


def iter_sessions(folder: Path) -> Iterator[list[Message]]:
    """Yield the turns of each session of LongMemEval."""
    with gzip.open(folder / "sessions.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            yield [Message(role=turn["role"], text=turn["content"]) for turn in row["turns"]]


def iter_lines(paths: Iterable[Path]) -> Iterator[list[Message]]:
    """Yield each line of files as a turn of the user, without list marks and quotes of YAML."""
    for path in paths:
        for line in path.read_text("utf-8").splitlines():
            if text := line.strip().lstrip("- ").strip("'\""):
                yield [Message(role="user", text=text)]


def main() -> int:
    """Print the precision by rule; exit with 1 if a clause has no label."""
    parser = make_parser(__doc__)
    parser.add_argument("--list", action="store_true", help="Print clauses without a label.")
    parser.add_argument("--lines", type=Path, nargs="+", default=(), help="Text files whose lines are turns.")
    arguments = parser.parse_args()
    with LABELS.open(encoding="utf-8") as file:
        labels = {row["clause"]: row["verdict"] for row in csv.DictReader(file, delimiter="\t")}
    counts, right, unknown = Counter[str](), Counter[str](), 0
    turns = iter_lines(arguments.lines) if arguments.lines else iter_sessions(data_folder() / "longmemeval-open")
    for id, rule, text in iter_statements(turns):
        if id not in labels:
            unknown += 1
            if arguments.list:
                print(id, text, sep="\t")
            continue
        for name in (rule, "all"):
            counts[name] += 1
            right[name] += labels[id] == "right"
    print("| rule | clauses | precision |\n| --- | --- | --- |")
    for name, count in counts.most_common():
        print(f"| `{name}` | {count} | {right[name] / count:.3f} |")
    print(f"{unknown} clauses without a label")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
