"""
Cached indexes of evaluation sets, verified before use.

A damaged index would change the figures, so it is built again. Next to each index file are a note with its checksum
and the seconds of indexing, and a lock file.
"""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from weft.system.private_files import make_private_folder
from weft.system.temporary_files import exclusive_lock, temporary_file
from weft.text.ids import digest

logger = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class CachedIndex:
    """An index in the cache, or the note of one on a server."""

    db: Path | None
    """File of the index; None on a server."""
    note: Path
    seconds: float | None = None
    """Seconds of indexing; None if unknown."""


@contextmanager
def open_cached(folder: Path, *, key: str, on_server: bool) -> Iterator[CachedIndex]:
    """
    Yield the index of `key`, verified; a damaged one, or one that was not closed, is deleted first.

    At the end its checksum is recorded. The store must be closed by then. Raises `OSError`.
    """
    make_private_folder(folder)
    found = CachedIndex(db=None if on_server else folder / f"{key}.db", note=folder / f"{key}.json")
    with exclusive_lock(folder / f"{key}.lock"):
        found.seconds, checksum = _read_note(found.note)
        if found.db and found.db.exists() and (checksum is None or checksum != _checksum(found.db)):
            if checksum is not None:
                logger.warning("the cached index %s is damaged; it is built again", found.db)
            _delete(found.db)
            found.seconds = None
        try:
            yield found
        finally:
            _write_note(found.note, seconds=found.seconds, checksum=_checksum(found.db) if found.db else "")


def _read_note(path: Path) -> tuple[float | None, str | None]:
    """Return the seconds and the checksum of the index; None for both if the note is missing or damaged."""
    try:
        seconds, checksum, own = json.loads(path.read_bytes())
        return (seconds, checksum) if own == digest((repr(seconds), checksum)) else (None, None)
    except (OSError, ValueError, TypeError):
        return None, None


def _write_note(path: Path, *, seconds: float | None, checksum: str) -> None:
    try:
        with temporary_file(path) as partial:
            partial.write_text(json.dumps([seconds, checksum, digest((repr(seconds), checksum))]))
            partial.replace(path)
    except OSError as error:
        logger.warning("the next evaluation builds the index again: cannot write %s: %s", path, error)


def _checksum(db: Path) -> str:
    """Return a checksum of the store with its WAL file; empty if it cannot be read."""
    hasher = hashlib.blake2b(digest_size=16)
    try:
        for path in (db, db.with_name(db.name + "-wal")):
            if path.exists() and path.stat().st_size:
                with path.open("rb") as file:
                    while block := file.read(1 << 20):
                        hasher.update(block)
    except OSError:
        return ""
    return hasher.hexdigest()


def _delete(db: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path = db.with_name(db.name + suffix)
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
    shutil.rmtree(db.with_name(db.name + ".index"), ignore_errors=True)
    db.with_suffix(".seconds").unlink(missing_ok=True)  # of an earlier version
