"""Request and response models of the HTTP API, the source of its OpenAPI schema."""

from __future__ import annotations

import math
from datetime import datetime, timezone
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AliasChoices,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
)

from weft.config import Algorithm, ContextFormat, Fusion, GraphFusion, Method
from weft.engine.input_checks import MAX_QUESTION_CHARACTERS
from weft.exchange.fact_objects import read_time
from weft.records import Access, Unit

Text = Annotated[str, Field(min_length=1, max_length=MAX_QUESTION_CHARACTERS, pattern=r"\S")]
Name = Annotated[str, Field(min_length=1, max_length=1000, pattern=r"\S")]
Id = Annotated[str, Field(min_length=1, max_length=200)]
Scalar = str | int | float | bool | None


def _parse_time(value: Any) -> Any:
    """Return text parsed as on the command line, or unchanged for pydantic, which would accept a Unix time too."""
    if not isinstance(value, str) or _is_number(value):
        raise ValueError("expected text such as 2026-11-17 or 2026-11-17T09:30:00Z")
    try:
        return read_time(value)
    except ValueError:
        return value


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _to_utc(time: datetime) -> datetime:
    try:
        return time.astimezone(timezone.utc)
    except OverflowError as error:
        raise ValueError("expected a year from 1 to 9999") from error


_TIME_SCHEMA = {
    "type": "string",
    "anyOf": [{"format": "date-time"}, {"format": "date"}],
    "description": "A time, or a date for its first moment. UTC if no offset is given.",
}
Time = Annotated[AwareDatetime, BeforeValidator(_parse_time), AfterValidator(_to_utc), WithJsonSchema(_TIME_SCHEMA)]


