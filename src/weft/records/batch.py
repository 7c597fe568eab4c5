"""What one transaction writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from weft.records.documents import Chunk, DocumentInfo, Vector
from weft.records.entities import Extraction
from weft.records.facts import Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedChunk:
    """A chunk with what the channels need to find it."""

    chunk: Chunk
    terms: Mapping[str, int]
    """Analysed terms and how often each occurs, title and headings included."""
    vector: Vector | None = None
    """None: the store already holds the vector of this chunk id, or there is no embedder."""
    extraction: Extraction = field(default_factory=Extraction)
    """The entities and relations it puts forward."""
    entity_vectors: Mapping[str, Vector] = field(default_factory=dict)
    """By key, vectors of the names it describes, where the store does not hold them already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Everything one document brings. It is written wholly or not at all."""

    document: DocumentInfo
    chunks: tuple[IndexedChunk, ...]
    model: str = ""
    """Fingerprint of the embedder the vectors come from; empty without one."""
    facts: tuple[Fact, ...] = ()
    """What it states, each with the id it has where nothing states the same yet."""
    fact_vectors: Mapping[str, Vector] = field(default_factory=dict)
    """By key, vectors of entities that its facts name; one that the store holds already stays."""
