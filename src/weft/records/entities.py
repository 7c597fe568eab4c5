"""Parts of the graph: nominations, claims, entities, mentions, relations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

NominationKind: TypeAlias = Literal[
    "title", "link", "metadata", "field", "definition", "abbreviation", "given", "heading", "quoted", "phrase",
    "identifier", "term", "variant", "name",
]  # fmt: skip
STRONG_KINDS: frozenset[str] = frozenset(
    {"title", "link", "metadata", "field", "definition", "abbreviation", "given", "name"}
)
"""Kinds that create an entity at once. Other kinds need several documents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nomination:
    """A name that a chunk proposes as an entity."""

    key: str
    """Normalised name (`extract.names.name_key`): equal keys are one entity."""
    name: str
    """As written."""
    kind: NominationKind
    type: str = ""
    """`service`, `person`, `paper` …; empty if unknown."""
    description: str = ""
    about: bool = False
    """Whether the document or heading of the chunk *is* this entity."""
    alias_of: str = ""
    """Key of the entity this is an alias of; `reason` says why."""
    reason: str = ""
    extractor: str = ""
    """Name of the extractor, empty for the rules; a leading `+` means that the rules found it too."""


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
    extractor: str = ""
    """Name of the extractor, as in a nomination."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """Everything an extractor found in one chunk."""

    nominations: tuple[Nomination, ...] = ()
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """The thing that all names with one key, or with an alias of it, refer to."""

    id: str
    key: str
    name: str
    type: str = ""
    description: str = ""
    aliases: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    """Reason of each alias."""
    mentions: int = 0
    """Total number of mentions."""
    chunks: int = 0
    """Number of chunks that mention it, counted once per name of the entity."""
    strong: bool = True
    """Whether a strong nomination (title, link, definition …) supports it. Only these, and facts, can be seeds."""


class Known(NamedTuple):
    """Statistics of a name, read before its entity."""

    entity_id: str
    strong: bool
    chunks: int
    """Number of chunks that mention the entity, under any name."""
    defining_chunks: int
    """Number of chunks about it (defining chunks), counted up to a limit."""
    remembered: bool = False
    """Whether facts of any status name it too, by this name."""


class Mention(NamedTuple):
    """An entity named in a chunk. A tuple, because a walk reads hundreds."""

    entity_id: str
    chunk_id: str
    count: int  # type: ignore[assignment]
    about: bool
    chunks: int = 0
    """Number of chunks that mention the entity by this name; the maximum over the names in the chunk."""
    strong: bool = True
    elsewhere: bool = True
    """Whether other chunks may mention it too; set by `mentions_in`."""
    home: bool = True
    """Whether some chunk is about it; set by `mentions_in` for strong entities."""


class Relation(NamedTuple):
    """A typed, weighted link between two entities, with its source chunks. A tuple, like mentions."""

    source_id: str
    target_id: str
    type: str
    weight: float
    description: str = ""
    chunks: tuple[str, ...] = ()
    extractors: tuple[str, ...] = ()
    """Sorted extractors: `rules`, an import or a model; empty if it derives from mentions or facts."""
