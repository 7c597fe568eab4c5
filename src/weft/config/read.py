"""
Reader of settings: the only module that reads the environment and TOML files.

Sources, highest priority first:

    1. flag or argument
    2. environment
    3. `weft.toml` in the working folder or its nearest parent
    4. the user's `config.toml`
    5. default in `options.py`
"""

from __future__ import annotations

import difflib
import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from platformdirs import user_config_path

from weft.config.check import check_group, check_settings
from weft.config.location import find_path, is_server, shown
from weft.config.options import SOURCE_WEIGHTS, Settings
from weft.config.toml_file import read_toml
from weft.config.trust import is_trusted, split_trusted
from weft.errors import ConfigError

logger = logging.getLogger(__name__)

PROJECT_FILE = "weft.toml"

_NO_GROUPS = ("system_editor", "api_key", "anthropic_key", "rerank_keys", "origins")
GROUPS: Mapping[str, type[Any]] = {
    name: hint for name, hint in get_type_hints(Settings).items() if name not in _NO_GROUPS
}
ALIASES: Mapping[str, str] = {
    "WEFT_DB": "store.db",
    "WEFT_NAMESPACE": "store.namespace",
    "WEFT_EMBEDDER": "models.embedder",
    "WEFT_CACHE_DIR": "models.cache_dir",
    "OPENAI_BASE_URL": "models.base_url",
}
"""Short environment names beside the regular `WEFT_GROUP_FIELD`."""
SPELLINGS: Mapping[str, str] = {"graph.alpha": "graph.text_weight", "graph.beta": "graph.graph_weight"}
"""Aliases of settings."""
REMOVED: Mapping[str, str] = {
    "memory.by_words": 'set memory.rank = "relevance" or "score"',
    **dict.fromkeys(
        (f"memory.{source}_weight" for source in SOURCE_WEIGHTS), 'set memory.source_weights, such as ["file=3"]'
    ),
}
"""Settings of 0.1.0 that 0.3.0 refuses, with the hint."""
MIN_TYPO_SIMILARITY = 0.75
"""Minimum similarity to a known variable at which an unknown `WEFT_` variable is reported as a typo."""
_FOREIGN_PREFIXES = ("WEFT_DATA", "WEFT_TEST_", "WEFT_PORT", "WEFT_SERVICE_")
"""Variables of benchmarks and tests, and variables that Kubernetes sets for a service named weft."""
RERANK_KEYS: Mapping[str, str] = {"cohere": "COHERE", "jina": "JINA", "http": "RERANK"}
"""Prefix of the key variable in the environment, by kind of reranker."""
_KIND_NAMES = {int: "a whole number", float: "a number", str: "a string"}


