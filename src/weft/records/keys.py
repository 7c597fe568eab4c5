"""API keys of servers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple, TypeAlias

Access: TypeAlias = Literal["read", "write", "admin"]
"""`write` includes `read`; `admin` includes `write` and manages keys of its own namespaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A stored key, without its secret."""

    id: str
    """Public part of the key."""
    name: str
    """Label that the owner chose."""
    digest: str
    """SHA-256 of the whole key, in hex."""
    namespaces: tuple[str, ...]
    """Sorted namespaces that the key grants access to."""
    access: Access
    created: datetime
    revoked: datetime | None = None
    """Time of revocation."""


class KeyPresence(NamedTuple):
    """Whether a database has keys. The number of keys concerns their owner only."""

    stored: bool
    """True if a key is not deleted; revoked keys count."""
    valid: bool
    """True if a key is neither deleted nor revoked."""
