"""
Life cycle of a fact: status, validity, confirmation, supersession.

    staged ──→ confirmed ──→ superseded
       │ └───────────┼──────────↗
       └→ rejected ←─┘

Nothing is overwritten. A changed value is a new fact that names the old fact in `supersedes`; confirming the new fact
supersedes the old one. Rejecting the new fact restores the old one to its former status and validity.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from weft.config import MemoryOptions
from weft.errors import InputError
from weft.records import Fact, FactEvent, FactStatus

TRANSITIONS: dict[FactStatus, tuple[FactStatus, ...]] = {
    "staged": ("confirmed", "rejected", "superseded"),
    "confirmed": ("rejected", "superseded"),
    "superseded": (),
    "rejected": (),
}
NEGATION_PREFIX = "not_"
_FORMER, _UNTIL = "was ", " until "
"""Parts of the detail of a `superseded` event: `was confirmed until 2026-04-01T00:00:00+00:00`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """New states of facts, and the events that explain them."""

    facts: tuple[Fact, ...] = ()
    events: tuple[FactEvent, ...] = ()


def check_transition(fact: Fact, to: FactStatus) -> None:
    """Raise `InputError` if a fact cannot change to this status."""
    if fact.status == to:
        raise InputError(
            f"fact {fact.id!r} is already {to}", hint="run `weft fact list` to see the status of each fact"
        )
    if to not in TRANSITIONS[fact.status]:
        raise InputError(
            f"fact {fact.id!r} is {fact.status} and cannot become {to}",
            hint="add the statement again with weft fact add",
        )


def is_live(fact: Fact) -> bool:
    """Return True if a fact is staged or confirmed."""
    return fact.status in ("staged", "confirmed")


def valid_since(fact: Fact) -> datetime:
    """Return the start of validity: `valid_from`, or else the time of creation."""
    return fact.valid_from or fact.created


def holds(fact: Fact, *, at: datetime) -> bool:
    """Return True if a fact is valid at a time. A superseded fact is valid until it was superseded."""
    return fact.status != "rejected" and valid_since(fact) <= at and (fact.valid_to is None or at < fact.valid_to)


def overlap(first: Fact, second: Fact) -> bool:
    """Return True if the validity of two facts overlaps."""
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
    source = max((old.source, new.source), key=options.weight_of)
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
            hint=f"run weft fact reject {old.id}, or weft fact expire {old.id}",
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
        ended, event = _supersede(rival, by=done, now=now)
        facts.append(ended)
        events.append(event)
    return Change(facts=tuple(facts), events=tuple(events))


def reject(
    fact: Fact, *, replaced: Sequence[Fact] = (), rivals: Sequence[Fact] = (), now: datetime, reason: str = ""
) -> Change:
    """
    Return the change that rejects a fact and restores the facts that it superseded.

    `replaced` are the superseded facts in their `former_state`. `rivals` are other values of a single-valued predicate;
    a restored fact ends when a rival that overlaps with it begins. A rejected fact is never recalled; it stays stored
    to refuse repetitions.
    """
    check_transition(fact, "rejected")
    facts = {fact.id: replace(fact, status="rejected")}
    events = [FactEvent(fact_id=fact.id, at=now, action="rejected", detail=reason)]
    for old in replaced:
        events.append(FactEvent(fact_id=old.id, at=now, action="restored", other=fact.id))
        others = {rival.id: rival for rival in rivals} | facts
        settled = [r for r in others.values() if r.id != old.id and r.status in ("confirmed", "superseded")]
        overlapping = [rival for rival in settled if overlap(rival, old)]
        facts[old.id] = old
        if overlapping:
            first = min(overlapping, key=lambda rival: (valid_since(rival), rival.id))
            facts[old.id], event = _supersede(old, by=first, now=now)
            events.append(event)
    return Change(facts=tuple(facts.values()), events=tuple(events))


def former_state(fact: Fact, history: Sequence[FactEvent], *, by: str) -> Fact | None:
    """Return a fact as it was before the fact `by` superseded it; None if another event ended it last."""
    endings: list[FactEvent] = []
    for event in history:
        if event.action == "superseded":
            endings.append(event)
        elif event.action == "restored":
            endings = endings[:-1]
    if fact.status != "superseded" or not endings or endings[-1].other != by:
        return None
    name, _, end = endings[-1].detail.removeprefix(_FORMER).partition(_UNTIL)
    if status := next((known for known in TRANSITIONS if known == name), None):
        return replace(fact, status=status, valid_to=datetime.fromisoformat(end) if end else None)
    # The event of an earlier version has no detail.
    ends = [event.detail for event in history if event.action == "expired"]
    was_confirmed = any(event.action == "confirmed" for event in history)
    return replace(
        fact,
        status="confirmed" if was_confirmed else "staged",
        valid_to=datetime.fromisoformat(ends[-1]) if ends else None,
    )


def _supersede(fact: Fact, *, by: Fact, now: datetime) -> tuple[Fact, FactEvent]:
    """Return a fact that ends when `by` begins, and the event, which keeps the former status and end."""
    detail = f"{_FORMER}{fact.status}" + (f"{_UNTIL}{fact.valid_to.isoformat()}" if fact.valid_to else "")
    ended = replace(fact, status="superseded", valid_to=max(valid_since(by), valid_since(fact)))
    return ended, FactEvent(fact_id=fact.id, at=now, action="superseded", other=by.id, detail=detail)


def expire(fact: Fact, *, at: datetime, now: datetime) -> Change:
    """Return the change that ends the validity of a fact at `at`. Validity can be shortened, not extended."""
    if not is_live(fact):
        raise InputError(
            f"fact {fact.id!r} is {fact.status} and cannot expire",
            hint="run `weft fact list` to see the status of each fact; only staged and confirmed facts expire",
        )
    if at < valid_since(fact):
        raise InputError(
            f"fact {fact.id!r} is valid since {valid_since(fact).isoformat()} and cannot end earlier",
            hint=f"pass a later time, or run weft fact reject {fact.id}",
        )
    if fact.valid_to is not None and fact.valid_to < at:
        ends = fact.valid_to.isoformat()
        raise InputError(
            f"fact {fact.id!r} already ends {ends}", hint=f"add the statement again with --valid-from {ends}"
        )
    event = FactEvent(fact_id=fact.id, at=now, action="expired", detail=at.isoformat())
    return Change(facts=(replace(fact, valid_to=at),), events=(event,))


def fact_text(fact: Fact) -> str:
    """Return a fact as the sentence to embed."""
    return f"{fact.subject_name} {fact.predicate.replace('_', ' ')} {fact.value}"
