"""
Passages of an answer over linked notes that are neither relevant nor connected to anything relevant.

    python benchmarks/real/linked_notes.py                     five corpora of 30 to 400 notes
    python benchmarks/real/linked_notes.py --sizes 30 60 --list
    python benchmarks/real/linked_notes.py --embedder hash     without vectors

A note has an invented title, sentences about one of 24 subjects, and wikilinks to random notes. Each corpus gets the
same number of questions of four forms: the title alone, what it is, a property in the words of its subject, and the
connection of two titles. A passage is related if its note

- is named by the question, or links to a named note or from it,
- or has the subject that the question asks about.

All other passages are unrelated, in the evidence and in `connected`. Required are 0 at the median and 0.2 on average.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median

from weft import Engine, open_engine

SIZES = (30, 60, 120, 250, 400)
QUESTIONS = 40
"""Questions per corpus."""
SEED = 20261119
MAX_MEAN = 0.2

SYLLABLES = "bar cal dor fen gil hov jun kel lam mir nol pex quor ras sul tev vim wox yar zil".split()
SUBJECTS: dict[str, tuple[str, ...]] = {
    "lighthouse": (
        "Its lamp is visible for nineteen sea miles.",
        "Ships steer by its white and red flashes at night.",
        "The keeper winds the clockwork of the lens every evening.",
    ),
    "bakery": (
        "The sourdough rises overnight before it goes into the oven.",
        "Its rye loaves sell out before eight in the morning.",
        "Flour arrives in paper sacks from a mill upstream.",
    ),
    "database": (
        "Writes go to a log first and are merged into sorted files.",
        "A checkpoint limits the recovery time after a crash.",
        "Replicas lag behind the primary by some milliseconds.",
    ),
    "orchard": (
        "The apple trees are pruned in February.",
        "Frost in April destroyed most of the blossoms.",
        "Bees from four hives pollinate the trees.",
    ),
    "railway": (
        "The points are heated so that snow does not block them.",
        "Freight trains pass here at night with timber wagons.",
        "Its platform is too short for express trains.",
    ),
    "choir": (
        "The altos rehearse on Tuesdays in the parish hall.",
        "They sang a requiem with a small string orchestra.",
        "New voices audition with a folk song.",
    ),
    "glacier": (
        "The ice retreats by thirty metres each summer.",
        "Crevasses open where it bends around the ridge.",
        "Meltwater colours the lake below turquoise.",
    ),
    "compiler": (
        "It lowers the syntax tree to static single assignment form.",
        "Register allocation spills the least used variables.",
        "Its parser recovers from missing semicolons.",
    ),
    "theatre": (
        "The curtain is made of heavy crimson velvet.",
        "Understudies learn both leading roles of the comedy.",
        "The prompter sits below the edge of the stage.",
    ),
    "fishery": (
        "The trawlers land cod and haddock on Fridays.",
        "Nets are mended by hand on the quay.",
        "A quota limits the catch of herring.",
    ),
    "telescope": (
        "Its mirror is coated with aluminium once a year.",
        "Faint galaxies need an exposure of six hours.",
        "The dome turns with the rotation of the sky.",
    ),
    "vaccine": (
        "The second dose follows after twenty-one days.",
        "Vials must be kept at minus seventy degrees.",
        "Antibodies decline within a year.",
    ),
    "bridge": (
        "Steel cables carry the deck between two pylons.",
        "Engineers inspect the rivets for fatigue cracks.",
        "Lorries above forty tonnes must take the tunnel.",
    ),
    "bicycle": (
        "The derailleur shifts eleven sprockets.",
        "Tubeless tyres lose a little pressure each week.",
        "The frame is brazed from chromium steel.",
    ),
    "library": (
        "Parchments are read in a room without daylight.",
        "Overdue books cost ten cents per day.",
        "The card catalogue was scanned by volunteers.",
    ),
    "volcano": (
        "Sulphur vents hiss along the crater rim.",
        "Basalt columns formed when the lava cooled slowly.",
        "Seismometers recorded a swarm of tremors.",
    ),
    "insurance": (
        "The premium depends on the age of the policyholder.",
        "Claims above the deductible are settled in two weeks.",
        "An actuary reviews the mortality tables.",
    ),
    "pottery": (
        "Ash glaze turns green in the wood-fired kiln.",
        "The clay is wedged to remove air bubbles.",
        "Bowls are trimmed when they are leather-hard.",
    ),
    "chess": (
        "The gambit gives up a pawn for quick development.",
        "Rook endings with one extra pawn are often drawn.",
        "A blunder on move forty lost the queen.",
    ),
    "dairy": (
        "The curd is cut into small cubes and stirred.",
        "Wheels of cheese ripen in a cool cellar for a year.",
        "Cows graze on alpine meadows until September.",
    ),
    "payment": (
        "A card authorisation expires after seven days.",
        "Refunds are booked to the ledger of the merchant.",
        "Chargebacks need evidence of delivery.",
    ),
    "desert": (
        "Dunes wander eastward with the trade wind.",
        "The oasis dries up in the hottest month.",
        "Caravans carried salt along the old route.",
    ),
    "violin": (
        "The spruce top is thinner near the edges.",
        "Varnish of linseed oil needs weeks to dry.",
        "Gut strings go out of tune in damp air.",
    ),
    "satellite": (
        "Solar panels unfold after separation from the rocket.",
        "Its orbit decays by two kilometres per month.",
        "The ground station receives telemetry every ninety minutes.",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note with the titles that it links to."""

    title: str
    subject: str
    sentences: tuple[str, ...]
    links: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """Name of its file."""
        return f"{self.title.lower().replace(' ', '-')}.md"

    def text(self) -> str:
        """Return the note in Markdown."""
        see = f"\n\nSee {' and '.join(f'[[{title}]]' for title in self.links)}." if self.links else ""
        return f"# {self.title}\n\n{' '.join(self.sentences)}{see}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question with the files that may answer it."""

    question: str
    related: frozenset[str]
    named: frozenset[str] = field(default=frozenset())
    """Files of the notes that it names; one of them should be found."""


