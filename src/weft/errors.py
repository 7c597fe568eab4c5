"""
Our exceptions:

WeftError
├── ConfigError            a setting is unknown, missing or contradictory
├── InputError             the caller's document or question cannot be used
├── NotFound               what was asked for by id, source or name is not in this namespace
├── StoreError             the store failed
│   ├── StoreUnavailable   it cannot be opened or reached; trying again may help
│   ├── StoreCorrupt       its content contradicts itself; `weft repair` may help
│   ├── SchemaMismatch     it was built by another version, embedder or dimension
│   └── ClaimLost          a job was taken over by somebody else; nothing was written
├── ModelError             a model failed
│   ├── ModelUnavailable   it cannot be reached or is not fetched yet; trying again may help
│   │   └── BoundReached   it may not cost more
│   └── BadModelOutput     it answered, but not in the form asked for
└── MissingExtra           an optional dependency is not installed
"""

from __future__ import annotations

from typing import Any


class WeftError(Exception):
    """Base of every error raised on purpose. `hint` says what to do about it."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        # Some kinds are made from other arguments than a message, and an error of one process is read in another.
        return _bare, (type(self), self.args), self.__dict__


class ConfigError(WeftError):
    """A setting is unknown, missing or contradictory."""


class InputError(WeftError):
    """The caller's document or question cannot be used."""


class NotFound(WeftError):
    """What was asked for by id, source or name is not in this namespace."""


class StoreError(WeftError):
    """The store failed."""


class StoreUnavailable(StoreError):
    """The store cannot be opened or reached; trying again may help."""


class StoreCorrupt(StoreError):
    """The store's content contradicts itself."""


class SchemaMismatch(StoreError):
    """The store was built by another version, embedder or dimension."""


class ClaimLost(StoreError):
    """A job was taken over by somebody else, or is no longer wanted; nothing was written."""


class ModelError(WeftError):
    """A model failed."""


class ModelUnavailable(ModelError):
    """A model cannot be reached or is not fetched yet; trying again may help."""


class BoundReached(ModelUnavailable):
    """A model may not cost more; `bound` is what was reached. What it gave before is kept."""

    def __init__(self, bound: str, *, hint: str) -> None:
        super().__init__(f"the bound of {bound} is reached", hint=hint)
        self.bound = bound


class BadModelOutput(ModelError):
    """A model answered, but not in the form asked for."""


class MissingExtra(WeftError, ImportError):
    """An optional dependency is not installed. The hint names the pip command."""

    def __init__(self, package: str, *, extra: str) -> None:
        super().__init__(f"{package!r} is not installed", hint=f"pip install 'weft-search[{extra}]'")


def _bare(kind: type[WeftError], args: tuple[Any, ...]) -> WeftError:
    return kind.__new__(kind, *args)
