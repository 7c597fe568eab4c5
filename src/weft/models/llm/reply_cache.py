"""The SQLite file of what language models replied: what was paid for once is not paid for again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar, cast

import apsw

from weft.errors import ModelUnavailable
from weft.models.llm.statistics import Habits, Paid, Sums

T = TypeVar("T")

BUSY_MILLISECONDS = 30_000

# Written through to the disk: a reply costs more than waiting for it.
_SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE IF NOT EXISTS replies (
    prompt     TEXT    NOT NULL,
    model      TEXT    NOT NULL,
    digest     BLOB    NOT NULL,
    items      TEXT    NOT NULL,
    guessed    INTEGER NOT NULL,
    tokens_in  INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    seconds    REAL    NOT NULL,
    expected   REAL    NOT NULL DEFAULT 0,
    PRIMARY KEY (prompt, model, digest)
) WITHOUT ROWID;
"""
_READ = "SELECT items FROM replies WHERE prompt = ? AND model = ? AND digest = ?"
_PAID = "SELECT tokens_in, tokens_out, seconds FROM replies WHERE prompt = ? AND model = ? AND digest = ?"
_WRITE = "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_HABITS = """
SELECT count(*), total(seconds),
    total(guessed), total(tokens_in), total(guessed * guessed), total(guessed * tokens_in),
    total(tokens_in * tokens_in),
    total(expected), total(tokens_out), total(expected * expected), total(expected * tokens_out),
    total(tokens_out * tokens_out)
FROM replies WHERE prompt = ? AND model = ? AND expected > 0
"""
# Files of the first days lack it; what was expected of their replies is not known.
_EXPECTED = "ALTER TABLE replies ADD COLUMN expected REAL NOT NULL DEFAULT 0"


class ReplyFile:
    """Replies by prompt, model and chunk, shared between processes and threads."""

    def __init__(self, path: Path, *, prompt: str = "", model: str = "") -> None:
        self._path = path
        self._prompt = prompt
        self._model = model
        self._lock = Lock()
        self._connection: apsw.Connection | None = None

    def read(self, digests: Iterable[bytes]) -> dict[bytes, dict[str, Any]]:
        """Return the items of the known replies among `digests`."""

        def work(connection: apsw.Connection) -> dict[bytes, dict[str, Any]]:
            rows = ((d, connection.execute(_READ, (self._prompt, self._model, d)).fetchone()) for d in digests)
            return {digest: json.loads(row[0]) for digest, row in rows if row is not None}

        return self._guarded(work)

    def paid(self, guesses: Mapping[bytes, tuple[int, float]]) -> dict[bytes, Paid]:
        """Return what the known replies have cost, of digests with what is guessed of question and reply."""

        def work(connection: apsw.Connection) -> dict[bytes, Paid]:
            found = {}
            for digest, (guessed, expected) in guesses.items():
                if row := connection.execute(_PAID, (self._prompt, self._model, digest)).fetchone():
                    into, out, seconds = row
                    found[digest] = Paid(
                        guessed=guessed, expected=expected, tokens_in=into, tokens_out=out, seconds=seconds
                    )
            return found

        return self._guarded(work)

    def write(self, digest: bytes, items: Mapping[str, Any], paid: Paid) -> None:
        """Keep a reply that could be read, on the disk before this returns."""
        text = json.dumps(items, ensure_ascii=False)
        row = (paid.guessed, paid.tokens_in, paid.tokens_out, paid.seconds, paid.expected)
        self._guarded(lambda c: c.execute(_WRITE, (self._prompt, self._model, digest, text, *row)).fetchall())

    def habits(self) -> Habits:
        """Return what the replies so far were like."""
        (row,) = self._guarded(lambda c: c.execute(_HABITS, (self._prompt, self._model)).fetchall())
        count, seconds, *sums = cast(tuple[Any, ...], row)
        names = [field.name for field in fields(Sums)]
        question, reply = (Sums(**dict(zip(names, part, strict=True))) for part in (sums[:5], sums[5:]))
        return Habits(replies=count, seconds=seconds, question=question, reply=reply)

    def close(self) -> None:
        """Close the connection; the next use opens another."""
        with self._lock:
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _guarded(self, work: Callable[[apsw.Connection], T]) -> T:
        """Do the work. Without the file every run would pay anew, so that is an error."""
        with self._lock:
            try:
                if self._connection is None:
                    self._path.parent.mkdir(parents=True, exist_ok=True)
                    connection = apsw.Connection(str(self._path))
                    connection.set_busy_timeout(BUSY_MILLISECONDS)
                    connection.execute(_SCHEMA).fetchall()
                    if "expected" not in (row[1] for row in connection.execute("PRAGMA table_info(replies)")):
                        connection.execute(_EXPECTED).fetchall()
                    self._connection = connection
                return work(self._connection)
            except (apsw.Error, OSError) as error:
                raise ModelUnavailable(
                    f"replies cannot be kept in {str(self._path)!r}: {error}",
                    hint="`models.cache_dir` sets another folder; a broken file may be deleted",
                ) from error
