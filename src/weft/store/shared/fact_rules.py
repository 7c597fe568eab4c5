"""Fact rules shared by all stores: identity, ordering, entities, links."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import product

from weft.extract.names import name_text
from weft.extract.user_statements import SOURCE, SUBJECT, has_one_value, project_of
from weft.facts.lifecycle import Change, add, is_live, overlap, valid_since
from weft.records import Fact, FactEntity, FactEvent, Relation
from weft.store.shared.merging import join_relations
from weft.text.ids import fact_content, fact_entity_key

MAX_CLOCK_SKEW = timedelta(days=1)
"""A last access further in the future comes from a wrong clock and is replaced by the next access."""

MAX_LINK_CANDIDATES = 200
"""Maximum number of facts per name and direction that are examined for links, highest confidence first."""

MAX_LINK_WEIGHT = 10
"""Weight of a link of confidence 1."""

MIN_LINK_WEIGHT = 1
"""Minimum weight of a link, the start of the weight scale; weaker links are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A fact between two entities, by their graph ids or `fact_entity_id` for entities known only from facts."""

    source_id: str
    target_id: str
    predicate: str
    confidence: float
    created: float
    fact_id: str


def content_of(fact: Fact) -> str:
    """Return the content hash of a fact. Facts with the same hash are equal statements."""
    return fact_content(fact.subject, fact.predicate, object=fact.object, value=fact.value)


def embedded_text(entity: FactEntity) -> str:
    """Return the text to embed for an entity."""
    return name_text(entity.name, entity.description) if entity.description else entity.name


def named_entities(facts: Sequence[Fact], entities: Sequence[FactEntity]) -> list[FactEntity]:
    """
    Return the entities that facts need.

    These are `entities`, then entities with only a name for all other subjects and objects.
    """
    found = {entity.key: entity for entity in entities}
    for fact in facts:
        found.setdefault(fact.subject, FactEntity(key=fact.subject, name=fact.subject_name))
        if fact.object:
            found.setdefault(fact.object, FactEntity(key=fact.object, name=fact.value))
    return list(found.values())


def by_confidence(facts: Sequence[Fact]) -> list[Fact]:
    """Return facts by descending confidence; ties: the newest first, then by id."""
    return sorted(facts, key=lambda fact: (-fact.confidence, -fact.created.timestamp(), fact.id))


def merge_entity(known: FactEntity | None, new: FactEntity) -> FactEntity:
    """Return an entity updated by a new description: the name stays, non-empty new values replace old ones."""
    if known is None:
        return new
    return replace(
        known,
        description=new.description or known.description,
        type=new.type or known.type,
        declared=new.declared or known.declared,
    )


def find_restated(fact: Fact, equal: Sequence[Fact]) -> Fact | None:
    """
    Return the stored fact that a document repeats; None if there is no equal fact.

    `equal` are the facts with the same content, oldest first. The first live fact with an overlapping period is
    returned, or else the latest: a document does not revive a rejected, superseded or ended fact.
    """
    live = [known for known in equal if is_live(known) and overlap(known, fact)]
    return live[0] if live else equal[-1] if equal else None


def add_stated(fact: Fact) -> Change:
    """Return the change that adds a fact stated by a document, with a `confirmed` event if it is confirmed."""
    change = add(fact)
    if fact.status != "confirmed":
        return change
    confirmed = FactEvent(fact_id=fact.id, at=fact.created, action="confirmed")
    return replace(change, events=(*change.events, confirmed))


def is_settled(fact: Fact) -> bool:
    """Return True if other statements of the user in conversations end a fact: its predicate has one value."""
    is_about = fact.subject == SUBJECT or bool(project_of(fact.subject_name))
    return is_about and fact.source == SOURCE and has_one_value(fact.predicate)


def settle_statements(facts: Iterable[Fact], *, derived: Collection[str]) -> list[Fact]:
    """
    Return the facts whose end changes, for statements about one predicate with one value at a time.

    A statement ends when a later one with another value begins. Only the ends of `derived` facts, which documents
    alone state, are set; they depend on no order of imports, and are restored if the later statement is deleted.
    """
    ordered = sorted((f for f in facts if f.status != "rejected" and is_settled(f)), key=valid_since)
    changed = []
    for place, fact in enumerate(ordered):
        if fact.id not in derived or not is_live(fact):
            continue
        later = (o for o in ordered[place:] if valid_since(o) > valid_since(fact) and content_of(o) != content_of(fact))
        end = next(map(valid_since, later), None)
        if end != fact.valid_to:
            changed.append(replace(fact, valid_to=end))
    return changed


def strongest_links(
    links: Iterable[Link], *, entity_ids: Sequence[str], limit: int, types: Sequence[str], min_weight: float
) -> list[Relation]:
    """
    Return the `limit` links of highest confidence of each entity in each direction, as relations, strongest first.

    Links to entities known only from facts have a separate limit and do not displace other links.
    """
    lowest = max(MIN_LINK_WEIGHT, min_weight)
    ends: dict[tuple[str, bool, bool], dict[str, Link]] = defaultdict(dict)
    for link in links:
        source, target = link.source_id, link.target_id
        if source != target and link.confidence * MAX_LINK_WEIGHT >= lowest and (not types or link.predicate in types):
            ends[source, True, bool(fact_entity_key(target))][link.fact_id] = link
            ends[target, False, bool(fact_entity_key(source))][link.fact_id] = link
    kept: list[Link] = []
    for id in dict.fromkeys(entity_ids):
        for is_source, is_only_fact in product((True, False), repeat=2):
            mine = ends.get((id, is_source, is_only_fact), {}).values()
            kept += sorted(mine, key=lambda link: (-link.confidence, -link.created, link.fact_id))[:limit]
    return join_relations(
        ((link.source_id, link.target_id, link.predicate), link.confidence * MAX_LINK_WEIGHT) for link in kept
    )
