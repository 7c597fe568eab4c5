"""
Latency of `hook prompt` in a large memory, and the cost of storing a turn.

    WEFT_DATA=DIR python benchmarks/memory/hook_latency.py FOLDER [--size 100000] [--prompts 100]

The memory is a store of `benchmarks/corpora.py`: FOLDER/SIZE.db, built if it is missing. Its chunks get times over two
years, so that they are ranked as exchanges; a chunk stands for an exchange of two turns. Prompts are questions of the
same sets. A daemon runs as a process of its own, as hooks use it.

| row | meaning |
| --- | --- |
| `daemon` | from the connection to the answer |
| `weft hook prompt` | the whole command, with the start of Python |
| `store` | milliseconds and bytes for each turn of a new conversation, model included |
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "quality"))

from corpora import make_store
from harness import data_folder, make_parser

from weft import open_engine
from weft.daemon.address import Address, find_address
from weft.daemon.client import ask
from weft.load.conversations.turns import Conversation, Message, to_document

FIRST_TIME, SPAN_DAYS = 1_700_000_000_000_000, 730
"""Start of the times, in microseconds, and the number of days that they cover."""
WARM_UP_PROMPTS = 5
COMMANDS = 10
"""Number of runs of the whole command."""
STORED_EXCHANGES = 100
SECONDS_PER_ANSWER = 60
"""Deadline of the measurement; hooks have 300 ms."""


def make_memory(folder: Path, size: int) -> Path:
    """Return a copy of the store whose chunks have times."""
    path = folder / f"hooks-{size}.db"
    if not path.exists():
        begun = folder / f"hooks-{size}.begun.db"
        shutil.copy(make_store(folder, size), begun)
        with apsw.Connection(str(begun)) as db:
            step = SPAN_DAYS * 86_400_000_000 // size
            db.execute("UPDATE chunk SET start_time = ? + rowid * ?", (FIRST_TIME, step))
            db.execute("UPDATE chunk SET end_time = start_time")
        begun.rename(path)
    return path


def read_prompts(count: int) -> list[str]:
    """Return questions of a set."""
    lines = (data_folder() / "2wiki-dev" / "queries.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines[:count]]


@contextmanager
def run_daemon(path: Path) -> Iterator[Address]:
    """Run a daemon for a store; wait until it listens."""
    address = find_address(str(path.absolute()), "default")
    process = subprocess.Popen([sys.executable, "-m", "weft", "daemon", "--db", str(path.absolute()), "--quiet"])
    try:
        for _ in range(1200):
            with suppress(OSError):
                address.connect(seconds=1)[0].close()
                break
            time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait()


def ask_daemon(address: Address, prompt: str) -> float:
    """Return the milliseconds of an answer."""
    start = time.monotonic()
    request = {"event": "prompt", "input": {"prompt": prompt}, "budget": 800}
    answer = ask(address, request, deadline=start + SECONDS_PER_ANSWER)
    if "error" in answer:
        raise SystemExit(f"the daemon failed: {answer['error']}")
    return (time.monotonic() - start) * 1000


def run_hook(path: Path, prompt: str) -> float:
    """Return the milliseconds of the whole command."""
    start = time.monotonic()
    options = ["--db", str(path.absolute()), "--namespace", "default", "--deadline", "60000"]
    command = [sys.executable, "-m", "weft", "hook", "prompt", *options]
    subprocess.run(command, input=json.dumps({"prompt": prompt}).encode(), check=True, capture_output=True)
    return (time.monotonic() - start) * 1000


def store_turns(prompts: Sequence[str]) -> tuple[float, float]:
    """Return the milliseconds and bytes per turn of a new conversation."""
    passages = [json.loads(line)["text"] for line in (data_folder() / "hotpot-train" / "corpus.jsonl").open()]
    messages = []
    for number in range(STORED_EXCHANGES):
        messages.append(Message(role="user", text=prompts[number % len(prompts)], time=FIRST_TIME + number))
        messages.append(Message(role="assistant", text=passages[number], time=FIRST_TIME + number))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "turns.db"
        with open_engine(str(path)) as engine:
            engine.add([to_document([Message(role="user", text="warm")], Conversation(source="w", host="b", id="w"))])
            engine.database.compact()
            before, start = path.stat().st_size, time.monotonic()
            engine.add([to_document(messages, Conversation(source="c", host="b", id="c"))])
            spent = time.monotonic() - start
            engine.database.compact()
        return spent * 1000 / len(messages), (path.stat().st_size - before) / len(messages)


def main() -> int:
    """Print the table."""
    parser = make_parser(__doc__)
    parser.add_argument("folder", type=Path, help="Folder of the stores.")
    parser.add_argument("--size", type=int, default=100_000, help="Number of chunks.")
    parser.add_argument("--prompts", type=int, default=100, help="Number of prompts.")
    arguments = parser.parse_args()
    path, prompts = make_memory(arguments.folder, arguments.size), read_prompts(arguments.prompts)
    print("| measured | runs | p50 ms | p95 ms |\n| --- | --- | --- | --- |")
    with run_daemon(path) as address:
        for prompt in prompts[:WARM_UP_PROMPTS]:
            ask_daemon(address, prompt)
        rows = {
            "daemon": [ask_daemon(address, prompt) for prompt in prompts],
            "`weft hook prompt`": [run_hook(path, prompt) for prompt in prompts[:COMMANDS]],
        }
    for label, values in rows.items():
        print(f"| {label} | {len(values)} | {np.median(values):.0f} | {np.quantile(values, 0.95):.0f} |", flush=True)
    milliseconds, size = store_turns(prompts)
    print(f"\nstore: {milliseconds:.1f} ms and {size / 1024:.1f} KiB per turn")
    return 0


if __name__ == "__main__":
    sys.exit(main())
