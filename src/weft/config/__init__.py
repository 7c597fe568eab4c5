"""Settings: what can be set (`options`), and where values come from (`read`)."""

from __future__ import annotations

from weft.config.options import (
    MAX_EXPANDED_BYTES,
    MEBIBYTE,
    Algorithm,
    ContextFormat,
    ContextOptions,
    Fusion,
    GraphFusion,
    GraphOptions,
    LoadOptions,
    MemoryOptions,
    Method,
    ModelOptions,
    SearchOptions,
    ServerOptions,
    Settings,
    SplitOptions,
    StoreOptions,
)
from weft.config.read import ALIASES, GROUPS, changed, check_namespace, check_settings, convert, flatten, read_settings

__all__ = [
    "ALIASES",
    "GROUPS",
    "MAX_EXPANDED_BYTES",
    "MEBIBYTE",
    "Algorithm",
    "ContextFormat",
    "ContextOptions",
    "Fusion",
    "GraphFusion",
    "GraphOptions",
    "LoadOptions",
    "MemoryOptions",
    "Method",
    "ModelOptions",
    "SearchOptions",
    "ServerOptions",
    "Settings",
    "SplitOptions",
    "StoreOptions",
    "changed",
    "check_namespace",
    "check_settings",
    "convert",
    "flatten",
    "read_settings",
]
