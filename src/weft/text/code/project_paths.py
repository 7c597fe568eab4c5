"""
Import paths that a project file defines for the source files below it.

| file | setting | entry |
| --- | --- | --- |
| `web/tsconfig.json` | `"baseUrl": ".", "paths": {"@app/*": ["src/*"]}` | `@app/* = web/src/*` |
| `jsconfig.json` | `"baseUrl": "src"` | `* = src/*` |
| `core/Cargo.toml` | `[package]`, `name = "disk-store"` | `disk_store/* = core/src/*` |
| `packages/ui/package.json` | `"name": "@shop/ui"` | `@shop/ui = packages/ui/src`, `@shop/ui/* = packages/ui/src/*` |
| `package.json` | `"workspaces": ["packages/*"]` | the entries of the packages that the own package depends on |
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from posixpath import join, normpath

PATHS = "import_paths"
"""Metadata key of the entries."""
MAX_ENTRIES = 30

MAX_PACKAGES = 40
"""Packages of a workspace that one package may depend on."""

_CONFIGS = ("tsconfig.json", "jsconfig.json", "tsconfig.base.json")
_INDEXES = tuple(f"index.{suffix}" for suffix in ("ts", "tsx", "js", "mjs", "jsx"))
_DEPENDENCIES = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_WORKSPACE = re.compile(r"^\s{1,8}-\s{1,8}[\"']?([^\s\"'!]{1,100})", re.MULTILINE)
_PATHS = re.compile(r'"paths"\s{0,9}:\s{0,9}\{([^{}]{0,4000})\}')
_PATH = re.compile(r'"([^"\n]{1,100})"\s{0,9}:\s{0,9}\[\s{0,40}"([^"\n]{1,200})"')
_BASE = re.compile(r'"baseUrl"\s{0,9}:\s{0,9}"([^"\n]{1,200})"')
_PACKAGE = re.compile(r'^\[package\][^\[]{0,500}?^name\s{0,9}=\s{0,9}"([\w-]{1,100})"', re.MULTILINE)


_Read = Callable[[int, str], str]


def find_paths(folders: Sequence[str], *, language: str, read: Callable[[int, str], str]) -> list[str]:
    """
    Return the entries `pattern = target` for a file in these folders, of the nearest project file.

    `read(n, name)` returns the text of a file in the n-th folder above, from 0; empty if there is none.
    """
    for level in range(len(folders) + 1):
        root = "/".join(folders[: len(folders) - level])
        if language == "rust" and (match := _PACKAGE.search(read(level, "Cargo.toml"))):
            return [f"{match[1].replace('-', '_')}/*={_under(root, 'src/*')}"]
    if language in ("javascript", "typescript"):
        return [*_find_configured(folders, read), *_find_packages(folders, read)]
    return []


def _find_configured(folders: Sequence[str], read: _Read) -> list[str]:
    for level in range(len(folders) + 1):
        for name in _CONFIGS:
            root = "/".join(folders[: len(folders) - level])
            if entries := list(_read_config(read(level, name), root))[:MAX_ENTRIES]:
                return entries
    return []


def _find_packages(folders: Sequence[str], read: _Read) -> Iterator[str]:
    """Yield the entries of the own package, and of the packages of the workspace that it depends on."""
    own: Mapping[str, object] = {}
    for level in range(len(folders) + 1):
        package = _read_object(read(level, "package.json"))
        root = "/".join(folders[: len(folders) - level])
        if package and not own:
            own = package
            yield from _package_entries(own, root, level, "", read)
        patterns = _read_workspaces(package, read(level, "pnpm-workspace.yaml"))
        if patterns:
            yield from _find_members(own, patterns, root, level, read)
            return


def _find_members(
    own: Mapping[str, object], patterns: Sequence[str], root: str, level: int, read: _Read
) -> Iterator[str]:
    listed = [own.get(field) for field in _DEPENDENCIES]
    names = [name for field in listed if isinstance(field, dict) for name in field]
    found = 0
    for name in names[:500]:
        stems = dict.fromkeys((name.rpartition("/")[2], name.lstrip("@").replace("/", "-")))
        for below in (f"{pattern.removesuffix('*')}{stem}/" for pattern in patterns for stem in stems):
            package = _read_object(read(level, f"{below}package.json"))
            if package.get("name") == name and found < MAX_PACKAGES:
                found += 1
                yield from _package_entries(package, root, level, below, read)
                break


def _package_entries(package: Mapping[str, object], root: str, level: int, below: str, read: _Read) -> Iterator[str]:
    """Yield the entries of a package in the folder `below` the n-th folder above."""
    name = package.get("name")
    if not isinstance(name, str) or not 0 < len(name) <= 100 or "=" in name:
        return
    is_below = any(read(level, f"{below}src/{index}") for index in _INDEXES)
    folder = _under(root, f"{below}src" if is_below else below or ".")
    yield f"{name}={folder}"
    if is_below:
        yield f"{name}/src/*={folder}/*"
    yield f"{name}/*={folder}/*"


def _read_workspaces(package: Mapping[str, object], listed: str) -> list[str]:
    """Return the patterns of a workspace of npm, yarn or pnpm whose star is their last part: `packages/*`."""
    workspaces = package.get("workspaces")
    if isinstance(workspaces, dict):
        workspaces = workspaces.get("packages")
    patterns = [item for item in workspaces if isinstance(item, str)] if isinstance(workspaces, list) else []
    patterns += _WORKSPACE.findall(listed)
    plain = [pattern.removeprefix("./").replace("/**", "/*") for pattern in patterns[:20]]
    return [pattern for pattern in plain if pattern.endswith("/*") and "*" not in pattern[:-1]]


def _read_object(text: str) -> Mapping[str, object]:
    try:
        found = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _read_config(text: str, root: str) -> Iterator[str]:
    base = _BASE.search(text)
    folder = _under(root, base[1]) if base else root
    if listed := _PATHS.search(text):
        for pattern, target in _PATH.findall(listed[1]):
            yield f"{pattern}={_under(folder, target)}"
    if base:
        yield f"*={_under(folder, '*')}"


def _under(folder: str, path: str) -> str:
    return normpath(join(folder, path)).removeprefix("./")


def resolve_path(path: str, entries: Sequence[str]) -> str:
    """Return the path that an import stands for by the first matching entry; empty if none matches."""
    for entry in entries:
        pattern, _, target = entry.partition("=")
        head, star, tail = pattern.partition("*")
        if path == pattern:
            return target
        if star and path.startswith(head) and path.endswith(tail) and len(path) > len(head) + len(tail):
            return normpath(target.replace("*", path[len(head) : len(path) - len(tail)], 1))
    return ""
