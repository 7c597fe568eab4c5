"""
Statement that the server runs while the client works.

    client   first_postings ────┐ send search_vector_index │ score the postings │ rows() ┐
    server                 run ─┘                          └ run ────────────────────────┘

The connection is in pipeline mode until the rows have been read. No other statement may be sent before.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import psycopg
from psycopg.rows import TupleRow


class SentStatement:
    """A statement whose rows are read later."""

    def __init__(self, db: psycopg.Connection[TupleRow], text: str, values: Mapping[str, Any]) -> None:
        self._rows: list[TupleRow] | None = None
        with ExitStack() as stack:
            stack.enter_context(db.pipeline())
            self._cursor = db.execute(text, values)
            db.pgconn.send_flush_request()
            db.pgconn.flush()
            self._pipeline = stack.pop_all()

    def wait(self) -> None:
        """Wait for the rows, and end the pipeline."""
        if self._rows is None:
            self._rows = []
            with self._pipeline:
                self._rows = self._cursor.fetchall()

    def rows(self) -> list[TupleRow]:
        """Return the rows."""
        self.wait()
        return self._rows or []
