"""Write path of facts: validation, deduplication, and changes of status."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone

from weft.config import MemoryOptions
from weft.errors import InputError, NotFound
from weft.extract.names import name_key, predicate_key
from weft.facts import lifecycle
from weft.facts.validation import refusal, without_secrets
from weft.masking.mask import mask_secrets
from weft.records import Fact, FactEntity, FactEvent, GivenFact, Remembered
from weft.store.base import Store
from weft.text.ids import fact_content, fact_id
from weft.text.normalise import squeeze

CREATED_STEP = timedelta(microseconds=1)
"""Difference of creation times within one call. It preserves the order of the facts."""

TEXT_FIELDS = ("subject", "predicate", "object", "value", "source", "note", "description", "supersedes")


def remember(
    given: Iterable[GivenFact],
    *,
    store: Store,
    options: MemoryOptions,
    now: datetime,
    recalled: Sequence[Fact] = (),
    entities: Sequence[FactEntity] = (),
) -> list[Remembered]:
    """
    Write facts in one transaction; return one outcome per fact. Creation times are a microsecond apart, up to `now`.

    A known fact is strengthened and an invalid one is refused. A new value of a single-valued predicate names the fact
    that it would supersede. `recalled` are recently recalled facts; a repetition of them is refused. `entities` are
    written with the facts.
    """
    done = []
    items = list(given)
    first = now - max(len(items) - 1, 0) * CREATED_STEP
    made = [(make_fact(item, at=first + place * CREATED_STEP), item) for place, item in enumerate(items)]
    with store.facts.writing():
        store.facts.write([], entities=entities if options.allow_secrets else without_secrets(entities))
        for fact, item in made:
            reason = refusal(fact, recalled=recalled, allow_secrets=options.allow_secrets)
            if reason:
                done.append(Remembered(outcome="refused", reason=reason))
            else:
                done.append(_remember(fact, item, store=store, options=options))
    return done


def confirm(id: str, *, store: Store, options: MemoryOptions, now: datetime) -> Fact:
    """Confirm a fact. The fact that it supersedes ends when the new fact begins. Raises `NotFound` or `InputError`."""
    with store.facts.writing():
        fact = get_fact(id, store=store)
        named = store.facts.facts([fact.supersedes]) if fact.supersedes else []
        rivals = find_rivals(fact, store=store, options=options)
        _write(lifecycle.confirm(fact, named=named, rivals=rivals, now=now), store=store)
        return get_fact(id, store=store)


def reject(id: str, *, store: Store, options: MemoryOptions, now: datetime, reason: str = "") -> Fact:
    """
    Reject a fact. A rejected fact is neither recalled nor accepted again.

    Facts that it superseded return to their former status and validity.
    """
    with store.facts.writing():
        fact = get_fact(id, store=store)
        named = store.facts.facts([fact.supersedes]) if fact.supersedes else []
        others = {other.id: other for other in (*named, *store.facts.stated(fact.subject, fact.predicate))}
        former = [
            lifecycle.former_state(o, store.facts.history(o.id), by=id)
            for o in others.values()
            if o.status == "superseded"
        ]
        replaced = [state for state in former if state is not None]
        rivals = find_rivals(fact, store=store, options=options)
        kept = reason if options.allow_secrets else mask_secrets(reason)
        _write(lifecycle.reject(fact, replaced=replaced, rivals=rivals, now=now, reason=kept), store=store)
        return get_fact(id, store=store)


def expire(id: str, *, store: Store, at: datetime, now: datetime) -> Fact:
    """Set the end of validity of a fact."""
    with store.facts.writing():
        _write(lifecycle.expire(get_fact(id, store=store), at=to_utc(at), now=now), store=store)
        return get_fact(id, store=store)


def get_fact(id: str, *, store: Store) -> Fact:
    """Return a fact by its id. Raises `NotFound`."""
    found = store.facts.facts([id])
    if not found:
        raise NotFound(
            f"no fact {id[:80]!r} in namespace {store.namespace!r}", hint="run `weft fact list` to list all facts"
        )
    return found[0]


def to_utc(time: datetime) -> datetime:
    """Return a time in UTC; a time without zone is UTC. Raises `InputError`."""
    if not isinstance(time, datetime):
        raise InputError(f"invalid time {str(time)[:80]!r}", hint="pass a datetime")
    return time.replace(tzinfo=timezone.utc) if time.tzinfo is None else time.astimezone(timezone.utc)


def make_fact(given: GivenFact, *, at: datetime) -> Fact:
    """Return a statement as a fact without id. Raises `InputError` for an invalid or contradictory field."""
    for field in TEXT_FIELDS:
        if not isinstance(text := getattr(given, field), str):
            raise InputError(f"invalid {field}: {repr(text)[:80]}", hint="pass a string")
    if bool(given.object) and bool(given.value):
        raise InputError("the fact has both an object and a value", hint="pass either object or value")
    if not isinstance(given.confidence, int | float) or not 0 <= given.confidence <= 1:
        raise InputError(f"invalid confidence {given.confidence!r}", hint="use a number from 0 to 1")
    key = name_key(given.object)
    if given.object and not key:
        raise InputError(
            f"object {given.object[:80]!r} has no letters or digits", hint="pass the text as value instead of object"
        )
    begins, ends = (to_utc(time) if time else None for time in (given.valid_from, given.valid_to))
    if ends is not None and ends < (begins or to_utc(at)):
        hint = "set valid_to to a time after valid_from" if begins else "also set valid_from, to an earlier time"
        raise InputError(f"invalid valid_to {ends.isoformat()}: the fact would end before it begins", hint=hint)
    return Fact(
        id="",
        subject=name_key(given.subject),
        subject_name=squeeze(given.subject),
        predicate=predicate_key(given.predicate),
        object=key,
        value=squeeze(given.object) if key else given.value.strip(),
        confidence=float(given.confidence),
        source=squeeze(given.source) or "other",
        created=to_utc(at),
        valid_from=begins,
        valid_to=ends,
        supersedes=given.supersedes,
        note=given.note.strip(),
        spelling=spelling if (spelling := squeeze(given.predicate)) != predicate_key(spelling) else "",
    )


def _remember(fact: Fact, given: GivenFact, *, store: Store, options: MemoryOptions) -> Remembered:
    content = content_of(fact)
    denial = content_of(replace(fact, predicate=lifecycle.opposite(fact.predicate)))
    found = store.facts.same([content, denial])
    equal = [known for known in found if content_of(known) == content]
    described = [FactEntity(key=fact.subject, name=fact.subject_name, description=squeeze(given.description))]
    described = described if options.allow_secrets else without_secrets(described)
    now = fact.created
    denials = [known for known in found if content_of(known) == denial]
    for known in equal:
        if lifecycle.is_live(known) and lifecycle.overlap(known, fact):
            if fact.valid_to not in (None, known.valid_to):
                return Remembered(outcome="refused", reason=_explain_other_end(known))
            done = _strengthen(known, fact, store=store, options=options, entities=described, now=now)
            return replace(done, contradicts=_find_contradictions(known, denials, store=store, options=options))
    rejected = next((known.id for known in equal if known.status == "rejected"), "")
    if rejected and fact.source != "user_edit":
        return Remembered(outcome="refused", reason=f"rejected before ({rejected})")
    if fact.supersedes:
        get_fact(fact.supersedes, store=store)
    rivals = [rival for rival in find_rivals(fact, store=store, options=options) if lifecycle.is_live(rival)]
    taken, occurrence = {known.id for known in equal}, 0
    while (id := fact_id(store.namespace, content, occurrence)) in taken:
        occurrence += 1
    made = lifecycle.propose(replace(fact, id=id), rivals)
    contradictions = _find_contradictions(made, denials, store=store, options=options)
    _write(lifecycle.add(made), store=store, entities=described)
    if made.source in options.confirm_sources:
        confirm(id, store=store, options=options, now=now)
    return Remembered(outcome="added", fact=get_fact(id, store=store), contradicts=contradictions)


def _find_contradictions(
    fact: Fact, denials: Sequence[Fact], *, store: Store, options: MemoryOptions
) -> tuple[Fact, ...]:
    """Return live facts that contradict a fact: other values of a single-valued predicate, and denials."""
    others = (*find_rivals(fact, store=store, options=options), *denials)
    return tuple(other for other in others if lifecycle.is_live(other) and lifecycle.overlap(other, fact))


def _strengthen(
    known: Fact, fact: Fact, *, store: Store, options: MemoryOptions, entities: Sequence[FactEntity], now: datetime
) -> Remembered:
    """Strengthen a known fact; the same statement from the same source changes nothing."""
    stronger = lifecycle.strengthen(known, fact, options=options)
    if fact.supersedes not in ("", known.id):
        stronger = lifecycle.set_superseded(stronger, get_fact(fact.supersedes, store=store))
    changed = stronger != known
    if changed:
        event = FactEvent(fact_id=known.id, at=now, action="strengthened", detail=fact.source)
        _write(lifecycle.Change(facts=(stronger,), events=(event,)), store=store, entities=entities)
    elif any(entity.description for entity in entities):
        store.facts.write([], entities=entities)
    if not changed and "" not in store.facts.origins([known.id]).get(known.id, ("",)):
        store.facts.write([known])  # until now only documents stated the fact; keep it when they are deleted
    if known.status == "staged" and fact.source in options.confirm_sources:
        confirm(known.id, store=store, options=options, now=now)
        changed = True
    return Remembered(outcome="strengthened" if changed else "known", fact=get_fact(known.id, store=store))


def _explain_other_end(known: Fact) -> str:
    """Return the reason why a known fact with another end of validity is refused, with the command to use instead."""
    if known.valid_to is None:
        return f"fact {known.id} has no end: set one with weft fact expire {known.id}"
    ends = known.valid_to.isoformat()
    return f"known until {ends} ({known.id}): expire that fact sooner, or state this one with valid_from {ends}"


def find_rivals(fact: Fact, *, store: Store, options: MemoryOptions) -> list[Fact]:
    """Return the other facts of the same subject and predicate if the predicate is single-valued."""
    if fact.predicate not in {predicate_key(name) for name in options.single_valued}:
        return []
    return [other for other in store.facts.stated(fact.subject, fact.predicate) if other.id != fact.id]


def content_of(fact: Fact) -> str:
    """Return the identity of a statement: subject, predicate, and object or value."""
    return fact_content(fact.subject, fact.predicate, object=fact.object, value=fact.value)


def _write(change: lifecycle.Change, *, store: Store, entities: Sequence[FactEntity] = ()) -> None:
    store.facts.write(change.facts, events=change.events, entities=entities)
