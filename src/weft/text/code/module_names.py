"""
Module names of source files.

| file | language | name |
| --- | --- | --- |
| `src/click/core.py`, with `src/click/__init__.py` | Python | `click.core` |
| `click/__init__.py` | Python | `click` |
| `tests/test_basic.py`, without `tests/__init__.py` | Python | `tests.test_basic` |
| `src/helpers/util.ts` | TypeScript | `src/helpers/util` |
| `src/helpers/index.ts` | TypeScript | `src/helpers` |
| `pkg/server/run.go`, below a `go.mod` of `example.com/app` | Go | `example.com/app/pkg/server` |
| `src/com/example/App.java`, with `package com.example;` | Java | `com.example` |
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from weft.records import Document

MODULE = "module"
"""Metadata key of the module name that the loader found."""

SOURCE_FOLDERS = frozenset({"src", "lib", "python"})
"""Folders above Python packages that are not part of their names."""

MODULE_LANGUAGES = frozenset({"python", "javascript", "typescript", "go", "rust", "java", "c", "cpp"})
"""Languages whose files have a module name."""

_PACKAGE_STEMS = {"python": ("__init__",), "javascript": ("index",), "typescript": ("index",), "rust": ("mod", "lib")}
"""By language: stems of files that stand for their folder."""
_GO_MODULE = re.compile(r"^module[ \t]+([^\s]{1,200})", re.MULTILINE)


def module_name(document: Document) -> str:
    """Return the module name of a source file: the one that the loader found, else the one of its path."""
    name = document.metadata.get(MODULE)
    language = document.metadata.get("language")
    if isinstance(name, str) and name:
        return name
    return path_module(document.source, language=language if isinstance(language, str) else "")


def path_module(source: str, *, language: str) -> str:
    """Return a module name by the path alone."""
    path = PurePosixPath(source.replace("\\", "/").rpartition(":")[2].split("#")[0])
    name = path.with_suffix("").name.removesuffix(".d") if language == "typescript" else path.with_suffix("").name
    parts = [part for part in (*path.parent.parts, name) if part not in ("/", ".", "..")]
    if path.is_absolute():
        parts = parts[-1:]
    return _join(parts, language=language)


def find_module(
    source: str, *, language: str, has_file: Callable[[int, str], bool], read: Callable[[int, str], str]
) -> str:
    """
    Return the module name of a file by the files around it.

    `has_file(n, name)` returns True if the n-th folder above the file, from 0, contains a file of this name.
    `read(n, name)` returns the text of such a file; empty if there is none.
    """
    path = PurePosixPath(source.replace("\\", "/"))
    folders = [part for part in path.parent.parts if part not in ("/", ".")]
    depth = len(folders)
    if language == "python":
        levels = 0
        while levels < depth and has_file(levels, "__init__.py"):
            levels += 1
        if levels:
            return _join([*folders[depth - levels :], path.stem], language=language)
    if language == "go":
        for level in range(depth + 1):
            if match := _GO_MODULE.search(read(level, "go.mod")):
                return "/".join([match[1], *folders[depth - level :]])
    return path_module(source, language=language)


def _join(parts: list[str], *, language: str) -> str:
    if language == "go":
        return "/".join(parts[:-1]) or ".".join(parts)
    if len(parts) > 1 and parts[-1] in _PACKAGE_STEMS.get(language, ()):
        parts = parts[:-1]
    if language != "python":
        return "/".join(parts)
    for index in range(len(parts) - 1, 0, -1):
        if parts[index - 1] in SOURCE_FOLDERS:
            return ".".join(parts[index:])
    return ".".join(parts)
