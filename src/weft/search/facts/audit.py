"""Facts that should be looked at: what today's rules would not let in, what contradicts, what nobody confirmed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from weft.config import MemoryOptions
from weft.extract.names import predicate_key
from weft.facts.lifecycle import holds, is_live, opposite
from weft.facts.validation import refusal
from weft.records import Fact, Suspicion
from weft.store.base import Store
from weft.text.ids import fact_content

PAGE = 1000
STALE = timedelta(days=90)
"""After so long without being confirmed or wanted a staged fact is suspicious."""


def iter_facts(store: Store, *, subject: str = "") -> Iterator[Fact]:
    """Yield the facts of a namespace by id; of one subject (by key) or all."""
    after = ""
    while page := store.facts.facts_after(after, limit=PAGE, subject=subject):
        yield from page
        after = page[-1].id


def audit(store: Store, *, options: MemoryOptions, now: datetime) -> list[Suspicion]:
    """Return suspicious facts with reasons, by id. Secrets are listed also where the settings allow them."""
    single = {predicate_key(name) for name in options.single_valued}
    found = []
    for fact in iter_facts(store):
        if not is_live(fact):
            continue
        found += [Suspicion(fact=fact, reason=reason) for reason in _reasons(fact, store=store, single=single, now=now)]
    return found


def _reasons(fact: Fact, *, store: Store, single: set[str], now: datetime) -> Iterator[str]:
    if reason := refusal(fact):
        yield reason
    if fact.predicate in single:
        others = store.facts.stated(fact.subject, fact.predicate)
        rivals = [other.id for other in others if other.id != fact.id and is_live(other) and holds(other, at=now)]
        if rivals and holds(fact, at=now):
            yield f"{fact.predicate} has one value at a time, but there is also {', '.join(rivals)}"
    denied = fact_content(fact.subject, opposite(fact.predicate), object=fact.object, value=fact.value)
    denials = [other.id for other in store.facts.same([denied]) if is_live(other) and holds(other, at=now)]
    if denials:
        yield f"it is denied by {', '.join(denials)}"
    if fact.status == "staged" and now - (fact.last_accessed or fact.created) > STALE:
        yield f"nobody has confirmed or wanted it for {STALE.days} days"
