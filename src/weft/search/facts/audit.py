"""Audit of facts: finds facts that violate the current rules, contradict others, or were never confirmed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from weft.config import MemoryOptions
from weft.extract.names import predicate_key
from weft.facts.lifecycle import holds, is_live, opposite
from weft.facts.validation import refusal
from weft.records import Fact, Suspicion
from weft.store.base import StoreReader
from weft.text.ids import fact_content

PAGE_FACTS = 1000
"""Facts per read."""

MAX_STAGED_AGE = timedelta(days=90)
"""A staged fact that was neither confirmed nor recalled for longer is suspicious."""


def iter_facts(store: StoreReader, *, subject: str = "") -> Iterator[Fact]:
    """Yield the facts of a namespace by id, of all subjects or of one subject (a key)."""
    after = ""
    while page := store.facts.facts_after(after, limit=PAGE_FACTS, subject=subject):
        yield from page
        after = page[-1].id


def audit(store: StoreReader, *, options: MemoryOptions, now: datetime) -> list[Suspicion]:
    """Return suspicious facts with reasons, ordered by id. Secrets are listed even if the settings allow them."""
    single = {predicate_key(name) for name in options.single_valued}
    found = []
    for fact in iter_facts(store):
        if not is_live(fact):
            continue
        found += [Suspicion(fact=fact, reason=reason) for reason in _reasons(fact, store=store, single=single, now=now)]
    return found


def _reasons(fact: Fact, *, store: StoreReader, single: set[str], now: datetime) -> Iterator[str]:
    if reason := refusal(fact):
        yield reason
    if fact.predicate in single:
        others = store.facts.stated(fact.subject, fact.predicate)
        rivals = [other.id for other in others if other.id != fact.id and is_live(other) and holds(other, at=now)]
        if rivals and holds(fact, at=now):
            yield f"{fact.predicate} has one value at a time, but other facts state another: {', '.join(rivals)}"
    denied = fact_content(fact.subject, opposite(fact.predicate), object=fact.object, value=fact.value)
    denials = [other.id for other in store.facts.same([denied]) if is_live(other) and holds(other, at=now)]
    if denials:
        yield f"denied by {', '.join(denials)}"
    accessed = fact.last_accessed or fact.created
    recalled = accessed if accessed <= now else fact.created  # an access in the future comes from a wrong clock
    if fact.status == "staged" and now - recalled > MAX_STAGED_AGE:
        yield f"neither confirmed nor recalled for {MAX_STAGED_AGE.days} days"
