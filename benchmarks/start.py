"""
What a new process costs before it does anything: Python, the package, `weft --help`, the model, a first answer.

    python benchmarks/start.py [--db FILE ...] [--repeat 9] [--write]

Each line is a process of its own, from its start to its end; all lines are gone through `--repeat` times in turn.
Milliseconds: the median, lowest and highest beside it. The bare interpreter and an import of click, which the command
line is made with, are there to compare with. `--db` are stores to ask, say of `benchmarks/corpora.py`; their read
indexes are built before. `--write` puts the table into docs/performance.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from scale import FIRST, put
from speed import PAGE, to_table

from weft.engine.engine import open_engine

MODEL = 'from weft.engine.engine import open_engine; open_engine(":memory:").embedder.embed(["a"], kind="query")'


def commands(stores: Sequence[Path]) -> dict[str, list[str]]:
    """Return what is started, by what it is called."""
    weft = [sys.executable, "-m", "weft"]
    found = {
        "`python -c pass`": [sys.executable, "-c", "pass"],
        "`import click`": [sys.executable, "-c", "import click"],
        "`import weft`": [sys.executable, "-c", "import weft"],
        "`weft --help`": [*weft, "--help"],
        "`weft query --help`": [*weft, "query", "--help"],
        "load the model and embed one word": [sys.executable, "-c", MODEL],
    }
    for path in stores:
        with open_engine(path) as engine:
            engine.query(FIRST)
            name = f"`weft query`, {engine.store.stats().chunks:,} chunks"
        found[name] = [*weft, "--db", str(path), "query", FIRST]
    return found


def clock(command: Sequence[str]) -> float:
    """Return the milliseconds a process takes."""
    begun = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return (time.perf_counter() - begun) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--db", type=Path, nargs="+", default=[], metavar="FILE")
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if missing := [str(path) for path in arguments.db if not path.is_file()]:
        parser.error(f"no such file: {', '.join(missing)}")
    started = commands(arguments.db)
    for command in started.values():
        clock(command)  # what is read from the disk the first time
    rounds = [{name: clock(command) for name, command in started.items()} for _ in range(arguments.repeat)]
    rows = []
    for name in started:
        taken = [round[name] for round in rounds]
        rows.append({"process": name, "ms": f"{median(taken):.0f} ({min(taken):.0f}–{max(taken):.0f})"})
    print(table := to_table(rows))
    if arguments.write:
        PAGE.write_text(put(PAGE.read_text("utf-8"), "start", table), "utf-8")


if __name__ == "__main__":
    main()
