"""
Checks of the files that SQLite opens beside a database, before it opens them.

A folder that a stranger wrote may contain a `weft.db`. SQLite reads and writes its companions without asking:

    weft.db-wal, weft.db-shm    as links they would lead to other files; versions of SQLite differ in what they do
    weft.db-journal             may name a further journal, which SQLite deletes after it has rolled back:
                                any file of the user (SQLite 3.40 does so)
    weft.db                     as a pipe it would be waited for
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from weft.errors import StoreUnavailable

COMPANIONS = ("-wal", "-shm", "-journal")
JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
"""Last bytes of a rollback journal that names a further journal. Weft writes none: it attaches no databases."""
HINT = "delete it if you do not know it, or pass another file with --db"


def check_files(path: str | Path) -> None:
    """Raise `StoreUnavailable` if SQLite would use a file that does not belong to the database."""
    real = os.path.realpath(path)
    mode = _mode(real)
    if mode and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise StoreUnavailable(f"{real!r} is not an ordinary file", hint="pass another file with --db")
    for suffix in COMPANIONS:
        mode = _mode(real + suffix)
        if mode and not stat.S_ISREG(mode):
            raise StoreUnavailable(f"{real + suffix!r} is a link or no ordinary file", hint=HINT)
    if _names_a_journal(real + "-journal"):
        raise StoreUnavailable(f"{real + '-journal'!r} names another file, which SQLite would delete", hint=HINT)


def _mode(path: str) -> int:
    """Return the mode of a file, without following a link; 0 if it is missing or unreadable, as SQLite reports."""
    try:
        return Path(path).lstat().st_mode
    except (OSError, ValueError):
        return 0


def _names_a_journal(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            file.seek(-len(JOURNAL_MAGIC), os.SEEK_END)
            return file.read() == JOURNAL_MAGIC
    except OSError:
        return False
