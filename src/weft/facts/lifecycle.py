"""
Life cycle of a fact: status, validity, confirmation, supersession.

    staged ──→ confirmed ──→ superseded
       │ └───────────┼──────────↗
       └→ rejected ←─┘

Nothing is overwritten. A changed value is a new fact that names the old fact in `supersedes`; confirming the new fact
supersedes the old one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from weft.config import MemoryOptions
from weft.errors import InputError
from weft.facts.score import source_weight
from weft.records import Fact, FactEvent, FactStatus

TRANSITIONS: dict[FactStatus, tuple[FactStatus, ...]] = {
    "staged": ("confirmed", "rejected", "superseded"),
    "confirmed": ("rejected", "superseded"),
    "superseded": (),
    "rejected": (),
}
NEGATION_PREFIX = "not_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """New states of facts, and the events that explain them."""

    facts: tuple[Fact, ...] = ()
    events: tuple[FactEvent, ...] = ()


def check_transition(fact: Fact, to: FactStatus) -> None:
    """Raise `InputError` if a fact cannot change to this status."""
    if fact.status == to:
        raise InputError(f"fact {fact.id!r} is already {to}", hint="weft fact list shows the status of each fact")
    if to not in TRANSITIONS[fact.status]:
        raise InputError(
            f"fact {fact.id!r} is {fact.status} and cannot become {to}",
            hint="add the statement again with weft fact add",
        )


def is_live(fact: Fact) -> bool:
    """Return whether a fact is staged or confirmed."""
    return fact.status in ("staged", "confirmed")


def valid_since(fact: Fact) -> datetime:
    """Return the start of validity: `valid_from`, or else the time of creation."""
    return fact.valid_from or fact.created


def holds(fact: Fact, *, at: datetime) -> bool:
    """Return whether a fact is valid at a time. A superseded fact is valid until it was superseded."""
    return fact.status != "rejected" and valid_since(fact) <= at and (fact.valid_to is None or at < fact.valid_to)


def overlap(first: Fact, second: Fact) -> bool:
    """Return whether the validity of two facts overlaps."""
    latest = max(valid_since(first), valid_since(second))
    return all(fact.valid_to is None or latest < fact.valid_to for fact in (first, second))


def opposite(predicate: str) -> str:
    """Return the negated predicate: `not_likes` for `likes`, and the reverse."""
    return (
        predicate.removeprefix(NEGATION_PREFIX)
        if predicate.startswith(NEGATION_PREFIX)
        else NEGATION_PREFIX + predicate
    )


def strengthen(old: Fact, new: Fact, *, options: MemoryOptions) -> Fact:
    """
    Return a fact after it was stated again.

    A different source counts as independent: confidence becomes `1 − (1 − old)·(1 − new)`. The same source can only
    raise its confidence to the larger value. The source with the larger weight is kept.
    """
    if new.source == old.source:
        confidence = max(old.confidence, new.confidence)
    else:
        confidence = 1 - (1 - old.confidence) * (1 - new.confidence)
    source = max((old.source, new.source), key=lambda source: source_weight(source, options=options))
    return replace(old, confidence=confidence, source=source, note=old.note or new.note)


def propose(new: Fact, rivals: Iterable[Fact]) -> Fact:
    """Return a new fact whose `supersedes` names the confirmed fact with another value, if there is one."""
    found = [rival for rival in rivals if rival.status == "confirmed" and overlap(rival, new)]
    latest = max(found, key=lambda rival: (valid_since(rival), rival.id), default=None)
    return replace(new, supersedes=new.supersedes or (latest.id if latest else ""))


def set_superseded(fact: Fact, old: Fact) -> Fact:
    """Return a known fact whose `supersedes` names `old`. Raises `InputError` if both are confirmed."""
    if fact.status == "staged":
        return replace(fact, supersedes=old.id)
    if is_live(old) and overlap(old, fact):
        raise InputError(
            f"facts {fact.id!r} and {old.id!r} are both confirmed",
            hint=f"weft fact reject {old.id}, or weft fact expire {old.id}",
        )
    return fact


def add(fact: Fact) -> Change:
    """Return the change that adds a fact."""
    return Change(facts=(fact,), events=(FactEvent(fact_id=fact.id, at=fact.created, action="added"),))


def confirm(fact: Fact, *, named: Sequence[Fact] = (), rivals: Sequence[Fact] = (), now: datetime) -> Change:
    """
    Return the change that confirms a fact and supersedes others.

    `named` contains the fact that its `supersedes` names. `rivals` are other values of a single-valued predicate; a
    rival whose validity overlaps ends when this fact begins. A fact without `valid_from` that supersedes another is
    valid from now.
    """
    check_transition(fact, "confirmed")
    others = {rival.id: rival for rival in (*named, *rivals) if rival.id != fact.id}
    replaced = [r for r in others.values() if r.status in ("confirmed", "superseded") or (r in named and is_live(r))]
    done = replace(fact, status="confirmed")
    if fact.valid_from is None and any(overlap(rival, done) for rival in replaced):
        done = replace(done, valid_from=now if fact.valid_to is None else min(now, fact.valid_to))
    facts, events = [done], [FactEvent(fact_id=fact.id, at=now, action="confirmed")]
    for rival in replaced:
        if not overlap(rival, done):
            continue
        facts.append(replace(rival, status="superseded", valid_to=max(valid_since(done), valid_since(rival))))
        if is_live(rival):
            events.append(FactEvent(fact_id=rival.id, at=now, action="superseded", other=fact.id))
    return Change(facts=tuple(facts), events=tuple(events))


def reject(fact: Fact, *, now: datetime, reason: str = "") -> Change:
    """
    Return the change that rejects a fact.

    A rejected fact is never recalled; it stays stored to refuse repetitions.
    """
    check_transition(fact, "rejected")
    event = FactEvent(fact_id=fact.id, at=now, action="rejected", detail=reason)
    return Change(facts=(replace(fact, status="rejected"),), events=(event,))


def expire(fact: Fact, *, at: datetime, now: datetime) -> Change:
    """Return the change that ends the validity of a fact at `at`. Validity can be shortened, not extended."""
    if not is_live(fact):
        raise InputError(
            f"fact {fact.id!r} is {fact.status} and cannot expire",
            hint="weft fact list shows the status of each fact; only staged and confirmed facts expire",
        )
    if at < valid_since(fact):
        raise InputError(
            f"fact {fact.id!r} is valid since {valid_since(fact).isoformat()} and cannot end earlier",
            hint=f"weft fact reject {fact.id}",
        )
    if fact.valid_to is not None and fact.valid_to < at:
        ends = fact.valid_to.isoformat()
        raise InputError(
            f"fact {fact.id!r} already ends {ends}", hint=f"add the statement again with --valid-from {ends}"
        )
    event = FactEvent(fact_id=fact.id, at=now, action="expired", detail=at.isoformat())
    return Change(facts=(replace(fact, valid_to=at),), events=(event,))
