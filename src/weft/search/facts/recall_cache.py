"""Cache of recent recalls: answers equal and reworded questions from memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from weft.records import Fact, Recall
from weft.search.facts.prefetch import WarmFacts

MAX_ENTRIES = 256
"""Maximum number of cached recalls per namespace."""

MAX_NAMESPACES = 64
"""Maximum number of namespaces in the cache; the least recently used one is evicted."""

RECENT = timedelta(seconds=60)
"""Time for which a fact counts as recently recalled. A conversation that repeats such a fact is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallKey:
    """Cache key of a recall."""

    text: str
    """Key of the question (`search.question.cache_key`)."""
    options: Hashable
    """Settings, and the `as_of` time."""


@dataclass(frozen=True, slots=True)
class _Entry:
    key: RecallKey
    recall: Recall
    generation: int
    at: datetime

    def holds(self, *, generation: int, now: datetime, lifetime: timedelta) -> bool:
        return self.generation == generation and self.at <= now < self.at + lifetime


@dataclass(slots=True)
class _Shelf:
    """The cache of one namespace."""

    entries: OrderedDict[tuple[str, Hashable], _Entry] = field(default_factory=OrderedDict)
    warm: WarmFacts | None = None
    hits: int = 0
    misses: int = 0


class RecallCache:
    """
    Recalls by namespace and question. An entry expires after some seconds, or when the namespace changes.

    Hits and misses are counted by namespace. Threads may share the cache.
    """

    def __init__(self, *, entries: int = MAX_ENTRIES, seconds: int = 60) -> None:
        self._size = entries
        self._lifetime = timedelta(seconds=seconds)
        self._shelves: OrderedDict[str, _Shelf] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, namespace: str, key: RecallKey, *, generation: int, now: datetime) -> Recall | None:
        """Return the recall of the same question with the same options, if it has not expired."""
        with self._lock:
            shelf = self._shelf(namespace)
            entry = shelf.entries.get((key.text, key.options))
            if entry is not None and entry.holds(generation=generation, now=now, lifetime=self._lifetime):
                shelf.hits += 1
                shelf.entries.move_to_end((key.text, key.options))
                return replace(entry.recall, cached=True)
            shelf.entries.pop((key.text, key.options), None)
            shelf.misses += 1
            return None

    def keep(self, namespace: str, key: RecallKey, recall: Recall, *, generation: int, now: datetime) -> None:
        """Cache a recall; the least recently used one is evicted."""
        with self._lock:
            entries = self._shelf(namespace).entries
            entries[key.text, key.options] = _Entry(key, recall, generation, now)
            entries.move_to_end((key.text, key.options))
            while len(entries) > self._size:
                entries.popitem(last=False)

    def keep_warm(self, namespace: str, warm: WarmFacts) -> None:
        """Replace the prefetched facts in the cache."""
        with self._lock:
            self._shelf(namespace).warm = warm

    def find_warm(self, namespace: str, *, options: Hashable, generation: int, now: datetime) -> WarmFacts | None:
        """Return the prefetched facts, if they have not expired."""
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
        """Clear the cache of a namespace; the counters stay."""
        with self._lock:
            shelf = self._shelf(namespace)
            shelf.entries.clear()
            shelf.warm = None

    def count(self, namespace: str) -> dict[str, int]:
        """Return the numbers of cached recalls, hits and misses of a namespace."""
        with self._lock:
            shelf = self._shelf(namespace)
            return {"cached": len(shelf.entries), "hits": shelf.hits, "misses": shelf.misses}

    def _shelf(self, namespace: str) -> _Shelf:
        shelf = self._shelves.setdefault(namespace, _Shelf())
        self._shelves.move_to_end(namespace)
        while len(self._shelves) > MAX_NAMESPACES:
            self._shelves.popitem(last=False)
        return shelf
