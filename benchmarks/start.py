"""
Time of a new process before any work: Python, the package, `weft --help`, the model, a first answer.

    python benchmarks/start.py [--db FILE ...] [--repeat 9] [--write]
    python benchmarks/start.py --help-of-verbs [--repeat 5]
    python benchmarks/start.py --index FOLDER [--repeat 5]

Each row is a separate process, measured from its start to its end; all rows are measured `--repeat` times in turn.
Milliseconds: the median, with the lowest and the highest. The bare interpreter and an import of click, the library of
the command line, are there for comparison. `--db` names stores to query, for example of `benchmarks/corpora.py`;
their read indexes are built before. `--write` puts the table into docs/performance.md.

`--help-of-verbs` measures `weft VERB --help` of every verb and subverb instead, with processor time and the number of
imported modules, which depend little or not at all on the load of the machine.

`--index` measures the time from the start of `weft index FOLDER` until a first document is committed, into a new store
and with an empty vector cache. The process is then killed.
"""

from __future__ import annotations

import argparse
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from statistics import median

import click
from scale import FIRST, put
from speed import PAGE, to_table

from weft.cli.main import COMMANDS, weft
from weft.config import read_settings
from weft.engine.opening.open_engine import open_engine

MODEL = 'from weft import open_engine; open_engine(":memory:").embedder.embed(["a"], kind="query")'
COUNT_MODULES = """
import sys
from weft.cli.main import weft
try:
    weft()
except SystemExit:
    print(len(sys.modules), file=sys.stderr)
"""
"""Runs `weft` with the arguments of the process and prints the number of imported modules to stderr."""


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


def find_verbs() -> Iterator[tuple[str, ...]]:
    """Yield every verb, followed by its subverbs."""
    context = click.Context(weft)
    for name in COMMANDS:
        yield (name,)
        for inner in getattr(weft.get_command(context, name), "commands", {}):
            yield name, inner


def measure_help(*, repeat: int) -> list[dict[str, str]]:
    """Return a row per verb: milliseconds of `weft VERB --help`, and the modules it imports."""
    rows = []
    for path in ((), *find_verbs()):
        arguments = [*path, "--help"]
        counted = subprocess.run(
            [sys.executable, "-c", COUNT_MODULES, *arguments], check=True, capture_output=True, text=True
        )
        wall, cpu = [], []
        for _ in range(repeat):
            before = children_ms()
            wall.append(clock([sys.executable, "-m", "weft", *arguments]))
            cpu.append(children_ms() - before)
        name = " ".join(("weft", *arguments))
        row = {"command": f"`{name}`", "ms": summary(wall), "CPU ms": summary(cpu)}
        rows.append({**row, "modules": counted.stderr.strip()})
    return rows


def clock_first_document(folder: Path) -> float:
    """Return the milliseconds until `weft index` has committed a first document."""
    with tempfile.TemporaryDirectory() as work:
        (cache := Path(work) / "cache").mkdir()
        (cache / "models").symlink_to(read_settings().cache_dir / "models")
        db = Path(work) / "first.db"
        environment = {**os.environ, "WEFT_MODELS_CACHE_DIR": str(cache)}
        begun = time.perf_counter()
        command = [sys.executable, "-m", "weft", "--quiet", "--db", str(db), "index", str(folder.resolve())]
        process = subprocess.Popen(command, env=environment, cwd=work)
        try:
            while not has_document(db):
                if process.poll() is not None and not has_document(db):
                    sys.exit(f"weft index {folder} has indexed nothing")
                time.sleep(0.01)
            return (time.perf_counter() - begun) * 1000
        finally:
            process.kill()
            process.wait()


def has_document(db: Path) -> bool:
    """Return True if a SQLite file contains a document."""
    try:
        with closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT 1 FROM document LIMIT 1").fetchone() is not None
    except sqlite3.OperationalError:  # no file or no table yet
        return False


def children_ms() -> float:
    """Return the processor time of all finished child processes in milliseconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


def summary(taken: Sequence[float]) -> str:
    """Return the median with the lowest and the highest."""
    return f"{median(taken):.0f} ({min(taken):.0f}–{max(taken):.0f})"


def clock(command: Sequence[str]) -> float:
    """Return the milliseconds a process takes."""
    begun = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return (time.perf_counter() - begun) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--db", type=Path, nargs="+", default=[], metavar="FILE")
    parser.add_argument("--repeat", type=int, help="default: 9, with --help-of-verbs and --index 5")
    parser.add_argument("--index", type=Path, metavar="FOLDER")
    parser.add_argument("--help-of-verbs", action="store_true")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if missing := [str(path) for path in arguments.db if not path.is_file()]:
        parser.error(f"no such file: {', '.join(missing)}")
    if arguments.help_of_verbs:
        print(to_table(measure_help(repeat=arguments.repeat or 5)))
        return
    if arguments.index:
        taken = [clock_first_document(arguments.index) for _ in range(1 + (arguments.repeat or 5))][1:]
        print(f"`weft index` until the first document is committed: {summary(taken)} ms")
        return
    started = commands(arguments.db)
    for command in started.values():
        clock(command)  # fill the file cache
    rounds = [{name: clock(command) for name, command in started.items()} for _ in range(arguments.repeat or 9)]
    rows = []
    for name in started:
        rows.append({"process": name, "ms": summary([round[name] for round in rounds])})
    print(table := to_table(rows))
    if arguments.write:
        PAGE.write_text(put(PAGE.read_text("utf-8"), "start", table), "utf-8")


if __name__ == "__main__":
    main()
