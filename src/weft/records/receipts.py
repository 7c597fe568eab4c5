"""Receipts of runs, statistics of stores, findings of checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from weft.records.documents import Skipped
from weft.records.models import StoredModel
from weft.records.usage import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Counts and cost of an index run."""

    documents: int = 0
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    pruned: int = 0
    chunks: int = 0
    embedded: int = 0
    """Texts embedded by the model."""
    cached: int = 0
    """Texts with a cached vector."""
    facts: int = 0
    """Facts stated by the written documents."""
    broken_links: int = 0
    """Links of the written documents that lead to no document."""
    seconds: float = 0.0
    skipped: tuple[Skipped, ...] = ()
    usage: Usage = field(default_factory=Usage)
    """Usage of a language model."""
    embedding: Usage = field(default_factory=Usage)
    """Usage of a remote embedder."""
    notes: tuple[str, ...] = ()
    """Remarks about the namespace for the user."""

    @property
    def stopped(self) -> str:
        """Limit that ended the run; empty if none."""
        return self.usage.stopped or self.embedding.stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReceipt:
    """Counts and cost of importing a graph, or of removing an import."""

    name: str
    """Name under which the import can be replaced or removed."""
    form: str = ""
    entities: int = 0
    relations: int = 0
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    pruned: int = 0
    """Documents of an earlier import of this name that the new import does not contain; they were deleted."""
    annotated: int = 0
    """Chunks of other documents whose annotations by this import changed."""
    not_found: int = 0
    """Referenced passages that are neither included nor stored."""
    embedded: int = 0
    cached: int = 0
    embedding: Usage = field(default_factory=Usage)
    """Usage of a remote embedder."""
    seconds: float = 0.0
    skipped: tuple[str, ...] = ()
    """Unusable parts, one line each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactReceipt:
    """Counts of a fact import."""

    form: str
    entities: int = 0
    """Entities listed in the file."""
    added: int = 0
    strengthened: int = 0
    known: int = 0
    refused: tuple[str, ...] = ()
    """Refused facts, each with its reason."""
    skipped: tuple[str, ...] = ()
    """Unreadable or adjusted parts, one line each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStats:
    """Statistics of one namespace."""

    documents: int
    chunks: int
    terms: int
    vectors: int
    generation: int
    """Counter of committed writes to the namespace."""
    models: tuple[StoredModel, ...]
    vector_search: str = "exact"
    """Vector search: `exact`, or an index; empty without vectors."""
    keyword_search: str = "exact"
    """Keyword search: `exact`, or an index."""
    entity_search: str = "exact"
    """Vector search over the entities of facts: `exact`, or an index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """Counts by type in the graph of a namespace."""

    entities: Mapping[str, int]
    """Number of entities by type; an entity with two types counts twice."""
    relations: Mapping[str, int]
    """Number of stated relations by type, without those derived from mentions."""
    is_estimated: bool = False
    """True if a sample of a large namespace was counted. Rare types may be missing then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenLink:
    """A link between pages whose target does not exist."""

    source: str
    """Source of the document."""
    line: int
    target: str
    """Address as written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One finding of `weft check`."""

    where: str
    what: str
    repairable: bool
    """True if `weft repair` fixes the problem."""
    command: str = ""
    """Command that fixes the problem, if `weft repair` does not."""
