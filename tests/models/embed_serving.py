"""Scripted embedder behind HTTP on this machine, and engines that use it."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from loopback import Answer, Endpoint, in_json, serve

from weft.cli.errors import run_reporting
from weft.cli.main import weft as command

Weft = Callable[..., Any]
MODEL = "openai/tiny"
TOKENS = 7
"""What the server counts for each text."""


def vectors(request: dict[str, Any], *, dimension: int = 4, tokens: int | None = TOKENS, **more: Any) -> Answer:
    """Return what a well-behaved server says; without `tokens` it does not count them."""
    texts = cast(list[str], request["input"])
    data = [{"index": n, "embedding": [1.0 + len(text), *[1.0] * (dimension - 1)]} for n, text in enumerate(texts)]
    usage = {} if tokens is None else {"usage": {"prompt_tokens": tokens * len(texts)}}
    return Answer(body=in_json({"data": data, **usage}).body, **more)


@contextmanager
def serve_embedder(answer: Callable[[dict[str, Any]], Answer] = vectors) -> Iterator[Endpoint]:
    """Run a server that embeds."""
    with serve(answer) as endpoint:
        yield endpoint


def sent(endpoint: Endpoint) -> list[str]:
    """Return every text that was sent, in the order of the requests."""
    return [text for request in endpoint.requests for text in cast(list[str], request["input"])]


def twice(endpoint: Endpoint) -> list[str]:
    """Return the texts that were sent more than once."""
    return [text for text, count in Counter(sent(endpoint)).items() if count > 1]


def settle(folder: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, **more: str) -> None:
    """Make the environment that of a user who has an embedder at an endpoint, and wants no graph."""
    monkeypatch.chdir(folder)
    values = {"NO_PROXY": "127.0.0.1", "WEFT_EMBEDDER": MODEL, "WEFT_CACHE_DIR": str(folder / "cache")}
    values |= {"OPENAI_BASE_URL": endpoint.url, "WEFT_GRAPH_EXTRACTOR": "none"}
    for name, value in (values | more).items():
        monkeypatch.setenv(name, value)


def write_texts(folder: Path, count: int, *, lines: int = 1) -> Path:
    """Write texts of one chunk each, or one of many chunks each where they have many lines."""
    folder.mkdir()
    for number in range(count):
        text = "\n\n".join(f"Passage {number}.{line}: {'a few words of filler. ' * 70}" for line in range(lines))
        (folder / f"{number:03}.txt").write_text(text if lines > 1 else f"Passage {number} is short.")
    return folder


@pytest.fixture
def weft(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Weft:
    """Run `weft ARGUMENTS` in this process and return what it prints as JSON, or its messages."""

    def run(*arguments: str, expect: int = 0, as_json: bool = True) -> Any:
        monkeypatch.setattr(sys, "argv", ["weft", *arguments, *(["--json"] if as_json else [])])
        code = run_reporting(command)
        printed = capsys.readouterr()
        assert code == expect, printed.err
        return json.loads(printed.out) if printed.out and as_json else printed.out + printed.err

    return run


HEARD = "heard Ctrl-C\n"
INTERRUPTIBLE = f"""
import signal

def hear(number, frame):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    print({HEARD!r}, end="", flush=True)
    raise KeyboardInterrupt

signal.signal(signal.SIGINT, hear)
from weft.cli.entry import main
main()
"""


def start(*arguments: str) -> subprocess.Popen[str]:
    """Start `weft ARGUMENTS` in a process of its own; it prints `HEARD` when it handles the first Ctrl-C."""
    line = [sys.executable, "-c", INTERRUPTIBLE, *arguments]
    return subprocess.Popen(
        line,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ),
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # also where the tests run in the background
    )


def interrupt(process: subprocess.Popen[str]) -> None:
    """
    Press Ctrl-C until a process of `start` handles it.

    Python misses a signal that arrives just before its main thread blocks on a lock, until the lock is free.
    """
    assert process.stdout
    process.send_signal(signal.SIGINT)
    while not select.select([process.stdout], [], [], 1.0)[0]:
        process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == HEARD
