"""What goes over the wire, as the schema has it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from weft.config import Algorithm, ContextFormat, Fusion, GraphFusion, Method
from weft.server.times import Time

Text = Annotated[str, Field(min_length=1, max_length=10_000, pattern=r"\S")]
Name = Annotated[str, Field(min_length=1, max_length=1000, pattern=r"\S")]
Id = Annotated[str, Field(min_length=1, max_length=200)]
Scalar = str | int | float | bool | None


class Given(BaseModel):
    """A request; what it does not know it refuses."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class GivenGraph(Given):
    """How the graph takes part in one answer; what is left out is as it is set."""

    enabled: bool | None = None
    algorithm: Algorithm | None = None
    fusion: GraphFusion | None = None
    text_weight: Annotated[float, Field(ge=0, le=1000)] | None = None
    graph_weight: Annotated[float, Field(ge=0, le=1000)] | None = None
    confidence: Literal["measured", "heuristic"] | None = None
    min_confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    min_graph_score: Annotated[float, Field(ge=0, le=1)] | None = None
    max_named: Annotated[int, Field(ge=1, le=50)] | None = None
    max_close: Annotated[int, Field(ge=1, le=50)] | None = None
    min_similarity: Annotated[float, Field(ge=-1, le=1)] | None = None
    max_hops: Annotated[int, Field(ge=1, le=3)] | None = None
    max_chunks: Annotated[int, Field(ge=1, le=100)] | None = None
    max_expansions: Annotated[int, Field(ge=1, le=50)] | None = None
    per_query: Annotated[int, Field(ge=1, le=50)] | None = None
    rel_types: Annotated[list[Name], Field(max_length=50)] | None = None
    citation_depth: Annotated[int, Field(ge=1, le=3)] | None = None
    citation_share: Annotated[float, Field(ge=0, le=1)] | None = None


class Question(Given):
    """A question and how to answer it; what is left out is as it is set."""

    query: Text
    method: Method | None = None
    top_k: Annotated[int, Field(ge=1, le=1000)] | None = None
    min_score: Annotated[float, Field(ge=-1, le=1)] | None = None
    fusion: Fusion | None = None
    vector_weight: Annotated[float, Field(ge=0, le=1000)] | None = None
    text_weight: Annotated[float, Field(ge=0, le=1000)] | None = None
    gate: bool | None = Field(None, description="False returns the ranking as it is, however weak.")
    rerank: bool | None = Field(None, description="Whether the reranker of the settings orders the results.")
    use_graph: bool | None = Field(None, description="False leaves the graph out.")
    graph: GivenGraph | None = Field(None, description="How it takes part, field by field.")
    source_prefix: str = Field("", max_length=1000, description="Only documents whose source begins so.")
    documents: list[Id] = Field([], max_length=1000, description="Only documents with these ids.")
    metadata: dict[str, Scalar] = Field({}, max_length=20, description="Only documents that say this of themselves.")
    facts: bool = Field(False, description="Also recall what is remembered.")
    context: ContextFormat | None = Field(None, description="Also give the answer as text for a model.")
    budget: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(None, description="Tokens of that text.")


class GivenDocument(Given):
    """A text to index under its source, in the place of what was there."""

    text: Annotated[str, Field(min_length=1)]
    source: Name = Field(description="What it is called. Without a scheme it becomes `text:source`.")
    title: Annotated[str, Field(max_length=1000)] = ""
    metadata: dict[str, Scalar | list[Scalar]] = Field({}, max_length=100)


class GivenDocuments(Given):
    """Texts to index. Many of them become a job."""

    documents: Annotated[list[GivenDocument], Field(min_length=1, max_length=10_000)]
    background: bool = Field(False, description="Make it a job however few they are.")


class GivenStatement(Given):
    """A fact: of a literal `value`, or of an `object`, which is the name of an entity."""

    subject: Name
    predicate: Name
    value: Annotated[str, Field(max_length=10_000)] = ""
    object: Annotated[str, Field(max_length=1000)] = ""
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    source: Annotated[str, Field(max_length=100)] = "user_edit"
    valid_from: Time | None = None
    valid_to: Time | None = None
    note: Annotated[str, Field(max_length=10_000)] = ""
    description: Annotated[str, Field(max_length=10_000)] = ""
    supersedes: Annotated[str, Field(max_length=200)] = ""


class GivenStatements(Given):
    """Facts to remember, in one transaction."""

    facts: Annotated[list[GivenStatement], Field(min_length=1, max_length=1000)]


class RecallQuestion(Given):
    """What is wanted to be known, and as of when."""

    query: Text
    as_of: Time | None = None
    budget: Annotated[int, Field(ge=1, le=1_000_000)] | None = None


class Reason(Given):
    """Why."""

    reason: Annotated[str, Field(max_length=10_000)] = ""


# ── answers ─────────────────────────────────────────────────────────────────────────────────────


class Health(BaseModel):
    """The server is there."""

    status: Literal["ok"]
    version: str


class Ready(BaseModel):
    """The store answers."""

    status: Literal["ready"]


