"""The values that pass between stages. This module imports nothing of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float32]
"""One unit-length vector, shape (dimension,)."""

Vectors: TypeAlias = NDArray[np.float32]
"""Unit-length vectors as rows, shape (count, dimension)."""

Scalar: TypeAlias = str | int | float | bool | None
Metadata: TypeAlias = Mapping[str, "Scalar | list[Scalar]"]
Channel: TypeAlias = Literal["vector", "keyword", "graph"]
Status: TypeAlias = Literal["ok", "low_confidence", "no_match", "degraded"]


# ── what goes in ────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What the user gave: one file, page or record, as text."""

    source: str
    """Path or URI. Unique inside a namespace; the document's id derives from it."""
    title: str
    text: str
    form: Literal["text", "markdown", "code", "table"] = "text"
    """How the text is structured. HTML and DOCX are loaded as Markdown."""
    metadata: Metadata = field(default_factory=dict)
    lines: Sequence[int] | None = None
    """For each line of `text`, the line (or page) of the source it comes from; None: 1, 2, 3 …"""
    unit: Literal["line", "page"] = "line"
    """What `lines` counts. Citations say `notes.md:3-9` or `paper.pdf:p3-4`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A file or record that was not loaded, and why."""

    source: str
    reason: str
    """A short class of reasons to count by: `binary`, `too large`, `ignored`, `unreadable` …"""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A passage of one document: the unit we embed, rank and cite."""

    id: str
    document_id: str
    ordinal: int
    """Position in the document, from 0."""
    heading: tuple[str, ...]
    """The headings above the chunk, outermost first, without the document's title."""
    start_line: int
    end_line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentInfo:
    """A document as the store knows it: everything but its text."""

    id: str
    source: str
    title: str
    metadata: Metadata
    content_hash: str
    """Hash of everything that was indexed, so that equal hashes mean nothing to do."""
    unit: Literal["line", "page"] = "line"
    chunk_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedChunk:
    """A chunk with what the channels need to find it."""

    chunk: Chunk
    terms: Mapping[str, int]
    """Analysed terms and how often each occurs, title and headings included."""
    vector: Vector | None = None
    """None: the store already holds the vector of this chunk id, or there is no embedder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Everything one document brings. One batch is one transaction."""

    document: DocumentInfo
    chunks: tuple[IndexedChunk, ...]
    model: str = ""
    """Fingerprint of the embedder the vectors come from; empty without one."""


# ── the graph ───────────────────────────────────────────────────────────────────────────────────

NominationKind: TypeAlias = Literal[
    "title", "link", "metadata", "field", "definition", "abbreviation", "given", "heading", "quoted", "phrase",
    "identifier", "term",
]  # fmt: skip
STRONG_KINDS: frozenset[str] = frozenset({"title", "link", "metadata", "field", "definition", "abbreviation", "given"})
"""Kinds that make an entity at once. The others need several documents to agree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nomination:
    """A name that a chunk puts forward as an entity."""

    key: str
    """The name made comparable (`text.names.name_key`): names with one key are one entity."""
    name: str
    """As written."""
    kind: NominationKind
    type: str = ""
    """`service`, `person`, `paper` … where it can be told."""
    description: str = ""
    about: bool = False
    """Whether the chunk's own document or heading *is* this entity."""
    alias_of: str = ""
    """Key of the entity this is another name of; `reason` says why."""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A relation that a chunk states between two names, by their keys."""

    source: str
    target: str
    type: str
    weight: float
    """1 to 10, by the scale in docs/graph.md."""
    description: str = ""
    """The sentence it was read from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What an extractor read out of one chunk."""

    nominations: tuple[Nomination, ...] = ()
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """The one thing that all names with the same key, or an alias of it, stand for."""

    id: str
    key: str
    name: str
    type: str = ""
    description: str = ""
    aliases: tuple[str, ...] = ()
    mentions: int = 0
    """How often it is mentioned in all."""
    chunks: int = 0
    """How many chunks mention it."""
    strong: bool = True
    """Whether a title, link, definition or the like makes it an entity; only such ones start a walk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """An entity named in a chunk."""

    entity_id: str
    chunk_id: str
    count: int
    about: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A typed, weighted link between two entities, with the chunks it comes from."""

    source_id: str
    target_id: str
    type: str
    weight: float
    description: str = ""
    chunks: tuple[str, ...] = ()


# ── models ──────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """What an embedder knows of itself."""

    name: str
    """As written in settings: `local/granite-30m`, `openai/text-embedding-3-small` …"""
    fingerprint: str
    """Changes whenever the same text would get another vector."""
    dimension: int
    floor: float
    """Best cosine at which a question with ordinary word overlap is as likely foreign to the corpus as not."""
    slope: float = 25.0
    """How fast that doubt turns into certainty: log-odds per unit of cosine."""
    background: tuple[float, float] = (0.05, 0.1)
    """Mean and standard deviation of the cosines of unrelated pairs."""
    scripts: frozenset[str] = frozenset({"*"})
    """Scripts it was trained on (`latin`, `han` …); `*` for all."""
    max_tokens: int = 512
    degraded: str = ""
    """Why results of this embedder are marked degraded; empty for a real model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredModel:
    """An embedder as a namespace remembers it."""

    name: str
    fingerprint: str
    dimension: int
    active: bool
    """The one that answers. Another, inactive one exists while `reembed` is under way."""


# ── what comes out ──────────────────────────────────────────────────────────────────────────────


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


@dataclass(frozen=True, slots=True)
class Hit:
    """One chunk found by one channel. `rank` starts at 1."""

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
    """0 where the embedder does not know the question's script, else 1."""
    notes: tuple[str, ...] = ()
    """Why a channel is missing or not trusted; shown to the user."""
    degraded: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelHit:
    """What one channel said of a chunk."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A chunk that made it into the answer, with where it stands and why it is here."""

    chunk: Chunk
    document: DocumentInfo
    score: float
    channels: Mapping[str, ChannelHit]
    citation: str


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
    counts: Mapping[str, int] = field(default_factory=dict)
    """Chunks found by each channel before fusion."""
    timings: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds per stage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Text for a model, inside a token budget, with the sources it cites."""

    text: str
    tokens: int
    sources: tuple[Mapping[str, str], ...]
    omitted: int
    """Pieces of evidence that did not fit."""


# ── accounts ────────────────────────────────────────────────────────────────────────────────────


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
    seconds: float = 0.0
    skipped: tuple[Skipped, ...] = ()


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing `check` found wrong."""

    where: str
    what: str
    repairable: bool
