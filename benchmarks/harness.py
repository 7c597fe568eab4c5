"""
What the scripts share: arguments, rounds and their spread, tables, and the pages that `--write` changes.

A table stands between two comments, `<!-- name -->` and `<!-- /name -->`, in one of `PAGES`.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles

sys.path.insert(0, str(Path(__file__).parent / "quality"))  # `sets`

from weft.records import Document

HOME = Path(__file__).resolve().parents[1]
DOCS = HOME / "docs"
RESULTS = HOME / "benchmarks" / "results"
PAGES = (DOCS / "performance.md", *(RESULTS / f"{name}.md" for name in ("confidence", "peers", "postgres")))
QUESTIONS = 50


def data_folder() -> Path:
    """Return the folder of the sets: $WEFT_DATA, or `shared/data` beside the project."""
    home = Path(os.environ.get("WEFT_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    if not home.is_dir():
        sys.exit("no evaluation sets: set WEFT_DATA to a folder of sets in BEIR layout")
    return home


@contextmanager
def kept_folder(keep: str) -> Iterator[Path]:
    """Yield the folder of `--keep`, created if missing; without it a temporary one."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        yield folder


def make_parser(
    doc: str | None, *, repeat: int = 0, sizes: Sequence[int] = (), keep: bool = False
) -> argparse.ArgumentParser:
    """Return a parser with the common arguments: `--repeat` and `--write` of measured times, `--sizes`, `--keep`."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    if repeat:
        parser.add_argument("--repeat", type=int, default=repeat, help="rounds")
        parser.add_argument("--write", action="store_true", help="put the tables into their page")
    if sizes:
        parser.add_argument("--sizes", type=int, nargs="+", default=list(sizes))
    if keep:
        parser.add_argument("--keep", default="", metavar="DIR", help="keep the stores, and use those that are there")
    return parser


def spread(values: Sequence[float], digits: int = 1) -> str:
    """Return `median (lowest–highest)`; the median alone of a single value."""
    found = f"{median(values):.{digits}f}"
    return found if len(values) == 1 else f"{found} ({min(values):.{digits}f}–{max(values):.{digits}f})"


def measure_rounds(ask: Callable[[str], float | None], questions: Sequence[str], repeat: int) -> str:
    """
    Return the milliseconds of a question: `median (lowest–highest round) / p95`.

    The milliseconds that `ask` returns, such as those of embedding, are subtracted.
    """
    medians: list[float] = []
    every: list[float] = []
    for _ in range(repeat):
        times = []
        for question in questions:
            start = time.perf_counter()
            less = ask(question)
            times.append((time.perf_counter() - start) * 1000 - (less or 0.0))
        medians.append(median(times))
        every += times
    return f"{spread(medians)} / {quantiles(every, n=20)[-1]:.1f}"


def to_table(rows: Sequence[Mapping[str, str]]) -> str:
    """Return rows of equal keys as a Markdown table."""
    head = list(rows[0])
    lines = [head, ["---"] * len(head), *([row[name] for name in head] for row in rows)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def publish(name: str, text: str, *, write: bool) -> None:
    """Print a table; with `write`, also put it between its markers."""
    print(text, flush=True)
    start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    for path in PAGES if write else ():
        page = path.read_text("utf-8") if path.is_file() else ""
        if start in page:
            path.write_text(page[: page.index(start) + len(start)] + text + "\n" + page[page.index(end) :], "utf-8")
            return
    if write:
        sys.exit(f"no page has the marker {start.strip()}")


def process_memory(process: int | None = None) -> tuple[int, int]:
    """Return the private memory of a process, and its mapped files, in megabytes. Default: this process."""
    held = dict.fromkeys(("RssAnon", "RssFile"), 0)
    try:
        status = Path(f"/proc/{process or 'self'}/status").read_text("utf-8")
    except OSError:  # it has ended
        status = ""
    for line in status.splitlines():
        name, _, value = line.partition(":")
        if name in held:
            held[name] = int(value.split()[0]) // 1024
    return held["RssAnon"], held["RssFile"]


def sentences() -> list[str]:
    """Return the sentences of the English part of the sample corpus."""
    text = "\n".join(path.read_text("utf-8") for path in sorted((HOME / "examples/corpus").glob("*/*.md")))
    found = re.split(r"(?<=[.!?])\s+", re.sub(r"[#*`\[\]|]", "", text))
    return [" ".join(s.split()) for s in found if 30 < len(s) < 300 and s.isascii()]


def make_documents(count: int, *, seed: int = 1) -> list[Document]:
    """Return documents of about 100 words, each with a unique number."""
    chance, pool = random.Random(seed), sentences()
    documents = []
    for number in range(count):
        body = " ".join(chance.choices(pool, k=7))
        documents.append(Document(source=f"text:{number}", title=f"Record {number}", text=f"{body} Ticket {number}."))
    return documents
