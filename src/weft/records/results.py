"""Rankings, evidence and results of queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Literal, NamedTuple

from weft.records.documents import Chunk, DocumentInfo, Scalar, Status
from weft.records.entities import Entity, Relation

MIN_MICROSECONDS, MAX_MICROSECONDS = -(2**63), 2**63 - 1

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class TimeLimits(NamedTuple):
    """A half-open range of times, in microseconds since 1970 in UTC."""

    start: int
    end: int

    def overlaps(self, start: int | None, end: int | None) -> bool:
        """Return True if a chunk with these times has a turn in the range; False without times."""
        return start is not None and end is not None and self.start <= end and start < self.end


def parse_time(text: str) -> datetime:
    """Return a time from ISO 8601; `datetime.fromisoformat` of Python 3.10 does not read a final `Z`."""
    return datetime.fromisoformat(f"{text[:-1]}+00:00" if text.endswith(("Z", "z")) else text)


def to_microseconds(time: datetime) -> int:
    """Return a time in microseconds since 1970; a time without a zone is in UTC."""
    aware = time if time.tzinfo else time.replace(tzinfo=timezone.utc)
    return (aware - _EPOCH) // timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Restriction of a search. All set fields must match; an empty filter matches everything."""

    documents: tuple[str, ...] = ()
    """Document ids."""
    source_prefix: str = ""
    metadata: tuple[tuple[str, Scalar], ...] = ()
    """Key-value pairs; a list in the metadata matches if it contains the value."""
    metadata_if_present: tuple[tuple[str, Scalar], ...] = ()
    """Key-value pairs of which a document may lack the key: those without it pass."""
    metadata_excluded: tuple[tuple[str, Scalar], ...] = ()
    """Key-value pairs that a document must not have."""
    after: datetime | None = None
    """Only chunks of conversations with a turn at this time or later. A time without a zone is in UTC."""
    before: datetime | None = None
    """Only chunks of conversations with a turn before this time."""

    def __bool__(self) -> bool:
        labels = self.metadata or self.metadata_if_present or self.metadata_excluded
        return bool(self.documents or self.source_prefix or labels or self.has_time)

    @property
    def has_time(self) -> bool:
        """True if only chunks with a time pass."""
        return self.after is not None or self.before is not None

    def allows_time(self, start: int | None, end: int | None) -> bool:
        """Return True if a chunk with these times passes `after` and `before`."""
        return not self.has_time or self.time_limits.overlaps(start, end)

    @property
    def time_limits(self) -> TimeLimits:
        """The limits in microseconds since 1970; those of 64 bits for a missing one."""
        start = MIN_MICROSECONDS if self.after is None else to_microseconds(self.after)
        return TimeLimits(start, MAX_MICROSECONDS if self.before is None else to_microseconds(self.before))


class Hit(NamedTuple):
    """One chunk found by one channel. `rank` starts at 1. It is a tuple, because a query creates hundreds of hits."""

    chunk_id: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Hits of one channel, best first, with statistics to judge their scores."""

    hits: tuple[Hit, ...] = ()
    mean: float = 0.0
    """Vector: mean cosine of the question with all chunks of the namespace."""
    deviation: float = 0.0
    """Vector: standard deviation of those cosines; 0 with fewer than two chunks."""
    count: int = 0
    """Vector: number of chunks from which mean and deviation are computed."""
    ceiling: float = 0.0
    """Keyword: upper bound of the BM25 score for these terms."""
    shared: Mapping[str, frozenset[str]] = field(default_factory=dict, compare=False)
    """Keyword: which of these terms the best hits contain, by chunk id; a store that does not know leaves hits out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordStatistics:
    """Statistics of a namespace, or of several, that BM25 needs for some terms."""

    chunks: int
    """Number of chunks."""
    length: int
    """Number of terms of all chunks together."""
    counts: Mapping[str, int]
    """Number of chunks that contain each term; absent terms may be left out."""


