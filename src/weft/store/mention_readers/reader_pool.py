"""Pool of processes that find mentions, seen from the process that writes."""

from __future__ import annotations

import json
import logging
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from weft.extract.mentions import DERIVED_TYPES, ChunkMentions
from weft.processes.child import python_command, start_process

logger = logging.getLogger(__name__)

MODULE = "weft.store.mention_readers.reader_main"

MAX_WAIT_SECONDS = 60.0
"""Seconds without an answer after which the processes are ended; a batch takes a tenth of a second."""


class TextBatch(NamedTuple):
    """Texts to read, by chunk number."""

    texts: Mapping[int, str]
    subjects: Mapping[int, set[str]]
    """Keys that chunks define."""


class ReaderPool:
    """
    Processes that find mentions. They start at once, so that they are ready when the names are known.

    A batch whose process fails is read here.
    """

    def __init__(self, size: int, *, command: Sequence[str] | None = None) -> None:
        self._processes = list(_start(size, command or python_command(MODULE)))
        self._threads: list[threading.Thread] = []
        self._changed = threading.Condition()
        self._waiting: deque[TextBatch] = deque()
        self._answers: deque[tuple[TextBatch, list[ChunkMentions]]] = deque()
        self._has_ended = False

    def read(
        self,
        names: Sequence[str],
        batches: Iterator[TextBatch],
        *,
        read_here: Callable[[TextBatch], list[ChunkMentions]],
    ) -> Iterator[tuple[TextBatch, list[ChunkMentions]]]:
        """Yield batches with the mentions of their chunks, in any order. `read_here` does the same in this process."""
        for process in self._processes:
            thread = threading.Thread(target=self._serve, args=(process, names), name="weft-mentions", daemon=True)
            self._threads.append(thread)
            thread.start()
        missing, is_last = 0, False
        while True:
            while not is_last and len(self._waiting) <= 2 * len(self._threads):
                batch = next(batches, None)
                is_last = batch is None
                if batch is not None:
                    missing += 1
                    with self._changed:
                        self._waiting.append(batch)
                        self._changed.notify()
            if not missing:
                return
            yield self._next(read_here)
            missing -= 1

    def close(self) -> None:
        """End the processes."""
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()
        for process in self._processes:
            process.kill()
        for thread in self._threads:  # they read from the pipes
            thread.join()
        for process in self._processes:
            with suppress(OSError), process:  # closes the pipes and waits
                pass

    def _next(self, read_here: Callable[[TextBatch], list[ChunkMentions]]) -> tuple[TextBatch, list[ChunkMentions]]:
        """Return a batch that was read; until there is one, read another here."""
        while True:
            with self._changed:
                if self._answers:
                    return self._answers.popleft()
                batch = self._waiting.pop() if self._waiting else None
                if batch is None and not self._changed.wait_for(
                    lambda: self._answers or self._waiting, MAX_WAIT_SECONDS
                ):
                    for process in self._processes:
                        process.kill()  # its thread returns the batch
            if batch is not None:
                return batch, read_here(batch)

    def _serve(self, process: subprocess.Popen[bytes], names: Sequence[str]) -> None:
        """Exchange batches with one process until the end or until it fails."""
        batch: TextBatch | None = None
        try:
            _send(process, names)
            while batch := self._take():
                _send(process, [(text, sorted(batch.subjects[chunk])) for chunk, text in batch.texts.items()])
                mentions = _receive(process, names)
                if len(mentions) != len(batch.texts):
                    raise ValueError("the answer has another number of texts")
                with self._changed:
                    self._answers.append((batch, mentions))
                    batch = None
                    self._changed.notify_all()
        except Exception as error:  # noqa: BLE001 - whatever it is, the batch must not be lost
            logger.debug("a process that reads mentions failed: %s", error)
            with self._changed:
                if batch is not None:
                    self._waiting.append(batch)
                self._changed.notify_all()

    def _take(self) -> TextBatch | None:
        """Return the next batch; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._has_ended)
            return self._waiting.popleft() if self._waiting and not self._has_ended else None


def _start(size: int, command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    with suppress(OSError):  # everything is read here
        for _ in range(size):
            yield start_process(command)


def _send(process: subprocess.Popen[bytes], message: object) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()


def _receive(process: subprocess.Popen[bytes], names: Sequence[str]) -> list[ChunkMentions]:
    assert process.stdout is not None
    return [
        ChunkMentions(_to_counts(counts, names), _to_relations(relations, names))
        for counts, relations in json.loads(process.stdout.readline())
    ]


def _to_counts(values: Sequence[int], names: Sequence[str]) -> dict[str, int]:
    rest = iter(values)
    return {names[name]: count for name, count in zip(rest, rest, strict=True)}


def _to_relations(values: Sequence[int], names: Sequence[str]) -> tuple[tuple[str, str, str], ...]:
    rest = iter(values)
    return tuple(
        (names[source], names[target], DERIVED_TYPES[type])
        for source, target, type in zip(rest, rest, rest, strict=True)
    )
