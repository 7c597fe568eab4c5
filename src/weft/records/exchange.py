"""A ready-made graph, as it comes in a file or leaves in one. Names are as written; nothing is resolved yet."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenEntity:
    """An entity of a ready-made graph."""

    name: str
    type: str = ""
    description: str = ""
    aliases: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """Single things that are said of it, one sentence each: the observations of a memory server."""
    passages: tuple[str, ...] = ()
    """Ids of the passages it was read from."""
    extractors: tuple[str, ...] = ()
    """Who put it forward; only on the way out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenRelation:
    """A relation of a ready-made graph; its ends need not be among the entities."""

    source: str
    target: str
    type: str
    weight: float = 5.0
    """1 to 10."""
    description: str = ""
    passages: tuple[str, ...] = ()
    """Ids of the passages it was read from."""
    extractors: tuple[str, ...] = ()
    """Who read it; only on the way out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenPassage:
    """A text that comes with a ready-made graph."""

    id: str
    text: str
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenGraph:
    """A ready-made graph. Passages that are named but not given are documents the reader should know already."""

    entities: tuple[GivenEntity, ...] = ()
    relations: tuple[GivenRelation, ...] = ()
    passages: tuple[GivenPassage, ...] = ()
    skipped: tuple[str, ...] = ()
    """What could not be read, one line each: `line 12: no object`."""
    form: str = field(default="", compare=False)
    """What it was read from: `triples`, `openie`, `memory`, `lightrag` or `graphml`."""
