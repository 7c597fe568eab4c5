"""Context of one search: store, models, settings, filter, time and stopwatch."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from weft.config import GraphOptions, RerankOptions, SearchOptions
from weft.models.base import Embedder, Reranker
from weft.records import Filter
from weft.search.chunks import Chunks
from weft.store.base import StoreReader


@dataclass(frozen=True, slots=True)
class Stopwatch:
    """Milliseconds per stage. Stages must not be nested: evaluation sums them."""

    spent: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure a block under a name; the last measurement of a name counts."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.spent[name] = (time.perf_counter() - start) * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchContext:
    """Inputs of the read path besides the question. An instance serves one question."""

    store: StoreReader
    embedder: Embedder | None
    options: SearchOptions = field(default_factory=SearchOptions)
    graph: GraphOptions = field(default_factory=GraphOptions)
    where: Filter = field(default_factory=Filter)
    at: datetime | None = None
    """Time at which facts must be valid to count as relations; None to use relations of documents only."""
    reranker: Reranker | None = None
    rerank: RerankOptions = field(default_factory=RerankOptions)
    without: frozenset[str] = frozenset()
    """Names of corrections to leave out, to measure their effect."""
    stopwatch: Stopwatch = field(default_factory=Stopwatch)
    chunks: Chunks = field(init=False)
    """Cache of chunks from one state of the store; `replace` creates an empty one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "chunks", Chunks(self.store))

    @property
    def pool_size(self) -> int:
        """Number of hits that each channel returns and that fusion keeps."""
        return max(self.options.top_k, self.options.pool)
