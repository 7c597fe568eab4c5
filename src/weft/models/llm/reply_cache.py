"""SQLite cache of replies of language models, to avoid paying for a request twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar, cast

import apsw

from weft.errors import ModelUnavailable
from weft.models.llm.statistics import RegressionSums, ReplyCost, ReplyStatistics
from weft.private_files import make_private_file, make_private_folder

T = TypeVar("T")

BUSY_MILLISECONDS = 30_000

# synchronous = FULL: a lost reply costs more than the wait for the disk.
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
_COST = "SELECT tokens_in, tokens_out, seconds FROM replies WHERE prompt = ? AND model = ? AND digest = ?"
_WRITE = "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
# The sums in the order of the fields of `RegressionSums`: question, then reply.
_STATISTICS = """
SELECT count(*), total(seconds),
    total(guessed), total(tokens_in), total(guessed * guessed), total(guessed * tokens_in),
    total(tokens_in * tokens_in),
    total(expected), total(tokens_out), total(expected * expected), total(expected * tokens_out),
    total(tokens_out * tokens_out)
FROM replies WHERE prompt = ? AND model = ? AND expected > 0
"""
# Files of early versions lack the column; their replies have no estimate.
_ADD_EXPECTED = "ALTER TABLE replies ADD COLUMN expected REAL NOT NULL DEFAULT 0"


class ReplyCache:
    """Replies by prompt, model and chunk, shared between processes and threads."""

    def __init__(self, path: Path, *, prompt: str = "", model: str = "") -> None:
        self._path = path
        self._prompt = prompt
        self._model = model
        self._lock = Lock()
        self._connection: apsw.Connection | None = None

    def read(self, digests: Iterable[bytes]) -> dict[bytes, dict[str, Any]]:
        """Return the items of the cached replies to `digests`."""

        def work(connection: apsw.Connection) -> dict[bytes, dict[str, Any]]:
            rows = ((d, connection.execute(_READ, (self._prompt, self._model, d)).fetchone()) for d in digests)
            return {digest: json.loads(row[0]) for digest, row in rows if row is not None}

        return self._guarded(work)

    def costs(self, estimates: Mapping[bytes, tuple[int, float]]) -> dict[bytes, ReplyCost]:
        """Return the costs of the cached replies; `estimates` has the tokens of question and reply by digest."""

        def work(connection: apsw.Connection) -> dict[bytes, ReplyCost]:
            found = {}
            for digest, (estimated_in, estimated_out) in estimates.items():
                if row := connection.execute(_COST, (self._prompt, self._model, digest)).fetchone():
                    tokens_in, tokens_out, seconds = row
                    found[digest] = ReplyCost(
                        estimated_in=estimated_in,
                        estimated_out=estimated_out,
                        tokens_in=tokens_in,
                        tokens_out=tokens_out,
                        seconds=seconds,
                    )
            return found

        return self._guarded(work)

    def write(self, digest: bytes, items: Mapping[str, Any], cost: ReplyCost) -> None:
        """Write a reply; it is on disk when this returns."""
        text = json.dumps(items, ensure_ascii=False)
        row = (cost.estimated_in, cost.tokens_in, cost.tokens_out, cost.seconds, cost.estimated_out)
        self._guarded(lambda c: c.execute(_WRITE, (self._prompt, self._model, digest, text, *row)).fetchall())

    def statistics(self) -> ReplyStatistics:
        """Return the statistics of all cached replies of the model to the prompt."""
        (row,) = self._guarded(lambda c: c.execute(_STATISTICS, (self._prompt, self._model)).fetchall())
        count, seconds, *sums = cast(tuple[Any, ...], row)
        names = [field.name for field in fields(RegressionSums)]
        question, reply = (RegressionSums(**dict(zip(names, part, strict=True))) for part in (sums[:5], sums[5:]))
        return ReplyStatistics(replies=count, seconds=seconds, question=question, reply=reply)

    def close(self) -> None:
        """Close the connection; the next use opens a new one."""
        with self._lock:
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _guarded(self, work: Callable[[apsw.Connection], T]) -> T:
        """Return the result of `work`. Raises `ModelUnavailable`: without the cache, each run costs money again."""
        with self._lock:
            try:
                if self._connection is None:
                    make_private_folder(self._path.parent)
                    make_private_file(self._path)
                    connection = apsw.Connection(str(self._path))
                    connection.set_busy_timeout(BUSY_MILLISECONDS)
                    connection.execute(_SCHEMA).fetchall()
                    if "expected" not in (row[1] for row in connection.execute("PRAGMA table_info(replies)")):
                        connection.execute(_ADD_EXPECTED).fetchall()
                    self._connection = connection
                return work(self._connection)
            except (apsw.Error, OSError) as error:
                raise ModelUnavailable(
                    f"replies cannot be cached in {str(self._path)!r}: {error}",
                    hint="`models.cache_dir` sets another folder; a damaged file may be deleted",
                ) from error