class DocumentOut(BaseModel):
    """A document without its text."""

    id: str
    source: str
    title: str
    metadata: dict[str, Any]
    chunks: int


class ChunkOut(BaseModel):
    """A passage of a document."""

    id: str
    ordinal: int
    heading: list[str]
    start_line: int
    end_line: int
    text: str


class DocumentPage(BaseModel):
    """Documents by source; `next` is the `after` of the page behind it."""

    documents: list[DocumentOut]
    next: str | None


class WholeDocument(BaseModel):
    """A document with its chunks, or with the one that was asked for; `next` is the `after` of those that follow."""

    document: DocumentOut
    unit: Literal["line", "page"] = Field(description="What `start_line` and `end_line` of its chunks count.")
    chunks: list[ChunkOut]
    next: str | None


class SkippedOut(BaseModel):
    """What was not indexed, and why."""

    source: str
    reason: str
    detail: str


class ReceiptOut(BaseModel):
    """What indexing did and what it cost; `skipped` counts all that was skipped, `skipped_files` lists the first."""

    documents: int
    added: int
    changed: int
    unchanged: int
    pruned: int
    chunks: int
    embedded: int
    cached: int
    facts: int
    seconds: float
    skipped: dict[str, int]
    skipped_files: list[SkippedOut]
    notes: list[str]
    llm: dict[str, Any] = Field(default_factory=dict, description="What a language model was asked, where one was.")
    embedding: dict[str, Any] = Field(
        default_factory=dict, description="What an embedder behind an endpoint was asked, where one was."
    )


class JobError(BaseModel):
    """Why a job failed."""

    code: str
    message: str
    hint: str


class JobOut(BaseModel):
    """A job: how far it is, and in the end what it did."""

    id: str
    state: Literal["queued", "running", "done", "failed", "interrupted"]
    total: int
    processed: int
    chunks: int
    receipt: ReceiptOut | None
    error: JobError | None


class Deleted(BaseModel):
    """How many documents are gone."""

    deleted: int


class Forgotten(BaseModel):
    """How many facts are gone."""

    forgotten: int


class EntityOut(BaseModel):
    """An entity."""

    id: str
    name: str
    type: str
    description: str
    aliases: list[str]
    mentions: int
    chunks: int


class StepOut(BaseModel):
    """A relation, as it is walked; `extractors` says who read it, unless that was the rules alone."""

    source: str
    type: str
    weight: float
    target: str
    extractors: list[str] = []


class MentionOut(BaseModel):
    """Where an entity is mentioned."""

    chunk_id: str
    citation: str
    count: int
    about: bool


class EntityList(BaseModel):
    """Entities, those most chunks mention first; `next` is the `after` of the page behind it."""

    entities: list[EntityOut]
    next: str | None


class EntityPage(BaseModel):
    """An entity with what surrounds it, strongest first; `truncated` says that there is more than `limit` of it."""

    entity: EntityOut
    relations: list[StepOut]
    mentions: list[MentionOut]
    truncated: bool


class NeighbourOut(BaseModel):
    """An entity near another one, and the way there."""

    entity: EntityOut
    hops: int
    weight: float
    path: list[StepOut]


class NeighbourList(BaseModel):
    """Entities around one, nearest and strongest first; `omitted` more follow, from the `after` that `next` says."""

    entity: EntityOut
    neighbours: list[NeighbourOut]
    omitted: int
    next: str | None


class PathOut(BaseModel):
    """The best path between two entities; empty where `found` is false."""

    found: bool
    path: list[StepOut]


class FactOut(BaseModel):
    """A fact; it has an `object`, the name of an entity, or a `value`."""

    id: str
    subject: str
    predicate: str
    object: str | None = None
    value: str | None = None
    confidence: float
    source: str
    status: Literal["staged", "confirmed", "superseded", "rejected"]
    created: str
    valid_from: str | None
    valid_to: str | None
    last_accessed: str | None
    access_count: int
    supersedes: str | None
    note: str
    spelling: str | None


class FactPage(BaseModel):
    """Facts by id; `next` is the `after` of the page behind it."""

    facts: list[FactOut]
    next: str | None


class EventOut(BaseModel):
    """One step in the life of a fact."""

    at: str
    action: str
    detail: str | None
    other: str | None


class WholeFact(BaseModel):
    """A fact with its life; `omitted` says how many earlier events are left out."""

    fact: FactOut
    history: list[EventOut]
    omitted: int


class RememberedOut(BaseModel):
    """What became of a fact that was stated."""

    outcome: Literal["added", "strengthened", "known", "refused"]
    reason: str | None
    fact: FactOut | None
    contradicts: list[str]


class RememberedList(BaseModel):
    """What became of each fact, in their order."""

    facts: list[RememberedOut]


class ModelOut(BaseModel):
    """An embedder the namespace has vectors of."""

    name: str
    fingerprint: str
    dimension: int
    active: bool


class StatsOut(BaseModel):
    """What the namespace holds."""

    namespace: str
    documents: int
    chunks: int
    terms: int
    vectors: int
    entities: int
    relations: int
    facts: int
    generation: int
    models: list[ModelOut]
    confidence: dict[str, Any]
    notes: list[str]
