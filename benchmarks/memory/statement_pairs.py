"""
Consolidation of statements: which pairs of statements become one fact.

    python benchmarks/memory/statement_pairs.py              normal forms (`weft.text.statement_forms`)
    python benchmarks/memory/statement_pairs.py --vectors    also a threshold of the cosine, chosen on one half

`statement_pairs.tsv` has pairs labelled by hand before any score was seen: `same`, `other`, or `contrary`. The rules
were written with the lists `seen` in view; the list `held-out` was measured once, before its misses were read.
A pair is left out if the rules of conversations read no fact in one of its statements.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from harness import make_parser

from weft import open_engine
from weft.config import MemoryOptions
from weft.extract.user_statements import iter_stated
from weft.index.note_facts import read_facts
from weft.load.conversations.turns import Conversation, Message, to_document
from weft.records import Document, Fact

PAIRS = Path(__file__).with_name("statement_pairs.tsv")
TIME = datetime(2026, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two facts with the label of their pair."""

    list: str
    label: str
    is_even: bool
    """Half of the pair; pairs with the same first statement are in the same half."""
    facts: tuple[Fact, Fact]

    @property
    def is_merged(self) -> bool:
        """True if both statements are one fact."""
        return self.facts[0].id == self.facts[1].id


def converse(text: str) -> Document:
    """Return a conversation in which the user says a text."""
    messages = [Message(role="assistant", text="The port is 1."), Message(role="user", text=text)]
    return to_document(messages, Conversation(source="s", host="benchmark", id="s", fields={"project": "/p"}))


def read_pairs() -> list[Pair]:
    """Return the pairs whose statements are read."""
    found: list[Pair] = []
    halves: dict[str, int] = {}
    with PAIRS.open(encoding="utf-8") as file:
        for name, label, *texts in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            half = halves.setdefault(texts[0], len(halves)) % 2
            facts = [
                read_facts(converse(text), namespace="n", options=MemoryOptions(), now=TIME)[:1]
                for text in texts
                if any(iter_stated(converse(text)))
            ]
            if len(facts) == len(texts) and all(facts):
                pair = (facts[0][0], facts[1][0])
                found.append(Pair(list=name, label=label, is_even=half == 0, facts=pair))
    return found


def measure_vectors(pairs: Sequence[Pair]) -> None:
    """Print how many pairs a threshold of the cosine merges. It exceeds all other pairs of the even half."""
    with tempfile.TemporaryDirectory() as folder, open_engine(str(Path(folder) / "w.db")) as engine:
        assert engine.embedder is not None
        texts = {text_of(fact): fact for pair in pairs for fact in pair.facts}
        vectors = dict(zip(texts, np.asarray(engine.embedder.embed(list(texts))), strict=True))
    rows = [(pair, float(np.dot(*(vectors[text_of(fact)] for fact in pair.facts)))) for pair in pairs]
    least = max(cosine for pair, cosine in rows if pair.is_even and pair.label != "same")
    print(f"\n| half | same merged by cosine > {least:.3f} | others merged |\n| --- | --- | --- |")
    for is_even in (True, False):
        half = [(pair.label == "same", cosine > least) for pair, cosine in rows if pair.is_even == is_even]
        same, others = ([merged for is_same, merged in half if is_same is wanted] for wanted in (True, False))
        print(f"| {'even' if is_even else 'odd'} | {sum(same)} of {len(same)} | {sum(others)} of {len(others)} |")


def text_of(fact: Fact) -> str:
    """Return the text of a statement to embed."""
    return f"{fact.predicate.replace('_', ' ')} {fact.value}"


def main() -> int:
    """Print the tables; exit with 1 if statements that are not the same are merged."""
    parser = make_parser(__doc__)
    parser.add_argument("--vectors", action="store_true", help="Compare with a threshold of the cosine.")
    arguments = parser.parse_args()
    pairs, wrong = read_pairs(), 0
    print("| list | same merged | other merged | contrary merged |\n| --- | --- | --- | --- |")
    for name in ("seen", "held-out"):
        cells = []
        for label in ("same", "other", "contrary"):
            merged = [pair.is_merged for pair in pairs if (pair.list, pair.label) == (name, label)]
            wrong += sum(merged) if label != "same" else 0
            cells.append(f"{sum(merged)} of {len(merged)}")
        print(f"| {name} | {' | '.join(cells)} |")
    if arguments.vectors:
        measure_vectors(pairs)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
