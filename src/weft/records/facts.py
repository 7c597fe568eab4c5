"""What is remembered about a subject: facts with source, status and time, and what recalling them gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

FactStatus: TypeAlias = Literal["staged", "confirmed", "superseded", "rejected"]
FactAction: TypeAlias = Literal["added", "strengthened", "confirmed", "rejected", "superseded", "expired"]
FactOutcome: TypeAlias = Literal["added", "strengthened", "known", "refused"]
RecallStatus: TypeAlias = Literal["ok", "no_match", "degraded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenFact:
    """A fact as somebody states it. Either `object`, the name of an entity, or `value`, a literal."""

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
    """What the subject is, in a few words: embedded with its name."""
    supersedes: str = ""
    """Id of the fact that confirming this one would supersede."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """What was asserted about a subject. Times are in UTC."""

    id: str
    subject: str
    """Key of the subject (`text.names.name_key`)."""
    subject_name: str
    predicate: str
    object: str = ""
    """Key of the entity it leads to; empty where the value is a literal."""
    value: str
    """The name of that entity, or the literal."""
    confidence: float = 1.0
    """0 to 1."""
    source: str = "user_edit"
    status: FactStatus = "staged"
    created: datetime
    valid_from: datetime | None = None
    """None: since it was created."""
    valid_to: datetime | None = None
    """The first moment at which it no longer holds; None: it still does."""
    last_accessed: datetime | None = None
    access_count: int = 0
    supersedes: str = ""
    """Id of the fact that confirming this one supersedes."""
    note: str = ""
    spelling: str = ""
    """The predicate as it was first written, where that is not the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactEntity:
    """A thing that facts are about or lead to."""

    key: str
    name: str
    description: str = ""
    type: str = ""
    declared: bool = False
    """Whether it was given as a thing of its own, and so stays when no fact names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactEvent:
    """One step in the life of a fact."""

    fact_id: str
    at: datetime
    action: FactAction
    detail: str = ""
    other: str = ""
    """Id of the fact that had to do with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenMemory:
    """What a file remembers: facts as somebody states them, and the things it lists."""

    facts: tuple[GivenFact, ...] = ()
    entities: tuple[FactEntity, ...] = ()
    skipped: tuple[str, ...] = ()
    """What could not be read, or not as it stands, one line each: `line 12: no name`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFact:
    """A fact with its whole life, as it leaves a store and comes back."""

    fact: Fact
    history: tuple[FactEvent, ...]
    documents: tuple[str, ...] = ()
    """Sources of the documents that state it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What became of a fact that was stated."""

    outcome: FactOutcome
    fact: Fact | None = None
    """As it now is in the store; None where it was refused."""
    reason: str = ""
    """Why it was refused."""
    contradicts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A fact that a question brought back."""

    fact: Fact
    hop: int
    """1 for facts of the entities the question is about, 2 for those of the entities these lead to."""
    score: float
    factors: Mapping[str, float] = field(default_factory=dict)
    """What `score` is the product of: confidence, source, decay, usage, status."""
    match: float = 0.0
    """Words it shares with what is asked, and half of those of the fact that led to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """An entity a recall starts from, and why."""

    entity: FactEntity
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """What is known that bears on a question."""

    text: str
    status: RecallStatus
    facts: tuple[Recalled, ...] = ()
    """In order of activation: by match, by hop, by the place of their subject, then by score."""
    anchors: tuple[Anchor, ...] = ()
    at: datetime
    """The time it is asked about."""
    degraded: str = ""
    """Why entities could not be found by meaning."""
    cached: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """A fact that should be looked at, and why."""

    fact: Fact
    reason: str
