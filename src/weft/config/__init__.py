"""Settings: groups and defaults (`options`), ranges (`check`), sources (`read`), store location (`location`)."""

from __future__ import annotations

from weft.choices import Algorithm, ContextFormat, Fusion, GraphFusion, Method
from weft.config.check import check_namespace, check_settings
from weft.config.location import check_address, find_path, is_missing, is_server, shown
from weft.config.options import (
    MAX_EXPANDED_BYTES,
    MEBIBYTE,
    ContextOptions,
    GraphOptions,
    LlmOptions,
    LoadOptions,
    MemoryOptions,
    ModelOptions,
    RerankOptions,
    SearchOptions,
    ServerOptions,
    Settings,
    SplitOptions,
    StoreOptions,
)
from weft.config.read import (
    ALIASES,
    GROUPS,
    changed,
    convert,
    flatten,
    in_force,
    is_store_chosen,
    read_settings,
    source_folder,
)
from weft.config.trust import LOCAL_EMBEDDERS

__all__ = [
    "ALIASES",
    "GROUPS",
    "LOCAL_EMBEDDERS",
    "MAX_EXPANDED_BYTES",
    "MEBIBYTE",
    "Algorithm",
    "ContextFormat",
    "ContextOptions",
    "Fusion",
    "GraphFusion",
    "GraphOptions",
    "LlmOptions",
    "LoadOptions",
    "MemoryOptions",
    "Method",
    "ModelOptions",
    "RerankOptions",
    "SearchOptions",
    "ServerOptions",
    "Settings",
    "SplitOptions",
    "StoreOptions",
    "changed",
    "check_address",
    "check_namespace",
    "check_settings",
    "convert",
    "find_path",
    "flatten",
    "in_force",
    "is_missing",
    "is_server",
    "is_store_chosen",
    "read_settings",
    "shown",
    "source_folder",
]