class ChannelHit(NamedTuple):
    """Rank and score of a chunk in one channel."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PathStep:
    """One step of a path through the graph: names of entities, or a citation at the end."""

    source: str
    type: str
    weight: float
    """Weight of the relation, 1 to 10; 0 for a step into a chunk."""
    target: str
    extractors: tuple[str, ...] = ()
    """Extractors of the relation, if requested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSource:
    """Path through the graph to a chunk."""

    entity: str
    """Name of the entity through which the chunk was found."""
    hops: int
    """Number of relations from the seed; 0 for its own chunks."""
    path: tuple[PathStep, ...] = ()
    expansion: str = ""
    """Expansion query of the `guided` algorithm."""

    @property
    def start(self) -> str:
        """Name of the entity at which the path starts; empty without a path."""
        return self.path[0].source if self.path else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphContext:
    """Entities and relations around the results."""

    entities: tuple[Entity, ...] = ()
    """Entities, those named by the question first."""
    relations: tuple[Relation, ...] = ()
    recognised: tuple[str, ...] = ()
    """Names of the seeds."""
    found_by: Literal["name", "meaning", ""] = ""
    """`name` if the question names the seeds, `meaning` if vector similarity found them."""
    trust: float = 0.0
    """Trust in the graph ranking, 0 to 1."""
    skipped: str = ""
    """Reason why the graph was skipped; empty if it was used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankedHit:
    """Effect of re-ranking on a chunk."""

    former_rank: int
    """Rank in the fused pool before re-ranking, from 1."""
    score: float | None = None
    """Reranker score, on the reranker's scale; None if the reranker did not score this chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reranking:
    """Re-ranking of a result, or the reason why it was skipped."""

    model: str
    count: int = 0
    """Number of scored chunks."""
    skipped: str = ""
    """Reason why re-ranking was skipped; empty if it was applied."""
    is_failed: bool = False
    """True if re-ranking was skipped because of a failure or the deadline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A returned chunk with its citation and the reasons for its rank."""

    chunk: Chunk
    document: DocumentInfo
    score: float
    channels: Mapping[str, ChannelHit]
    citation: str
    graph: GraphSource | None = None
    """Path through the graph; None if other channels found the chunk."""
    names: tuple[str, ...] = ()
    """Rare names of the question that this chunk contains."""
    rerank: RerankedHit | None = None
    """None without re-ranking."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """Features of a question, measured before the search."""

    language: str = ""
    """`zh`, `en` for other Latin text too, or the name of the main script; empty without letters."""
    citation: str = ""
    """Kind of citation question: `citing`, `references`, `builds_on` …; empty for others."""
    ids: tuple[str, ...] = ()
    """Identifiers: papers, tickets, errors, versions."""
    quoted: tuple[str, ...] = ()
    comparison: bool = False
    overview: bool = False
    entities: tuple[str, ...] = ()
    """Names of recognised entities."""
    degree: int = 0
    """Number of chunks that mention the most frequent recognised entity."""
    named: float = 0.0
    """Share of content words that are ids, quoted, or entity names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Reason why `auto` chose a method."""

    rule: str
    """`citation`, `exact`, `comparison`, `overview` or `default`."""
    features: Features


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """Best chunk below the relevance threshold."""

    citation: str
    score: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedThing:
    """A thing in the answer to a question about relations, with the statement of its relation."""

    entity_id: str
    name: str
    type: str
    """Type of the entity; empty if unknown."""
    relation: str
    """Relation type, from the previous thing on the path to this one."""
    weight: float
    sentence: str
    """Sentence or line that states the relation."""
    citation: str
    """Empty for a relation that only a fact states."""
    chunk_id: str
    path: tuple[PathStep, ...]
    """Relations from the named thing to this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationAnswer:
    """Answer of the graph to a question about relations."""

    names: tuple[str, ...]
    """The thing that the question names, or the two whose connection it asks for."""
    types: tuple[str, ...] = ()
    """Relation types from the named thing; empty for any connection."""
    items: tuple[RelatedThing, ...] = ()
    """Related things: direct ones first, then in the order of `types`, then the strongest."""
    total: int = 0
    """Number of related things; `items` has at most 100 of them."""
    offset: int = 0
    """Number of related things before `items`."""
    note: str = ""
    """Reason if there are none."""
    passages: tuple[str, ...] = ()
    """Citations of the best passage of each thing, if nothing connects them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Result of one query."""

    query: str
    method: str
    """Method that ran; `reason` explains the choice of `auto`."""
    reason: str
    status: Status
    confidence: float
    evidence: tuple[Evidence, ...]
    """At most `top_k` passages, best first."""
    connected: tuple[Evidence, ...] = ()
    """Passages of stated neighbours of the entities that the question names, best first; none of them is evidence."""
    relations: RelationAnswer | None = None
    """Answer of the graph to a question about relations; None for other questions."""
    rejected: Rejected | None = None
    notes: tuple[str, ...] = ()
    degraded: str = ""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Number of top chunks of the channels that the result omits, by reason."""
    graph: GraphContext | None = None
    """None for methods without graph."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Number of chunks per channel before fusion."""
    timings: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds per stage."""
    choice: Choice | None = None
    """Rule and features of `auto`; None if the caller chose the method."""
    rerank: Reranking | None = None
    """None if no reranker was requested."""
    namespaces: tuple[str, ...] = ()
    """The namespaces that were searched together; empty for the namespace of the engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Text for a model, inside a token budget, with the sources it cites."""

    text: str
    tokens: int
    sources: tuple[Mapping[str, str], ...]
    omitted: int
    """Number of omitted chunks, facts, entities and relations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedDocument:
    """A document related to another one, with the reasons."""

    document: DocumentInfo
    chunk: Chunk
    """The nearest chunk, or the one that the graph leads to."""
    score: float
    cosine: float | None = None
    """Cosine of the nearest chunk; None if only the graph connects the documents."""
    shared: tuple[str, ...] = ()
    """Names of entities that both documents mention, rare ones first."""
    relations: tuple[PathStep, ...] = ()
    """Stated relations between entities of the two documents."""
