"""
Unrelated passages in the answers over linked notes.

    python benchmarks/real/linked_notes.py [--shown]    five generated folders of 30 to 400 notes
    python benchmarks/real/linked_notes.py --seed 7     other notes and questions
    … --sizes 8 9 10 11 12 --without wordless           small folders, without one correction

Every note has an invented name, three sentences on its subject, and up to four links, most of them to notes of its own
group. Up to 20 questions for each folder name one note: its title alone, "What is the X?", or a question for a detail.
A passage is unrelated if its note is neither the named one nor linked with it in either direction, and has neither the
name nor, for a question for a detail, the subject of the named note. `median`, `mean` and `most` count such passages in
one answer, evidence and connected passages together; `names` and `details` are the means of both kinds of questions.
Fifteen words are the last one of all names, so every question shares a word with unrelated notes.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness import make_parser

from weft import open_engine
from weft.records import Document
from weft.search import corrections

SIZES = (30, 60, 120, 250, 400)
QUESTIONS = 20
GROUP = 10
"""Notes of one group, which link to each other."""

ONSETS = "b br c d f g gr h k l m n p qu r s st t v w z".split()
RHYMES = "al an ar eld en erd im in old om on orn ul um ust yr".split()
KINDS = (
    "Ledger Harbour Kiln Orchard Lantern Archive Bridge Mill Garden Signal Market Foundry Quarry Ferry Chapel".split()
)
SUBJECTS = {
    "beekeeping": (
        "the hives are opened in April",
        "honey is sold in jars of glass",
        "swarms are caught with a linen bag",
    ),
    "bookbinding": ("the spine is sewn with flax", "leather is pared with a knife", "the press stays closed overnight"),
    "brewing": ("malt is crushed before dawn", "the wort boils for one hour", "hops hang under the roof"),
    "clockmaking": (
        "the escapement is oiled twice a year",
        "each wheel is cut by hand",
        "the pendulum is made of brass",
    ),
    "glaciers": ("the tongue retreats each summer", "crevasses are marked with poles", "cores of ice are kept frozen"),
    "orchestras": ("the oboe gives the pitch", "strings rehearse on Tuesday", "the score is copied in ink"),
    "tides": ("the gauge is read at noon", "spring tides flood the quay", "tables are printed each winter"),
    "pottery": ("clay is wedged on a slab", "the glaze contains ash", "bowls dry for a week"),
    "railways": ("the points are locked at night", "each driver signs the sheet", "sleepers are made of oak"),
    "chess": ("the endgame is studied first", "games last four hours", "openings are noted on cards"),
    "weaving": ("the warp is wound on a beam", "indigo is dyed in vats", "looms stand near the window"),
    "astronomy": ("the dome opens after dusk", "comets are drawn in pencil", "mirrors are silvered each year"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A generated note."""

    name: str
    subject: str
    links: tuple[str, ...]

    def document(self) -> Document:
        """Return the note as Markdown with wikilinks."""
        lines = [f"# {self.name}", "", f"{self.name} is about {self.subject}."]
        lines += [f"Here {sentence}." for sentence in SUBJECTS[self.subject]]
        lines += [f"See also [[{other}]]." for other in self.links]
        return Document(source=f"{self.name}.md", title=self.name, text="\n".join(lines), form="markdown")


class Answer(NamedTuple):
    """What an answer showed."""

    unrelated: int
    is_detail: bool
    is_first: bool
    """True if the named note has the first place."""


def make_notes(count: int, *, chance: random.Random) -> list[Note]:
    """Return notes in groups; four of five links stay within the group."""
    words = [f"{one}{two}".capitalize() for one in ONSETS for two in RHYMES]
    names = [f"{word} {chance.choice(KINDS)}" for word in chance.sample(words, min(count, len(words)))]
    while len(names) < count:
        names.append(f"{chance.choice(words)}{chance.choice(RHYMES)} {chance.choice(KINDS)}")
    notes = []
    for number, name in enumerate(names):
        group = names[number // GROUP * GROUP :][:GROUP]
        ends = [chance.choice(group if chance.random() < 0.8 else names) for _ in range(chance.randrange(5))]
        links = tuple(sorted({end for end in ends if end != name}))
        notes.append(Note(name=name, subject=chance.choice(list(SUBJECTS)), links=links))
    return notes


def ask(note: Note, number: int) -> tuple[str, bool]:
    """Return a question that names a note, and whether it asks for a detail of its subject."""
    detail = SUBJECTS[note.subject][number % 3]
    forms = [
        note.name,
        f"What is the {note.name}?",
        f"What is {note.name} about?",
        f"Where does {note.name} say that {detail}?",
    ]
    return forms[number % 4], number % 4 == 3


def count_unrelated(notes: Sequence[Note], *, chance: random.Random, is_shown: bool) -> Iterator[Answer]:
    """Yield the number of unrelated passages of each answer."""
    with tempfile.TemporaryDirectory() as folder, open_engine(Path(folder) / "weft.db") as engine:
        engine.add([note.document() for note in notes])
        for number, note in enumerate(chance.sample(notes, min(QUESTIONS, len(notes)))):
            question, is_detail = ask(note, number)
            near = {note.name, *note.links, *(other.name for other in notes if note.name in other.links)}
            near |= {other.name for other in notes if is_detail and other.subject == note.subject}
            result = engine.query(question)
            shown = [piece.document.title for piece in (*result.evidence, *result.connected)]
            foreign = [title for title in shown if title not in near]
            if is_shown and (foreign or shown[:1] != [note.name]):
                print(f"  {question}: {result.status}, {len(shown)} shown, unrelated: {', '.join(foreign)}")
            yield Answer(unrelated=len(foreign), is_detail=is_detail, is_first=shown[:1] == [note.name])


def print_row(label: str, answers: Sequence[Answer]) -> None:
    """Print a row of the table."""
    counts = [answer.unrelated for answer in answers]
    names, details = ([a.unrelated for a in answers if a.is_detail is is_detail] for is_detail in (False, True))
    first = fmean(answer.is_first for answer in answers)
    print(
        f"| {label} | {len(counts)} | {first:.2f} | {median(counts):g} | {fmean(counts):.2f} | {max(counts)} "
        f"| {fmean(names):.2f} | {fmean(details):.2f} |",
        flush=True,
    )


def main() -> int:
    """Print the table."""
    parser = make_parser(__doc__)
    parser.add_argument("--seed", type=int, default=20261119, help="seed of notes and questions")
    parser.add_argument("--shown", action="store_true", help="list answers with unrelated passages")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="notes of each folder")
    parser.add_argument("--without", help="correction to leave out, see docs/ranking.md")
    arguments = parser.parse_args()
    corrections.CORRECTIONS = tuple(c for c in corrections.CORRECTIONS if c.name != arguments.without)
    print("| notes | questions | first | median | mean | most | names | details |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    pooled = list[Answer]()
    for size in arguments.sizes:
        chance = random.Random(f"{arguments.seed} {size}")
        answers = list(count_unrelated(make_notes(size, chance=chance), chance=chance, is_shown=arguments.shown))
        pooled += answers
        print_row(str(size), answers)
    print_row("all", pooled)
    return 0


if __name__ == "__main__":
    sys.exit(main())
