"""SQLite cache of replies of language models, verified by checksums, to avoid paying for a request twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import apsw

from weft.errors import ModelUnavailable
from weft.models.checked_cache_file import CheckedCacheFile, entry_checksum
from weft.models.llm.statistics import RegressionSums, ReplyCost, ReplyStatistics

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
    checksum   BLOB,
    PRIMARY KEY (prompt, model, digest)
) WITHOUT ROWID;
"""
_READ = """
SELECT prompt, model, digest, items, guessed, tokens_in, tokens_out, seconds, expected, checksum
FROM replies WHERE prompt = ? AND model = ? AND digest = ?
"""
_WRITE = """
INSERT OR REPLACE INTO replies
    (prompt, model, digest, items, guessed, tokens_in, tokens_out, seconds, expected, checksum)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_DELETE = "DELETE FROM replies WHERE prompt = ? AND model = ? AND digest = ?"
_ERASE = "DELETE FROM replies WHERE digest = ?"
# The sums in the order of the fields of `RegressionSums`: question, then reply.
_STATISTICS = """
SELECT count(*), total(seconds),
    total(guessed), total(tokens_in), total(guessed * guessed), total(guessed * tokens_in),
    total(tokens_in * tokens_in),
    total(expected), total(tokens_out), total(expected * expected), total(expected * tokens_out),
    total(tokens_out * tokens_out)
FROM replies WHERE prompt = ? AND model = ? AND expected > 0 AND checksum =
    entry_checksum(prompt, model, digest, items, guessed, tokens_in, tokens_out, seconds, expected)
"""
# Files of early versions lack the column; their replies have no estimate.
_ADD_EXPECTED = "ALTER TABLE replies ADD COLUMN expected REAL NOT NULL DEFAULT 0"
# They are paid for, so they get a checksum; one that is no JSON object is deleted.
_ADD_CHECKSUM = """
ALTER TABLE replies ADD COLUMN checksum BLOB;
DELETE FROM replies WHERE NOT json_valid(items) OR json_type(items) <> 'object';
UPDATE replies SET checksum =
    entry_checksum(prompt, model, digest, items, guessed, tokens_in, tokens_out, seconds, expected);
"""


class ReplyCache:
    """Replies by prompt, model and chunk, shared between processes and threads."""

    def __init__(self, path: Path, *, prompt: str = "", model: str = "") -> None:
        self._prompt = prompt
        self._model = model
        self._database = CheckedCacheFile(
            path, name="the reply cache", prepare=_prepare, busy_milliseconds=BUSY_MILLISECONDS
        )

    def read(self, digests: Iterable[bytes]) -> dict[bytes, dict[str, Any]]:
        """Return the items of the cached replies to `digests`."""
        return {digest: json.loads(row.items) for digest, row in self._rows(digests).items()}

    def costs(self, estimates: Mapping[bytes, tuple[int, float]]) -> dict[bytes, ReplyCost]:
        """Return the costs of the cached replies; `estimates` has the tokens of question and reply by digest."""
        return {
            digest: ReplyCost(
                estimated_in=estimates[digest][0],
                estimated_out=estimates[digest][1],
                tokens_in=row.tokens_in,
                tokens_out=row.tokens_out,
                seconds=row.seconds,
            )
            for digest, row in self._rows(estimates).items()
        }

    def write(self, digest: bytes, items: Mapping[str, Any], cost: ReplyCost) -> None:
        """Write a reply; it is on disk when this returns."""
        text = json.dumps(items, ensure_ascii=False)
        row = _Row(
            prompt=self._prompt,
            model=self._model,
            digest=digest,
            items=text,
            guessed=int(cost.estimated_in),
            tokens_in=int(cost.tokens_in),
            tokens_out=int(cost.tokens_out),
            seconds=float(cost.seconds),
            expected=float(cost.estimated_out),
        )
        self._guarded(lambda c: c.execute(_WRITE, (*row, entry_checksum(*row))).fetchall())

    def statistics(self) -> ReplyStatistics:
        """Return the statistics of all cached replies of the model to the prompt."""
        (row,) = self._guarded(lambda c: c.execute(_STATISTICS, (self._prompt, self._model)).fetchall())
        count, seconds, *sums = cast(tuple[Any, ...], row)
        names = [field.name for field in fields(RegressionSums)]
        question, reply = (RegressionSums(**dict(zip(names, part, strict=True))) for part in (sums[:5], sums[5:]))
        return ReplyStatistics(replies=count, seconds=seconds, question=question, reply=reply)

    def erase(self, digests: Iterable[bytes]) -> None:
        """Delete the replies to these passages, of every prompt and model. Raises `StoreUnavailable`."""
        self._database.erase(_ERASE, [(digest,) for digest in digests], rewrites=True)

    def close(self) -> None:
        """Close the connection; the next use opens a new one."""
        self._database.close()

    def _rows(self, digests: Iterable[bytes]) -> dict[bytes, _Row]:
        """Return the rows with a correct checksum; the others are deleted."""

        def work(connection: apsw.Connection) -> dict[bytes, _Row]:
            found, damaged = dict[bytes, _Row](), list[bytes]()
            for digest in wanted:
                for *values, checksum in connection.execute(_READ, (self._prompt, self._model, digest)):
                    key = (self._prompt, self._model, digest)
                    if tuple(values[:3]) == key and checksum == entry_checksum(*values):
                        found[digest] = _Row(*values)
                    else:
                        damaged.append(digest)
            self._database.log_damaged_entries(len(damaged))
            if damaged:
                with connection:
                    connection.executemany(_DELETE, ((self._prompt, self._model, digest) for digest in damaged))
            return found

        wanted = list(digests)
        return self._guarded(work)

    def _guarded(self, work: Callable[[apsw.Connection], T]) -> T:
        """Return the result of `work`. Raises `ModelUnavailable`: without the cache, each run costs money again."""
        try:
            return self._database.run(work)
        except (apsw.Error, OSError, UnicodeDecodeError) as error:
            raise ModelUnavailable(
                f"cannot cache replies in {str(self._database.path)!r}: {error}",
                hint="set models.cache_dir to another folder, or delete the file if it is damaged",
            ) from error


class _Row(NamedTuple):
    """A reply with its key and cost, in the order of the columns."""

    prompt: str
    model: str
    digest: bytes
    items: str
    guessed: int
    tokens_in: int
    tokens_out: int
    seconds: float
    expected: float


def _prepare(connection: apsw.Connection) -> None:
    connection.create_scalar_function("entry_checksum", entry_checksum, deterministic=True)
    connection.execute(_SCHEMA).fetchall()
    columns = {row[1] for row in connection.execute("PRAGMA table_info(replies)")}
    if "expected" not in columns:
        connection.execute(_ADD_EXPECTED).fetchall()
    if "checksum" not in columns:
        with connection:
            connection.execute(_ADD_CHECKSUM).fetchall()
