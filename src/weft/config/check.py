"""Range checks of settings."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from weft.config.options import EditorOptions, GraphOptions, MemoryOptions, SearchOptions, Settings
from weft.errors import ConfigError

COUNTS: Mapping[str, str] = {
    "split": "max_tokens",
    "context": "budget graph_budget entity_tokens",
    "load": "max_file_bytes max_expanded_bytes max_cpu_seconds parsers max_pages",
    "memory": "max_hops per_entity max_facts anchors",
    "llm": "parallel output_tokens attempts seconds",
    "rerank": "pool deadline_ms",
    "server": "max_body_bytes max_upload_bytes max_upload_files max_inline_documents max_requests threads seconds "
    "shutdown_seconds max_jobs",
    "search": "top_k pool rrf_k",
    "graph": "max_named max_close max_hops max_chunks max_expansions per_query rounds max_edges max_frontier "
    "citation_depth",
}
"""Numbers of at least 1, by group."""

AMOUNTS: Mapping[str, str] = {
    "llm": "max_cost max_tokens max_minutes ask_above",
    "models": "loading_seconds max_cost",
    "graph": "share prune",
    "memory": "grace_weeks usage_weight confirmed_weight",
}
"""Numbers of at least 0."""

SHARES: Mapping[str, str] = {
    "rerank": "weight",
    "graph": "min_confidence min_graph_score damping citation_share",
    "memory": "weekly_decay",
}
"""Numbers from 0 to 1."""

PAGE_SCHEMES = frozenset(("about", "blob", "data", "file", "ftp", "http", "https", "javascript", "vbscript"))
"""Schemes that a browser opens itself, so that `editor.command` cannot run a script."""

MAX_HOPS = 3

SECONDS_PER_DAY = 24 * 60 * 60


def check_settings(settings: Settings) -> None:
    """Raise `ConfigError` if a value is out of range or contradicts another."""
    for group in {**COUNTS, **AMOUNTS, **SHARES, **_FURTHER}:
        check_group(group, getattr(settings, group))
    check_namespace(settings.store.namespace)


def check_group(group: str, options: Any) -> None:
    """Raise `ConfigError` if a value of one group is out of range or contradicts another."""
    for name in COUNTS.get(group, "").split():
        if not (value := getattr(options, name)) >= 1:  # the comparison is also false for NaN
            raise ConfigError(f"invalid {group}.{name}: {value!r}", hint="use a whole number of at least 1")
    for name in AMOUNTS.get(group, "").split():
        if not 0 <= (value := getattr(options, name)) < math.inf:
            raise ConfigError(f"invalid {group}.{name}: {value!r}", hint="use a number of at least 0")
    for name in SHARES.get(group, "").split():
        if not 0 <= (value := getattr(options, name)) <= 1:
            raise ConfigError(f"invalid {group}.{name}: {value!r}", hint="use a number from 0 to 1")
    if check := _FURTHER.get(group):
        check(options)


def _check_search(search: SearchOptions) -> None:
    _check_weights(search.weights, of="vector and text")
    _check_cosine("search.min_score", search.min_score)


def _check_weights(weights: tuple[float, float], *, of: str) -> None:
    if not all(map(math.isfinite, weights)) or min(weights) < 0 or sum(weights) <= 0:
        raise ConfigError(f"invalid weights of {of}: {weights}", hint="use numbers of at least 0, not both 0")


def _check_cosine(key: str, value: float | None) -> None:
    if value is not None and not -1 <= value <= 1:
        raise ConfigError(f"invalid {key}: {value!r}", hint="use a cosine from -1 to 1")


def _check_graph(graph: GraphOptions) -> None:
    _check_weights(graph.weights, of="text and graph")
    _check_cosine("graph.min_similarity", graph.min_similarity)
    for name in ("max_hops", "citation_depth"):
        if (value := getattr(graph, name)) > MAX_HOPS:
            raise ConfigError(f"invalid graph.{name}: {value!r}", hint=f"use a whole number from 1 to {MAX_HOPS}")


def _check_memory(memory: MemoryOptions) -> None:
    if not 0 <= memory.cache_seconds <= SECONDS_PER_DAY:
        raise ConfigError(
            f"invalid memory.cache_seconds: {memory.cache_seconds!r}",
            hint=f"use a whole number from 0 to {SECONDS_PER_DAY} (a day)",
        )
    for entry in memory.source_weights:
        name, _, weight = entry.rpartition("=")
        if not name.strip() or not _is_amount(weight):
            raise ConfigError(
                f"invalid entry of memory.source_weights: {entry!r}",
                hint="use `source=number` with a number of at least 0, such as `file=3`",
            )


def _check_editor(editor: EditorOptions) -> None:
    scheme, colon, _ = editor.url.partition(":")
    is_editor = bool(colon) and scheme.isascii() and scheme.isalnum() and scheme.lower() not in PAGE_SCHEMES
    if editor.url and not (is_editor and "{path}" in editor.url):
        raise ConfigError(
            f"invalid editor.command: {editor.command!r}",
            hint="use the address of an editor with {path}, such as vscode://file{path}:{line}, or a program",
        )


def _is_amount(text: str) -> bool:
    try:
        return 0 <= float(text) < math.inf
    except ValueError:
        return False


_FURTHER: Mapping[str, Callable[[Any], None]] = {
    "search": _check_search,
    "graph": _check_graph,
    "memory": _check_memory,
    "editor": _check_editor,
}


def check_namespace(name: str) -> None:
    """Raise `ConfigError` if a namespace name is empty, too long or not printable."""
    if not name.strip() or len(name) > 200 or not name.isprintable():
        raise ConfigError(f"invalid namespace {name[:40]!r}", hint="use 1 to 200 printable characters, not only spaces")
