"""
`memory.jsonl` of the MCP reference memory server, as facts.

Observations become facts with a value and the predicate `observation`; relations become facts with an object. Status,
times and confidence are not written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace

from weft.exchange.clean import MAX_NAME_CHARACTERS, to_name, to_text, to_texts
from weft.exchange.json_values import iter_values
from weft.exchange.skipped_items import SkippedItems
from weft.extract.names import name_key, predicate_key
from weft.records import Fact, FactEntity, GivenFact, GivenMemory

OBSERVATION = "observation"
"""Predicate of an observation."""


class _MemoryReader:
    """Collects entities by key and facts in the order of the file."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._entities: dict[str, FactEntity] = {}
        self._facts: dict[GivenFact, None] = {}
        self._skipped = SkippedItems()
        self.skip = self._skipped.add

    def add(self, record: object, *, kind: object, place: str) -> None:
        """Add an entity or a relation."""
        if not isinstance(record, dict):
            self.skip(place, "expected an object")
        elif kind == "relation" or (kind != "entity" and {"from", "to"} <= record.keys()):
            self._add_relation(record, place=place)
        else:
            self._add_entity(record, place=place)

    def finish(self) -> GivenMemory:
        """Return the entities, facts and messages."""
        return GivenMemory(
            facts=tuple(self._facts), entities=tuple(self._entities.values()), skipped=self._skipped.messages()
        )

    def _add_entity(self, record: dict[str, object], *, place: str) -> None:
        name = self._name(record.get("name"), role="name", place=place)
        if not name:
            return
        type, key = to_name(record.get("entityType")), name_key(name)
        known = self._entities.get(key)
        if known and known.name != name:
            self.skip(place, f"{name!r} is merged with {known.name!r}")
        if known and type and known.type and known.type != type:
            self.skip(place, f"type {type!r} ignored: {known.name!r} already has the type {known.type!r}")
        made = known or FactEntity(key=key, name=name, declared=True)
        self._entities[key] = replace(made, type=made.type or type)
        for text in to_texts(record.get("observations")):
            self._facts[GivenFact(subject=name, predicate=OBSERVATION, value=text, source=self._source)] = None

    def _add_relation(self, record: dict[str, object], *, place: str) -> None:
        source = self._name(record.get("from"), role="from", place=place)
        target = self._name(record.get("to"), role="to", place=place) if source else ""
        type = to_name(record.get("relationType"))
        if source and target and not predicate_key(type):
            self.skip(place, "relationType is missing")
        elif source and target:
            self._facts[GivenFact(subject=source, predicate=type, object=target, source=self._source)] = None

    def _name(self, value: object, *, role: str, place: str) -> str:
        name = to_name(value)
        if not name_key(name):
            self.skip(
                place, f"{role} is missing" if not name else f"{role} {name[:80]!r} has neither letters nor digits"
            )
        elif len(name) > MAX_NAME_CHARACTERS:
            self.skip(place, f"{role} is too long: {len(name):,} characters")
        else:
            return name
        return ""


def from_memory_facts(text: str, *, source: str) -> GivenMemory:
    """Return the facts of JSON Lines, or of one JSON object with `entities` and `relations`; each has this `source`."""
    reader = _MemoryReader(source)
    for place, value in iter_values(text, skip=reader.skip):
        if isinstance(value, dict) and (
            isinstance(value.get("entities"), list) or isinstance(value.get("relations"), list)
        ):
            for kind, name in (("entity", "entities"), ("relation", "relations")):
                items = value.get(name)
                for number, item in enumerate(items if isinstance(items, list) else (), start=1):
                    reader.add(item, kind=kind, place=f"{kind} {number}")
        else:
            reader.add(value, kind=value.get("type") if isinstance(value, dict) else "", place=place)
    return reader.finish()


def to_memory_facts(entities: Iterable[FactEntity], facts: Iterable[Fact]) -> Iterator[str]:
    """Yield the lines of a memory file: entities with their observations, then relations."""
    observations: dict[str, dict[str, None]] = {}
    relations: list[Fact] = []
    for fact in facts:
        if fact.object:
            relations.append(fact)
        else:
            observations.setdefault(fact.subject, {})[to_observation(fact)] = None
    for entity in entities:
        texts = [*([entity.description] if entity.description else []), *observations.get(entity.key, ())]
        yield _to_line(type="entity", name=entity.name, entityType=entity.type, observations=texts)
    for fact in relations:
        type = fact.spelling or fact.predicate
        yield _to_line(**{"type": "relation", "from": fact.subject_name, "to": fact.value, "relationType": type})


def to_observation(fact: Fact) -> str:
    """Return the observation of a fact with a value: the value, or `predicate: value`."""
    if fact.predicate == OBSERVATION:
        return fact.value
    return f"{fact.spelling or fact.predicate}: {to_text(fact.value)}"


def _to_line(**record: object) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"
