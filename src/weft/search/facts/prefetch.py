"""Prefetch of the facts of the most recalled entities."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from weft.config import MemoryOptions
from weft.records import Fact
from weft.search.facts.match import MAX_COMPARED_FACTS
from weft.search.facts.recall import activate_facts
from weft.search.question.entities import USER
from weft.store.base import StoreReader


@dataclass(frozen=True, slots=True, kw_only=True)
class WarmFacts:
    """The facts of some entities at a time. Immutable, so threads may share it."""

    generation: int
    """Generation of the store's facts at the time of the read."""
    at: datetime
    options: Hashable
    """Settings of the read."""
    facts: Mapping[tuple[str, bool], tuple[int, tuple[Fact, ...]]]
    """Limit of the read and facts, by entity key and direction (True for incoming)."""
    entities: tuple[str, ...]
    """Keys of the prefetched entities, most recalled first; facts of their neighbours are included too."""


def read_warm(store: StoreReader, *, options: MemoryOptions, at: datetime, limit: int) -> WarmFacts:
    """
    Return the facts of the `limit` most recalled entities, of the user, and of their neighbours.

    All facts are read from one state of the store. No access is counted.

    """
    with store.reading():
        generation = store.facts.generation()
        keys = store.facts.frequent(limit=limit)
        reader = WarmReader(store, at=at, warm=None)
        for key in dict.fromkeys([*keys, USER]):
            reader([key], limit=max(options.per_entity, MAX_COMPARED_FACTS))
            activate_facts([key], about=reader, options=options, at=at)
    return WarmFacts(generation=generation, at=at, options=options, facts=reader.read, entities=tuple(keys))


class WarmReader:
    """Reader of facts: prefetched facts come from memory, all others from the store in one statement."""

    def __init__(self, store: StoreReader, *, at: datetime, warm: WarmFacts | None) -> None:
        self._store = store
        self._at = at
        self.read: dict[tuple[str, bool], tuple[int, tuple[Fact, ...]]] = dict(warm.facts) if warm else {}
        """Facts read so far, in the form of `WarmFacts.facts`."""

    def __call__(self, keys: Sequence[str], /, *, limit: int, incoming: bool = False) -> list[Fact]:
        missing = [key for key in keys if self.read.get((key, incoming), (0, ()))[0] < limit]
        if missing:
            found: dict[str, list[Fact]] = defaultdict(list)
            for fact in self._store.facts.about(missing, at=self._at, limit=limit, incoming=incoming):
                found[fact.object if incoming else fact.subject].append(fact)
            self.read |= {(key, incoming): (limit, tuple(found[key])) for key in missing}
        return [fact for key in dict.fromkeys(keys) for fact in self.read[key, incoming][1][:limit]]
