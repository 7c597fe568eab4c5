"""
Lossless JSON Lines format of facts with their history.

    {"entity": "Lamp", "type": "product"}                                      an entity with details
    {"id": "f…", "subject": "Lamp", "predicate": "colour", "value": "red", …}  a fact

A file is read completely or not at all. An invalid line raises `InputError` with the line number.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import datetime, timezone
from typing import Any, get_args

from weft.errors import InputError
from weft.exchange.json_values import parse_json
from weft.extract.names import name_key, predicate_key
from weft.records import Fact, FactAction, FactEntity, FactEvent, FactStatus, KeptFact, parse_time
from weft.text.normalise import squeeze

_ID = re.compile("f[0-9a-f]{24}")
_TIME_FIELDS = ("created", "valid_from", "valid_to", "last_accessed")
_TEXT_FIELDS = ("id", "subject", "predicate", "object", "value", "source", "status", "supersedes", "note", "spelling")
_FACT_FIELDS = {*_TEXT_FIELDS, *_TIME_FIELDS, "confidence", "access_count", "history", "documents"}
_ENTITY_FIELDS = {"entity", "type", "description", "declared"}
_HINT = "fix the file, or export it again with weft fact export"


def to_fact_lines(entities: Iterable[FactEntity], facts: Iterable[KeptFact]) -> Iterator[str]:
    """Yield the lines: entities with more than a name, then facts."""
    for entity in entities:
        if entity.type or entity.description or entity.declared:
            rest = {"type": entity.type, "description": entity.description, "declared": entity.declared}
            yield _to_line({"entity": entity.name, **rest})
    for kept in facts:
        fact = asdict(kept.fact)
        name, object, value = fact.pop("subject_name"), fact.pop("object"), fact.pop("value")
        row = {**fact, "subject": name, "object" if object else "value": value}
        history = [{**asdict(event), "at": event.at.isoformat()} for event in kept.history]
        row["history"] = [{n: v for n, v in event.items() if v and n != "fact_id"} for event in history]
        row["documents"] = list(kept.documents)
        times = {field: row[field].isoformat() for field in _TIME_FIELDS if row[field]}
        yield _to_line({field: value for field, value in {**row, **times}.items() if value not in ("", None, [])})


def from_fact_lines(text: str) -> tuple[list[FactEntity], list[KeptFact]]:
    """Return entities and facts of lines that `to_fact_lines` wrote. Raises `InputError`."""
    entities: list[FactEntity] = []
    facts: list[KeptFact] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
            if not isinstance(row, dict):
                raise ValueError("expected a JSON object")
            if "entity" in row:
                entities.append(_read_entity(row))
            else:
                facts.append(_read_fact(row))
        except (ValueError, OverflowError) as error:
            raise InputError(f"line {number}: {error}; nothing was written", hint=_HINT) from error
    if len({kept.fact.id for kept in facts}) < len(facts):
        raise InputError("two facts have the same id; nothing was written", hint=_HINT)
    return entities, facts


def _to_line(row: Mapping[str, object]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


def _read_entity(row: Mapping[str, Any]) -> FactEntity:
    _check_fields(row, _ENTITY_FIELDS, texts=("entity", "type", "description"))
    declared = row.get("declared", False)
    if not name_key(row["entity"]) or not isinstance(declared, bool):
        raise ValueError(f"invalid entity: {row!r:.200}")
    return FactEntity(
        key=name_key(row["entity"]),
        name=squeeze(row["entity"]),
        description=row.get("description", ""),
        type=row.get("type", ""),
        declared=declared,
    )


def _read_fact(row: Mapping[str, Any]) -> KeptFact:
    _check_fields(row, _FACT_FIELDS, texts=_TEXT_FIELDS)
    fact = _to_fact(row)
    events = row.get("history") or [{"at": row["created"], "action": "added"}]
    documents = row.get("documents", [])
    if not isinstance(events, list) or not isinstance(documents, list):
        raise ValueError("invalid history or documents: expected lists")
    history = tuple(_to_event(fact.id, event) for event in events)
    if history[0].action != "added":
        raise ValueError("invalid history: expected `added` as the first action")
    steps = {event.action for event in history}
    if fact.status not in ("staged", *steps):
        raise ValueError(f"invalid history: no action for status {fact.status}")
    return KeptFact(fact=fact, history=history, documents=tuple(map(str, documents)))


def _to_fact(row: Mapping[str, Any]) -> Fact:
    times = {name: _to_time(row[name]) if row.get(name) else None for name in _TIME_FIELDS}
    object, value = row.get("object", ""), row.get("value", "")
    confidence, count = row.get("confidence", 1.0), row.get("access_count", 0)
    if not _ID.fullmatch(row.get("id", "")) or (row.get("supersedes") and not _ID.fullmatch(row["supersedes"])):
        raise ValueError("invalid id: expected f and 24 hexadecimal digits")
    if not name_key(row.get("subject", "")) or not predicate_key(row.get("predicate", "")):
        raise ValueError("subject or predicate is missing")
    if bool(object) == bool(value) or (object and not name_key(object)):
        raise ValueError("expected either a value, or an object with letters or digits")
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise ValueError(f"invalid confidence {confidence!r:.80}: expected a number from 0 to 1")
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count < 2**53:
        raise ValueError(f"invalid access_count {count!r:.80}: expected an integer of at least 0")
    if row.get("status", "staged") not in get_args(FactStatus):
        raise ValueError(f"invalid status {row['status']!r:.80}: expected one of {', '.join(get_args(FactStatus))}")
    created, begins, ends = times["created"], times["valid_from"], times["valid_to"]
    if created is None:
        raise ValueError("created is missing")
    if ends is not None and ends < (begins or created):
        raise ValueError(f"invalid valid_to {ends.isoformat()}: expected a time after valid_from")
    return Fact(
        id=row["id"],
        subject=name_key(row["subject"]),
        subject_name=squeeze(row["subject"]),
        predicate=predicate_key(row["predicate"]),
        object=name_key(object),
        value=squeeze(object) if object else value,
        confidence=float(confidence) if math.isfinite(confidence) else 0.0,
        source=squeeze(row.get("source", "")) or "other",
        status=row.get("status", "staged"),
        created=created,
        valid_from=begins,
        valid_to=ends,
        last_accessed=times["last_accessed"],
        access_count=count,
        supersedes=row.get("supersedes", ""),
        note=row.get("note", ""),
        spelling=row.get("spelling", ""),
    )


def _to_event(fact_id: str, row: object) -> FactEvent:
    if not isinstance(row, dict) or not {"at", "action"} <= row.keys() <= {"at", "action", "detail", "other"}:
        raise ValueError("invalid event: expected at, action, and optionally detail and other")
    if not all(isinstance(value, str) for value in row.values()) or row["action"] not in get_args(FactAction):
        raise ValueError(f"invalid event: {row!r:.200}")
    at = _to_time(row["at"])
    return FactEvent(
        fact_id=fact_id, at=at, action=row["action"], detail=row.get("detail", ""), other=row.get("other", "")
    )


def _check_fields(row: Mapping[str, Any], known: set[str], *, texts: Iterable[str]) -> None:
    if unknown := row.keys() - known:
        raise ValueError(f"unknown field {min(unknown)[:80]!r}")
    for name in texts:
        if not isinstance(row.get(name, ""), str):
            raise ValueError(f"invalid {name} {row[name]!r:.80}: expected a string")


def _to_time(value: object) -> datetime:
    if not isinstance(value, str):
        raise ValueError(f"invalid time {value!r:.80}: expected ISO 8601")
    time = parse_time(value)
    return time.replace(tzinfo=timezone.utc) if time.tzinfo is None else time.astimezone(timezone.utc)
