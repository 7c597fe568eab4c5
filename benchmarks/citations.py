"""
Recall and precision of citation search on a BEIR corpus with `citations.jsonl` (CACM).

    python benchmarks/citations.py DIR [--count 200] [--seed 6] [--db FILE] [--json]

Papers are drawn at random from those with citations of the requested kind, authors from all. The questions use the
default method: `papers that cite <title>`, `references of <title>`, `papers by <author>`.

The gold answers come from `citations.jsonl` and the authors of `corpus.jsonl`. They are scored in two ways:

    drawn        the drawn paper alone, or the author in this spelling
    same name    all papers with this title, or all authors with this surname and compatible initials
                 (`Arden, B. W.`, `Arden, B.`), which is the meaning of the question

A second run omits a quarter of the words of each title, at least one, with the same seed. Titles of one or two words
are left out. A title counts as resolved if the question is answered for the drawn paper or one with the same title.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.records import Result

TOP = 20
DROPPED = 0.25


@dataclass(frozen=True, slots=True)
class Library:
    """Papers, authors and citations of the corpus."""

    titles: dict[str, str] = field(default_factory=dict)
    authors: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """By name, the papers of an author."""
    citing: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """By paper, those that cite it."""
    cited: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """By paper, those that it cites."""
    namesakes: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """By title, the papers that have it."""


def read_library(folder: Path) -> Library:
    """Return the papers, authors and citations of a corpus."""
    library = Library()
    for line in (folder / "corpus.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        library.titles[row["_id"]] = row["title"]
        library.namesakes[row["title"]].add(row["_id"])
        for author in row.get("metadata", {}).get("authors", []):
            library.authors[author].add(row["_id"])
    for line in (folder / "citations.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        library.citing[row["cited"]].add(row["citing"])
        library.cited[row["citing"]].add(row["cited"])
    return library


@dataclass
class Score:
    """Means over questions."""

    questions: int = 0
    recall: float = 0.0
    precision: float = 0.0
    exact: int = 0
    chosen: int = 0

    def add(self, found: Sequence[str], gold: set[str], *, by_citations: bool) -> None:
        """Add one answer: recall in the first 20 results, precision at the number of gold documents."""
        first = found[: min(len(gold), TOP)]
        self.questions += 1
        self.recall += len(gold & set(found[:TOP])) / len(gold)
        self.precision += len(gold & set(first)) / max(1, len(first)) if first else 0.0
        self.exact += set(found) == gold or (len(gold) > TOP and set(found[:TOP]) <= gold)
        self.chosen += by_citations

    def figures(self) -> dict[str, Any]:
        """Return the means."""
        count = max(1, self.questions)
        return {
            "questions": self.questions,
            "recall@20": round(self.recall / count, 4),
            "precision": round(self.precision / count, 4),
            "exactly": round(self.exact / count, 4),
            "by_citations": round(self.chosen / count, 4),
        }


def papers_of(result: Result) -> list[str]:
    """Return the ids of the papers found, best first, each once."""
    return list(dict.fromkeys(str(piece.document.metadata["_id"]) for piece in result.evidence))


def ask_all(
    engine: Engine,
    names: Sequence[str],
    form: str,
    *,
    name_of: Callable[[str], str],
    gold_of: Mapping[str, set[str]],
    all_of: Callable[[str], set[str]],
) -> dict[str, dict[str, Any]]:
    """Return the scores of one form of question for all names: for the drawn item, and for all of the same name."""
    drawn, named = Score(), Score()
    for name in names:
        result = engine.query(form.format(name_of(name)), top_k=TOP)
        found, by_citations = papers_of(result), result.choice is not None and result.choice.rule == "citation"
        drawn.add(found, gold_of[name], by_citations=by_citations)
        named.add(found, set().union(*(gold_of.get(other, set()) for other in all_of(name))), by_citations=by_citations)
    return {"drawn": drawn.figures(), "same name": named.figures()}


def initials(author: str) -> tuple[str, str]:
    """Return surname and initials of a name in the style of the collection: `Banatre, J.P.`"""
    last, _, first = author.partition(",")
    surname = re.sub(r"\W|jr\b", "", last.lower())
    return surname, "".join(part[0] for part in re.findall(r"\w+", first.lower()) if part != "jr")


def same_people(author: str, library: Library) -> set[str]:
    """Return the spellings that may denote the same person."""
    surname, own = initials(author)
    spelled = {other: initials(other) for other in library.authors}
    return {
        other
        for other, (last, first) in spelled.items()
        if last == surname and (first.startswith(own) or own.startswith(first))
    }


def shorten(title: str, *, chance: random.Random) -> str:
    """Return a title without a quarter of its words."""
    found = title.split()
    gone = set(chance.sample(range(len(found)), max(1, round(DROPPED * len(found)))))
    return " ".join(word for place, word in enumerate(found) if place not in gone)


def resolve_all(engine: Engine, ids: Sequence[str], library: Library, *, chance: random.Random) -> dict[str, Any]:
    """Return the numbers of shortened titles that resolve to the right paper, to a wrong one, and to none."""
    counts = {"titles": 0, "right": 0, "wrong": 0, "unclear": 0, "unknown": 0}
    for id in ids:
        title = library.titles[id]
        if len(title.split()) < 3:
            continue
        counts["titles"] += 1
        result = engine.query(f"papers that cite {shorten(title, chance=chance)}", top_k=TOP)
        if result.choice is not None and result.choice.rule == "citation":
            counts["right" if result.choice.features.entities[0] == title else "wrong"] += 1
        elif any("no citations of" in note and repr(title) in note for note in result.notes):
            counts["right"] += 1
        else:
            counts["unclear" if any("unclear" in note for note in result.notes) else "unknown"] += 1
    return {**counts, "resolved": round(counts["right"] / max(1, counts["titles"]), 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--embedder", default="none", help="citations need no vectors")
    parser.add_argument("--db", type=Path, help="keep the index in this file, and use it again")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    library, chance = read_library(arguments.folder), random.Random(arguments.seed)

    def draw(known: Mapping[str, object]) -> list[str]:
        return chance.sample(sorted(known), min(arguments.count, len(known)))

    with TemporaryDirectory() as home:
        settings = read_settings(
            {
                "store.db": str(arguments.db or Path(home) / "weft.db"),
                "models.embedder": arguments.embedder,
                "graph.extractor": "rules",
            }
        )
        with Engine(settings) as engine:
            engine.index(arguments.folder)
            titled = {"name_of": library.titles.__getitem__, "all_of": lambda id: library.namesakes[library.titles[id]]}
            figures: dict[str, Any] = {
                "papers that cite": ask_all(
                    engine, draw(library.citing), "papers that cite {}", gold_of=library.citing, **titled
                ),
                "references of": ask_all(
                    engine, draw(library.cited), "references of {}", gold_of=library.cited, **titled
                ),
                "papers by": ask_all(
                    engine,
                    draw(library.authors),
                    "papers by {}",
                    name_of=str,
                    gold_of=library.authors,
                    all_of=lambda name: same_people(name, library),
                ),
                "shortened titles": resolve_all(engine, draw(library.titles), library, chance=chance),
            }
    if arguments.json:
        print(json.dumps(figures, indent=2))
        return
    print("| question | counted against | questions | recall@20 | precision | exactly these | by citations |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for form, rows in figures.items():
        for against, row in rows.items() if form != "shortened titles" else ():
            print(f"| {form} | {against} | " + " | ".join(str(value) for value in row.values()) + " |")
    print("shortened titles: " + ", ".join(f"{name} {value}" for name, value in figures["shortened titles"].items()))


if __name__ == "__main__":
    main()
