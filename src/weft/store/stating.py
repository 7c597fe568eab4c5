"""What stores of facts have in common: which statements are the same, which come first, what they name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weft.facts.life import Change, add, is_live, overlap
from weft.records import Fact, FactEntity, FactEvent
from weft.text.ids import fact_content
from weft.text.names import name_text


def content_of(fact: Fact) -> str:
    """Return what makes a fact the same statement as another."""
    return fact_content(fact.subject, fact.predicate, object=fact.object, value=fact.value)


def embedded_text(entity: FactEntity) -> str:
    """Return what is embedded of an entity."""
    return name_text(entity.name, entity.description) if entity.description else entity.name


def named_entities(facts: Sequence[Fact], entities: Sequence[FactEntity]) -> list[FactEntity]:
    """Return the entities that facts need: those given, then those only the facts themselves name."""
    found = {entity.key: entity for entity in entities}
    for fact in facts:
        found.setdefault(fact.subject, FactEntity(key=fact.subject, name=fact.subject_name))
        if fact.object:
            found.setdefault(fact.object, FactEntity(key=fact.object, name=fact.value))
    return list(found.values())


def surest(facts: Sequence[Fact]) -> list[Fact]:
    """Return facts by confidence; of equally sure ones the newest first, then by id."""
    return sorted(facts, key=lambda fact: (-fact.confidence, -fact.created.timestamp(), fact.id))


def joined(known: FactEntity | None, given: FactEntity) -> FactEntity:
    """Return an entity after it was named again: it keeps its name, and takes on what is newly said of it."""
    if known is None:
        return given
    return replace(
        known,
        description=given.description or known.description,
        type=given.type or known.type,
        declared=given.declared or known.declared,
    )


def borne_out(fact: Fact, equal: Sequence[Fact]) -> Fact | None:
    """
    Return which of the facts that say the same (oldest first) a document's statement bears out; None: it is new.

    One that holds, else the latest: a document does not bring back what was rejected, superseded or has ended.
    """
    live = [known for known in equal if is_live(known) and overlap(known, fact)]
    return live[0] if live else equal[-1] if equal else None


def first_steps(fact: Fact) -> Change:
    """Return a new fact of a document with its history: added, and confirmed where a rule says so."""
    change = add(fact)
    if fact.status != "confirmed":
        return change
    confirmed = FactEvent(fact_id=fact.id, at=fact.created, action="confirmed")
    return replace(change, events=(*change.events, confirmed))
