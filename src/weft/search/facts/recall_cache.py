"""Answers to recalls of a moment ago, so that a question asked again, or nearly so, costs nothing."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from weft.records import Fact, Recall, Vector
from weft.search.facts.prefetch import WarmFacts

ENTRIES = 256
"""Answers kept for one namespace."""
NAMESPACES = 64
"""Namespaces for which anything is kept; the one that was not asked for longest makes room."""
RECENT = timedelta(seconds=60)
"""How long a fact counts as recalled a moment ago, so that what merely repeats it is no news."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What makes two questions the same."""

    text: str
    """Normalised."""
    options: Hashable
    """Settings and time asked about."""
    entities: tuple[str, ...] = ()
    """Keys of the entities it names, sorted."""
    vector: Vector | None = field(default=None, compare=False)
    same: float | None = field(default=None, compare=False)
    """Cosine from which the embedder takes two questions for the same."""


@dataclass(frozen=True, slots=True)
class _Entry:
    asked: Asked
    recall: Recall
    generation: int
    at: datetime

    def holds(self, *, generation: int, now: datetime, lifetime: timedelta) -> bool:
        return self.generation == generation and self.at <= now < self.at + lifetime


@dataclass(slots=True)
class _Shelf:
    """What is kept for one namespace."""

    entries: OrderedDict[tuple[str, Hashable], _Entry] = field(default_factory=OrderedDict)
    warm: WarmFacts | None = None
    hits: int = 0
    misses: int = 0


class RecallCache:
    """
    Recalls by namespace and question. An entry lasts some seconds, or until the namespace changes.

    Hits and misses are counted since it was made, by namespace. Threads may share it.
    """

    def __init__(self, *, entries: int = ENTRIES, seconds: int = 60) -> None:
        self._size = entries
        self._lifetime = timedelta(seconds=seconds)
        self._shelves: OrderedDict[str, _Shelf] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, namespace: str, asked: Asked, *, generation: int, now: datetime) -> Recall | None:
        """Return the answer to the same text with the same options, if it is still true."""
        with self._lock:
            shelf = self._shelf(namespace)
            entry = shelf.entries.get((asked.text, asked.options))
            if entry is None:
                return None
            if not entry.holds(generation=generation, now=now, lifetime=self._lifetime):
                del shelf.entries[asked.text, asked.options]
                return None
            return self._hit(shelf, entry)

    def find_similar(self, namespace: str, asked: Asked, *, generation: int, now: datetime) -> Recall | None:
        """
        Return the answer to a question so close that it asks the same: the closest, of equally close ones the oldest.

        It names the same entities and has the same options. To be asked after `find`: nothing found is a miss.
        """
        with self._lock:
            shelf = self._shelf(namespace)
            close = [
                (float(entry.asked.vector @ asked.vector), entry)
                for entry in shelf.entries.values()
                if entry.asked.vector is not None and asked.vector is not None
                if entry.holds(generation=generation, now=now, lifetime=self._lifetime)
                if (entry.asked.options, entry.asked.entities) == (asked.options, asked.entities)
                if len(entry.asked.vector) == len(asked.vector)
            ]
            if asked.same is not None and close:
                score, entry = max(close, key=lambda item: item[0])
                if score >= asked.same:
                    return self._hit(shelf, entry)
            shelf.misses += 1
            return None

    def keep(self, namespace: str, asked: Asked, recall: Recall, *, generation: int, now: datetime) -> None:
        """Remember an answer; the one that was not wanted for longest makes room."""
        with self._lock:
            entries = self._shelf(namespace).entries
            entries[asked.text, asked.options] = _Entry(asked, recall, generation, now)
            entries.move_to_end((asked.text, asked.options))
            while len(entries) > self._size:
                entries.popitem(last=False)

    def keep_warm(self, namespace: str, warm: WarmFacts) -> None:
        """Remember the facts of entities that are often asked for, in the place of those kept before."""
        with self._lock:
            self._shelf(namespace).warm = warm

    def find_warm(self, namespace: str, *, options: Hashable, generation: int, now: datetime) -> WarmFacts | None:
        """Return facts that were read beforehand, if they are still true."""
        with self._lock:
            warm = self._shelf(namespace).warm
        if warm is None or (warm.generation, warm.options) != (generation, options):
            return None
        return warm if warm.at <= now < warm.at + self._lifetime else None

    def recent(self, namespace: str, *, now: datetime) -> Sequence[Fact]:
        """Return the facts of a namespace that were recalled in the last minute."""
        with self._lock:
            mine = list(self._shelf(namespace).entries.values())
        return [piece.fact for entry in mine if now < entry.at + RECENT for piece in entry.recall.facts]

    def forget(self, namespace: str) -> None:
        """Drop what is kept for a namespace but its counters."""
        with self._lock:
            shelf = self._shelf(namespace)
            shelf.entries.clear()
            shelf.warm = None

    def count(self, namespace: str) -> dict[str, int]:
        """Return how many answers are kept for a namespace, and how often one was found and was not."""
        with self._lock:
            shelf = self._shelf(namespace)
            return {"cached": len(shelf.entries), "hits": shelf.hits, "misses": shelf.misses}

    def _shelf(self, namespace: str) -> _Shelf:
        shelf = self._shelves.setdefault(namespace, _Shelf())
        self._shelves.move_to_end(namespace)
        while len(self._shelves) > NAMESPACES:
            self._shelves.popitem(last=False)
        return shelf

    @staticmethod
    def _hit(shelf: _Shelf, entry: _Entry) -> Recall:
        shelf.hits += 1
        shelf.entries.move_to_end((entry.asked.text, entry.asked.options))
        return replace(entry.recall, cached=True)
