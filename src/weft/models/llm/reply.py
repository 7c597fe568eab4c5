"""Validation of a language model's reply, and its conversion to candidates, stated relations and facts."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from weft.extract.names import MAX_NAME_CHARACTERS, candidate_keys, name_key, predicate_key, words
from weft.extract.phrases import is_common, is_usable
from weft.extract.relation_types import FIELDS
from weft.extract.sentences import shorten
from weft.extract.statements import Statement, canonical
from weft.models.base import replace_surrogates
from weft.records import STRONG_KINDS, Candidate, Extraction, GivenFact, StatedRelation
from weft.text.normalise import fold, squeeze

MAX_ITEMS = {"entities": 60, "relations": 80, "facts": 40}
"""Maximum number of items per chunk; further items are dropped."""
MAX_TYPE_CHARACTERS = 40
MAX_VALUE_CHARACTERS = 300
DEFAULT_RELATION_TYPE = "related_to"
"""Type of a relation whose type the user does not allow."""

Note = Callable[[str], None]
"""Called with the reason for each dropped item."""

Item = dict[str, Any]


def check_reply(value: Mapping[str, Any], note: Note) -> dict[str, list[Item]]:
    """
    Return the valid items of a reply, at most `MAX_ITEMS`; invalid ones are dropped.

    Raises `ValueError` if the reply has none of the requested lists, or a list without any object.
    """
    if not any(name in value for name in MAX_ITEMS):
        raise ValueError("the reply has none of the lists entities, relations and facts")
    wrong = [name for name in MAX_ITEMS if not isinstance(value.get(name, []), list)]
    if wrong:
        raise ValueError(f"{wrong[0]} of the reply is not a list")
    checks = {"entities": _entity, "relations": _relation, "facts": _fact}
    checked: dict[str, list[Item]] = {}
    for name, limit in MAX_ITEMS.items():
        raw = value.get(name, [])
        found = [checks[name](item, note) if isinstance(item, dict) else None for item in raw[: 10 * limit]]
        kept = [item for item in found if item is not None]
        if raw and not kept and not any(isinstance(item, dict) for item in raw):
            raise ValueError(f"{name} of the reply contains no objects")
        for _ in range(len(raw) - len(kept[:limit])):
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
    raw = item.get("value")
    value = shorten(_clean(str(raw)), limit=MAX_VALUE_CHARACTERS) if isinstance(raw, (str, int, float)) else ""
    if not subject or not predicate or not value:
        return None
    confidence = _number(item.get("confidence"), otherwise=0.5, low=0.0, high=1.0)
    return {"subject": subject, "predicate": predicate, "value": value, "confidence": confidence}


def _name(value: object, note: Note) -> str:
    name = _clean(value) if isinstance(value, str) else ""
    if len(name) > MAX_NAME_CHARACTERS:
        note("names too long")
        return ""
    return name


def _clean(text: str) -> str:
    """Return text that every store accepts: PostgreSQL rejects the character U+0000."""
    return squeeze(replace_surrogates(text).replace("\0", " "))


def _type(value: object) -> str:
    type = predicate_key(value[: 4 * MAX_TYPE_CHARACTERS]) if isinstance(value, str) else ""
    return type if len(type) <= MAX_TYPE_CHARACTERS else ""


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
    """Types that the user allows; an empty set allows any."""

    entities: frozenset[str] = frozenset()
    relations: frozenset[str] = frozenset()


def join_reply(
    before: Extraction, items: Mapping[str, list[Item]], *, text: str, types: Types, note: Note, by: str
) -> tuple[Extraction, list[GivenFact]]:
    """
    Return the extraction `before` merged with the items of a reply, and the facts of the reply.

    Only names that occur in `text`, the chunk with its title and headings, are used. A known name without type or
    description gets the type and description in the reply. Of two equal relations the heavier is kept.
    `by` is the name of the model as extractor.
    """
    occurs = _make_name_test(text)
    found: dict[str, Candidate] = {}
    for item in items["entities"]:
        key = name_key(item["name"])
        if not occurs(item["name"]):
            note("names not in the text")
        elif key not in found:
            type = item["type"] if not types.entities or predicate_key(item["type"]) in types.entities else ""
            found[key] = Candidate(
                key=key, name=item["name"], kind="name", type=type, description=item["description"], extractor=by
            )
    candidates = [_filled(candidate, found.get(candidate.key)) for candidate in before.candidates]
    strong = {candidate.key for candidate in candidates if candidate.kind in STRONG_KINDS}
    candidates += (candidate for key, candidate in found.items() if key not in strong)
    stated_relations = {(stated.source, stated.target, stated.type): stated for stated in before.stated_relations}
    for stated in _stated_relations(items["relations"], found, types=types, note=note):
        triple = (stated.source, stated.target, stated.type)
        known = stated_relations.get(triple)
        heavier = known if known and known.weight >= stated.weight else stated
        stated_relations[triple] = heavier._replace(extractor=f"+{by}" if known and known.extractor != by else by)
    facts = [
        GivenFact(
            subject=found[key].name, predicate=item["predicate"], value=item["value"], confidence=item["confidence"]
        )
        for item in items["facts"]
        if (key := name_key(item["subject"])) in found
    ]
    for _ in range(len(items["facts"]) - len(facts)):
        note("facts with an unknown subject")
    return Extraction(candidates=tuple(candidates), stated_relations=tuple(stated_relations.values())), facts


def _stated_relations(
    items: list[Item], found: Collection[str], *, types: Types, note: Note
) -> Iterator[StatedRelation]:
    for item in items:
        type = item["type"] if item["type"] in types.relations else DEFAULT_RELATION_TYPE
        if not types.relations:
            type = FIELDS.get(item["type"], item["type"])  # `requires` is `depends_on`
        statement = canonical(Statement(name_key(item["source"]), name_key(item["target"]), type))
        if statement.source == statement.target or not {statement.source, statement.target} <= set(found):
            note("relations with an unknown entity")
            continue
        yield StatedRelation(
            source=statement.source,
            target=statement.target,
            type=statement.type,
            weight=item["weight"],
            description=item["description"],
        )


def _filled(candidate: Candidate, found: Candidate | None) -> Candidate:
    if found is None or candidate.alias_of or candidate.kind not in STRONG_KINDS:
        return candidate
    type, description = candidate.type or found.type, candidate.description or found.description
    return candidate._replace(type=type, description=description, extractor=f"+{found.extractor}")


def _make_name_test(text: str) -> Callable[[str], bool]:
    """Return a function that checks whether a name occurs in the text, ignoring case and plural."""
    keys, folded = candidate_keys(words(text)), f" {squeeze(fold(text))} "
    return lambda name: name_key(name) in keys or fold(name) in folded
