"""
Process of one peer, started by `benchmarks/peers.py`, so that its memory can be measured.

    python -m peers.one NAME add|ask GIVEN STORE [--rounds 3] [--patience 60]

Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from peers import CHANNELS
from peers.given import Found, Question, Record, read_batches, read_questions

TOP = 10


class Timed:
    """Batches, and the seconds of reading them, which are excluded."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.seconds = 0.0
        self.count = 0

    def __iter__(self) -> Iterator[list[Record]]:
        batches = read_batches(self._folder)
        while True:
            start = time.perf_counter()
            batch = next(batches, None)
            self.seconds += time.perf_counter() - start
            if batch is None:
                return
            self.count += len(batch)
            yield batch


def add(module: Any, given: Path, store: Path) -> dict[str, Any]:
    """Add all records to the peer; return the rate and the maximum memory."""
    batches = Timed(given)
    start = time.perf_counter()
    peer = module.Peer(store)
    peer.add(batches)
    peer.close()
    seconds = time.perf_counter() - start - batches.seconds
    return {"rate": batches.count / seconds, "peak": _memory("VmHWM")}


def ask(module: Any, given: Path, store: Path, *, rounds: int, patience: float) -> dict[str, Any]:
    """Run every question on every channel; return milliseconds, answers and resident memory."""
    questions = read_questions(given)
    peer = module.Peer(store)
    figures: dict[str, Any] = {}
    for channel in CHANNELS:
        if (call := getattr(peer, channel, None)) is None:
            continue
        found = [[id for id, _ in call(question, TOP)] for question in questions[:2]]  # warms up
        medians, every, answers = [], [], found[:0]
        end = time.perf_counter() + patience
        for _ in range(rounds):
            spent, answers = _round(call, questions, end, answers)
            medians.append(median(spent))
            every += spent
            if time.perf_counter() > end:
                break
        figures[channel] = {"p50": median(medians), "every": every, "answers": answers}
    figures["resident"] = _memory("VmRSS")
    peer.close()
    return figures


def _round(
    call: Callable[[Question, int], Found], questions: list[Question], end: float, before: list[list[str]]
) -> tuple[list[float], list[list[str]]]:
    """Return the milliseconds of each question and the found ids; ids of the previous round if that found more."""
    spent, answers = [], []
    for question in questions:
        start = time.perf_counter()
        found = call(question, TOP)
        spent.append((time.perf_counter() - start) * 1000)
        answers.append([id for id, _ in found])
        if time.perf_counter() > end:
            break
    return spent, max(answers, before, key=len)


def _memory(field: str) -> int:
    """Return the current (`VmRSS`) or maximum (`VmHWM`) bytes of the process; without /proc, the maximum."""
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage says there begins with the memory of the process that started this one
        return next(int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if line.startswith(field))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("work", choices=["add", "ask"])
    parser.add_argument("given", type=Path)
    parser.add_argument("store", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--patience", type=float, default=60)
    arguments = parser.parse_args()
    module = import_module(f"peers.{arguments.name}")
    if arguments.work == "add":
        figures = add(module, arguments.given, arguments.store)
    else:
        options = {"rounds": arguments.rounds, "patience": arguments.patience}
        figures = ask(module, arguments.given, arguments.store, **options)
    figures["version"] = ", ".join(version(package) for package in module.PACKAGES)
    figures["note"] = module.NOTE
    print("\n" + json.dumps(figures))


if __name__ == "__main__":
    main()
