"""Where a store is, from how the settings name it: a file, a server, or memory; and how that may be shown."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from weft.errors import ConfigError

MEMORY = ":memory:"
SERVERS = ("postgresql", "postgres")
"""What the address of a server begins with, before `://`."""

_HOST = r"(?:[\w.%-]*|\[[\w:.%]+\])(?::\d+)?"
_ADDRESS = re.compile(
    rf"(?P<scheme>\w+)://(?:(?P<user>[^:@/?#\s]*)(?::[^@/?#\s]*)?@)?(?P<host>{_HOST}(?:,{_HOST})*)(?P<path>/[^@?#\s]*)?"
    r"(?:\?(?P<query>[^@#&=\s]+=[^@#&\s]*(?:&[^@#&=\s]+=[^@#&\s]*)*))?"
)
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})|%00")
_SHOWN = {"host", "hostaddr", "port", "dbname", "user", "sslmode", "target_session_attrs"}
"""Parameters of an address that hold no secret; all others are left out where it is shown."""


def is_server(db: str) -> bool:
    """Tell whether a store is at an address, not in a file."""
    return "://" in db


def find_path(db: str) -> Path | None:
    """Return the file of a store, which need not exist; None where it is not in a file."""
    if is_server(db) or db == MEMORY:
        return None
    try:
        return Path(db).expanduser()
    except RuntimeError:  # the home of nobody
        return Path(db)


def is_missing(db: str) -> bool:
    """Tell whether a store is in a file that nobody has made yet; one that cannot be looked at is not missing."""
    path = find_path(db)
    try:
        if path is not None:
            path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return True
    except OSError:  # whoever opens it is told why it cannot be
        return False
    return False


def shown(db: str) -> str:
    """Return how a store is named to people and in logs: never with a password."""
    if not is_server(db):
        return db
    parts = _parse(db)
    if parts is None:  # it cannot be told where the password ends
        return f"{db.partition('://')[0]}://…"
    user = f"{parts['user']}@" if parts["user"] else ""
    kept = [pair for pair in parse_qsl(parts["query"] or "") if pair[0] in _SHOWN]
    query = f"?{urlencode(kept, safe='/')}" if kept else ""
    return f"{parts['scheme']}://{user}{parts['host']}{parts['path'] or ''}{query}"


def check_address(db: str) -> None:
    """Raise `ConfigError` where an address cannot be read, or is not that of a store we know; a path is none."""
    if not is_server(db):
        return
    scheme = db.partition("://")[0]
    if scheme not in SERVERS:
        raise ConfigError(
            f"{scheme!r} is not a store this version knows", hint="give the path of a file, :memory:, or postgresql://…"
        )
    if _parse(db) is None:
        raise ConfigError(
            f"the address {shown(db)} cannot be read",
            hint="postgresql://user:password@host:port/database; in the password write / as %2F, @ as %40, % as %25, "
            "or keep it in ~/.pgpass or PGPASSWORD",
        )


def _parse(db: str) -> re.Match[str] | None:
    """Return the parts of an address; None where the driver would not read it, and would quote it saying so."""
    return None if _BAD_ESCAPE.search(db) else _ADDRESS.fullmatch(db)
