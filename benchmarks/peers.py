"""
Comparison of Weft with other engines: the same documents, vectors and questions on one machine, in one run.

    python benchmarks/peers.py --install
    python benchmarks/peers.py [--sizes 10000 100000] [--repeat 3] [--rounds 3] [--only lance chroma] [--keep DIR]
                               [--corpora DIR] [--limit 1800] [--patience 60] [--write] [--plot]

Documents and vectors come from `benchmarks/corpora.py`. Each peer indexes them in one process and answers in another
one, which opens the files on disk. The sequence of peers runs `--repeat` times. The table gives the median over these
runs of the p50 of 50 questions for the best ten with their texts, the lowest and highest, and the p95 over all.
Questions come with their vectors, so embedding is excluded. recall@10 compares vector search with an exact scan.

    --install     create `.venv-peers` from `benchmarks/peers/requirements.txt`, and Weft with its extra `scale`
    --corpora     folder of the stores, created if missing
    --limit       seconds after which a process is stopped
    --patience    seconds after which a channel is not queried again in a process
    --keep        keep written files and reuse existing ones, indexes included, with the rates measured before
    --write       put the table into benchmarks/results/peers.md
    --plot        draw docs/peers.png
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import numpy as np
from harness import DOCS, HOME, make_parser, publish, to_table
from peers import CHANNELS, NAMES
from peers.given import read_questions, write_given

VENV = HOME / ".venv-peers"
PYTHON = VENV / ("Scripts" if os.name == "nt" else "bin") / "python"
PLOT = DOCS / "peers.png"
QUIET = {"ANONYMIZED_TELEMETRY": "False", "HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "LANCE_LOG": "error"}
"""What keeps peers from calling home and from printing at each question."""
MEBIBYTE = 1024 * 1024
NONE = "–"
COLUMNS = {"vector": "vector", "keyword": "keyword", "hybrid": "hybrid", "graph": "with graph"}
"""What channels are called in the table."""


@dataclass(slots=True)
class Peer:
    """One peer at one size: its figures, or the reason why there are none."""

    name: str
    size: int
    added: dict[str, Any] = field(default_factory=dict)
    asked: list[dict[str, Any]] = field(default_factory=list)
    bytes: int = 0
    recall: float = 0.0
    problem: str = ""

    @property
    def title(self) -> str:
        version = self.added.get("version", "")
        return f"{NAMES[self.name]} {version}".strip()

    def p50(self, channel: str) -> list[float]:
        return [run[channel]["p50"] for run in self.asked if channel in run]

    def cell(self, channel: str) -> str:
        """Return `median (lowest–highest) / p95`."""
        medians = self.p50(channel)
        if not medians:
            return NONE
        every = [spent for run in self.asked for spent in run[channel]["every"]]
        late = quantiles(every, n=20)[-1] if len(every) > 1 else every[0]
        spread = f" ({_ms(min(medians))}–{_ms(max(medians))})" if len(medians) > 1 else ""
        return f"{_ms(median(medians))}{spread} / {_ms(late)}"

    def resident(self) -> float:
        return median(run["resident"] for run in self.asked) / MEBIBYTE if self.asked else 0.0

    def row(self) -> dict[str, str]:
        """Return the row of the table."""
        cells = {channel: self.cell(channel) for channel in CHANNELS}
        return {
            "chunks": f"{self.size:,}",
            "engine": self.title,
            "index, chunks/s": f"{self.added['rate']:,.0f}" if self.added else NONE,
            "vector": cells["vector"],
            "recall@10": f"{self.recall:.3f}" if self.asked else NONE,
            "keyword": cells["keyword"],
            "hybrid": cells["hybrid"],
            "with graph": cells["graph"],
            "MiB querying": f"{self.resident():,.0f}" if self.asked else NONE,
            "MiB indexing": f"{self.added['peak'] / MEBIBYTE:,.0f}" if self.added else NONE,
            "bytes/chunk": f"{self.bytes / self.size:,.0f}" if self.added else NONE,
        }


def _ms(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def install() -> None:
    """
    Create the environment. If the pins conflict, install each peer separately, so that one failure affects one peer.
    """
    subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--editable", f"{HOME}[scale]"], check=True)
    pins = HOME / "benchmarks/peers/requirements.txt"
    if subprocess.run([*pip, "--requirement", str(pins)], check=False).returncode:
        for line in pins.read_text("utf-8").splitlines():
            if line.strip() and line[0] != "#" and subprocess.run([*pip, line], check=False).returncode:
                print(f"not installed: {line}", flush=True)


def make_given(folder: Path, corpora: Path, size: int) -> int:
    """Write the input of all peers unless it exists; return the number of chunks."""
    if not (folder / "questions.json").exists():
        from corpora import SETS, data_folder, make_store
        from peers.source import read_asked, read_records

        folder.mkdir(parents=True, exist_ok=True)
        corpora.mkdir(parents=True, exist_ok=True)
        path = make_store(corpora, size)
        questions = read_asked(path, [data_folder() / name for name in SETS])
        write_given(folder, read_records(path, limit=size), questions)
    return len(np.load(folder / "vectors.npy", mmap_mode="r"))


class Exact:
    """The ten best results of an exact scan, and the recall of answers against them."""

    def __init__(self, given: Path) -> None:
        vectors = np.load(given / "vectors.npy", mmap_mode="r")
        with (given / "records.jsonl").open(encoding="utf-8") as file:
            self._numbers = {json.loads(line)[0]: number for number, line in enumerate(file)}
        asked = np.stack([question.vector for question in read_questions(given)])
        self._cosines = np.concatenate([vectors[at : at + 50_000] @ asked.T for at in range(0, len(vectors), 50_000)]).T
        self._tenth = np.partition(self._cosines, -10, axis=1)[:, -10]

    def recall(self, answers: Sequence[Sequence[str]]) -> float:
        """Return the share of the ten best results in an answer; a result as close as the tenth counts."""
        found = sum(
            self._cosines[question, self._numbers[id]] >= self._tenth[question] - 1e-6
            for question, ids in enumerate(answers)
            for id in ids
        )
        return float(found) / (10 * len(answers))


def run(peer: Peer, work: str, given: Path, store: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Run one step of a peer in a process; return its output, empty if it failed. The peer then records the reason."""
    command = [str(PYTHON), "-m", "peers.one", peer.name, work, str(given), str(store)]
    command += ["--rounds", str(options.rounds), "--patience", str(options.patience)]
    place = {**os.environ, **QUIET}
    try:
        done = subprocess.run(
            command, cwd=HOME / "benchmarks", env=place, capture_output=True, text=True, timeout=options.limit
        )
    except subprocess.TimeoutExpired:
        peer.problem = f"{work} was not done after {options.limit:,.0f} s"
        return {}
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        peer.problem = f"{work}: {lines[-1][:200] if lines else f'ended with {done.returncode}'}"
        return {}
    figures: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return figures


