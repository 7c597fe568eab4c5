"""Weft: vectors, keywords and a knowledge graph woven into one ranked, explained, budgeted answer."""

from weft.engine.asynchronous import AsyncEngine, open_async_engine
from weft.engine.engine import Engine, open_engine
from weft.errors import WeftError
from weft.models.base import Embedder
from weft.records import Context, Document, Evidence, Filter, Receipt, Result

__all__ = [
    "AsyncEngine",
    "Context",
    "Document",
    "Embedder",
    "Engine",
    "Evidence",
    "Filter",
    "Receipt",
    "Result",
    "WeftError",
    "open_async_engine",
    "open_engine",
]
