"""Facts with source, status and validity, and results of recall."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

FactStatus: TypeAlias = Literal["staged", "confirmed", "superseded", "rejected"]
FactAction: TypeAlias = Literal["added", "strengthened", "confirmed", "rejected", "superseded", "restored", "expired"]
FactOutcome: TypeAlias = Literal["added", "strengthened", "known", "refused"]
RecallStatus: TypeAlias = Literal["ok", "no_match", "degraded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenFact:
    """A fact as stated. It has either `object`, the name of an entity, or `value`, a literal."""

    subject: str
    predicate: str
    object: str = ""
    value: str = ""
    confidence: float = 1.0
    source: str = "user_edit"
    """`user_edit`, `file`, `system`, `conversation`, or any other word."""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    note: str = ""
    description: str = ""
    """Short description of the subject, embedded with its name."""
    supersedes: str = ""
    """Id of the fact that becomes superseded when this fact is confirmed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A stored assertion about a subject. Times are in UTC."""

    id: str
    subject: str
    """Key of the subject (`extract.names.name_key`)."""
    subject_name: str
    predicate: str
    object: str = ""
    """Key of the object entity; empty if the value is a literal."""
    value: str
    """Name of the object entity, or the literal."""
    confidence: float = 1.0
    """Confidence, 0 to 1."""
    source: str = "user_edit"
    status: FactStatus = "staged"
    created: datetime
    valid_from: datetime | None = None
    """Start of validity; None for the time of creation."""
    valid_to: datetime | None = None
    """End of validity, exclusive; None if the fact is still valid."""
    last_accessed: datetime | None = None
    access_count: int = 0
    supersedes: str = ""
    """Id of the fact that becomes superseded when this fact is confirmed."""
    note: str = ""
    spelling: str = ""
    """Predicate as first written, if that differs from the stored form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactEntity:
    """Subject or object of facts."""

    key: str
    name: str
    description: str = ""
    type: str = ""
    declared: bool = False
    """True if the entity was declared explicitly. A declared entity is kept when no fact uses it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactEvent:
    """One event in the life cycle of a fact."""

    fact_id: str
    at: datetime
    action: FactAction
    detail: str = ""
    other: str = ""
    """Id of the other fact involved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenMemory:
    """Facts and entities of a memory file."""

    facts: tuple[GivenFact, ...] = ()
    entities: tuple[FactEntity, ...] = ()
    skipped: tuple[str, ...] = ()
    """Unreadable or adjusted parts, one line each: `line 12: no name`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFact:
    """A fact with its history, for export and restore."""

    fact: Fact
    history: tuple[FactEvent, ...]
    documents: tuple[str, ...] = ()
    """Sources of the documents that state the fact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """Outcome of stating a fact."""

    outcome: FactOutcome
    fact: Fact | None = None
    """The stored fact; None if the statement was refused."""
    reason: str = ""
    """Reason of the refusal."""
    contradicts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A fact found by recall."""

    fact: Fact
    hop: int
    """1 for facts of the anchors and facts close to the question, 2 for facts of the anchors' objects."""
    score: float
    factors: Mapping[str, float] = field(default_factory=dict)
    """Factors of `score`: confidence, source, decay, usage, status; and relevance, unless `memory.rank` is `score`."""
    match: float = 0.0
    """Number of words shared with the question, plus half of the match of the preceding fact."""
    priority: int = 0
    """Order within a token budget; 0 for facts about the entities of the question."""
    path: tuple[Fact, ...] = ()
    """Facts that lead from an anchor to the subject of this one; empty at hop 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """An entity at which a recall starts, and the reason."""

    entity: FactEntity
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """Result of a recall."""

    text: str
    status: RecallStatus
    facts: tuple[Recalled, ...] = ()
    """Recalled facts, highest score first."""
    anchors: tuple[Anchor, ...] = ()
    at: datetime
    """Reference time of the recall."""
    degraded: str = ""
    """Reason why vector search for entities was not possible."""
    cached: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """A fact to review, and the reason."""

    fact: Fact
    reason: str
