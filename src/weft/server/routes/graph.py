"""`/graph`: entities, neighbours, paths."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from weft.context.serialise import entity_to_dict, step_to_dict
from weft.engine.engine import Engine
from weft.server.auth import Reader
from weft.server.errors import documented
from weft.server.paging import After, Limit, cut
from weft.server.schemas import EntityList, EntityPage, NeighbourList, PathOut

router = APIRouter(prefix="/graph", tags=["graph"])

EntityName = Annotated[
    str, Query(min_length=1, max_length=1000, description="A name in any spelling, another name, or an id.")
]


@router.get("/entities", response_model=EntityList, responses=documented(401, 504))
async def list_entities(caller: Reader, after: After = "", limit: Limit = 20) -> dict[str, Any]:
    """List entities, those most chunks mention first and those that facts alone know last, a page at a time."""
    wanted = int(after or 0) + limit + 1
    found = await caller.state.threads.read(lambda: caller.engine.entities.top(limit=wanted))
    page, following = cut(found, after=after, limit=limit)
    return {"entities": [entity_to_dict(entity) for entity in page], "next": following}


@router.get(
    "/entity", response_model=EntityPage, response_model_exclude_unset=True, responses=documented(401, 404, 504)
)
async def get_entity(caller: Reader, name: EntityName, limit: Limit = 20) -> dict[str, Any]:
    """Show an entity: its names, description, relations and where it is mentioned."""
    return await caller.state.threads.read(lambda: _entity(caller.engine, name, limit=limit))


@router.get(
    "/neighbours", response_model=NeighbourList, response_model_exclude_unset=True, responses=documented(401, 404, 504)
)
async def list_neighbours(
    caller: Reader,
    name: EntityName,
    hops: Annotated[int, Query(ge=1, le=3, description="How far.")] = 1,
    min_weight: Annotated[float, Query(ge=1, le=10, description="Weakest relation.")] = 1.0,
    after: After = "",
    limit: Limit = 100,
) -> dict[str, Any]:
    """
    List the entities around one, nearest and strongest first, with the way to each, a page at a time.

    Of each entity the 50 strongest relations are looked at, and no hop reaches more than the 200 strongest entities.
    """
    return await caller.state.threads.read(
        lambda: _neighbours(caller.engine, name, hops=hops, min_weight=min_weight, after=after, limit=limit)
    )


@router.get("/path", response_model=PathOut, response_model_exclude_unset=True, responses=documented(401, 404, 504))
async def find_path(
    caller: Reader,
    source: EntityName,
    target: EntityName,
    max_hops: Annotated[int, Query(ge=1, le=6, description="How far to look.")] = 4,
) -> dict[str, Any]:
    """Return the best path between two entities: fewest hops, then strongest."""
    found = await caller.state.threads.read(lambda: caller.engine.entities.path(source, target, max_hops=max_hops))
    return {"found": found is not None, "path": [step_to_dict(step) for step in found or ()]}


def _entity(engine: Engine, name: str, *, limit: int) -> dict[str, Any]:
    view = engine.entities.show(name, limit=limit + 1)
    return {
        "entity": entity_to_dict(view.entity),
        "relations": [step_to_dict(step) for step in view.relations[:limit]],
        "mentions": [
            {"chunk_id": m.chunk_id, "citation": engine.cite(m.chunk_id), "count": m.count, "about": m.about}
            for m in view.mentions[:limit]
        ],
        "truncated": max(len(view.relations), len(view.mentions)) > limit,
    }


def _neighbours(engine: Engine, name: str, *, hops: int, min_weight: float, after: str, limit: int) -> dict[str, Any]:
    entity = engine.entities.get(name)
    found = engine.entities.neighbours(name, hops=hops, min_weight=min_weight)
    page, following = cut(found, after=after, limit=limit)
    paths = engine.entities.in_words([way.path for _, way in page])
    return {
        "entity": entity_to_dict(entity),
        "neighbours": [
            {
                "entity": entity_to_dict(near),
                "hops": way.hops,
                "weight": way.weight,
                "path": [step_to_dict(step) for step in path],
            }
            for (near, way), path in zip(page, paths, strict=True)
        ],
        "omitted": len(found) - int(following) if following else 0,
        "next": following,
    }