def read_settings(
    overrides: Mapping[str, Any] | None = None,
    *,
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Settings:
    """
    Return the effective settings. `overrides` maps `group.field` to a value, as flags do.

    `file` replaces the search for a project file and must exist. Raises `ConfigError` for an unknown name
    (with the nearest known one) and for a value of the wrong type.
    """
    environment = os.environ if environment is None else environment
    folder = (folder or Path.cwd()).absolute()
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    layers = [
        *((_read_file(path, folder=folder, is_found=path != file), str(path)) for path in _files(file, folder)),
        *_read_environment(environment),
        ({key: value for key, value in (overrides or {}).items() if value is not None}, "flag"),
    ]
    for layer, origin in layers:
        if "store.db" in layer:  # a replica belongs to the store that the same source names
            values.pop("store.replica", None)
            origins.pop("store.replica", None)
        for spelling, given in layer.items():
            key = SPELLINGS.get(spelling, spelling)
            if origin != "flag" and is_constant(key):
                _warn_once(f"{key} ({origin}) is a constant, so its value is ignored")
                continue
            values[key] = convert(key, given, origin=origin)
            origins[key] = origin
    key, other = (environment.get(name, "") for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"))
    rerank = {kind: found for kind, name in RERANK_KEYS.items() if (found := environment.get(f"{name}_API_KEY"))}
    editor = environment.get("VISUAL") or environment.get("EDITOR", "")
    settings = Settings(api_key=key, anthropic_key=other, rerank_keys=rerank, system_editor=editor, origins=origins)
    for group in GROUPS:
        changes = {key.partition(".")[2]: v for key, v in values.items() if key.partition(".")[0] == group}
        if changes:
            settings = replace(settings, **{group: replace(getattr(settings, group), **changes)})
    check_settings(settings)
    if "store.db" not in origins:
        _check_default_store(folder / settings.store.db, folder=folder)
    return settings


def _check_default_store(path: Path, *, folder: Path) -> None:
    """Raise `ConfigError` if the default file is a link out of the folder, which a cloned repository may contain."""
    if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
        raise ConfigError(
            f"{str(path)!r} is a link to {str(path.resolve())!r}, outside this folder",
            hint="pass that file with --db if it is the store that you want, else delete the link",
        )


def source_folder(settings: Settings) -> Path:
    """
    Return the folder that document sources are relative to: the folder of the SQLite file.

    For other stores it is the folder of the project file that sets `store.db`, or the working folder.
    """
    if path := find_path(settings.store.db):
        return path.resolve().parent
    named = Path(settings.origins.get("store.db", ""))
    return named.resolve().parent if named.is_file() and named != _user_file() else Path.cwd()


def is_store_chosen(settings: Settings) -> bool:
    """Return True if the user chose the store, not the current folder with its `weft.db` or untrusted project file."""
    origin = settings.origins.get("store.db", "")
    return bool(origin) and (Path(origin).name != PROJECT_FILE or is_trusted(Path(origin)))


def flatten(settings: Settings) -> dict[str, Any]:
    """Return all values as `group.field`, constants included, without API keys."""
    pairs = ((key, key.partition(".")) for key in [*_known(), *_constants()])
    return {key: getattr(getattr(settings, group), name) for key, (group, _, name) in pairs}


def in_force(settings: Settings) -> dict[str, tuple[Any, str]]:
    """Return every setting as `group.field` with its effective value and origin."""
    values = flatten(settings)
    known = {key: (values[key], settings.origins.get(key, "default")) for key in _known()}
    search, graph = settings.search, settings.graph
    weights = dict(zip(("search.vector_weight", "search.text_weight"), search.weights, strict=True))
    if graph.fusion != "boost":
        weights |= zip(("graph.text_weight", "graph.graph_weight"), graph.weights, strict=True)
    for key, weight in weights.items():
        if known[key][0] is None:
            known[key] = (weight, f"default with {search.fusion if key.startswith('search') else graph.fusion}")
    return known


@cache
def _warn_once(message: str) -> None:
    """Log a warning once per process, because settings are read several times."""
    logger.warning("%s", message)


def find_project_file(folder: Path) -> Path | None:
    """Return the nearest `weft.toml` in a folder or above it."""
    return next((p / PROJECT_FILE for p in (folder, *folder.parents) if (p / PROJECT_FILE).is_file()), None)


def _files(file: Path | None, folder: Path) -> list[Path]:
    """Return the files to read, weakest first."""
    found = [_user_file()] if _user_file().is_file() else []
    if file is not None:
        if not file.is_file():
            raise ConfigError(
                f"configuration file not found: {str(file)!r}", hint="pass an existing file with --config"
            )
        return [*found, file]
    project = find_project_file(folder)
    return [*found, project] if project else found


def _user_file() -> Path:
    return user_config_path("weft") / "config.toml"


def read_values(path: Path) -> dict[str, Any]:
    """Return the values of a TOML file as `group.field`, without checking trust. Raises `ConfigError`."""
    values: dict[str, Any] = {}
    for group, content in read_toml(path).items():
        if not isinstance(content, dict):
            raise ConfigError(
                f"{group!r} in {str(path)!r} is not in a section",
                hint=f"move {group!r} into one of the sections: {', '.join(GROUPS)}",
            )
        values |= {f"{group}.{name}": value for name, value in content.items()}
    return values


def _read_file(path: Path, *, folder: Path, is_found: bool) -> dict[str, Any]:
    """Return the values of a file. A file that was found in a project, not passed by the user, needs trust."""
    values = read_values(path)
    if is_found and path != _user_file():
        for key in values:
            _check_known(key, origin=str(path))  # before the note about trust: a typo is an error
        values, ignored = split_trusted(values, file=path)
        if ignored:
            _warn_once(f"{path} is not trusted, ignored: {', '.join(ignored)}; read it, then run `weft trust`")
    db = values.get("store.db")
    if isinstance(db, str) and path.parent != folder and path != _user_file() and _is_relative(db):
        values["store.db"] = str(path.parent / db)  # relative to the project file, not to the working folder
    return values


def _is_relative(db: str) -> bool:
    path = find_path(db)
    return path is not None and not path.is_absolute()


def _read_environment(environment: Mapping[str, str]) -> list[tuple[dict[str, Any], str]]:
    # Aliases come first, so that WEFT_MODELS_BASE_URL overrides OPENAI_BASE_URL, which other programs read too.
    keys = [*_known(), *_constants(), *SPELLINGS, *REMOVED]
    names = {**ALIASES} | {f"WEFT_{key.replace('.', '_')}".upper(): key for key in keys}
    for name in environment:
        if name.startswith("WEFT_") and name not in names and (hint := _meant(name, names)):
            raise ConfigError(f"unknown setting {name!r} (environment)", hint=hint)
    return [({key: environment[name]}, name) for name, key in names.items() if environment.get(name)]


def _meant(name: str, names: Iterable[str]) -> str:
    """Return a hint if an unknown variable looks like one of Weft's, else an empty string."""
    if name.startswith(tuple(f"WEFT_{group}_".upper() for group in GROUPS)):
        return _nearest(name, names)
    if name.startswith(_FOREIGN_PREFIXES):
        return ""
    without_group = [f"WEFT_{key.replace('.', '_')}".upper() for key in _known() if _field(key) == name]
    own = [known.removeprefix("WEFT_") for known in names if known.startswith("WEFT_")]
    near = [
        f"WEFT_{n}" for n in difflib.get_close_matches(name.removeprefix("WEFT_"), own, n=1, cutoff=MIN_TYPO_SIMILARITY)
    ]
    return f"did you mean {' or '.join(map(repr, without_group or near))}?" if without_group or near else ""


def _field(key: str) -> str:
    """Return the variable name of a setting without its group, a common mistake."""
    return f"WEFT_{key.partition('.')[2]}".upper()


def is_constant(key: str) -> bool:
    """Return True if `group.field` is a constant, which users cannot set."""
    return key in _constants()


@cache
def _constants() -> list[str]:
    return [f"{g}.{item.name}" for g in GROUPS for item in fields(GROUPS[g]) if "constant" in item.metadata]


@cache
def _known() -> list[str]:
    """Return the names of all documented settings."""
    return [f"{g}.{item.name}" for g in GROUPS for item in fields(GROUPS[g]) if "constant" not in item.metadata]


@cache
def _hints(group: str) -> dict[str, Any]:
    return get_type_hints(GROUPS[group])


def _nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else "run `weft config` to list every setting"


def _check_known(key: str, *, origin: str) -> None:
    """Raise `ConfigError` if no setting has this name or alias."""
    if key in REMOVED:
        raise ConfigError(f"{key} ({origin}) was removed in 0.3.0", hint=REMOVED[key])
    if key not in {*_known(), *_constants(), *SPELLINGS}:
        raise ConfigError(f"unknown setting {key!r} ({origin})", hint=_nearest(key, _known()))


def convert(key: str, value: Any, *, origin: str) -> Any:
    """Return `value` converted to the type of the setting `group.field`. Raises `ConfigError` that names the origin."""
    _check_known(key, origin=origin)
    group, _, name = key.partition(".")
    try:
        return _coerce(value, _hints(group)[name])
    except (TypeError, ValueError) as error:
        given = shown(value) if isinstance(value, str) else value
        said = "…" if is_server(str(given)) else repr(given)
        raise ConfigError(f"invalid {key}: {said} ({origin})", hint=f"use {error}") from error


def changed(group: str, options: Any, changes: Mapping[str, Any]) -> Any:
    """Return a group with some fields replaced for one call; None keeps a field. Raises `ConfigError`."""
    if not changes:
        return options
    known = _hints(group)
    changes = {
        SPELLINGS.get(f"{group}.{name}", name).removeprefix(f"{group}."): value for name, value in changes.items()
    }
    if unknown := set(changes) - known.keys():
        raise ConfigError(f"unknown {group} option {min(unknown)!r}", hint=f"use one of {', '.join(sorted(known))}")
    given = {name: value for name, value in changes.items() if value is not None}
    made = replace(options, **{n: convert(f"{group}.{n}", value, origin="argument") for n, value in given.items()})
    check_group(group, made)
    return made


def _coerce(value: Any, kind: Any) -> Any:
    """
    Convert text from the environment, or a TOML value, to the type of a field.

    Raises `ValueError` or `TypeError` with the expected values as its message: `a whole number`.
    """
    origin, args = get_origin(kind), get_args(kind)
    if origin in (UnionType, Union):
        return None if value in (None, "") else _coerce(value, next(a for a in args if a is not type(None)))
    if origin is Literal:
        if value not in args:
            raise ValueError(f"one of {', '.join(map(str, args))}")
        return value
    if origin is tuple:
        if isinstance(value, dict) or not isinstance(value, Iterable):
            raise TypeError("a list")
        items = [part.strip() for part in value.split(",")] if isinstance(value, str) else list(value)
        return tuple(_coerce(str(item), args[0]) for item in items if item)
    if kind is bool:
        if isinstance(value, bool):
            return value
        if str(value).lower() in ("1", "true", "yes", "on"):
            return True
        if str(value).lower() in ("0", "false", "no", "off"):
            return False
        raise ValueError("true or false")
    if isinstance(value, (bool, list, dict)) or (kind is int and isinstance(value, float)):
        raise TypeError(_KIND_NAMES[kind])
    try:
        return kind(value)
    except (TypeError, ValueError) as error:
        raise ValueError(_KIND_NAMES[kind]) from error
