"""
New documents and chunks of a transaction, which are sent together.

Their numbers are drawn from the sequence in advance, so that the caller has them before the rows are sent. Example: a
transaction with two new documents of one chunk each:

    stored_documents    none of the two ids is stored
    draw_numbers        {501, 502, 503, 504}
    write_document      → 501        nothing is sent
    write_chunk         → 502        nothing is sent
    …
    any other statement              first sends the two documents, then the two chunks

Other writers of the namespace wait, so a document that is not stored stays absent until this transaction writes it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from weft.store.relational.session import Row

MIN_DRAWN_NUMBERS, MAX_DRAWN_NUMBERS = 8, 64
"""Numbers that are drawn at once if more chunks follow than there are new documents; doubled each time."""

STATEMENTS = {"write_document": "write_document_at", "write_chunk": "write_chunk_at"}
"""Statements that return a new number, and those that write a row with a given one, in the order of references."""

Draw: TypeAlias = Callable[[int], list[int]]
"""Returns new numbers of the sequence."""


class NewRows:
    """Collects new documents and chunks of one transaction."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._absent: set[tuple[str, str]] = set()
        """Namespaces and ids of documents that are not stored."""
        self._numbers: list[int] = []
        self._size = MIN_DRAWN_NUMBERS
        self._rows: dict[str, list[Mapping[str, Any]]] = {}

    def note_stored(self, values: Mapping[str, Any], rows: list[Row]) -> None:
        """Note which of the documents that `stored_documents` asked for are absent."""
        asked, stored = set(json.loads(values["ids"])), {id for (id,) in rows}
        absent = {(values["namespace"], id) for id in asked - stored}
        if absent - self._absent:
            self._absent |= absent
            self._numbers += self._draw(2 * len(absent))

    def add(self, name: str, values: Mapping[str, Any]) -> list[Row] | None:
        """Collect a row; return its number as the statement would. None if the row may exist already."""
        if name == "write_document":
            key = values["namespace"], values["id"]
            if key not in self._absent:
                return None
            self._absent.remove(key)
        if not self._numbers:
            self._numbers = self._draw(self._size)
            self._size = min(2 * self._size, MAX_DRAWN_NUMBERS)
        number = self._numbers.pop(0)
        self._rows.setdefault(STATEMENTS[name], []).append({**values, "number": number})
        return [(number,)]

    def take(self) -> list[tuple[str, list[Mapping[str, Any]]]]:
        """Return the collected rows by statement, in the order in which they must be sent."""
        if not self._rows:
            return []
        taken, self._rows = self._rows, {}
        return [(name, taken[name]) for name in STATEMENTS.values() if name in taken]
