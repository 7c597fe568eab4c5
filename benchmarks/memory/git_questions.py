"""
Questions over the history of a Git repository: why a file was changed, who introduced it, what changed with it.

    python benchmarks/memory/git_questions.py HISTORY STORE [--list]

HISTORY names the rows of `git_questions.tsv`; STORE is a store that `weft index --git REPOSITORY` made. A row has the
question and the commits that answer it, by id or subject, written before the question was asked: one must be found.

- `weft` is this project.
- `axios` has a commit for each release 1.0.0 to 1.6.2 of the npm package, without `dist/`; the message is `Release
  VERSION` and the section of its CHANGELOG.md.

| measure | meaning |
| --- | --- |
| `first` | share of questions whose first result is an expected commit |
| `in five` | the same for the first five results |
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from weft import open_engine
from weft.records import DocumentInfo

QUESTIONS = Path(__file__).with_name("git_questions.tsv")
UNRANKED = 99
"""Rank of a question without an expected commit among the first ten."""


def is_one(commit: DocumentInfo, wanted: Sequence[str]) -> bool:
    """Return True if a commit has one of these ids or subjects."""
    sha, subject = str(commit.metadata.get("commit", "")), commit.title.partition(" ")[2]
    return sha.startswith(tuple(wanted)) or subject in wanted


def main() -> int:
    """Print a row for each kind of question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("history", help="First column of `git_questions.tsv`.")
    parser.add_argument("store", type=Path, help="Store with the commits.")
    parser.add_argument("--list", action="store_true", help="Print the rank of each question.")
    arguments = parser.parse_args()
    with QUESTIONS.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["history"] == arguments.history]
    ranks: dict[str, list[int]] = defaultdict(list)
    with open_engine(str(arguments.store)) as engine:
        for row in rows:
            answer = engine.query(row["question"], top_k=10)
            found = [piece.document for piece in answer.evidence]
            wanted = row["commits"].split("; ")
            rank = next((place for place, commit in enumerate(found, start=1) if is_one(commit, wanted)), UNRANKED)
            ranks[row["kind"]].append(rank)
            ranks["all"].append(rank)
            if arguments.list:
                first = answer.evidence[0].document.title if answer.evidence else ""
                print(f"{rank}\t{answer.status}\t{answer.method}\t{row['question']}\t{first}")
    print("| questions | number | first | in five |\n| --- | --- | --- | --- |")
    for kind, found_ranks in ranks.items():
        first, five = (fmean(rank <= limit for rank in found_ranks) for limit in (1, 5))
        print(f"| {kind} | {len(found_ranks)} | {first:.2f} | {five:.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
