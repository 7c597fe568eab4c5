"""Parts of the graph: candidates, stated relations, entities, mentions, relations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple, TypeAlias

CandidateKind: TypeAlias = Literal[
    "title", "link", "metadata", "field", "definition", "abbreviation", "given", "heading", "quoted", "phrase",
    "identifier", "term", "variant", "name", "page", "section", "label", "anchor",
]  # fmt: skip
STRONG_KINDS: frozenset[str] = frozenset(
    {"title", "link", "metadata", "field", "definition", "abbreviation", "given", "name", "anchor"}
)
"""Kinds of which one candidate creates an entity. Other kinds need several documents."""

CODE_PREFIX = "code:"
"""
Prefix of the keys of modules, classes, functions and methods. The rest is the qualified name and keeps its case.

Keys of other names have no colon, so that both kinds never meet.
"""

EXPORT_REASON = "exported under another name"
"""Reason of the alias of a definition that a package exports by name. Of several targets this one counts."""


class Candidate(NamedTuple):
    """A name that a chunk proposes as an entity. A tuple, because a chunk has ten."""

    key: str
    """Normalised name (`extract.names.name_key`): equal keys are one entity."""
    name: str
    """As written."""
    kind: CandidateKind
    type: str = ""
    """`service`, `person`, `paper` …; empty if unknown."""
    description: str = ""
    about: bool = False
    """True if the entity is the subject of the document or of the heading above the chunk."""
    alias_of: str = ""
    """Key of the main entity if this name is an alias; `reason` gives the evidence."""
    reason: str = ""
    extractor: str = ""
    """Name of the extractor; empty for the rules. A leading `+` marks a candidate that the rules found too."""


class StatedRelation(NamedTuple):
    """A relation that a chunk states between two names, by their keys."""

    source: str
    target: str
    type: str
    weight: float
    """1 to 10, by the scale in docs/graph.md."""
    description: str = ""
    """Sentence that states the relation."""
    extractor: str = ""
    """Name of the extractor, as in a candidate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """Everything an extractor found in one chunk."""

    candidates: tuple[Candidate, ...] = ()
    stated_relations: tuple[StatedRelation, ...] = ()


class StatedMention(NamedTuple):
    """Mentions of a name that the chunk proposes, in the text of the chunk."""

    key: str
    count: int  # type: ignore[assignment]
    """Number of mentions; a subject of the chunk has at least one."""
    about: bool
    sentences: int
    """Bits of the sentences with the name. Two names with a common bit are in the same sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A person, system or thing. All names with the same key, or with an alias of that key, refer to it."""

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
    """Number of chunks that propose and mention the entity. A chunk with two of its names counts twice."""
    strong: bool = True
    """
    True if a strong candidate (title, link, definition …) supports the entity.

    Only strong entities and facts can be seeds.
    """


class Known(NamedTuple):
    """Statistics of a name and its entity, cheaper to read than the entity."""

    entity_id: str
    strong: bool
    chunks: int
    """Number of chunks that propose and mention the entity, under any name."""
    defining_chunks: int
    """Number of defining chunks, counted up to a limit."""
    remembered: bool = False
    """True if facts of any status contain this name too."""


class Mention(NamedTuple):
    """An entity named in a chunk. It is a tuple, because a walk reads hundreds of mentions."""

    entity_id: str
    chunk_id: str
    count: int  # type: ignore[assignment]
    about: bool
    chunks: int = 0
    """Number of chunks that propose the entity by this name; the maximum over the names in the chunk."""
    strong: bool = True
    elsewhere: bool = True
    """True if other chunks may mention the entity too; set by `mentions_in`."""
    has_defining_chunk: bool = True
    """True if the entity has a defining chunk; set by `mentions_in` for strong entities."""


class Relation(NamedTuple):
    """A typed, weighted link between two entities, with its source chunks. A tuple, like mentions."""

    source_id: str
    target_id: str
    type: str
    weight: float
    description: str = ""
    chunks: tuple[str, ...] = ()
    extractors: tuple[str, ...] = ()
    """Sorted extractors: `rules`, an import or a model; empty for a relation derived from mentions or facts."""


MAX_FACT_LINKS = 50
"""Maximum number of facts per entity and direction that are read with its mentions and relations."""


class Links(NamedTuple):
    """Edges of entities: the chunks that state them, and their relations."""

    mentions: Sequence[Mention] = ()
    relations: Sequence[Relation] = ()
    names: Mapping[str, str] = MappingProxyType({})
    """Names of these entities, by id."""
    ids: Mapping[str, str] = MappingProxyType({})
    """Ids of the entities that were given by a key, by key."""
    facts: Sequence[Relation] | None = None
    """Facts as relations (`FactReader.links`); None if they were not read."""


class Definition(NamedTuple):
    """Name of an entity, and the strongest chunk about it."""

    name: str
    chunk_id: str = ""
    """Empty without a defining chunk."""
    document_id: str = ""
    hits: frozenset[str] = frozenset()
    """Chunks of this document, among those that were asked for."""
