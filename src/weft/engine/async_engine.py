"""Engine for asyncio: the most frequent calls, run in threads."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import TracebackType
from typing import Any

from weft.config import ContextFormat
from weft.engine.engine import Engine
from weft.engine.opening.open_engine import open_engine
from weft.records import Context, Filter, Metadata, Recall, Receipt, RelatedDocument, Result, StoreStats


class AsyncEngine:
    """An `Engine` that does not block the event loop. `engine` is the wrapped one."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    async def index(self, *paths: str | Path, prune: bool = False) -> Receipt:
        """Index files and folders."""
        return await asyncio.to_thread(self.engine.index, *paths, prune=prune)

    async def add_text(self, text: str, *, source: str, title: str = "", metadata: Metadata | None = None) -> Receipt:
        """Index one text under `source`."""
        return await asyncio.to_thread(self.engine.add_text, text, source=source, title=title, metadata=metadata)

    async def query(self, text: str, *, where: Filter | None = None, **options: Any) -> Result:
        """Search for a question."""
        return await asyncio.to_thread(self.engine.query, text, where=where, **options)

    async def query_with_facts(self, text: str, **options: Any) -> tuple[Result, Recall]:
        """Return the result of a search and the recalled facts."""
        return await asyncio.to_thread(self.engine.query_with_facts, text, **options)

    async def context(
        self,
        result: Result,
        *,
        format: ContextFormat | None = None,
        budget: int | None = None,
        recall: Recall | None = None,
    ) -> Context:
        """Return a result as text for a model, recalled facts first."""
        return await asyncio.to_thread(self.engine.context, result, format=format, budget=budget, recall=recall)

    async def memory_search(self, /, query: str = "", **arguments: Any) -> dict[str, Any]:
        """Answer a `memory_search` tool call of a model."""
        return await asyncio.to_thread(self.engine.memory_search, query, **arguments)

    async def related(self, name: str, *, limit: int = 10) -> list[RelatedDocument]:
        """Return the documents related to a document or chunk."""
        return await asyncio.to_thread(self.engine.related, name, limit=limit)

    async def delete(self, *names: str) -> int:
        """Delete documents by id or source."""
        return await asyncio.to_thread(self.engine.delete, *names)

    async def stats(self) -> StoreStats:
        """Return the counts of the namespace."""
        return await asyncio.to_thread(self.engine.stats)

    async def __aenter__(self) -> AsyncEngine:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.engine.close)


def open_async_engine(db: str | Path | None = None, **settings: Any) -> AsyncEngine:
    """Open an engine for asyncio; arguments as for `open_engine`."""
    return AsyncEngine(open_engine(db, **settings))
