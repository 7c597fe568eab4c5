"""Keys for doors that others can reach: made, checked, listed and revoked."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timezone

from weft.config import check_namespace
from weft.errors import InputError, NotFound
from weft.records import Access, ApiKey
from weft.store.base import Database

_FORM = re.compile(r"weft_([0-9a-f]{12})_[A-Za-z0-9_-]{43}")
_NOBODY = "0" * 64
MAX_NAME = 200


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(timezone.utc)


class Keyring:
    """
    The keys of one database.

    A key is `weft_ID_SECRET`, the secret 256 random bits, so a fast hash keeps it as well as a slow one would. The
    database holds the hash alone; the key itself is seen once, when it is made.
    """

    def __init__(self, database: Database, *, clock: Callable[[], datetime] = utc_now) -> None:
        self._keys = database.keys
        self._clock = clock

    def create(self, name: str = "", *, namespaces: Iterable[str], access: Access = "read") -> tuple[ApiKey, str]:
        """Make a key for some namespaces; return it as it is kept, and the text that opens. Raises `InputError`."""
        bound = sorted(set(namespaces))
        if not bound:
            raise InputError("a key needs a namespace", hint="name one with --for")
        for namespace in bound:
            check_namespace(namespace)
        if len(name) > MAX_NAME or not name.isprintable():
            raise InputError(
                f"{name[:40]!r} is not a name for a key", hint=f"use up to {MAX_NAME} printable characters"
            )
        id = secrets.token_hex(6)
        text = f"weft_{id}_{secrets.token_urlsafe(32)}"
        key = ApiKey(
            id=id, name=name, digest=_digest(text), namespaces=tuple(bound), access=access, created=self._clock()
        )
        self._keys.write(key)
        return key, text

    def find(self, text: str) -> ApiKey | None:
        """Return the key that `text` is, unless it is unknown or revoked; how long it takes says nothing of it."""
        match = _FORM.fullmatch(text)
        id = match.group(1) if match else ""
        key = self._keys.find([id]).get(id)
        is_right = hmac.compare_digest(_digest(text), key.digest if key else _NOBODY)
        return key if key and is_right and key.revoked is None else None

    def all(self) -> list[ApiKey]:
        """Return all keys, revoked ones too, oldest first."""
        return self._keys.all()

    def is_empty(self) -> bool:
        """Tell whether there never was a key. Revoking the last one does not open the door again."""
        return not self._keys.all()

    def opens(self) -> bool:
        """Tell whether any key opens anything."""
        return any(key.revoked is None for key in self._keys.all())

    def revoke(self, id: str) -> ApiKey:
        """Let a key open nothing from now on. Raises `NotFound`."""
        key = self._get(id)
        if key.revoked is None:
            key = replace(key, revoked=self._clock())
            self._keys.write(key)
        return key

    def forget(self, id: str) -> None:
        """Remove a key as if it had never been. Raises `NotFound`."""
        self._keys.forget([self._get(id).id])

    def _get(self, id: str) -> ApiKey:
        found = self._keys.find([id]).get(id)
        if found is None:
            raise NotFound(f"no key {id[:80]!r}", hint="weft keys list")
        return found


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
