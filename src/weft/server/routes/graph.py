"""Routes for the graph: entities, neighbours, paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query

from weft.context.serialise import entity_to_dict, step_to_dict
from weft.engine.engine import Engine
from weft.search.graph.overview import is_directed
from weft.server.auth import Reader
from weft.server.errors import documented
from weft.server.overview_schema import OverviewOut
from weft.server.paging import After, Limit, cut
from weft.server.schemas import EntityList, EntityPage, NeighbourList, PathOut

router = APIRouter(prefix="/graph", tags=["graph"])

MAX_OVERVIEW = 10_000
"""Maximum number of entities in an overview. About 1 MB of JSON, and as many as the web page draws smoothly."""

SNIPPET_CHARACTERS = 200
"""Characters around a mention."""

EntityName = Annotated[str, Query(min_length=1, max_length=1000, description="Name in any spelling, alias, or id.")]


@router.get("/entities", response_model=EntityList, responses=documented(401, 504))
async def list_entities(caller: Reader, after: After = "", limit: Limit = 20) -> dict[str, Any]:
    """List entities by number of mentioning chunks, then entities known only from facts, one page per request."""
    count = int(after or 0) + limit + 1
    found = await caller.state.threads.read(lambda: caller.engine.entities.top(limit=count))
    page, following = cut(found, after=after, limit=limit)
    return {"entities": [entity_to_dict(entity) for entity in page], "next": following}


@router.get(
    "/entity", response_model=EntityPage, response_model_exclude_unset=True, responses=documented(401, 404, 504)
)
async def get_entity(caller: Reader, name: EntityName, limit: Limit = 20) -> dict[str, Any]:
    """Return an entity: names, description, relations and mentions, at most `limit` of each."""
    return await caller.state.threads.read(lambda: _entity(caller.engine, name, limit=limit))


@router.get(
    "/neighbours", response_model=NeighbourList, response_model_exclude_unset=True, responses=documented(401, 404, 504)
)
async def list_neighbours(
    caller: Reader,
    name: EntityName,
    hops: Annotated[int, Query(ge=1, le=3, description="Maximum distance in hops.")] = 1,
    min_weight: Annotated[float, Query(ge=1, le=10, description="Minimum weight of a relation.")] = 1.0,
    after: After = "",
    limit: Limit = 100,
) -> dict[str, Any]:
    """
    List the entities around an entity, nearest and strongest first, with the path to each, one page per request.

    The search follows the 50 strongest relations of an entity and keeps the 200 strongest entities per hop.
    """
    return await caller.state.threads.read(
        lambda: _neighbours(caller.engine, name, hops=hops, min_weight=min_weight, after=after, limit=limit)
    )


@router.get("/overview", response_model=OverviewOut, responses=documented(401, 504))
async def get_overview(
    caller: Reader,
    limit: Annotated[int, Query(ge=1, le=MAX_OVERVIEW, description="Maximum number of entities.")] = MAX_OVERVIEW,
) -> dict[str, Any]:
    """
    Return the graph of the namespace in columns, to draw it as a whole.

    It contains the most mentioned entities, and the eight strongest relations of each in each direction.
    """
    return await caller.state.threads.read(lambda: _overview(caller.engine, limit=limit))


@router.get("/path", response_model=PathOut, response_model_exclude_unset=True, responses=documented(401, 404, 504))
async def find_path(
    caller: Reader,
    source: EntityName,
    target: EntityName,
    max_hops: Annotated[int, Query(ge=1, le=6, description="Maximum path length in hops.")] = 4,
) -> dict[str, Any]:
    """Return the best path between two entities: the fewest hops, then the greatest weight."""
    found = await caller.state.threads.read(lambda: caller.engine.entities.path(source, target, max_hops=max_hops))
    return {"found": found is not None, "path": [step_to_dict(step) for step in found or ()]}


def _entity(engine: Engine, name: str, *, limit: int) -> dict[str, Any]:
    view = engine.entities.show(name, limit=limit + 1)
    texts = {chunk.id: chunk.text for chunk in engine.store.chunks([m.chunk_id for m in view.mentions[:limit]])}
    names = (view.entity.name, *view.entity.aliases)
    return {
        "entity": entity_to_dict(view.entity),
        "relations": [step_to_dict(step) for step in view.relations[:limit]],
        "mentions": [
            {
                "chunk_id": m.chunk_id,
                "citation": engine.cite(m.chunk_id),
                "count": m.count,
                "about": m.about,
                "snippet": _snippet(texts.get(m.chunk_id, ""), names),
            }
            for m in view.mentions[:limit]
        ],
        "truncated": max(len(view.relations), len(view.mentions)) > limit,
    }


def _snippet(text: str, names: Sequence[str]) -> str:
    """Return the text around the first mention of a name on one line, in whole words; the beginning without one."""
    line, folded = " ".join(text.split()), " ".join(text.split()).casefold()
    at = min((place for name in names if (place := folded.find(name.casefold())) >= 0), default=0)
    start = line.rfind(" ", 0, max(0, at - SNIPPET_CHARACTERS // 3)) + 1 if at > SNIPPET_CHARACTERS // 3 else 0
    cut = line[start : start + SNIPPET_CHARACTERS]
    if start + SNIPPET_CHARACTERS < len(line):
        cut = f"{cut.rpartition(' ')[0] or cut}…"
    return f"…{cut}" if start else cut


def _overview(engine: Engine, *, limit: int) -> dict[str, Any]:
    view = engine.entities.overview(limit=limit)
    places = {entity.id: place for place, entity in enumerate(view.entities)}
    types = {type: place for place, type in enumerate(view.types)}
    folders = {folder: place for place, folder in enumerate(sorted(set(view.folders)))}
    total_entities, total_relations = engine.store.graph.count()
    return {
        "entities": {
            "name": [entity.name for entity in view.entities],
            "type": [entity.type for entity in view.entities],
            "chunks": [entity.chunks for entity in view.entities],
            "spread": list(view.spread),
            "folder": [folders[folder] for folder in view.folders],
        },
        "folders": list(folders),
        "relation_types": [{"name": type, "directed": is_directed(type)} for type in types],
        "relations": {
            "source": [places[relation.source_id] for relation in view.relations],
            "target": [places[relation.target_id] for relation in view.relations],
            "type": [types[relation.type] for relation in view.relations],
            "weight": [relation.weight for relation in view.relations],
        },
        "total_entities": max(total_entities, len(view.entities)),
        "total_relations": max(total_relations, len(view.relations)),
    }


def _neighbours(engine: Engine, name: str, *, hops: int, min_weight: float, after: str, limit: int) -> dict[str, Any]:
    entity = engine.entities.get(name)
    found = engine.entities.neighbours(name, hops=hops, min_weight=min_weight)
    page, following = cut(found, after=after, limit=limit)
    paths = engine.entities.in_words([reach.path for _, reach in page])
    return {
        "entity": entity_to_dict(entity),
        "neighbours": [
            {
                "entity": entity_to_dict(near),
                "hops": reach.hops,
                "weight": reach.weight,
                "path": [step_to_dict(step) for step in path],
            }
            for (near, reach), path in zip(page, paths, strict=True)
        ],
        "omitted": len(found) - int(following) if following else 0,
        "next": following,
    }
