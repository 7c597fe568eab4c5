"""Evaluation of retrieval on a set in BEIR layout: indexes the set once, then searches for every question."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, TypeAlias

from weft.config import Method, Settings, is_server, shown
from weft.engine.adapters import open_extractor
from weft.engine.embedder_choice import CHOICE_VERSION
from weft.engine.engine import Engine
from weft.errors import BoundReached
from weft.evaluate.dataset import corpus_hash, find_file, read_cases
from weft.evaluate.index_cache import CachedIndex, open_cached
from weft.evaluate.scoring import Answered, answer_cases, summarise, trec_lines
from weft.text import analyzer, split
from weft.text.ids import digest

logger = logging.getLogger(__name__)

TEXT_METHODS: tuple[Method, ...] = ("vector", "keyword", "hybrid")
GRAPH_METHODS: tuple[Method, ...] = ("graph", "mix", "auto")
VECTOR_METHODS: frozenset[Method] = frozenset({"vector", "hybrid", "graph"})
"""Methods that use keywords only if there is no embedder; their figures would then mislead."""


def all_methods(settings: Settings) -> tuple[Method, ...]:
    """Return the methods to compare; graph methods need an extractor, vector methods an embedder."""
    methods = TEXT_METHODS + (GRAPH_METHODS if settings.graph.extractor != "none" else ())
    return methods if settings.models.embedder != "none" else tuple(m for m in methods if m not in VECTOR_METHODS)


Stage: TypeAlias = Literal["indexing", "asking"]


@contextmanager
def open_evaluation(
    folder: Path, *, settings: Settings, use_cache: bool, on_step: Callable[[Stage, int], None]
) -> Iterator[tuple[Engine, float]]:
    """
    Return an engine on the indexed set, and the seconds of indexing.

    With `use_cache` the index is kept: in a file of the cache folder, or in a namespace on a server. The name of a
    cached index depends on the data, the folder, the model and the version. A cached index returns the original
    seconds.
    """
    with ExitStack() as stack:
        cached = None
        if use_cache:
            key, settings = _cache_key(folder, settings)
            on_server = is_server(settings.store.db)
            cached = stack.enter_context(open_cached(settings.cache_dir / "eval", key=key, on_server=on_server))
            if cached.db:
                store = replace(settings.store, db=str(cached.db), replica="", namespace="default")
                settings = replace(settings, store=store)
        with Engine(settings) as engine:
            yield engine, _index(engine, folder, cached=cached, on_step=on_step)


def _index(engine: Engine, folder: Path, *, cached: CachedIndex | None, on_step: Callable[[Stage, int], None]) -> float:
    """Index the set unless it is indexed; return the seconds of indexing."""
    corpus = find_file(folder, "corpus.jsonl")
    start = time.perf_counter()
    receipt = engine.index(corpus.parent, on_step=lambda step: on_step("indexing", 1))
    if receipt.stopped:  # figures for a part of the set would mislead
        raise BoundReached(receipt.stopped, hint="run weft eval again to continue, or raise the limit")
    seconds = round(time.perf_counter() - start, 3)
    if cached and (receipt.added or receipt.changed):
        cached.seconds = seconds
    elif cached and cached.seconds is not None:
        seconds = cached.seconds
    others = engine.stats().documents - receipt.documents
    if others > 0:
        logger.warning("documents outside this set are searched too: %d (--namespace separates sets)", others)
    return seconds


def evaluate_folder(
    folder: Path,
    *,
    settings: Settings,
    methods: Sequence[Method] = (),
    limit: int | None = None,
    use_cache: bool = True,
    run_file: Path | None = None,
    on_step: Callable[[Stage, int], None] = lambda stage, count: None,
) -> list[dict[str, Any]]:
    """Return one row of figures per method, by default the method of the settings."""
    cases = read_cases(folder, limit=limit)
    with open_evaluation(folder, settings=settings, use_cache=use_cache, on_step=on_step) as (engine, seconds):
        documents, reranker = engine.stats().documents, engine.result_models.find_reranker(None, store=engine.store)
        rows, lines = [], []
        for method in methods or (settings.search.method,):
            answered = answer_cases(
                cases,
                store=engine.store,
                embedder=engine.embedder,
                options=replace(settings.search, method=method),
                graph=settings.graph,
                reranker=reranker,
                rerank=settings.rerank,
                on_step=lambda: on_step("asking", 1),
            )
            figures = {"method": method, "dataset": folder.resolve().name, **_rounded(summarise(answered))}
            figures |= {"index_seconds": round(seconds, 2), "queries": len(cases), "documents": documents}
            figures |= {"embedder": engine.embedder.card.name if engine.embedder else "none", **_chosen(answered)}
            if reranker is not None:
                figures |= {"reranker": reranker.name, "not_reranked": sum(bool(a.unranked) for a in answered)}
            rows.append(figures)
            lines += trec_lines(answered, tag=f"weft-{method}")
    if run_file:
        run_file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return rows


def _cache_key(folder: Path, settings: Settings) -> tuple[str, Settings]:
    """Return the key of the cached index of a set, and the settings with its namespace on a server."""
    extractor = open_extractor(settings)
    key = digest(
        (
            corpus_hash(folder),
            str(folder.resolve()),  # sources and ids depend on the folder
            settings.models.embedder if "models.embedder" in settings.origins else f"by scripts {CHOICE_VERSION}",
            version("weft-search"),
            f"{analyzer.VERSION} {split.VERSION} {settings.split} {settings.load.titles} {settings.load.citations}",
            extractor.name if extractor else "",
        )
    )
    if not is_server(settings.store.db):
        return key, settings
    name = f"eval {folder.resolve().name} {key[:12]}"
    store = replace(settings.store, namespace=name)
    return digest((key, shown(settings.store.db))), replace(settings, store=store)


def _rounded(figures: dict[str, Any]) -> dict[str, Any]:
    return {name: round(value, 2 if name.endswith("_ms") else 4) for name, value in figures.items()}


def _chosen(answered: Sequence[Answered]) -> dict[str, Any]:
    """Return the counts of the methods that ran, and of the rules by which `auto` chose them."""
    ran = Counter(item.method for item in answered)
    rules = Counter(item.rule for item in answered if item.rule)
    return {"ran": dict(ran.most_common()), "rules": dict(rules.most_common())}
