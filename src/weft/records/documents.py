"""Documents and the chunks they are split into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from weft.records.entities import Extraction

if TYPE_CHECKING:  # a process that only parses needs no NumPy, which takes a tenth of its start
    import numpy as np
    from numpy.typing import NDArray

Vector: TypeAlias = "NDArray[np.float32]"
"""One unit-length vector, shape (dimension,)."""

Vectors: TypeAlias = "NDArray[np.float32]"
"""Unit-length vectors as rows, shape (count, dimension)."""

Scalar: TypeAlias = str | int | float | bool | None
Metadata: TypeAlias = Mapping[str, "Scalar | Sequence[Scalar]"]


def to_values(value: Scalar | Sequence[Scalar]) -> Sequence[Scalar]:
    """Return the elements of a list of metadata, or a scalar as a list of one."""
    return [value] if isinstance(value, str) or not isinstance(value, Sequence) else value


Unit: TypeAlias = Literal["line", "page", "turn", "slide", "row", "chapter"]
"""What the line numbers of chunks count."""
UNIT_MARKS: Mapping[Unit, str] = {"line": "", "page": "p", "turn": "t", "slide": "s", "row": "r", "chapter": "ch"}
"""Mark before the numbers of a citation, by unit."""

URLS = "_urls"
"""Metadata key with the addresses on other hosts that a page links to."""

Status: TypeAlias = Literal["ok", "low_confidence", "no_match", "degraded"]


class PageLink(NamedTuple):
    """A link, or the target of links, that a loader found in a format whose text does not keep them."""

    line: int
    """Line of the source."""
    address: str
    label: str = ""
    kind: str = ""
    """
    What the address is: empty for a path, `label` for a label, `name` for a name that some page may define,
    `target` for a label or name that is defined here; then the text is its title.
    """


class Turn(NamedTuple):
    """A turn of a conversation; it ends where the next one starts."""

    start: int
    """Offset of its first character in the text of the document."""
    time: int | None
    """Microseconds since 1970 in UTC."""
    opens: bool
    """True if it starts an exchange: a question, or a message after a pause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One file, page or record, as text."""

    source: str
    """Path or URI. Unique inside a namespace; the document's id derives from it."""
    title: str
    text: str
    form: Literal["text", "markdown", "code", "table", "conversation"] = "text"
    """Structure of the text. HTML and office texts are loaded as Markdown; a conversation has `turns`."""
    metadata: Metadata = field(default_factory=dict)
    lines: Sequence[int] | None = None
    """Source line (or page, slide, row … as in `unit`) of each line of `text`; None: 1, 2, 3 …"""
    unit: Unit = "line"
    """Unit of `lines`. Citations say `notes.md:3-9`, `paper.pdf:p3-4`, `prices.xlsx#2026:r3-9`."""
    given: Extraction = field(default_factory=Extraction)
    """Names and relations from an imported graph. Those extracted from the text are added to them."""
    links: tuple[PageLink, ...] = ()
    """Links of HTML and reStructuredText, whose text does not keep them; other markup keeps its links in the text."""
    turns: tuple[Turn, ...] = ()
    """Turns of a conversation, in the order of the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A file or record that was skipped, wholly or partly (`partly read`), and the reason."""

    source: str
    reason: str
    """Reason class for counting: `binary`, `too large`, `ignored`, `unreadable` …"""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A passage of one document: the unit that is embedded, ranked and cited."""

    id: str
    document_id: str
    ordinal: int
    """Position in the document, from 0."""
    heading: tuple[str, ...]
    """Headings above the chunk, outermost first, without the title of the document."""
    start_line: int
    end_line: int
    text: str
    start_time: int | None = None
    """Earliest time of its turns, in microseconds since 1970 in UTC; None outside conversations."""
    end_time: int | None = None


class DocumentTitle(NamedTuple):
    """Document of a chunk, as far as links name it."""

    document_id: str
    source: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentInfo:
    """Stored properties of a document, without its text."""

    id: str
    source: str
    title: str
    metadata: Metadata
    content_hash: str
    """Hash of all indexed input. A document with an equal hash is unchanged."""
    unit: Unit = "line"
    chunk_count: int = 0
    namespace: str = ""
    """Namespace of the document, if several were searched together; else empty."""
    is_lost: bool = False
    """True if its file no longer exists. Only answers to questions look for it."""
