"""Schema of the overview of a graph: entities and relations as columns."""

from __future__ import annotations

from pydantic import BaseModel


class RelationTypeOut(BaseModel):
    """A relation type. `directed` is false if it is its own inverse, such as `co_occurs_with`."""

    name: str
    directed: bool


class OverviewEntities(BaseModel):
    """Entities as columns: the values at one position belong to one entity."""

    name: list[str]
    type: list[str]
    chunks: list[int]
    spread: list[int]
    """Chunks, fewer if many of them are in one document."""
    folder: list[int]
    """Positions in `folders`."""


class OverviewRelations(BaseModel):
    """Relations as columns. `source` and `target` are positions of entities, `type` is one of a relation type."""

    source: list[int]
    target: list[int]
    type: list[int]
    weight: list[float]


class OverviewOut(BaseModel):
    """The graph of a namespace, entities most mentioned first. The totals also count what was left out."""

    entities: OverviewEntities
    folders: list[str]
    relation_types: list[RelationTypeOut]
    relations: OverviewRelations
    total_entities: int
    total_relations: int
