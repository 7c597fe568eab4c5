"""
Import paths that a project file defines for the source files below it.

| file | setting | entry |
| --- | --- | --- |
| `web/tsconfig.json` | `"baseUrl": ".", "paths": {"@app/*": ["src/*"]}` | `@app/* = web/src/*` |
| `jsconfig.json` | `"baseUrl": "src"` | `* = src/*` |
| `core/Cargo.toml` | `[package]`, `name = "disk-store"` | `disk_store/* = core/src/*` |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from posixpath import join, normpath

PATHS = "import_paths"
"""Metadata key of the entries."""
MAX_ENTRIES = 30

_CONFIGS = ("tsconfig.json", "jsconfig.json")
_PATHS = re.compile(r'"paths"\s{0,9}:\s{0,9}\{([^{}]{0,4000})\}')
_PATH = re.compile(r'"([^"\n]{1,100})"\s{0,9}:\s{0,9}\[\s{0,40}"([^"\n]{1,200})"')
_BASE = re.compile(r'"baseUrl"\s{0,9}:\s{0,9}"([^"\n]{1,200})"')
_PACKAGE = re.compile(r'^\[package\][^\[]{0,500}?^name\s{0,9}=\s{0,9}"([\w-]{1,100})"', re.MULTILINE)


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
            for name in _CONFIGS:
                if entries := list(_read_config(read(level, name), root))[:MAX_ENTRIES]:
                    return entries
    return []


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
