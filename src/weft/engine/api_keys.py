"""API keys of a server: create, check, list and revoke."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timezone

from weft.config import check_namespace
from weft.errors import InputError, NotFound
from weft.records import Access, ApiKey
from weft.store.base import Database

_KEY = re.compile(r"weft_([0-9a-f]{12})_[A-Za-z0-9_-]{43}")
_NO_DIGEST = "0" * 64
"""Digest that stands for an unknown key: comparing with it takes the same time as with a known key."""
MAX_NAME_CHARACTERS = 200


def utc_now() -> datetime:
    """Return the current time."""
    return datetime.now(timezone.utc)


def presented_key(headers: Mapping[str, str]) -> str | None:
    """Return the key of an HTTP request; None if there is no key, empty if it is malformed. Names are lower case."""
    if (value := headers.get("authorization")) is not None:
        kind, _, text = value.partition(" ")
        return text.strip() if kind.lower() == "bearer" else ""
    return headers.get("x-api-key")


class Keyring:
    """
    The API keys of one database.

    A key is `weft_ID_SECRET`. The secret has 256 random bits, so a fast hash is as safe as a slow one. The database
    stores only the hash; `create` is the only call that returns the key itself.
    """

    def __init__(self, database: Database, *, clock: Callable[[], datetime] = utc_now) -> None:
        self._keys = database.keys
        self._clock = clock

    def create(self, name: str = "", *, namespaces: Iterable[str], access: Access = "read") -> tuple[ApiKey, str]:
        """Create a key for namespaces; return its record and the key itself. Raises `InputError`."""
        names = sorted(set(namespaces))
        if not names:
            raise InputError("the key has no namespace", hint="pass --for NAMESPACE")
        for namespace in names:
            check_namespace(namespace)
        if len(name) > MAX_NAME_CHARACTERS or not name.isprintable():
            raise InputError(
                f"invalid key name {name[:40]!r}", hint=f"use up to {MAX_NAME_CHARACTERS} printable characters"
            )
        id = secrets.token_hex(6)
        text = f"weft_{id}_{secrets.token_urlsafe(32)}"
        key = ApiKey(
            id=id, name=name, digest=_digest(text), namespaces=tuple(names), access=access, created=self._clock()
        )
        self._keys.write(key)
        return key, text

    def find(self, text: str) -> ApiKey | None:
        """Return the record of a key; None if it is unknown or revoked. The time taken does not reveal which."""
        match = _KEY.fullmatch(text)
        id = match.group(1) if match else ""
        digest = _digest(text)
        key = self._keys.match(id, digest=digest)
        is_right = hmac.compare_digest(digest, key.digest if key else _NO_DIGEST)
        return key if key and is_right and key.revoked is None else None

    def all(self, *, within: Iterable[str] | None = None) -> list[ApiKey]:
        """Return all keys including revoked ones, oldest first; `within` keeps keys of these namespaces only."""
        return [key for key in self._keys.all() if _is_within(key, within)]

    def is_empty(self) -> bool:
        """Return True if the database has no key. Revoked keys count as keys, so the server stays protected."""
        return not self._keys.presence().stored

    def opens(self) -> bool:
        """Return True if any key is valid."""
        return self._keys.presence().valid

    def revoke(self, id: str, *, within: Iterable[str] | None = None) -> ApiKey:
        """Revoke a key and return its record. Raises `NotFound`, also for a key of namespaces outside `within`."""
        key = self._get(id, within=within)
        if key.revoked is None:
            key = replace(key, revoked=self._clock())
            self._keys.write(key)
        return key

    def forget(self, id: str) -> None:
        """Delete a key and its record. Raises `NotFound`."""
        self._keys.forget([self._get(id).id])

    def _get(self, id: str, *, within: Iterable[str] | None = None) -> ApiKey:
        found = self._keys.find([id]).get(id)
        if found is None or not _is_within(found, within):
            raise NotFound(f"no key {id[:80]!r}", hint="run `weft keys list` to list all keys")
        return found


def _is_within(key: ApiKey, namespaces: Iterable[str] | None) -> bool:
    return namespaces is None or set(key.namespaces) <= set(namespaces)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