def measure(size: int, folder: Path, options: argparse.Namespace) -> list[Peer]:
    """Return the peers at one size."""
    given = folder / f"given-{size}"
    size = make_given(given, Path(options.corpora or folder / "corpora").resolve(), size)
    exact = Exact(given)
    peers = [Peer(name, size) for name in NAMES if not options.only or name in options.only]
    for sequence in range(options.repeat):
        for peer in peers:
            store = folder / f"{peer.name}-{size}"
            if not sequence:
                add(peer, given, store, options)
            if peer.problem:
                continue
            asked = run(peer, "ask", given, store, options)
            if asked:
                peer.asked.append(asked)
                peer.recall = exact.recall(asked["vector"]["answers"])
            print(peer.row() if asked else f"{peer.title}: {peer.problem}", flush=True)
    return peers


def add(peer: Peer, given: Path, store: Path, options: argparse.Namespace) -> None:
    """Add the records to a peer, unless a kept store has them."""
    known = store.with_suffix(".json")
    if known.exists():
        peer.added = json.loads(known.read_text("utf-8"))
    else:
        shutil.rmtree(store, ignore_errors=True)  # what a run left that did not end
        store.mkdir()
        peer.added = run(peer, "add", given, store, options)
        if peer.added:
            known.write_text(json.dumps(peer.added), "utf-8")
    if peer.problem:
        print(f"{peer.title}: {peer.problem}", flush=True)
    peer.bytes = sum(path.stat().st_size for path in store.rglob("*") if path.is_file())


