"""What an extractor read out of one document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.records.entities import Extraction
from weft.records.facts import GivenFact


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What an extractor read out of a document's chunks, and the facts it found."""

    extractions: Sequence[Extraction]
    """One per chunk, in order."""
    facts: tuple[GivenFact, ...] = ()
    is_complete: bool = True
    """False where some chunk could not be read; it is read again when the document is next indexed."""
