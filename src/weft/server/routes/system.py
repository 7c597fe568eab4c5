"""Routes for monitoring: `/health`, `/ready`, `/stats`, `/links/broken`, `/key`, `/metrics`."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from weft.context.serialise import confidence_to_dict, stats_to_dict
from weft.engine.engine import Engine
from weft.server.auth import Reader, get_state
from weft.server.errors import Refused, documented
from weft.server.paging import Limit
from weft.server.routes.editor import can_open
from weft.server.routes.edits import can_edit
from weft.server.schemas import BrokenLinks, Health, KeyOut, Ready, StatsOut
from weft.text.ids import document_id

router = APIRouter(tags=["system"])


@router.head("/health", include_in_schema=False)
@router.get("/health", response_model=Health, responses=documented())
async def health() -> dict[str, str]:
    """Report that the server runs. Uses neither store nor model, and needs no key."""
    return {"status": "ok", "version": version("weft-search")}


@router.head("/ready", include_in_schema=False)
@router.get("/ready", response_model=Ready, responses=documented())
async def ready(request: Request) -> dict[str, str]:
    """Report that the store is readable; 503 during shutdown. Needs no key."""
    state = get_state(request)
    if state.jobs.closing.is_set():
        raise Refused(503, "stopping", "the server is shutting down", hint="retry after the restart")
    await state.threads.read(state.keys.is_empty)
    return {"status": "ready"}


@router.get("/stats", response_model=StatsOut, responses=documented(401, 504))
async def stats(caller: Reader) -> dict[str, Any]:
    """Return statistics of the namespace."""
    return await caller.state.threads.read(lambda: _stats(caller.engine))


@router.get("/links/broken", response_model=BrokenLinks, responses=documented(401, 504))
async def broken_links(caller: Reader, limit: Limit = 100) -> dict[str, Any]:
    """List links between documents whose target is not in the namespace, as `weft check --links` does."""
    return await caller.state.threads.read(lambda: _broken_links(caller.engine, limit))


@router.get("/key", response_model=KeyOut, responses=documented(401, 504))
async def own_key(caller: Reader) -> dict[str, Any]:
    """Return name, permission and namespaces of the key of this request, never the key itself."""
    key = caller.key
    return {
        "id": key.id if key else None,
        "name": key.name if key else None,
        "access": caller.access,
        "namespace": caller.namespace,
        "namespaces": list(key.namespaces) if key else [caller.namespace],
        "can_open": can_open(caller),
        "can_edit": can_edit(caller),
    }


@router.get(
    "/metrics",
    response_class=Response,
    responses={**documented(401, 504), 200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def metrics(caller: Reader) -> PlainTextResponse:
    """Return metrics of the namespace since the start of the server, for Prometheus."""
    state = caller.state
    counts = await state.threads.monitor(caller.engine.stats)
    gauges = {
        "weft_documents": ("Documents in the namespace.", counts.documents),
        "weft_chunks": ("Chunks in the namespace.", counts.chunks),
        "weft_jobs_under_way": ("Unfinished jobs.", state.jobs.count(caller.namespace)),
    }
    return PlainTextResponse(
        state.metrics.text(caller.namespace, gauges=gauges), media_type="text/plain; version=0.0.4; charset=utf-8"
    )


def _broken_links(engine: Engine, limit: int) -> dict[str, Any]:
    links = engine.store.graph.broken_links()
    first = [
        {
            "document_id": document_id(engine.store.namespace, link.source),
            "source": link.source,
            "line": link.line,
            "target": link.target,
        }
        for link in links[:limit]
    ]
    return {"links": first, "total": len(links)}


def _stats(engine: Engine) -> dict[str, Any]:
    entities, relations = engine.store.graph.count()
    return {
        **stats_to_dict(engine.stats()),
        "namespace": engine.store.namespace,
        "entities": entities,
        "relations": relations,
        "facts": engine.memory.stats()["facts"],
        "confidence": confidence_to_dict(engine.store.calibration()),
        "notes": list(engine.database.notes),
    }
