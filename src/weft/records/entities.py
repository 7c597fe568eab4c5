"""What the graph is made of: names put forward, entities, mentions, relations."""

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
    extractor: str = ""
    """Who read it: nothing for the rules, else a name; a `+` before it says that the rules read it too."""


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
    """Who read it, as of a nomination."""


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
    reasons: tuple[str, ...] = ()
    """For each alias, why it is one."""
    mentions: int = 0
    """How often it is mentioned in all."""
    chunks: int = 0
    """How many chunks mention it, each counted for every one of its names that stands there."""
    strong: bool = True
    """Whether a title, link, definition or the like makes it an entity; only such ones, and facts, start a walk."""


class Known(NamedTuple):
    """What is known of a name before its entity is read: whether it is worth that."""

    entity_id: str
    strong: bool
    chunks: int
    """How many chunks mention the entity, under all of its names."""
    homes: int
    """How many chunks are about it, counted to a limit."""
    remembered: bool = False
    """Whether facts, of whatever status, name it too, by this name."""


class Mention(NamedTuple):
    """An entity named in a chunk. A tuple, for a walk reads hundreds of them."""

    entity_id: str
    chunk_id: str
    count: int  # type: ignore[assignment]
    about: bool
    chunks: int = 0
    """How many chunks mention the entity by this name; the most of its names that stand in the chunk."""
    strong: bool = True
    elsewhere: bool = True
    """Whether it may stand in other chunks too, by any of its names; `mentions_in` looks."""
    home: bool = True
    """Whether some chunk is about it; `mentions_in` looks, for strong ones."""


class Relation(NamedTuple):
    """A typed, weighted link between two entities, with the chunks it comes from. A tuple, as mentions are."""

    source_id: str
    target_id: str
    type: str
    weight: float
    description: str = ""
    chunks: tuple[str, ...] = ()
    extractors: tuple[str, ...] = ()
    """Who read it there: `rules`, an import or a model, sorted; none where it follows from mentions or facts."""
