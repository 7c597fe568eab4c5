"""Who may come in through a door that others can reach."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

Access: TypeAlias = Literal["read", "write"]
"""`write` may read too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key as the database knows it: everything but its secret."""

    id: str
    """The part of the key that may be shown."""
    name: str
    """What its owner calls it."""
    digest: str
    """SHA-256 of the whole key, in hex."""
    namespaces: tuple[str, ...]
    """What it opens, sorted."""
    access: Access
    created: datetime
    revoked: datetime | None = None
    """Since when it opens nothing any more."""