def invent_notes(size: int, *, seed: int) -> list[Note]:
    """Return notes with one to four links each; every seventh has none."""
    draw = random.Random(seed)
    words = _invent_words(draw)
    titles = [f"{next(words)} {next(words)}" for _ in range(size)]
    notes = []
    for number, title in enumerate(titles):
        subject = draw.choice(sorted(SUBJECTS))
        others = [other for other in draw.sample(titles, min(size, 5)) if other != title]
        links = tuple(others[: 0 if number % 7 == 0 else draw.randint(1, 4)])
        sentences = tuple(draw.sample(SUBJECTS[subject], 2))
        notes.append(Note(title=title, subject=subject, sentences=sentences, links=links))
    return notes


def _invent_words(draw: random.Random) -> Iterator[str]:
    seen = set[str]()
    while True:
        word = "".join(draw.choices(SYLLABLES, k=3)).capitalize()
        if word not in seen:
            seen.add(word)
            yield word


def invent_cases(notes: Sequence[Note], *, seed: int) -> list[Case]:
    """Return questions of the four forms in turn."""
    draw = random.Random(seed)
    files = {note.title: note.file for note in notes}
    near: dict[str, set[str]] = {note.title: {note.file} for note in notes}
    for note in notes:
        for title in note.links:
            near[note.title].add(files[title])
            near[title].add(note.file)
    cases = []
    for number in range(QUESTIONS):
        one, other = draw.sample(notes, 2)
        named, related = {one.file}, near[one.title]
        match number % 4:
            case 0:
                question = one.title
            case 1:
                question = f"What is the {one.title}?"
            case 2:
                question, named = draw.choice(one.sentences).rstrip("."), set()
                related = {note.file for note in notes if note.subject == one.subject}
                related |= {file for note in notes if note.subject == one.subject for file in near[note.title]}
            case _:
                question, named = f"How are {one.title} and {other.title} connected?", {one.file, other.file}
                related = near[one.title] | near[other.title]
        cases.append(Case(question=question, related=frozenset(related), named=frozenset(named)))
    return cases


def unrelated(engine: Engine, case: Case) -> tuple[list[str], bool]:
    """Return the files of unrelated passages, and True if a named note is among the results."""
    result = engine.query(case.question, top_k=10)
    shown = [Path(piece.document.source).name for piece in (*result.evidence, *result.connected)]
    return [file for file in shown if file not in case.related], not case.named or bool(case.named & set(shown))


def measure(size: int, *, embedder: str, lists: bool) -> bool:
    """Print the row of one corpus; return True if it meets the requirements."""
    notes = invent_notes(size, seed=SEED + size)
    cases = invent_cases(notes, seed=SEED - size)
    counts, found = [], []
    with tempfile.TemporaryDirectory() as folder:
        for note in notes:
            (Path(folder) / note.file).write_text(note.text(), "utf-8")
        with open_engine(":memory:", embedder=embedder) as engine:
            engine.index(folder)
            for case in cases:
                foreign, is_found = unrelated(engine, case)
                counts.append(len(foreign))
                found.append(is_found)
                if lists and (foreign or not is_found):
                    print(f"  {len(foreign)} {case.question}")
    is_met = median(counts) == 0 and fmean(counts) <= MAX_MEAN
    print(
        f"| {size} | {len(cases)} | {median(counts):g} | {fmean(counts):.2f}{'' if is_met else '!'} | {max(counts)} | "
        f"{fmean(found):.2f} |",
        flush=True,
    )
    return is_met


def main() -> int:
    """Print the table; return 1 if a corpus misses the requirements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="Numbers of notes.")
    parser.add_argument("--embedder", default="local/granite-30m", help="Embedder (default: local/granite-30m).")
    parser.add_argument("--list", action="store_true", help="List questions with unrelated passages.")
    arguments = parser.parse_args()
    print("| notes | questions | unrelated, median | mean | most | named note found |")
    print("| --- | --- | --- | --- | --- | --- |")
    outcomes = [measure(size, embedder=arguments.embedder, lists=arguments.list) for size in arguments.sizes]
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
