"""Tool `memory_timeline`: what was said in a period, by day."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import groupby
from typing import Any

from weft.engine.engine import Engine
from weft.errors import InputError
from weft.exchange.fact_objects import read_time
from weft.records import Filter
from weft.tools.paging import cut_page

MAX_TIMELINE_CHARACTERS = 6000
MAX_ENTRIES = 500
"""Entries of a period that the pages of an answer can reach."""


def memory_timeline(engine: Engine, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page of the exchanges of a period by day, newest first."""
    where = Filter(after=_time(values, "after"), before=_time(values, "before"))
    found = engine.memory.timeline(values.get("when", ""), where=where, limit=MAX_ENTRIES)
    items = [
        {
            "time": f"{entry.time:%Y-%m-%d %H:%M}",
            "text": entry.text,
            "title": entry.title,
            "citation": entry.citation,
            "id": entry.chunk_id,
        }
        for day in found.days
        for entry in day.entries
    ]
    page, cursor = cut_page(items, cursor=values.get("cursor", ""), characters=MAX_TIMELINE_CHARACTERS)
    days = groupby(page, key=lambda item: item["time"][:10])
    return {
        "days": [
            {"day": day, "entries": [{**item, "time": item["time"][11:]} for item in group]} for day, group in days
        ],
        "truncated": bool(cursor) or found.is_truncated,
        **({"cursor": cursor} if cursor else {}),
    }


def _time(values: Mapping[str, Any], name: str) -> datetime | None:
    text = values.get(name, "")
    try:
        return read_time(text) if text else None
    except ValueError:
        raise InputError(
            f"invalid {name}: {text[:80]!r}", hint=f"pass {name} as a time such as 2026-03-01 or 2026-03-01T12:00:00Z"
        ) from None
