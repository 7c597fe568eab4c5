"""Retrieval engine that combines vectors, keywords and a knowledge graph into one ranked, cited answer."""

import os
from importlib import import_module

# onnxruntime 1.31 writes a device id and sends events when it is imported, unless this is set before.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

TYPE_CHECKING = False  # as in `typing`, which takes longer to import than the client of the daemon needs
if TYPE_CHECKING:
    from weft.engine.async_engine import AsyncEngine, open_async_engine
    from weft.engine.engine import Engine
    from weft.engine.opening.open_engine import open_engine
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

# Imported on first use: `weft --help` and completion do not need numpy and SQLite.
_HOMES = {
    "weft.engine.async_engine": ("AsyncEngine", "open_async_engine"),
    "weft.engine.engine": ("Engine",),
    "weft.engine.opening.open_engine": ("open_engine",),
    "weft.errors": ("WeftError",),
    "weft.models.base": ("Embedder",),
    "weft.records": ("Context", "Document", "Evidence", "Filter", "Receipt", "Result"),
}


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'weft' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
