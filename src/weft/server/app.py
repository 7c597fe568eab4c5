"""FastAPI application: routes, middleware, shared state."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from starlette.middleware.cors import CORSMiddleware

from weft.engine.api_keys import Keyring
from weft.engine.namespaces import Engines
from weft.engine.parsing.parser_pool import ParserPool
from weft.server.api_docs import POLICY, page
from weft.server.assets import router as page_router
from weft.server.auth import NAMESPACE_HEADER, Gatekeeper
from weft.server.errors import add_handlers
from weft.server.index_jobs import Jobs
from weft.server.metrics import Metrics
from weft.server.request_limits import RequestLimits
from weft.server.routes import (
    answers,
    documents,
    editor,
    edits,
    erasure,
    facts,
    graph,
    jobs,
    keys,
    query,
    system,
    timeline,
)
from weft.server.state import ServerState
from weft.server.threads import Threads

ROUTERS = (
    query.router,
    answers.router,
    timeline.router,
    documents.router,
    editor.router,
    graph.router,
    edits.router,
    facts.router,
    erasure.router,
    jobs.router,
    keys.router,
    system.router,
    page_router,
)
DESCRIPTION = "Hybrid search with vectors, keywords and a knowledge graph: ranked, cited, explained evidence."


def make_app(engines: Engines, *, parsers: ParserPool, host: str = "127.0.0.1") -> FastAPI:
    """Return the application for a server that listens on `host`. At shutdown it completes writes and stops parsers."""
    options = engines.settings.server
    threads = Threads(options, parsers=parsers)
    state = ServerState(
        engines=engines,
        parsers=parsers,
        keys=Keyring(engines.database),
        threads=threads,
        jobs=Jobs(threads, options, stop_parsing=parsers.close),
        metrics=Metrics(),
        host=host,
    )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await state.jobs.close()
        threads.close()

    app = FastAPI(
        title="Weft",
        version=version("weft-search"),
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # `include_router` would build every route a second time, with the first request of every application.
        routes=[route for router in ROUTERS for route in router.routes],
    )
    app.state.weft = state
    add_handlers(app)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        """Return the page with the routes."""
        return HTMLResponse(page(app.openapi()), headers={"Content-Security-Policy": POLICY})

    app.add_middleware(Gatekeeper, state=state)
    if options.allowed_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(options.allowed_origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "X-API-Key", "X-Request-ID", NAMESPACE_HEADER],
            expose_headers=["X-Request-ID", "Location"],
        )
    app.add_middleware(RequestLimits, options=options, host=host, metrics=state.metrics)
    return app
