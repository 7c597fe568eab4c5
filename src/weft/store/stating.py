"""What stores of facts have in common: which statements are the same, which come first, what they name."""

from __future__ import annotations

from collections.abc import Sequence

from weft.records import Fact, FactEntity
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
