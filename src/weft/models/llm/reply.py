"""From the JSON a language model wrote to nominations, claims and facts: nothing in it is taken on trust."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from weft.extract.names import MAX_NAME, candidate_keys, name_key, predicate_key, words
from weft.extract.phrases import is_common, is_usable
from weft.extract.sentences import shorten
from weft.extract.statements import Statement, canonical
from weft.models.base import replace_surrogates
from weft.records import STRONG_KINDS, Claim, Extraction, GivenFact, Nomination
from weft.text.normalise import fold, squeeze

MAX_ITEMS = {"entities": 60, "relations": 80, "facts": 40}
"""Of one chunk; what comes later is left out."""
MAX_TYPE = 40
MAX_VALUE = 300
OTHER = "related_to"
"""What a relation is called whose type is none of the user's."""

Note = Callable[[str], None]
"""Is told what was left out, and why."""

Item = dict[str, Any]


def check_reply(value: Mapping[str, Any], note: Note) -> dict[str, list[Item]]:
    """
    Return the items of a reply in the form they should have, bounded; those that lack it are left out.

    Raises `ValueError` where it is not a reply to what was asked.
    """
    if not any(name in value for name in MAX_ITEMS):
        raise ValueError("it has none of the lists entities, relations and facts")
    wrong = [name for name in MAX_ITEMS if not isinstance(value.get(name, []), list)]
    if wrong:
        raise ValueError(f"{wrong[0]} is not a list")
    checks = {"entities": _entity, "relations": _relation, "facts": _fact}
    checked: dict[str, list[Item]] = {}
    for name, limit in MAX_ITEMS.items():
        given = value.get(name, [])
        found = [checks[name](item, note) if isinstance(item, dict) else None for item in given[: 10 * limit]]
        kept = [item for item in found if item is not None]
        if given and not kept and not any(isinstance(item, dict) for item in given):
            raise ValueError(f"{name} has no objects in it")
        for _ in range(len(given) - len(kept[:limit])):
            note("items left out")
        checked[name] = kept[:limit]
    return checked


def _entity(item: Item, note: Note) -> Item | None:
    name = _name(item.get("name"), note)
    if not name or not is_usable(name) or is_common(name):
        return None
    return {"name": name, "type": _type(item.get("type")).replace("_", " "), "description": _line(item, "description")}


def _relation(item: Item, note: Note) -> Item | None:
    source, target, type = _name(item.get("source"), note), _name(item.get("target"), note), _type(item.get("type"))
    if not source or not target or not type:
        return None
    weight = _number(item.get("weight"), otherwise=5.0, low=1.0, high=10.0)
    description = _line(item, "description")
    return {"source": source, "target": target, "type": type, "weight": weight, "description": description}


def _fact(item: Item, note: Note) -> Item | None:
    subject, predicate = _name(item.get("subject"), note), _type(item.get("predicate"))
    given = item.get("value")
    value = shorten(_clean(str(given)), limit=MAX_VALUE) if isinstance(given, (str, int, float)) else ""
    if not subject or not predicate or not value:
        return None
    confidence = _number(item.get("confidence"), otherwise=0.5, low=0.0, high=1.0)
    return {"subject": subject, "predicate": predicate, "value": value, "confidence": confidence}


def _name(value: object, note: Note) -> str:
    name = _clean(value) if isinstance(value, str) else ""
    if len(name) > MAX_NAME:
        note("names too long")
        return ""
    return name


def _clean(text: str) -> str:
    """Return text that any store can keep: PostgreSQL refuses the character 0."""
    return squeeze(replace_surrogates(text).replace("\0", " "))


def _type(value: object) -> str:
    type = predicate_key(value[: 4 * MAX_TYPE]) if isinstance(value, str) else ""
    return type if len(type) <= MAX_TYPE else ""


def _line(item: Item, field: str) -> str:
    value = item.get(field)
    return shorten(_clean(value[:2000])) if isinstance(value, str) else ""


def _number(value: object, *, otherwise: float, low: float, high: float) -> float:
    try:
        number = float(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else otherwise
    except (ValueError, OverflowError):
        number = otherwise
    return min(max(number, low), high) if math.isfinite(number) else otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Types:
    """The user's own types; empty for any."""

    entities: frozenset[str] = frozenset()
    relations: frozenset[str] = frozenset()


def join_reply(
    before: Extraction, items: Mapping[str, list[Item]], *, text: str, types: Types, note: Note, by: str
) -> tuple[Extraction, list[GivenFact]]:
    """
    Return what another extractor read in a chunk with what a reply adds to it, and the facts it states.

    Only names count that stand in `text`, the chunk with its title and headings. What is there already is not said
    twice: a name that has no type or description yet gets them, and of two
    claims of the same the heavier one stays. `by` is what the model is called as who read it.
    """
    stands = _standing(text)
    found: dict[str, Nomination] = {}
    for item in items["entities"]:
        key = name_key(item["name"])
        if not stands(item["name"]):
            note("names not in the text")
        elif key not in found:
            type = item["type"] if not types.entities or predicate_key(item["type"]) in types.entities else ""
            found[key] = Nomination(
                key=key, name=item["name"], kind="name", type=type, description=item["description"], extractor=by
            )
    nominations = [_filled(nomination, found.get(nomination.key)) for nomination in before.nominations]
    strong = {nomination.key for nomination in nominations if nomination.kind in STRONG_KINDS}
    nominations += (nomination for key, nomination in found.items() if key not in strong)
    claims = {(claim.source, claim.target, claim.type): claim for claim in before.claims}
    for claim in _claims(items["relations"], found, types=types, note=note):
        place = (claim.source, claim.target, claim.type)
        known = claims.get(place)
        heavier = known if known and known.weight >= claim.weight else claim
        claims[place] = replace(heavier, extractor=f"+{by}" if known and known.extractor != by else by)
    facts = [
        GivenFact(
            subject=found[key].name, predicate=item["predicate"], value=item["value"], confidence=item["confidence"]
        )
        for item in items["facts"]
        if (key := name_key(item["subject"])) in found
    ]
    for _ in range(len(items["facts"]) - len(facts)):
        note("facts about no entity")
    return Extraction(nominations=tuple(nominations), claims=tuple(claims.values())), facts


def _claims(items: list[Item], found: Collection[str], *, types: Types, note: Note) -> Iterator[Claim]:
    for item in items:
        type = item["type"] if not types.relations or item["type"] in types.relations else OTHER
        statement = canonical(Statement(name_key(item["source"]), name_key(item["target"]), type))
        if statement.source == statement.target or not {statement.source, statement.target} <= set(found):
            note("relations of no two entities")
            continue
        yield Claim(
            source=statement.source,
            target=statement.target,
            type=statement.type,
            weight=item["weight"],
            description=item["description"],
        )


def _filled(nomination: Nomination, found: Nomination | None) -> Nomination:
    if found is None or nomination.alias_of or nomination.kind not in STRONG_KINDS:
        return nomination
    type, description = nomination.type or found.type, nomination.description or found.description
    return replace(nomination, type=type, description=description, extractor=f"+{found.extractor}")


def _standing(text: str) -> Callable[[str], bool]:
    """Return what tells whether a name stands in a text, whatever its case and plural."""
    keys, folded = candidate_keys(words(text)), f" {squeeze(fold(text))} "
    return lambda name: name_key(name) in keys or fold(name) in folded
