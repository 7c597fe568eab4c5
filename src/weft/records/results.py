"""What comes out: rankings, evidence, results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from weft.records.documents import Chunk, DocumentInfo, Scalar, Status, Vector
from weft.records.entities import Entity, Relation


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Narrows a search. Every given field must hold; an empty filter lets everything through."""

    documents: tuple[str, ...] = ()
    """Document ids."""
    source_prefix: str = ""
    metadata: tuple[tuple[str, Scalar], ...] = ()
    """Key and value; a list in the metadata matches when it contains the value."""

    def __bool__(self) -> bool:
        return bool(self.documents or self.source_prefix or self.metadata)


class Hit(NamedTuple):
    """One chunk found by one channel. `rank` starts at 1. Hundreds are made for a question, and tuples cost least."""

    chunk_id: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The hits of one channel, best first, with what is needed to judge their scores."""

    hits: tuple[Hit, ...] = ()
    mean: float = 0.0
    """Vector: mean cosine of the question with the namespace's chunks."""
    deviation: float = 0.0
    """Vector: standard deviation of those cosines; 0 with fewer than two chunks."""
    count: int = 0
    """Vector: how many chunks that mean and deviation are taken over."""
    ceiling: float = 0.0
    """Keyword: the score a chunk would approach if it were full of every term asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question, ready for the channels."""

    text: str
    terms: tuple[str, ...]
    vector: Vector | None
    vector_weight: float
    """0 where the embedder does not know the question's script, else what its card says."""
    notes: tuple[str, ...] = ()
    """Why a channel is missing or not trusted; shown to the user."""
    degraded: str = ""


class ChannelHit(NamedTuple):
    """What one channel said of a chunk."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PathStep:
    """One step of the way through the graph, in words: names of entities, or a citation at the end."""

    source: str
    type: str
    weight: float
    """1 to 10; 0 for the steps into a chunk, which have none."""
    target: str
    extractors: tuple[str, ...] = ()
    """Who read it, where that was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSource:
    """How the graph led to a chunk."""

    entity: str
    """Name of the entity the chunk belongs to."""
    hops: int
    """Relations walked from the question's entity; 0 for its own chunks."""
    path: tuple[PathStep, ...] = ()
    expansion: str = ""
    """The query that found it, with the `guided` algorithm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphContext:
    """What the graph knows around the answer."""

    entities: tuple[Entity, ...] = ()
    """Those the question names first."""
    relations: tuple[Relation, ...] = ()
    recognised: tuple[str, ...] = ()
    """Names of the entities the question was taken to be about."""
    found_by: Literal["name", "meaning", ""] = ""
    """Whether the question names them, or is only close to them in meaning."""
    trust: float = 0.0
    """How far the graph could move the answer, 0 to 1."""
    skipped: str = ""
    """Why the graph was not walked; empty when it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankedHit:
    """What re-ranking did to a chunk."""

    former_rank: int
    """Its rank, from 1, in the fused pool before."""
    score: float | None = None
    """What the reranker said, on a scale of its own; None where it was not asked about this chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reranking:
    """Whether the order is a reranker's, and if not, why not."""

    model: str
    count: int = 0
    """Chunks it judged."""
    skipped: str = ""
    """Why the order is the one it would be without; empty where it was re-ranked."""
    is_failed: bool = False
    """Whether that is because it failed or was too slow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A chunk that made it into the answer, with where it stands and why it is here."""

    chunk: Chunk
    document: DocumentInfo
    score: float
    channels: Mapping[str, ChannelHit]
    citation: str
    graph: GraphSource | None = None
    """How the graph led here; None where it did not."""
    names: tuple[str, ...] = ()
    """Names that the question spells, and that hardly any other chunk holds."""
    rerank: RerankedHit | None = None
    """None where the answer was not re-ranked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What can be measured of a question before it is answered."""

    language: str = ""
    """`zh`, `en` for other Latin text too, or the name of the main script; empty without letters."""
    citation: str = ""
    """What it asks of the citations: `citing`, `references`, `builds_on` …; empty for other questions."""
    ids: tuple[str, ...] = ()
    """Identifiers in it: of papers, tickets, errors, versions."""
    quoted: tuple[str, ...] = ()
    comparison: bool = False
    overview: bool = False
    entities: tuple[str, ...] = ()
    """Names of the entities it names."""
    degree: int = 0
    """Chunks that mention the best known of them."""
    named: float = 0.0
    """Share of its words, those of every question left aside, that are ids, quoted, or names of entities."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Why a method was chosen for the caller."""

    rule: str
    """`citation`, `exact`, `comparison`, `overview` or `default`."""
    features: Features


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """The best chunk that was not good enough."""

    citation: str
    score: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The answer to one question."""

    query: str
    method: str
    """The method that ran; `reason` says why when it was chosen for the caller."""
    reason: str
    status: Status
    confidence: float
    evidence: tuple[Evidence, ...]
    rejected: Rejected | None = None
    notes: tuple[str, ...] = ()
    degraded: str = ""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """By reason, how many of the chunks that each way of finding put first are not in the answer."""
    graph: GraphContext | None = None
    """None for methods that do not ask the graph."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Chunks found by each channel before fusion."""
    timings: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds per stage."""
    choice: Choice | None = None
    """Which rule chose the method, and what it saw; None where the caller chose."""
    rerank: Reranking | None = None
    """None where no reranker was to be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Text for a model, inside a token budget, with the sources it cites."""

    text: str
    tokens: int
    sources: tuple[Mapping[str, str], ...]
    omitted: int
    """Pieces of evidence, facts, entities and relations that did not fit."""
