"""Batch: everything that one transaction writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from weft.records.documents import Chunk, DocumentInfo, Vector
from weft.records.entities import Extraction, StatedMention
from weft.records.facts import Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedChunk:
    """A chunk with its terms, vector and extraction."""

    chunk: Chunk
    terms: Mapping[str, int]
    """Term frequencies, title and headings included."""
    vector: Vector | None = None
    """Vector of the chunk. None without an embedder, or if the store already has the vector of this chunk id."""
    extraction: Extraction = field(default_factory=Extraction)
    """Candidates and stated relations of the chunk."""
    mentions: tuple[StatedMention, ...] | None = None
    """Mentions of the proposed names; None if they are not counted yet."""
    entity_vectors: Mapping[str, Vector] = field(default_factory=dict)
    """Vectors of the names that the chunk describes, by key. Vectors that the store already has are left out."""
    packed: tuple[bytes, bytes] | None = None
    """Text and terms in compressed form, for stores that keep this form; None: such a store compresses them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Everything derived from one document, written atomically."""

    document: DocumentInfo
    chunks: tuple[IndexedChunk, ...]
    model: str = ""
    """Fingerprint of the embedder; empty without one."""
    facts: tuple[Fact, ...] = ()
    """Facts that the document states. The id of a fact is used if no equal fact exists."""
    fact_vectors: Mapping[str, Vector] = field(default_factory=dict)
    """Vectors of the entities in these facts, by key. Vectors that the store already has are kept."""
