"""Answers to recalls of the last minute, so that a question asked again costs nothing."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from weft.records import Fact, Recall

SECONDS = 60
ENTRIES = 256
LIFETIME = timedelta(seconds=SECONDS)


@dataclass(frozen=True, slots=True)
class _Entry:
    recall: Recall
    generation: int
    at: datetime


class RecallCache:
    """
    Recalls by namespace and question. An entry lasts a minute, or until the namespace changes.

    `hits` and `misses` count since it was made. Threads may share it.
    """

    def __init__(self, *, entries: int = ENTRIES) -> None:
        self.hits = 0
        self.misses = 0
        self._size = entries
        self._entries: OrderedDict[tuple[str, Hashable], _Entry] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, namespace: str, question: Hashable, *, generation: int, now: datetime) -> Recall | None:
        """Return the answer to a question, if it is still true."""
        with self._lock:
            entry = self._entries.get((namespace, question))
            if entry is None or entry.generation != generation or not entry.at <= now < entry.at + LIFETIME:
                self._entries.pop((namespace, question), None)
                self.misses += 1
                return None
            self._entries.move_to_end((namespace, question))
            self.hits += 1
            return replace(entry.recall, cached=True)

    def keep(self, namespace: str, question: Hashable, recall: Recall, *, generation: int, now: datetime) -> None:
        """Remember an answer; the one that was not wanted for longest makes room."""
        with self._lock:
            self._entries[namespace, question] = _Entry(recall, generation, now)
            self._entries.move_to_end((namespace, question))
            while len(self._entries) > self._size:
                self._entries.popitem(last=False)

    def recent(self, namespace: str, *, now: datetime) -> list[Fact]:
        """Return the facts of a namespace that were recalled in the last minute."""
        with self._lock:
            mine = [entry for (name, _), entry in self._entries.items() if name == namespace]
        return [piece.fact for entry in mine if now < entry.at + LIFETIME for piece in entry.recall.facts]

    def forget(self, namespace: str) -> None:
        """Drop the answers of a namespace."""
        with self._lock:
            for key in [key for key in self._entries if key[0] == namespace]:
                del self._entries[key]
