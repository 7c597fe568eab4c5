"""Batch: everything that one transaction writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from weft.records.documents import Chunk, DocumentInfo, Vector
from weft.records.entities import Extraction
from weft.records.facts import Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedChunk:
    """A chunk with its terms, vector and extraction."""

    chunk: Chunk
    terms: Mapping[str, int]
    """Term frequencies, title and headings included."""
    vector: Vector | None = None
    """None if the store already has the vector of this chunk id, or without an embedder."""
    extraction: Extraction = field(default_factory=Extraction)
    """Its nominations and claims."""
    entity_vectors: Mapping[str, Vector] = field(default_factory=dict)
    """Vectors by key of the names it describes, as far as the store lacks them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Everything derived from one document, written atomically."""

    document: DocumentInfo
    chunks: tuple[IndexedChunk, ...]
    model: str = ""
    """Fingerprint of the embedder; empty without one."""
    facts: tuple[Fact, ...] = ()
    """Facts it states. The id is used if no equal fact exists."""
    fact_vectors: Mapping[str, Vector] = field(default_factory=dict)
    """Vectors by key of the entities in its facts; existing vectors are kept."""
