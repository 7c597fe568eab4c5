"""
Exception tree of Weft:

WeftError
├── ConfigError            a setting is unknown, missing or contradictory
├── InputError             invalid document, question or argument
├── NotFound               no such id, source or name in this namespace
├── StoreError             the store failed
│   ├── StoreFull          the disk or its quota is full; nothing is lost
│   ├── StoreUnavailable   it cannot be opened or reached; a retry may help
│   ├── AccessDenied       the role on the server may not do this
│   ├── StoreCorrupt       inconsistent content; `weft repair` may help
│   ├── SchemaMismatch     built by another version, embedder or dimension
│   └── ClaimLost          another worker took over the job; nothing was written
├── ModelError             a model failed
│   ├── ModelUnavailable   it cannot be reached or is not downloaded; a retry may help
│   │   └── BoundReached   a cost limit is reached
│   └── BadModelOutput     its reply has an unexpected form
└── MissingExtra           an optional dependency is not installed
"""

from __future__ import annotations

from typing import Any


class WeftError(Exception):
    """Base class of all errors of Weft. `hint` names the fix."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        # Subclasses take other arguments than a message, and errors are pickled between worker processes.
        return _bare, (type(self), self.args), self.__dict__


class ConfigError(WeftError):
    """A setting is unknown, missing or contradictory."""


class InputError(WeftError):
    """A document, question or argument is invalid."""


class NotFound(WeftError):
    """The namespace has no such id, source or name."""


class StoreError(WeftError):
    """The store failed."""


class StoreFull(StoreError):
    """The disk of the store, or its quota, is full. Committed data is kept."""


class StoreUnavailable(StoreError):
    """The store cannot be opened or reached; a retry may help."""


class AccessDenied(StoreError):
    """The role on the server may not see all namespaces or manage keys."""


class StoreCorrupt(StoreError):
    """The content of the store is inconsistent."""


class SchemaMismatch(StoreError):
    """The store was built by another version, embedder or dimension."""


class ClaimLost(StoreError):
    """Another worker took over the job, or it was cancelled; nothing was written."""


class ModelError(WeftError):
    """A model failed."""


class ModelUnavailable(ModelError):
    """A model cannot be reached or is not downloaded; a retry may help."""


class BoundReached(ModelUnavailable):
    """A cost limit is reached; `bound` names it. Earlier replies are kept."""

    def __init__(self, bound: str, *, hint: str) -> None:
        super().__init__(f"reached the limit of {bound}", hint=hint)
        self.bound = bound


class BadModelOutput(ModelError):
    """The reply of a model has an unexpected form."""


class MissingExtra(WeftError, ImportError):
    """An optional dependency is not installed. The hint names the pip command."""

    def __init__(self, package: str, *, extra: str) -> None:
        super().__init__(f"{package!r} is not installed", hint=f"run pip install 'weft-search[{extra}]'")


def _bare(kind: type[WeftError], args: tuple[Any, ...]) -> WeftError:
    return kind.__new__(kind, *args)
