"""Facts of a namespace: add, confirm, reject, supersede, expire, forget and recall; its timeline of conversations."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from weft.config import MemoryOptions
from weft.context.narrative import build_narrative
from weft.engine.input_checks import check_filter, check_question
from weft.errors import InputError, ModelError, NotFound
from weft.extract.names import name_key
from weft.facts.lifecycle import is_live
from weft.index import remember as write_path
from weft.index.reembed import embed_facts
from weft.index.restore_facts import restore
from weft.models.base import Embedder
from weft.records import (
    Context,
    Fact,
    FactEntity,
    FactEvent,
    Filter,
    GivenFact,
    KeptFact,
    Recall,
    Remembered,
    Suspicion,
    Timeline,
)
from weft.search.facts.audit import audit, iter_facts
from weft.search.facts.prefetch import WarmReader, read_warm
from weft.search.facts.recall import answer, find_named, prepare_fact_query
from weft.search.facts.recall_cache import RecallCache, RecallKey
from weft.search.question.cache_key import cache_key
from weft.search.question.periods import read_period
from weft.search.question.read import read_question
from weft.search.timeline import find_timeline
from weft.store.base import Store
from weft.text.normalise import squeeze

logger = logging.getLogger(__name__)

TIMELINE_ENTRIES = 50
"""Maximum number of exchanges of a timeline by default."""
PREFETCHED_ENTITIES = 20
"""Number of entities whose facts `warm` prefetches, most recalled first."""


class Memory:
    """
    The facts of one namespace. `clock` is the only source of the current time.

    `embedder` takes the texts of facts just written, None for reading, and returns the embedder or why there is none.
    """

    def __init__(
        self,
        store: Store,
        *,
        options: MemoryOptions,
        clock: Callable[[], datetime],
        cache: RecallCache,
        count: Callable[[str], int],
        budget: int,
        embedder: Callable[[Sequence[str] | None], tuple[Embedder | None, str]],
    ) -> None:
        self._store = store
        self._options = options
        self._clock = clock
        self._cache = cache
        self._count = count
        self._budget = budget
        self._embedder = embedder

    def add(self, subject: str, predicate: str, value: str = "", **fields: Any) -> Remembered:
        """
        Add a fact with a literal `value`, or with an entity as `object=`. Other fields are those of `GivenFact`.

        The fact is staged, or confirmed by a rule of the settings. Raises `InputError`.
        """
        return self.add_many([GivenFact(subject=subject, predicate=predicate, value=value, **fields)])[0]

    def add_many(self, facts: Iterable[GivenFact], *, entities: Sequence[FactEntity] = ()) -> list[Remembered]:
        """Add facts and entities in one transaction; return the outcome of each fact."""
        now, given = self._clock(), list(facts)
        done = write_path.remember(
            given,
            store=self._store,
            options=self._options,
            now=now,
            recalled=self._cache.recent(self._store.namespace, now=now),
            entities=entities,
        )
        self._embed([f"{fact.predicate} {fact.object}{fact.value}" for fact in given])
        return done

    def restore(self, facts: Sequence[KeptFact], *, entities: Sequence[FactEntity] = ()) -> list[Remembered]:
        """Write exported facts unchanged; return the outcome of each. Raises `InputError`."""
        done = restore(facts, store=self._store, options=self._options, entities=entities)
        self._embed([f"{kept.fact.predicate} {kept.fact.object}{kept.fact.value}" for kept in facts])
        return done

    def confirm(self, id: str) -> Fact:
        """Confirm a fact; the fact named in `supersedes` becomes superseded. Raises `NotFound`, `InputError`."""
        return write_path.confirm(id, store=self._store, options=self._options, now=self._clock())

    def reject(self, id: str, *, reason: str = "") -> Fact:
        """Reject a fact and restore those it superseded. Only the user can add a rejected fact again."""
        return write_path.reject(id, store=self._store, options=self._options, now=self._clock(), reason=reason)

    def supersede(self, id: str, value: str = "", **fields: Any) -> Remembered:
        """Add a fact with a new value (or `object=`). When it is confirmed, the old fact becomes superseded."""
        old = write_path.get_fact(id, store=self._store)
        return self.add(old.subject_name, old.predicate, value, supersedes=id, **fields)

    def expire(self, id: str, *, at: datetime | None = None) -> Fact:
        """End the validity of a fact at a time, by default now."""
        now = self._clock()
        return write_path.expire(id, store=self._store, at=at or now, now=now)

    def forget(self, *ids: str, entities: Sequence[str] = ()) -> int:
        """
        Erase facts with their history; return their number. Raises `NotFound`.

        `entities` are names: all facts with them as subject or object are erased, and the entities too.

        """
        store, keys = self._store, [name_key(name) for name in entities]
        with store.facts.writing():
            for id in ids:
                write_path.get_fact(id, store=store)
            for name, key in zip(entities, keys, strict=True):
                if not store.facts.find_entities([key]):
                    raise NotFound(
                        f"no entity {name[:80]!r} in namespace {store.namespace!r}",
                        hint="run `weft fact list` to list all facts",
                    )
            named = [fact.id for fact in iter_facts(store) if {fact.subject, fact.object} & set(keys)] if keys else []
            erased = store.facts.forget([*ids, *named], entities=keys)
        self._cache.forget(store.namespace)
        return erased

    def history(self, id: str) -> list[FactEvent]:
        """Return the events of a fact, oldest first. Raises `NotFound`."""
        return self._store.facts.history(write_path.get_fact(id, store=self._store).id)

    def sources(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the sources of the documents that state facts, by fact id; none for facts stated by hand alone."""
        origins = self._store.facts.origins(ids)
        found = sorted({id for documents in origins.values() for id in documents if id})
        named = {document.id: document.source for document in self._store.documents(found)}
        return {id: tuple(sorted(named[d] for d in origins.get(id, ()) if d in named)) for id in ids}

    def recall(self, text: str, *, as_of: datetime | None = None, about: Sequence[str] = ()) -> Recall:
        """
        Return the facts relevant to a question, now or as of a time.

        Facts of the entities named in `about` that share a word with the question are found, like those of the user.
        Every recall counts one access per fact, also from the cache (`memory.cache_seconds`). The cache answers equal
        and reworded questions.
        """
        check_question(text)
        store, now = self._store, self._clock()
        at = write_path.to_utc(as_of) if as_of else None
        given = tuple(name_key(name) for name in about)
        key = RecallKey(text=cache_key(text), options=(at, self._options, given))
        found = self._cache.find(store.namespace, key, generation=store.facts.generation(), now=now)
        found = replace(found, text=squeeze(text)) if found else self._recall(text, key, at=at, now=now, given=given)
        if found.facts and not store.facts.touch([piece.fact.id for piece in found.facts], at=now):
            logger.info("the accesses of this recall are not counted: the store is busy, or several are read")
        return found

    def warm(self, *, limit: int = PREFETCHED_ENTITIES) -> int:
        """
        Prefetch the facts of the most recalled entities; return the number of entities.

        Prefetched facts expire like cached recalls, or when the namespace changes. Prefetching counts no access.
        """
        store, name = self._store, self._store.namespace
        with store.reading():
            store.facts.generation()  # takes the snapshot before the clock is read
            warm = read_warm(store, options=self._options, at=self._clock(), limit=limit)
        if store.facts.generation() == warm.generation:
            self._cache.keep_warm(name, warm)
        for entity in store.facts.find_entities(warm.entities[:1]).values():
            embedder, problem = self._embedder(None)
            query = prepare_fact_query(read_question(entity.name), store=store, embedder=embedder, problem=problem)
            if query.vector is not None:  # the first vector search reads the vectors from disk
                store.facts.search_vector(query.vector, limit=1)
        return len(warm.entities)

    def context(self, recall: Recall, *, budget: int | None = None) -> Context:
        """Return recalled facts as text for a model within a token budget, by default that of the settings."""
        limit = self._budget if budget is None else budget
        return build_narrative(recall.facts, count=self._count, budget=limit)

    def timeline(self, when: str = "", *, where: Filter | None = None, limit: int = TIMELINE_ENTRIES) -> Timeline:
        """
        Return the exchanges of a time by day, newest first; without `when` those of the last two weeks that have any.

        `when` is a time such as `last week` or `since Monday`, or a question about one. Raises `InputError`.
        """
        check_question(when)
        check_filter(where or Filter())
        now = self._clock()
        period = read_period(when, at=now)
        if when.strip() and period is None:
            raise InputError(
                f"unknown time {when.strip()[:80]!r}",
                hint="use a time such as 'last week', 'since Monday' or 2026-03-01",
            )
        return find_timeline(self._store, period, where=where or Filter(), at=now, limit=limit)

    def audit(self) -> list[Suspicion]:
        """Return facts that need review, with reasons."""
        return audit(self._store, options=self._options, now=self._clock())

    def stats(self) -> dict[str, int]:
        """Return the numbers of facts and entities, and the counters of the cache."""
        facts, entities = self._store.facts.count()
        return {"facts": facts, "entities": entities, **self._cache.count(self._store.namespace)}

    def list(self, subject: str = "") -> Iterable[Fact]:
        """Yield the facts of one subject, or of all subjects, in order of id."""
        key = name_key(subject)
        return iter(()) if subject and not key else iter_facts(self._store, subject=key)

    def page(self, subject: str = "", *, after: str = "", limit: int) -> Sequence[Fact]:
        """Return a page of facts in order of id, starting after the id `after`; with a subject, only its facts."""
        key = name_key(subject)
        return [] if subject and not key else self._store.facts.facts_after(after, limit=limit, subject=key)

    def get(self, id: str) -> Fact:
        """Return a fact by its id. Raises `NotFound`."""
        return write_path.get_fact(id, store=self._store)

    def standing(self) -> Iterator[Fact]:
        """Yield staged and confirmed facts whose validity has not ended, in the order of their ids."""
        now = self._clock()
        return (f for f in iter_facts(self._store) if is_live(f) and (f.valid_to is None or f.valid_to > now))

    def _recall(self, text: str, key: RecallKey, *, at: datetime | None, now: datetime, given: Sequence[str]) -> Recall:
        """Recall from the store, and cache the result."""
        store, cache, name = self._store, self._cache, self._store.namespace
        embedder, problem = self._embedder(None)
        query = prepare_fact_query(read_question(text), store=store, embedder=embedder, problem=problem)
        with store.reading():
            generation = store.facts.generation()
            # Read the clock again: the snapshot includes facts that were added while the question was embedded.
            moment = at or max(now, self._clock())
            named = find_named(query.question, store=store)
            prefetched = None
            if at is None and (warm := cache.find_warm(name, options=self._options, generation=generation, now=now)):
                prefetched = WarmReader(store, at=moment, warm=warm)
            found = answer(query, named, store=store, options=self._options, at=moment, about=prefetched, given=given)
        cache.keep(name, key, found, generation=generation, now=now)
        return found

    def _embed(self, written: Sequence[str]) -> None:
        """Embed new entities. Without an embedder they are found by name only, until `weft reembed`."""
        embedder, problem = self._embedder(written)
        if embedder is None:
            logger.info("entities of facts are not embedded: %s", problem)
            return
        try:
            embed_facts(self._store, embedder=embedder)
        except ModelError as error:
            logger.warning("embedding the entities of facts failed: %s", error)
