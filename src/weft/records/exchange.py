"""Imported and exported graphs. Names are as written, not yet resolved."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenEntity:
    """An entity of an imported graph."""

    name: str
    type: str = ""
    description: str = ""
    aliases: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """Observations, one sentence each, as in the MCP memory server."""
    passages: tuple[str, ...] = ()
    """Ids of the source passages."""
    extractors: tuple[str, ...] = ()
    """Names of the extractors; set only by export."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenRelation:
    """A relation of an imported graph. Its ends may be missing among the entities."""

    source: str
    target: str
    type: str
    weight: float = 5.0
    """1 to 10."""
    description: str = ""
    passages: tuple[str, ...] = ()
    """Ids of the source passages."""
    extractors: tuple[str, ...] = ()
    """Names of the extractors; set only by export."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenPassage:
    """A text that is part of an imported graph."""

    id: str
    text: str
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenGraph:
    """An imported graph. Passages that are referenced but not included must be stored already."""

    entities: tuple[GivenEntity, ...] = ()
    relations: tuple[GivenRelation, ...] = ()
    passages: tuple[GivenPassage, ...] = ()
    skipped: tuple[str, ...] = ()
    """Unreadable parts, one line each: `line 12: no object`."""
    form: str = field(default="", compare=False)
    """File form: `triples`, `openie`, `memory`, `lightrag` or `graphml`."""