class Given(BaseModel):
    """A request. Unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


def _named(name: str, spelling: str) -> Any:
    """Return a field that may be omitted, with a second accepted spelling."""
    return Field(None, validation_alias=AliasChoices(name, spelling), description=f"Alias `{spelling}`.")


class GivenGraph(Given):
    """Graph settings of one query. Omitted fields have their configured values."""

    enabled: bool | None = None
    algorithm: Algorithm | None = None
    fusion: GraphFusion | None = None
    text_weight: Annotated[float, Field(ge=0, le=1000)] | None = _named("text_weight", "alpha")
    graph_weight: Annotated[float, Field(ge=0, le=1000)] | None = _named("graph_weight", "beta")
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


class SearchQuestion(Given):
    """A question and the options of its search. Omitted fields have their configured values."""

    query: Text
    namespaces: list[Name] = Field(
        [], max_length=100, description="Namespaces to search as one. Default: the namespace of the request."
    )
    method: Method | None = None
    top_k: Annotated[int, Field(ge=1, le=1000)] | None = None
    min_score: Annotated[float, Field(ge=-1, le=1)] | None = None
    fusion: Fusion | None = None
    vector_weight: Annotated[float, Field(ge=0, le=1000)] | None = None
    text_weight: Annotated[float, Field(ge=0, le=1000)] | None = None
    gate: bool | None = Field(None, description="False returns the ranking without a relevance threshold.")
    rerank: bool | None = Field(None, description="True reorders the results with the configured reranker.")
    relations_offset: Annotated[int, Field(ge=0, le=5000)] | None = Field(
        None, description="Related things to skip in `relations`; the next 100 are listed."
    )
    use_graph: bool | None = Field(None, description="False disables the graph.")
    graph: GivenGraph | None = Field(None, description="Graph settings of this query.")
    source_prefix: str = Field("", max_length=1000, description="Only documents whose source starts with this text.")
    documents: list[Id] = Field([], max_length=1000, description="Only documents with these ids.")
    metadata: dict[str, Scalar] = Field({}, max_length=20, description="Only documents with these metadata values.")
    after: Time | None = Field(None, description="Only passages of conversations at this time or later.")
    before: Time | None = Field(None, description="Only passages of conversations before this time.")


class Question(SearchQuestion):
    """A query with its options. Omitted fields have their configured values."""

    facts: bool = Field(False, description="Also recall relevant facts.")
    context: ContextFormat | None = Field(
        None, description="Also return the evidence as text for a model, in this format."
    )
    budget: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(None, description="Maximum tokens of that text.")


class AskedQuestion(SearchQuestion):
    """A question to answer. Omitted fields have their configured values."""

    write: bool | None = Field(
        None, description="Let the language model write an answer. Default: if one is configured."
    )
    stream: bool = Field(False, description="True returns the parts of the answer as server-sent events.")


class GivenDocument(Given):
    """A text to index. It replaces the document with the same source."""

    text: Annotated[str, Field(min_length=1)]
    source: Name = Field(description="Name of the text. Without a scheme it becomes `text:source`.")
    title: Annotated[str, Field(max_length=1000)] = ""
    metadata: dict[str, Scalar | list[Scalar]] = Field({}, max_length=100)


class GivenDocuments(Given):
    """Texts to index. A long list becomes a job."""

    documents: Annotated[list[GivenDocument], Field(min_length=1, max_length=10_000)]
    background: bool = Field(False, description="True indexes as a job even if the list is short.")


class GivenStatement(Given):
    """A fact with either a literal `value` or an `object`, the name of an entity."""

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
    """Facts to add in one transaction."""

    facts: Annotated[list[GivenStatement], Field(min_length=1, max_length=1000)]


class RecallQuestion(Given):
    """A query over facts. `as_of` selects the facts valid at that time."""

    query: Text
    as_of: Time | None = None
    budget: Annotated[int, Field(ge=1, le=1_000_000)] | None = None


class GivenSelection(Given):
    """Conversations and texts to erase. At least one of the first three is required; all that are given must match."""

    conversation: Name | None = Field(None, description="Id or source of a conversation.")
    before: Time | None = Field(None, description="Conversations whose last turn is before this time.")
    matching: Name | None = Field(None, description="Documents of any kind, and facts, that contain this text.")
    erase: bool = Field(False, description="True deletes permanently; false only lists what would be deleted.")


class GivenKey(Given):
    """A key to create."""

    name: Annotated[str, Field(max_length=200)] = ""
    access: Access = "read"
    namespaces: list[Name] = Field([], max_length=1000, description="Default: the namespace of the request.")


class Reason(Given):
    """Reason of a decision, kept in the history."""

    reason: Annotated[str, Field(max_length=10_000)] = ""


# ── responses ───────────────────────────────────────────────────────────────────────────────────


class Health(BaseModel):
    """Response of `/health`: the server runs."""

    status: Literal["ok"]
    version: str


class Ready(BaseModel):
    """Response of `/ready`: the store responds."""

    status: Literal["ready"]


class DocumentOut(BaseModel):
    """A document without its text."""

    id: str
    source: str
    title: str
    metadata: dict[str, Any]
    chunks: int
    namespace: str | None = Field(None, description="Its namespace, if several were searched.")
    lost: bool = Field(False, description="True if its file no longer exists; set in answers to questions.")


class ChunkOut(BaseModel):
    """A passage of a document."""

    id: str
    ordinal: int
    heading: list[str]
    start_line: int
    end_line: int
    text: str


class DocumentPage(BaseModel):
    """Documents in order of source. `next` is the `after` of the next page."""

    documents: list[DocumentOut]
    next: str | None


class WholeDocument(BaseModel):
    """A document with its chunks, or with the requested chunk only. `next` is the `after` of the next page."""

    document: DocumentOut
    unit: Unit = Field(description="Unit of `start_line` and `end_line` of the chunks.")
    chunks: list[ChunkOut]
    next: str | None


class SkippedOut(BaseModel):
    """A file or record that was not indexed, and the reason."""

    source: str
    reason: str
    detail: str


class ReceiptOut(BaseModel):
    """Result and cost of indexing. `skipped` counts skipped items by reason; `skipped_files` lists the first ones."""

    documents: int
    added: int
    changed: int
    unchanged: int
    pruned: int
    chunks: int
    embedded: int
    cached: int
    facts: int
    broken_links: int
    seconds: float
    skipped: dict[str, int]
    skipped_files: list[SkippedOut]
    notes: list[str]
    llm: dict[str, Any] = Field(default_factory=dict, description="Usage of the language model, if any.")
    embedding: dict[str, Any] = Field(default_factory=dict, description="Usage of a remote embedder, if any.")


class JobError(BaseModel):
    """Error that ended a job."""

    code: str
    message: str
    hint: str


class JobOut(BaseModel):
    """A job: its progress, and its receipt at the end."""

    id: str
    state: Literal["queued", "running", "done", "failed", "interrupted"]
    total: int
    processed: int
    chunks: int
    receipt: ReceiptOut | None
    error: JobError | None


class Deleted(BaseModel):
    """Number of deleted documents."""

    deleted: int


class Forgotten(BaseModel):
    """Number of deleted facts."""

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
    """A relation in the direction of traversal. `extractors` is empty if only the rules extracted it."""

    source: str
    type: str
    weight: float
    target: str
    extractors: list[str] = []


class RelatedOut(BaseModel):
    """A related document. `cosine` is null if only the graph connects it; `shared` are names that both mention."""

    document: DocumentOut
    citation: str
    chunk_id: str
    score: float
    cosine: float | None
    shared: list[str]
    relations: list[StepOut]


class RelatedList(BaseModel):
    """Related documents, best first."""

    related: list[RelatedOut]


class MentionOut(BaseModel):
    """A chunk that mentions an entity. `about` marks a chunk whose subject is the entity."""

    chunk_id: str
    citation: str
    count: int
    about: bool
    snippet: str
    """Text around the first mention, on one line."""


class EntityList(BaseModel):
    """Entities by number of mentioning chunks. `next` is the `after` of the next page."""

    entities: list[EntityOut]
    next: str | None


class EntityPage(BaseModel):
    """An entity with relations and mentions, strongest first. `truncated` means that `limit` cut a list."""

    entity: EntityOut
    relations: list[StepOut]
    mentions: list[MentionOut]
    truncated: bool


class NeighbourOut(BaseModel):
    """A neighbour of an entity, and the path to it."""

    entity: EntityOut
    hops: int
    weight: float
    path: list[StepOut]


class NeighbourList(BaseModel):
    """Neighbours, nearest and strongest first. `omitted` more follow; `next` is the `after` of the next page."""

    entity: EntityOut
    neighbours: list[NeighbourOut]
    omitted: int
    next: str | None


class PathOut(BaseModel):
    """The best path between two entities; empty if `found` is false."""

    found: bool
    path: list[StepOut]


class FactOut(BaseModel):
    """A fact with either an `object`, the name of an entity, or a `value`."""

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
    """Facts in order of id. `next` is the `after` of the next page."""

    facts: list[FactOut]
    next: str | None


class ErasedOut(BaseModel):
    """Documents and facts that a selection matches; `omitted` more are not listed."""

    documents: list[DocumentOut]
    facts: list[FactOut]
    omitted: int
    deleted: bool
    """True if they were deleted, false for a preview."""
    compacted: bool
    """True if no byte of them remains in the file of a SQLite store."""


class EventOut(BaseModel):
    """One event in the history of a fact."""

    at: str
    action: str
    detail: str | None
    other: str | None


class WholeFact(BaseModel):
    """A fact with its latest events. `omitted` counts the earlier events."""

    fact: FactOut
    history: list[EventOut]
    omitted: int


class RememberedOut(BaseModel):
    """Outcome of adding a fact."""

    outcome: Literal["added", "strengthened", "known", "refused"]
    reason: str | None
    fact: FactOut | None
    contradicts: list[str]


class RememberedList(BaseModel):
    """Outcomes in the order of the request."""

    facts: list[RememberedOut]


class ModelOut(BaseModel):
    """An embedder with vectors in the namespace."""

    name: str
    fingerprint: str
    dimension: int
    active: bool


class KeyOut(BaseModel):
    """The key of a request. `id` and `name` are null for loopback access while no key exists."""

    id: str | None
    name: str | None
    access: Access
    namespace: str
    namespaces: list[str]
    can_open: bool
    """True if `/documents/{id}/open` opens documents in an editor."""
    can_edit: bool
    """True if `/graph/edits` is allowed."""


class Opened(BaseModel):
    """What opened a document: the server, or the address of an editor that the page follows."""

    address: str | None


class KeyRecord(BaseModel):
    """A key without its secret."""

    id: str
    name: str
    access: Access
    namespaces: list[str]
    created: str
    revoked: str | None


class CreatedKey(KeyRecord):
    """A new key. `key` is the text that clients send; it cannot be shown again."""

    key: str


class KeyList(BaseModel):
    """Keys, oldest first. `next` is the `after` of the next page."""

    keys: list[KeyRecord]
    next: str | None


class BrokenLinkOut(BaseModel):
    """A link to a path that is not in the namespace."""

    document_id: str
    source: str
    line: int
    target: str


class BrokenLinks(BaseModel):
    """The first broken links by source and line, and the number of all."""

    links: list[BrokenLinkOut]
    total: int


class StatsOut(BaseModel):
    """Statistics of a namespace."""

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
