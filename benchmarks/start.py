"""
Time of a new process before any work: Python, the package, `weft --help`, the model, a first answer.

    python benchmarks/start.py [--db FILE ...] [--repeat 9] [--write]

Each row is a separate process, measured from its start to its end; all rows are measured `--repeat` times in turn.
Milliseconds: the median, with the lowest and the highest. The bare interpreter and an import of click, the library of
the command line, are there for comparison. `--db` names stores to query, for example of `benchmarks/corpora.py`;
their read indexes are built before. `--write` puts the table into docs/performance.md.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from harness import make_parser, publish, spread, to_table
from scale import FIRST

from weft.engine.opening.open_engine import open_engine

MODEL = 'from weft import open_engine; open_engine(":memory:").embedder.embed(["a"], kind="query")'


def commands(stores: Sequence[Path]) -> dict[str, list[str]]:
    """Return the command lines to measure, by label."""
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
    parser = make_parser(__doc__, repeat=9)
    parser.add_argument("--db", type=Path, nargs="+", default=[], metavar="FILE")
    arguments = parser.parse_args()
    if missing := [str(path) for path in arguments.db if not path.is_file()]:
        parser.error(f"no such file: {', '.join(missing)}")
    started = commands(arguments.db)
    for command in started.values():
        clock(command)  # fill the file cache
    rounds = [{name: clock(command) for name, command in started.items()} for _ in range(arguments.repeat)]
    rows = [{"process": name, "ms": spread([taken[name] for taken in rounds], 0)} for name in started]
    publish("start", to_table(rows), write=arguments.write)


if __name__ == "__main__":
    main()
