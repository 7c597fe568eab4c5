"""What runs did, what stores hold, what is wrong."""

from __future__ import annotations

from dataclasses import dataclass

from weft.records.documents import Skipped
from weft.records.models import StoredModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What an index run did and what it cost."""

    documents: int = 0
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    pruned: int = 0
    chunks: int = 0
    embedded: int = 0
    """Texts the model had to embed."""
    cached: int = 0
    """Texts whose vector was already known."""
    seconds: float = 0.0
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStats:
    """What one namespace holds."""

    documents: int
    chunks: int
    terms: int
    vectors: int
    generation: int
    """Grows with every committed write to the namespace."""
    models: tuple[StoredModel, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing `check` found wrong."""

    where: str
    what: str
    repairable: bool
