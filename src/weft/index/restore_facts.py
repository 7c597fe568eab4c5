"""Facts that come back from an export: written as they were, beside what is here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from weft.config import MemoryOptions
from weft.errors import InputError
from weft.facts import lifecycle
from weft.facts.validation import refusal
from weft.index.remember import content_of, find_rivals
from weft.records import Fact, FactEntity, KeptFact, Remembered
from weft.store.base import Store


def restore(
    kept: Sequence[KeptFact], *, store: Store, options: MemoryOptions, entities: Iterable[FactEntity] = ()
) -> list[Remembered]:
    """
    Write facts with id, status, times, accesses and history as they were, in one transaction; say what became of each.

    What is here stays as it is: a fact with the same id, or one that says the same and still holds, makes the new one
    `known`. What hygiene refuses is left out. Raises `InputError` where an id is that of another statement, where a
    fact refers to one that is neither here nor comes along, or where a predicate would have two confirmed values at a
    time.
    """
    done: dict[str, Remembered] = {}
    with store.facts.writing():
        for item in kept:
            done[item.fact.id] = _find_known(item.fact, store=store, options=options)
        ids = {id: found.fact.id if found.fact else "" for id, found in done.items()}
        if listed := list(entities):
            store.facts.write([], entities=listed)
        for item in kept:
            if done[item.fact.id].outcome == "added":
                _write(item, ids=ids, store=store, options=options)
    return list(done.values())


def _find_known(fact: Fact, *, store: Store, options: MemoryOptions) -> Remembered:
    for known in store.facts.facts([fact.id]):
        if content_of(known) != content_of(fact):
            raise InputError(f"{fact.id!r} is another fact here", hint="nothing was written; use another namespace")
        return Remembered(outcome="known", fact=known)
    for known in store.facts.same([content_of(fact)]):
        if lifecycle.is_live(known) and lifecycle.is_live(fact) and lifecycle.overlap(known, fact):
            return Remembered(outcome="known", fact=known)
    if reason := refusal(fact, allow_secrets=options.allow_secrets):
        return Remembered(outcome="refused", reason=reason)
    return Remembered(outcome="added", fact=fact)


def _write(item: KeptFact, *, ids: dict[str, str], store: Store, options: MemoryOptions) -> None:
    fact = replace(item.fact, supersedes=_resolve(item.fact.supersedes, ids=ids, store=store))
    if fact.status in ("confirmed", "superseded"):
        for rival in find_rivals(fact, store=store, options=options):
            if rival.status in ("confirmed", "superseded") and lifecycle.overlap(rival, fact):
                raise InputError(
                    f"{fact.predicate!r} has one value at a time, but {fact.id!r} and {rival.id!r} would both hold",
                    hint="nothing was written; reject one of them, or change memory.single_valued",
                )
    events = [replace(event, other=_resolve(event.other, ids=ids, store=store)) for event in item.history]
    store.facts.write([fact], events=events)


def _resolve(id: str, *, ids: dict[str, str], store: Store) -> str:
    """Return the fact that a reference means here; nothing where that one was refused."""
    if id in ids or not id:
        return ids.get(id, "")
    if not store.facts.facts([id]):
        raise InputError(f"{id[:80]!r} is neither here nor in the file", hint="nothing was written; export all facts")
    return id
