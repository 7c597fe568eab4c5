"""Restore of exported facts into a namespace that may contain other facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from weft.config import MemoryOptions
from weft.errors import InputError
from weft.facts import lifecycle
from weft.facts.validation import refusal, without_secrets
from weft.index.remember import content_of, find_rivals
from weft.masking.mask import mask_secrets
from weft.records import Fact, FactEntity, KeptFact, Remembered
from weft.store.base import Store


def restore(
    kept: Sequence[KeptFact], *, store: Store, options: MemoryOptions, entities: Iterable[FactEntity] = ()
) -> list[Remembered]:
    """
    Write facts with their ids, status, times, accesses and history in one transaction; return one outcome per fact.

    Stored facts are not changed. The outcome is `known` if a stored fact has the same id, or is live and has the same
    content. Invalid facts are refused. Raises `InputError` if an id belongs to another statement, or if a referenced
    fact is neither stored nor in `kept`. Two confirmed values of a single-valued predicate at one time raise
    `InputError` too.
    """
    done: dict[str, Remembered] = {}
    with store.facts.writing():
        for item in kept:
            done[item.fact.id] = _find_known(item.fact, store=store, options=options)
        ids = {id: found.fact.id if found.fact else "" for id, found in done.items()}
        if listed := list(entities) if options.allow_secrets else without_secrets(entities):
            store.facts.write([], entities=listed)
        for item in kept:
            if done[item.fact.id].outcome == "added":
                _write(item, ids=ids, store=store, options=options)
    return list(done.values())


def _find_known(fact: Fact, *, store: Store, options: MemoryOptions) -> Remembered:
    for known in store.facts.facts([fact.id]):
        if content_of(known) != content_of(fact):
            raise InputError(
                f"the id {fact.id!r} is used by another fact; nothing was written",
                hint="import into another --namespace",
            )
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
                    f"{fact.id!r} and {rival.id!r} overlap in single-valued {fact.predicate!r}; nothing was written",
                    hint="reject one of them with weft fact reject and export again, or change memory.single_valued",
                )
    events = [
        replace(
            event,
            other=_resolve(event.other, ids=ids, store=store),
            detail=event.detail if options.allow_secrets else mask_secrets(event.detail),
        )
        for event in item.history
    ]
    store.facts.write([fact], events=events)


def _resolve(id: str, *, ids: dict[str, str], store: Store) -> str:
    """Return the stored id of a referenced fact; empty if that fact was refused."""
    if id in ids or not id:
        return ids.get(id, "")
    if not store.facts.facts([id]):
        raise InputError(
            f"unknown fact {id[:80]!r}: neither stored nor in the file; nothing was written",
            hint="export all facts with weft fact export",
        )
    return id
