"""Location of a store: file path, `:memory:` or server address, and its form without the password."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from weft.errors import ConfigError

MEMORY = ":memory:"
SERVERS = ("postgresql", "postgres")
"""URL schemes of servers."""

_HOST = r"(?:[\w.%-]*|\[[\w:.%]+\])(?::\d+)?"
_ADDRESS = re.compile(
    rf"(?P<scheme>\w+)://(?:(?P<user>[^:@/?#\s]*)(?::[^@/?#\s]*)?@)?(?P<host>{_HOST}(?:,{_HOST})*)(?P<path>/[^@?#\s]*)?"
    r"(?:\?(?P<query>[^@#&=\s]+=[^@#&\s]*(?:&[^@#&=\s]+=[^@#&\s]*)*))?"
)
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})|%00")
_PUBLIC_PARAMETERS = {"host", "hostaddr", "port", "dbname", "user", "sslmode", "target_session_attrs"}
"""URL parameters without secrets; `shown` drops all others."""


def is_server(db: str) -> bool:
    """Return True if the store is a server, not a file."""
    return "://" in db


def find_path(db: str) -> Path | None:
    """Return the file of a store, which may not exist yet; None for servers and `:memory:`."""
    if is_server(db) or db == MEMORY:
        return None
    try:
        return Path(db).expanduser()
    except RuntimeError:  # unknown user in ~user
        return Path(db)


def is_missing(db: str) -> bool:
    """Return True if the file of a store does not exist. An unreadable file is not missing."""
    path = find_path(db)
    try:
        if path is not None:
            path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return True
    except OSError:  # opening it reports the reason
        return False
    return False


def shown(db: str) -> str:
    """Return the location for messages and logs, without password."""
    if not is_server(db):
        return db
    parts = _parse(db)
    if parts is None:  # malformed: the position of the password is unknown
        return f"{db.partition('://')[0]}://…"
    user = f"{parts['user']}@" if parts["user"] else ""
    kept = [pair for pair in parse_qsl(parts["query"] or "") if pair[0] in _PUBLIC_PARAMETERS]
    query = f"?{urlencode(kept, safe='/')}" if kept else ""
    return f"{parts['scheme']}://{user}{parts['host']}{parts['path'] or ''}{query}"


def check_address(db: str) -> None:
    """Raise `ConfigError` if a server address is malformed or its scheme is unknown. Paths always pass."""
    if not is_server(db):
        return
    scheme = db.partition("://")[0]
    if scheme not in SERVERS:
        raise ConfigError(f"unknown store scheme {scheme!r}", hint="use a file path, :memory: or postgresql://…")
    if _parse(db) is None:
        raise ConfigError(
            f"malformed server address {shown(db)}",
            hint="use postgresql://user:password@host:port/database; in the password, write / as %2F, @ as %40, "
            "% as %25, or use ~/.pgpass or PGPASSWORD",
        )


def _parse(db: str) -> re.Match[str] | None:
    """Return the parts of an address; None if it is malformed. Errors of the driver would quote the password."""
    return None if _BAD_ESCAPE.search(db) else _ADDRESS.fullmatch(db)
