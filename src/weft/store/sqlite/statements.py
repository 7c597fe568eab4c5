"""Runs statements by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import apsw

from weft.store.queries import load_queries

_SQL = load_queries("sqlite")
_NOTHING: Mapping[str, Any] = {}


def run(db: apsw.Connection, name: str, values: Mapping[str, Any] = _NOTHING) -> list[tuple[Any, ...]]:
    """Run the statement called `name`; return its rows."""
    rows: list[tuple[Any, ...]] = db.execute(_SQL[name], values).fetchall()
    return rows


def stream(db: apsw.Connection, name: str, values: Mapping[str, Any] = _NOTHING) -> Iterator[tuple[Any, ...]]:
    """Run the statement called `name`; yield its rows as they are found, for those that are too many to keep."""
    yield from db.execute(_SQL[name], values)


def one(db: apsw.Connection, name: str, values: Mapping[str, Any] = _NOTHING) -> Any:
    """Run the statement called `name`; return the first value of its first row, or None."""
    rows = run(db, name, values)
    return rows[0][0] if rows else None


def run_many(db: apsw.Connection, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Run the statement called `name` once for each row of values."""
    if rows:
        db.executemany(_SQL[name], rows)
