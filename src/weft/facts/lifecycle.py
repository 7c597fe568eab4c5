"""
The life of a fact.

    staged ──→ confirmed ──→ superseded
       │ └───────────┼──────────↗
       └→ rejected ←─┘

Nothing is overwritten: a changed value is a new fact that names the one it would supersede, and confirming it does so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from weft.config import MemoryOptions
from weft.errors import InputError
from weft.facts.score import source_weight
from weft.records import Fact, FactEvent, FactStatus

MOVES: dict[FactStatus, tuple[FactStatus, ...]] = {
    "staged": ("confirmed", "rejected", "superseded"),
    "confirmed": ("rejected", "superseded"),
    "superseded": (),
    "rejected": (),
}
NOT = "not_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Facts as they are to be, and what happened to them."""

    facts: tuple[Fact, ...] = ()
    events: tuple[FactEvent, ...] = ()


def check_move(fact: Fact, to: FactStatus) -> None:
    """Raise `InputError` where a fact cannot go from its status to another."""
    if fact.status == to:
        raise InputError(f"fact {fact.id!r} is {to} already", hint="there is nothing to do")
    if to not in MOVES[fact.status]:
        raise InputError(f"fact {fact.id!r} is {fact.status}, it cannot become {to}", hint="state it again")


def is_live(fact: Fact) -> bool:
    """Return whether a fact is staged or confirmed."""
    return fact.status in ("staged", "confirmed")


def start(fact: Fact) -> datetime:
    """Return since when a fact holds."""
    return fact.valid_from or fact.created


def holds(fact: Fact, *, at: datetime) -> bool:
    """Return whether a fact holds at a time. What was superseded held until it was."""
    return fact.status != "rejected" and start(fact) <= at and (fact.valid_to is None or at < fact.valid_to)


def overlap(first: Fact, second: Fact) -> bool:
    """Return whether there is a time at which both hold."""
    latest = max(start(first), start(second))
    return all(fact.valid_to is None or latest < fact.valid_to for fact in (first, second))


def opposite(predicate: str) -> str:
    """Return the predicate that denies this one: `likes` and `not_likes`."""
    return predicate.removeprefix(NOT) if predicate.startswith(NOT) else NOT + predicate


def strengthen(old: Fact, new: Fact, *, options: MemoryOptions) -> Fact:
    """
    Return a fact after it was stated again.

    A second source makes it surer, as two independent witnesses do; the same source can only raise its own word.
    The more trusted source is kept.
    """
    if new.source == old.source:
        confidence = max(old.confidence, new.confidence)
    else:
        confidence = 1 - (1 - old.confidence) * (1 - new.confidence)
    source = max((old.source, new.source), key=lambda source: source_weight(source, options=options))
    return replace(old, confidence=confidence, source=source, note=old.note or new.note)


def propose(new: Fact, rivals: Iterable[Fact]) -> Fact:
    """Return a new value of a single-valued predicate naming the confirmed one that it would supersede, if any."""
    found = [rival for rival in rivals if rival.status == "confirmed" and overlap(rival, new)]
    latest = max(found, key=lambda rival: (start(rival), rival.id), default=None)
    return replace(new, supersedes=new.supersedes or (latest.id if latest else ""))


def replacing(fact: Fact, old: Fact) -> Fact:
    """Return a known fact that names another one as what confirming it supersedes. Raises `InputError`."""
    if fact.status == "staged":
        return replace(fact, supersedes=old.id)
    if is_live(old) and overlap(old, fact):
        raise InputError(
            f"fact {fact.id!r} is confirmed already, beside {old.id!r}", hint="reject that one, or let it expire"
        )
    return fact


def add(fact: Fact) -> Change:
    """Return the first step of a fact."""
    return Change(facts=(fact,), events=(FactEvent(fact_id=fact.id, at=fact.created, action="added"),))


def confirm(fact: Fact, *, named: Sequence[Fact] = (), rivals: Sequence[Fact] = (), now: datetime) -> Change:
    """
    Return a fact confirmed, and what that supersedes.

    `named` is the fact it says it supersedes. `rivals` are other values of a single-valued predicate: wherever one of
    them holds at the same time, it ends where this one begins. A fact that replaces something and does not say since
    when it holds, holds from now on.
    """
    check_move(fact, "confirmed")
    others = {rival.id: rival for rival in (*named, *rivals) if rival.id != fact.id}
    standing = [r for r in others.values() if r.status in ("confirmed", "superseded") or (r in named and is_live(r))]
    done = replace(fact, status="confirmed")
    if fact.valid_from is None and any(overlap(rival, done) for rival in standing):
        done = replace(done, valid_from=now if fact.valid_to is None else min(now, fact.valid_to))
    facts, events = [done], [FactEvent(fact_id=fact.id, at=now, action="confirmed")]
    for rival in standing:
        if not overlap(rival, done):
            continue
        facts.append(replace(rival, status="superseded", valid_to=max(start(done), start(rival))))
        if is_live(rival):
            events.append(FactEvent(fact_id=rival.id, at=now, action="superseded", other=fact.id))
    return Change(facts=tuple(facts), events=tuple(events))


def reject(fact: Fact, *, now: datetime, reason: str = "") -> Change:
    """Return a fact rejected: it is kept, so that it is not proposed again, and never recalled."""
    check_move(fact, "rejected")
    event = FactEvent(fact_id=fact.id, at=now, action="rejected", detail=reason)
    return Change(facts=(replace(fact, status="rejected"),), events=(event,))


def expire(fact: Fact, *, at: datetime, now: datetime) -> Change:
    """Return a fact that holds until `at` only. Its time can be shortened, not prolonged."""
    if not is_live(fact):
        raise InputError(f"fact {fact.id!r} is {fact.status}, it cannot expire", hint="it is not recalled any more")
    if at < start(fact):
        raise InputError(
            f"fact {fact.id!r} holds since {start(fact).isoformat()}, it cannot end before", hint="reject it instead"
        )
    if fact.valid_to is not None and fact.valid_to < at:
        ends = fact.valid_to.isoformat()
        raise InputError(f"fact {fact.id!r} ends {ends} already", hint=f"state it again with valid_from {ends}")
    event = FactEvent(fact_id=fact.id, at=now, action="expired", detail=at.isoformat())
    return Change(facts=(replace(fact, valid_to=at),), events=(event,))
