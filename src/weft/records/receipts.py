"""What runs did, what stores hold, what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from weft.records.documents import Skipped
from weft.records.models import StoredModel
from weft.records.usage import Usage


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
    facts: int = 0
    """What the documents that were written state."""
    seconds: float = 0.0
    skipped: tuple[Skipped, ...] = ()
    usage: Usage = field(default_factory=Usage)
    """What a language model was asked."""
    embedding: Usage = field(default_factory=Usage)
    """What an embedder behind an endpoint was asked; nothing for one on this machine."""
    notes: tuple[str, ...] = ()
    """What the user should know about the namespace as it is now."""

    @property
    def stopped(self) -> str:
        """Which bound ended the run, if one did."""
        return self.usage.stopped or self.embedding.stopped


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReceipt:
    """What importing a ready-made graph, or taking it back, did and what it cost."""

    name: str
    """What the import is called; it can be replaced and taken back under this name."""
    form: str = ""
    entities: int = 0
    relations: int = 0
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    pruned: int = 0
    """Documents that an import of this name made before and that are no longer in it."""
    annotated: int = 0
    """Chunks of other documents that it says something about, or that it no longer does when it is taken back."""
    not_found: int = 0
    """Passages it names that neither come with it nor are stored."""
    embedded: int = 0
    cached: int = 0
    embedding: Usage = field(default_factory=Usage)
    """As that of a `Receipt`."""
    seconds: float = 0.0
    skipped: tuple[str, ...] = ()
    """What could not be used, one line each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactReceipt:
    """What importing facts did."""

    form: str
    entities: int = 0
    """Things the file lists."""
    added: int = 0
    strengthened: int = 0
    known: int = 0
    refused: tuple[str, ...] = ()
    """What hygiene did not let in, each with its reason."""
    skipped: tuple[str, ...] = ()
    """What could not be read, or not as it stands, one line each."""


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
    vector_search: str = "exact"
    """What answers questions by vectors: `exact`, or an index; empty where nothing does."""
    keyword_search: str = "exact"
    """What answers questions by words."""
    entity_search: str = "exact"
    """What finds the entities of facts by vectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """What kinds of things the graph of a namespace holds."""

    entities: Mapping[str, int]
    """By type, how many entities documents call so; one that is called two things counts as both."""
    relations: Mapping[str, int]
    """By type, how many relations documents state. What merely follows from mentions is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing `check` found wrong."""

    where: str
    what: str
    repairable: bool
    """Whether `weft repair` mends it."""
    command: str = ""
    """Another command that does, where it does not."""
