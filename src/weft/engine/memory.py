"""What is remembered: state, confirm, reject, supersede, expire, forget and recall facts."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from weft.config import MemoryOptions
from weft.context.narrative import build_narrative
from weft.errors import ModelError, NotFound
from weft.facts.life import is_live
from weft.index import remember as write_path
from weft.index.reembed import embed_facts
from weft.index.restore import restore
from weft.models.base import Embedder
from weft.records import (
    Context,
    Fact,
    FactEntity,
    FactEvent,
    GivenFact,
    KeptFact,
    Recall,
    Remembered,
    Suspicion,
)
from weft.search.audit import audit, iter_facts
from weft.search.recall import recall
from weft.search.recall_cache import RecallCache
from weft.store.base import Store
from weft.text.names import name_key
from weft.text.normalise import fold, squeeze

logger = logging.getLogger(__name__)


class Memory:
    """The facts of one namespace. `clock` says what time it is; nothing below asks for it."""

    def __init__(
        self,
        store: Store,
        *,
        options: MemoryOptions,
        clock: Callable[[], datetime],
        cache: RecallCache,
        count: Callable[[str], int],
        embedder: Callable[[bool], tuple[Embedder | None, str]],
    ) -> None:
        self._store = store
        self._options = options
        self._clock = clock
        self._cache = cache
        self._count = count
        self._embedder = embedder

    def add(self, subject: str, predicate: str, value: str = "", **fields: Any) -> Remembered:
        """
        State a fact: of a literal `value`, or with `object=` of an entity. Further fields are those of `GivenFact`.

        It is staged, or confirmed where a rule in the settings says so. Raises `InputError`.
        """
        return self.add_many([GivenFact(subject=subject, predicate=predicate, value=value, **fields)])[0]

    def add_many(self, facts: Iterable[GivenFact], *, entities: Sequence[FactEntity] = ()) -> list[Remembered]:
        """State facts, and name things beside them, in one transaction; return what became of each fact."""
        now = self._clock()
        done = write_path.remember(
            facts,
            store=self._store,
            options=self._options,
            now=now,
            recalled=self._cache.recent(self._store.namespace, now=now),
            entities=entities,
        )
        self._embed()
        return done

    def restore(self, facts: Sequence[KeptFact], *, entities: Sequence[FactEntity] = ()) -> list[Remembered]:
        """Write facts that were exported, as they were; return what became of each. Raises `InputError`."""
        done = restore(facts, store=self._store, options=self._options, entities=entities)
        self._embed()
        return done

    def confirm(self, id: str) -> Fact:
        """Confirm a fact; the one it was to supersede is superseded. Raises `NotFound`, `InputError`."""
        return write_path.confirm(id, store=self._store, options=self._options, now=self._clock())

    def reject(self, id: str, *, reason: str = "") -> Fact:
        """Reject a fact: it is never recalled, and not taken on again but from the user."""
        return write_path.reject(id, store=self._store, now=self._clock(), reason=reason)

    def supersede(self, id: str, value: str = "", **fields: Any) -> Remembered:
        """State a new value (or `object=`) in the place of a fact; confirming it supersedes that one."""
        old = write_path.get_fact(id, store=self._store)
        return self.add(old.subject_name, old.predicate, value, supersedes=id, **fields)

    def expire(self, id: str, *, at: datetime | None = None) -> Fact:
        """Let a fact hold until a time only; without one until now."""
        now = self._clock()
        return write_path.expire(id, store=self._store, at=at or now, now=now)

    def forget(self, *ids: str, entities: Sequence[str] = ()) -> int:
        """
        Remove facts with their history, really; return how many. Raises `NotFound`.

        Of `entities` (names), all facts about them and leading to them go, and they themselves.
        """
        store, keys = self._store, [name_key(name) for name in entities]
        with store.facts.writing():
            for id in ids:
                write_path.get_fact(id, store=store)
            for name, key in zip(entities, keys, strict=True):
                if not store.facts.find_entities([key]):
                    raise NotFound(f"no entity {name[:80]!r} in namespace {store.namespace!r}", hint="weft fact list")
            named = [fact.id for fact in iter_facts(store) if {fact.subject, fact.object} & set(keys)] if keys else []
            self._cache.forget(store.namespace)
            return store.facts.forget([*ids, *named], entities=keys)

    def history(self, id: str) -> list[FactEvent]:
        """Return what happened to a fact, in its order. Raises `NotFound`."""
        return self._store.facts.history(write_path.get_fact(id, store=self._store).id)

    def recall(self, text: str, *, as_of: datetime | None = None) -> Recall:
        """
        Return what is known that bears on a question, now or as of a time.

        Each fact counts as wanted once, also when the answer is a minute old and comes from the cache.
        """
        store, now = self._store, self._clock()
        at = write_path.to_utc(as_of) if as_of else None
        question = (fold(squeeze(text)), at, self._options)
        generation = store.facts.generation()
        found = self._cache.find(store.namespace, question, generation=generation, now=now)
        if found is None:
            embedder, problem = self._embedder(False)
            found = recall(text, store=store, embedder=embedder, options=self._options, at=at or now, problem=problem)
            self._cache.keep(store.namespace, question, found, generation=generation, now=now)
        if found.facts and not store.facts.touch([piece.fact.id for piece in found.facts], at=now):
            logger.info("the store is busy: the accesses of this recall are not counted")
        return found

    def context(self, recall: Recall, *, budget: int) -> Context:
        """Return recalled facts as text for a model, inside a token budget."""
        return build_narrative(recall.facts, count=self._count, budget=budget)

    def audit(self) -> list[Suspicion]:
        """Return facts that should be looked at, with reasons."""
        return audit(self._store, options=self._options, now=self._clock())

    def stats(self) -> dict[str, int]:
        """Return how many facts and entities there are, and how the cache of this engine did."""
        facts, entities = self._store.facts.count()
        cache = self._cache
        return {"facts": facts, "entities": entities, "cached": len(cache), "hits": cache.hits, "misses": cache.misses}

    def list(self, subject: str = "") -> Iterable[Fact]:
        """Yield facts by id, of one subject or all."""
        key = name_key(subject)
        return iter(()) if subject and not key else iter_facts(self._store, subject=key)

    def standing(self) -> Iterator[Fact]:
        """Yield the facts that are staged or confirmed and have not ended, by id."""
        now = self._clock()
        return (f for f in iter_facts(self._store) if is_live(f) and (f.valid_to is None or f.valid_to > now))

    def _embed(self) -> None:
        """Give new entities vectors. Without an embedder they are found by name, until `weft reembed`."""
        embedder, problem = self._embedder(True)
        if embedder is None:
            logger.info("entities of facts are not embedded: %s", problem)
            return
        try:
            embed_facts(self._store, embedder=embedder)
        except ModelError as error:
            logger.warning("embedding the entities of facts failed: %s", error)
