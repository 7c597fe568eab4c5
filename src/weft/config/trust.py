"""
Trust in project files: the settings of a `weft.toml` that apply without the user's consent.

A project file may arrive with a cloned repository. Only settings that are known to be harmless apply; every other one,
also a setting that a later version adds, is ignored until the user runs `weft trust`. It records the path of the file
and the hash of its content outside the project, so a changed file must be trusted again.

    setting in weft.toml                     untrusted file
    [store] db = "memory.db"                 applies: a file inside the project
    [store] db = "../other.db"               ignored
    [store] db = "postgresql://host/x"       ignored
    [store] namespace = "diary"              ignored: it could be a namespace of the user's own store
    [models] base_url = "http://host/v1"     ignored
    [models] embedder = "openai/small"       ignored: it sends text to an endpoint
    [models] embedder = "local/granite-30m"  applies
    [load] follow_symlinks = true            ignored: it reads files outside the project
    [search] top_k = 5                       applies
    [search] top_k = 1000000                 ignored: the answers would be too large
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from platformdirs import user_config_path

from weft.config.location import find_path
from weft.errors import ConfigError
from weft.system.temporary_files import temporary_file

HARMLESS = frozenset(
    "load.include load.exclude "
    "search.method search.fusion search.vector_weight search.text_weight search.min_score search.gate "
    "graph.enabled graph.algorithm graph.fusion graph.text_weight graph.alpha graph.graph_weight graph.beta "
    "graph.confidence graph.min_confidence graph.min_similarity graph.min_graph_score graph.rel_types "
    "graph.max_hops graph.citation_depth "  # at most 3 anyway
    "context.format context.include_relationships "
    "memory.incoming memory.rank".split()
)
"""
Settings that an untrusted file may set to any value.

They select files inside the folders that the user passes, and change the ranking and the form of answers.
"""
MAX_HARMLESS: Mapping[str, int] = {
    "split.max_tokens": 2000,
    "split.min_tokens": 2000,
    "search.top_k": 100,
    "search.rrf_k": 1000,
    "graph.max_named": 20,
    "graph.max_chunks": 50,
    "context.budget": 20_000,
    "context.graph_budget": 5000,
    "memory.max_hops": 3,
    "memory.per_entity": 100,
    "memory.max_facts": 100,
}
"""Numbers that an untrusted file may set, and the largest value that cannot make answers slow or expensive."""
LOCAL_EMBEDDERS = ("local/", "use/", "hash", "none")
"""Embedders that run no foreign code and send nothing to an endpoint."""
LOCAL_EXTRACTORS = ("rules", "none")
"""Extractors that run no model."""


def split_trusted(values: Mapping[str, Any], *, file: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the values of a project file that apply, and the names of ignored settings that need trust."""
    restricted = [key for key, value in values.items() if is_restricted(key, value, folder=file.parent)]
    if not restricted or is_trusted(file):
        return dict(values), []
    return {key: value for key, value in values.items() if key not in restricted}, restricted


def is_restricted(key: str, value: Any, *, folder: Path) -> bool:
    """Return True if a setting of a project file in `folder` needs trust."""
    match key:
        case "store.db":
            return not _is_inside(value, folder)
        case "models.embedder":
            return not str(value).startswith(LOCAL_EMBEDDERS)
        case "graph.extractor":
            return value not in LOCAL_EXTRACTORS
    return not _is_small(value, MAX_HARMLESS[key]) if key in MAX_HARMLESS else key not in HARMLESS


def is_trusted(file: Path) -> bool:
    """Return True if the user trusted this file with its present content."""
    return read_trusted().get(str(file.resolve())) == _digest(file)


def trust(file: Path) -> None:
    """Record that the user trusts a file with its present content."""
    _write({**read_trusted(), str(file.resolve()): _digest(file)})


def revoke(file: Path) -> bool:
    """Stop trusting a file. Return True if it was trusted."""
    known = read_trusted()
    was_known = known.pop(str(file.resolve()), None) is not None
    if was_known:
        _write(known)
    return was_known


def read_trusted() -> dict[str, str]:
    """Return {path: SHA-256 of the content} of all trusted files; nothing if the record is missing or damaged."""
    try:
        found = json.loads(_record().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(path): str(digest) for path, digest in found.items()} if isinstance(found, dict) else {}


def _write(known: Mapping[str, str]) -> None:
    record = _record()
    try:
        record.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with temporary_file(record) as partial:
            partial.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", "utf-8")
            partial.replace(record)
    except OSError as error:
        raise ConfigError(
            f"cannot write {str(record)!r}: {error.strerror or error}",
            hint=f"make the folder {str(record.parent)!r} writable",
        ) from error


def _record() -> Path:
    return user_config_path("weft") / "trusted.json"


def _digest(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise ConfigError(
            f"cannot read {str(file)!r}: {error.strerror or error}",
            hint="make the file readable, or pass another path to weft trust",
        ) from error


def _is_small(value: Any, maximum: int) -> bool:
    """Return True for a number up to `maximum`, and for other values, which are refused with their type later."""
    try:
        return float(value) <= maximum
    except (TypeError, ValueError):
        return True


def _is_inside(db: Any, folder: Path) -> bool:
    path = find_path(db) if isinstance(db, str) else None
    if path is None:
        return bool(db == ":memory:")
    return (folder / path).resolve().is_relative_to(folder.resolve())
