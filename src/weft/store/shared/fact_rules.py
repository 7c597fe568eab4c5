"""What stores of facts have in common: which statements are the same, which come first, what they name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from weft.extract.names import name_text
from weft.facts.lifecycle import Change, add, is_live, overlap
from weft.records import Fact, FactEntity, FactEvent, Relation
from weft.store.shared.merging import join_relations
from weft.text.ids import fact_content, fact_entity_key

MAX_LINK_CANDIDATES = 200
"""Surest facts of one name, in each direction, among which links to other entities are looked for."""

FULL_WEIGHT = 10
"""The weight of a link that is certain."""

LEAST_WEIGHT = 1
"""Where the scale of weights begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A fact between two entities, by their ids in the graph; those that facts alone know have ids of their own."""

    source_id: str
    target_id: str
    predicate: str
    confidence: float
    created: float
    fact_id: str


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


def strongest_links(
    links: Iterable[Link], *, entity_ids: Sequence[str], limit: int, types: Sequence[str], min_weight: float
) -> list[Relation]:
    """
    Return the surest `limit` links of each of these entities in each direction as relations, strongest first.

    As many again lead to entities that facts alone know: these keep out none that documents tell more of.
    """
    least = max(LEAST_WEIGHT, min_weight)
    ends: dict[tuple[str, bool, bool], dict[str, Link]] = defaultdict(dict)
    for link in links:
        source, target = link.source_id, link.target_id
        if source != target and link.confidence * FULL_WEIGHT >= least and (not types or link.predicate in types):
            ends[source, True, bool(fact_entity_key(target))][link.fact_id] = link
            ends[target, False, bool(fact_entity_key(source))][link.fact_id] = link
    kept: list[Link] = []
    for id in dict.fromkeys(entity_ids):
        for is_source, is_alone in product((True, False), repeat=2):
            mine = ends.get((id, is_source, is_alone), {}).values()
            kept += sorted(mine, key=lambda link: (-link.confidence, -link.created, link.fact_id))[:limit]
    return join_relations(
        ((link.source_id, link.target_id, link.predicate), link.confidence * FULL_WEIGHT) for link in kept
    )
