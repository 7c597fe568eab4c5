"""Extraction result of a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.records.entities import Extraction
from weft.records.facts import GivenFact


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Extractions of all chunks of a document, and its facts."""

    extractions: Sequence[Extraction]
    """One per chunk, in order."""
    facts: tuple[GivenFact, ...] = ()
    is_complete: bool = True
    """False if some chunk failed. The document is then read again by the next run."""
