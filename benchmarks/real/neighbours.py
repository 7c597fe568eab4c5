"""
Neighbours of a named entity: how many of their passages come back, by kind of statement and number of neighbours.

    python benchmarks/real/neighbours.py                    six kinds of statement, n = 1 to 50, three phrasings
    python benchmarks/real/neighbours.py --kinds facts prose --method graph --algorithm expand
    python benchmarks/real/neighbours.py --hub 10000        one entity with 10,000 neighbours, timed

A hub is an entity with n stated neighbours. Each neighbour has a page of its own that shares no word with the hub.
A cell is the number of these pages in the evidence, in the list `connected`, and in neither but in the answer about
relations, at `top_k=10`: `2+8+40`. Required are min(n, 5) in the first two, and all in the three if the question asks
for the relation. Cells below that are marked with `!`, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from weft import Engine, open_engine
from weft.admin.exchange_graphs import import_graph
from weft.records import GivenFact

SIZES = (1, 2, 3, 5, 10, 20, 50)
KINDS = ("front matter", "facts", "wikilinks", "markdown links", "prose", "imported graph")
PHRASINGS = ("{}", "What is the {}?", "What does the {} depend on?")
MIN_NEIGHBOURS = 5
SEED = 20261117
FILLERS = 40

SYLLABLES = "bar cal dor fen gil hov jun kel lam mir nol pex quor ras sul tev vim wox yar zil".split()
KINDS_OF_PAGE = (
    "It was painted green in the second year and stands behind the harbour office.",
    "Every morning somebody polishes the brass plate before the visitors arrive.",
    "The caretaker keeps its spare parts in a wooden box under the stairs.",
    "On cold days it hums quietly, and the sound carries to the old market.",
    "A retired clockmaker repaired it twice and refused to be paid.",
    "Its manual has eighty pages, half of them about cleaning.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hub:
    """An entity with stated neighbours."""

    name: str
    neighbours: tuple[str, ...]


def invent_hubs(sizes: Sequence[int], *, seed: int) -> list[Hub]:
    """Return one hub per size; all names are different and share no word."""
    draw = random.Random(seed)
    words = _invent_words(draw)
    return [Hub(name=_name(words), neighbours=tuple(_name(words) for _ in range(size))) for size in sizes]


def _invent_words(draw: random.Random) -> Iterator[str]:
    seen = set[str]()
    while True:
        syllables = 3 if 2 * len(seen) < len(SYLLABLES) ** 3 else 4  # there are 8,000 words of three syllables
        word = "".join(draw.choices(SYLLABLES, k=syllables)).capitalize()
        if word not in seen:
            seen.add(word)
            yield word


def _name(words: Iterator[str]) -> str:
    return f"{next(words)} {next(words)}"


def _page(name: str, *, draw: random.Random) -> str:
    return f"# {name}\n\n{name} is a machine of the museum. {' '.join(draw.sample(KINDS_OF_PAGE, 2))}\n"


def _hub_page(hub: Hub, *, body: str = "", front: str = "") -> str:
    return f"{front}# {hub.name}\n\n{hub.name} drives the exhibition hall.\n\n{body}\n"


def _listed(hub: Hub) -> str:
    names = "".join(f"  - {name}\n" for name in hub.neighbours)
    return _hub_page(hub, front=f"---\ndepends_on:\n{names}---\n")


def _wikilinked(hub: Hub) -> str:
    return _hub_page(hub, body="\n".join(f"- See [[{name}]]." for name in hub.neighbours))


def _linked(hub: Hub) -> str:
    return _hub_page(hub, body="\n".join(f"- See [{name}]({_file(name)})." for name in hub.neighbours))


def _told(hub: Hub) -> str:
    return _hub_page(hub, body="\n\n".join(f"{hub.name} depends on {name}." for name in hub.neighbours))


def _file(name: str) -> str:
    return f"{name.lower().replace(' ', '-')}.md"


HUB_PAGES: dict[str, Callable[[Hub], str]] = {
    "front matter": _listed,
    "wikilinks": _wikilinked,
    "markdown links": _linked,
    "prose": _told,
}


def write_corpus(folder: Path, hubs: Sequence[Hub], *, kind: str) -> None:
    """Write the pages of hubs and neighbours, and pages about other things."""
    draw = random.Random(SEED)
    folder.mkdir()
    for hub in hubs:
        (folder / _file(hub.name)).write_text(HUB_PAGES.get(kind, _hub_page)(hub))
        for name in hub.neighbours:
            (folder / _file(name)).write_text(_page(name, draw=draw))
    words = _invent_words(random.Random(SEED + 1))
    for _ in range(FILLERS):
        name = _name(words)
        (folder / _file(name)).write_text(_page(name, draw=draw))


def state(engine: Engine, hubs: Sequence[Hub], *, kind: str, folder: Path) -> None:
    """Store the statements that are no part of a page: facts, or a graph file."""
    if kind == "facts":
        pairs = [(hub.name, name) for hub in hubs for name in hub.neighbours]
        engine.memory.add_many([GivenFact(subject=one, predicate="depends_on", object=other) for one, other in pairs])
    if kind == "imported graph":
        lines = [
            {"subject": hub.name, "predicate": "depends_on", "object": name} for hub in hubs for name in hub.neighbours
        ]
        path = folder.parent / "graph.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        import_graph(engine, path)


def count_neighbours(engine: Engine, hub: Hub, question: str, *, options: dict[str, object]) -> tuple[int, int, int]:
    """Return how many neighbours are in the evidence, how many only in `connected`, and how many only in a list."""
    result = engine.query(question, top_k=10, **options)  # type: ignore[arg-type]
    files = {_file(name) for name in hub.neighbours}
    shown = files & {Path(piece.document.source).name for piece in result.evidence}
    linked = files & {Path(piece.document.source).name for piece in result.connected} - shown
    listed = {_file(item.name) for item in result.relations.items} if result.relations else set()
    return len(shown), len(linked), len(files & listed - shown - linked)


def table(kind: str, *, options: dict[str, object], sizes: Sequence[int]) -> bool:
    """Print the rows of one kind of statement; return True if every cell is large enough."""
    hubs, is_enough = invent_hubs(sizes, seed=SEED), True
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "pages"
        write_corpus(folder, hubs, kind=kind)
        with open_engine(str(Path(temporary) / "weft.db")) as engine:
            engine.index(str(folder))
            state(engine, hubs, kind=kind, folder=folder)
            for phrasing in PHRASINGS:
                cells = []
                for hub in hubs:
                    counts = count_neighbours(engine, hub, phrasing.format(hub.name), options=options)
                    is_asked = "depend" in phrasing and kind not in ("wikilinks", "markdown links")
                    is_met = sum(counts[:2]) >= min(len(hub.neighbours), MIN_NEIGHBOURS)
                    is_met &= not is_asked or sum(counts) == len(hub.neighbours)
                    is_enough &= is_met
                    cells.append(f"{'+'.join(map(str, counts))}{'' if is_met else '!'}")
                print(f"| {kind} | {phrasing.format('X')} | {' | '.join(cells)} |", flush=True)
    return is_enough


def time_hub(size: int, *, options: dict[str, object]) -> None:
    """Print the neighbours found and the time of a question about a hub with many neighbours."""
    hub, small = invent_hubs((size, 5), seed=SEED)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "pages"
        write_corpus(folder, [hub, small], kind="wikilinks")
        with open_engine(str(Path(temporary) / "weft.db"), embedder="hash") as engine:
            engine.index(str(folder))
            for one in (small, hub):
                found, times = 0, []
                for _ in range(20):
                    started = time.perf_counter()
                    found = sum(count_neighbours(engine, one, one.name, options=options))
                    times.append((time.perf_counter() - started) * 1000)
                print(f"{len(one.neighbours)} neighbours: {found} found, median {sorted(times)[10]:.1f} ms")


def main() -> int:
    """Print the table, or time a hub."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="Kinds of statement (default: all).")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="Numbers of neighbours.")
    parser.add_argument("--method", default="auto", help="Search method (default: auto).")
    parser.add_argument("--algorithm", default="walk", help="Graph algorithm (default: walk).")
    parser.add_argument("--hub", type=int, default=0, help="Time one entity with this many neighbours instead.")
    arguments = parser.parse_args()
    options: dict[str, object] = {"method": arguments.method, "graph": {"algorithm": arguments.algorithm}}
    if arguments.hub:
        time_hub(arguments.hub, options=options)
        return 0
    print(f"| stated by | question | {' | '.join(f'n = {size}' for size in arguments.sizes)} |")
    print(f"| --- | --- | {' | '.join('---' for _ in arguments.sizes)} |")
    outcomes = [table(kind, options=options, sizes=arguments.sizes) for kind in arguments.kinds]
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