def to_page(peers: Sequence[Peer]) -> str:
    """Return the table of figures, the engines faster than Weft, and notes, one sentence per line."""
    figures = to_table([peer.row() for peer in peers if peer.added])
    notes = dict.fromkeys(f"- {peer.added['note']}.".replace(". ", ".\n  ") for peer in peers if peer.added)
    missing = [f"- {peer.title} at {peer.size:,} chunks: {peer.problem}." for peer in peers if peer.problem]
    sizes = dict.fromkeys(peer.size for peer in peers)
    faster = [row for size in sizes for row in compare([peer for peer in peers if peer.size == size])]
    compared = ["Engines with a lower p50 than Weft:", "", to_table(faster), ""] if faster else []
    return "\n".join([figures, "", *compared, *notes, *missing])


def compare(peers: Sequence[Peer]) -> list[dict[str, str]]:
    """Return the engines faster than Weft at one size, by the median of p50; nothing if Weft was not measured."""
    own = next((peer for peer in peers if peer.name == "weft_peer" and peer.asked), None)
    if own is None:
        return []
    row = {"chunks": f"{own.size:,}"}
    for channel in CHANNELS:
        times = {NAMES[peer.name]: median(peer.p50(channel)) for peer in peers if peer.p50(channel)}
        faster = sorted((name for name in times if times[name] < times["Weft"]), key=lambda name: times[name])
        row[COLUMNS[channel]] = ", ".join(faster) or "none"
    return [row]


def draw(peers: Sequence[Peer]) -> None:
    """Draw hybrid p50 and memory of the largest size."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    largest = max(peer.size for peer in peers)
    shown = [peer for peer in peers if peer.size == largest and peer.asked][::-1]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 0.5 + 0.45 * len(shown)), sharey=True)
    titles = [NAMES[peer.name] for peer in shown]
    colours = ["#c2410c" if peer.name == "weft_peer" else "#94a3b8" for peer in shown]
    times = [median(peer.p50("hybrid")) if peer.p50("hybrid") else 0.0 for peer in shown]
    memory = [peer.resident() for peer in shown]
    panels = ((left, times, 1, f"hybrid, p50 in ms, {largest:,} chunks"), (right, memory, 10, "resident, MiB"))
    for axis, values, lowest, title in panels:
        axis.barh(titles, values, color=colours)
        axis.set(xscale="log", title=title, xlim=(lowest, 3 * max(values)))
        axis.xaxis.set_major_formatter("{x:,.0f}")
        axis.spines[["top", "right"]].set_visible(False)
        for place, value in enumerate(values):
            axis.text(max(value, lowest) * 1.06, place, _ms(value) if value else "has none", va="center", fontsize=8)
    figure.tight_layout()
    figure.savefig(PLOT, dpi=120)


def main() -> None:
    parser = make_parser(__doc__, repeat=3, sizes=(10_000, 100_000), keep=True)
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=[], choices=list(NAMES), metavar="PEER")
    parser.add_argument("--corpora", default="", metavar="DIR")
    parser.add_argument("--limit", type=float, default=1800)
    parser.add_argument("--patience", type=float, default=60)
    parser.add_argument("--plot", action="store_true")
    options = parser.parse_args()
    if options.install:
        return install()
    if not PYTHON.exists():
        parser.error("there is no .venv-peers yet: python benchmarks/peers.py --install")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(options.keep or folder).resolve()
        peers = [peer for size in options.sizes for peer in measure(size, place, options)]
    text = to_page(peers)
    if options.plot:
        draw(peers)
        text += f"\n\n![Hybrid latency and resident memory of each](../../docs/{PLOT.name})"
    publish("peers", text, write=options.write)


if __name__ == "__main__":
    main()
