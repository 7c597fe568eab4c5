"""What goes in: documents and the chunks they are cut into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weft.records.entities import Extraction

Vector: TypeAlias = NDArray[np.float32]
"""One unit-length vector, shape (dimension,)."""

Vectors: TypeAlias = NDArray[np.float32]
"""Unit-length vectors as rows, shape (count, dimension)."""

Scalar: TypeAlias = str | int | float | bool | None
Metadata: TypeAlias = Mapping[str, "Scalar | Sequence[Scalar]"]
Channel: TypeAlias = Literal["vector", "keyword", "graph"]
Status: TypeAlias = Literal["ok", "low_confidence", "no_match", "degraded"]


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
    given: Extraction = field(default_factory=Extraction)
    """Names and relations that come with it, from a ready-made graph, beside those read out of its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A file or record that was not loaded, or of which something was left out (`partly read`), and why."""

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
