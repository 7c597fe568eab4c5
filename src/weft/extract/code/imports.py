"""
Imports of a source file, by language.

| statement | name in the file | target |
| --- | --- | --- |
| `from .core import Command as C` in `click.types` | `C` | `click.core.Command` |
| `import os.path` | `os` | `os` |
| `import { parse } from './util'` in `src/app/main` | `parse` | `src/app/util.parse` |
| `import "example.com/app/store"` | `store` | `example.com/app/store` |
| `use crate::graph::Node;` in `src/store/read` | `Node` | `src/graph.Node` |
| `import com.example.App;` | `App` | `com.example.App` |
| `#include "list.h"` in `src/main` | | `src/list` |
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from posixpath import join, normpath

from weft.text.code.syntax import Capture, Syntax

_EXTENSION = re.compile(r"\.(?:[cm]?[jt]sx?|h|hh|hpp|hxx|d\.ts)$")
_RUST_LIST = re.compile(r"[{},]|[^{},]+")
MAX_RUST_NESTING = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One imported name."""

    name: str
    """Name in the file; empty if the statement binds none."""
    target: str
    """Qualified name of the imported module or definition."""
    module: str
    """Module that is imported, or that the definition is imported from; empty if unknown."""
    line: int
    scope: int
    is_exported: bool = False
    """True if other files can import the name from here."""
    is_star: bool = False
    """True if the statement binds all public names of the module."""


def read_imports(
    syntax: Syntax, *, module: str, is_package: bool, exported: Collection[str] | None = None
) -> list[Import]:
    """
    Return the imports of a file. Modules of the standard library are left out where they are known.

    `exported` are the names in the `__all__` of a Python file.
    """
    read = _READERS.get(syntax.grammar)
    captures = [item for item in syntax.captures if item.kind in ("import", "export")]
    if read is None:
        return []
    found = [item for capture in captures for item in read(capture, module, is_package) if item.target != module]
    return [replace(item, is_exported=True) if exported and item.name in exported else item for item in found]


def _read_python(item: Capture, module: str, is_package: bool) -> Iterator[Import]:
    fields = item.fields
    if "path" in fields:
        path = "".join(fields["path"].split())
        name = fields.get("alias") or path.split(".")[0]
        target = path if "alias" in fields else path.split(".")[0]
        yield from _python(item, name, target, path, module)
        return
    base = "".join(fields.get("from", "").split())
    if base.startswith("."):
        level = len(base) - len(base.lstrip("."))
        parents = module.split(".")
        parents = parents[: len(parents) - level + is_package]
        base = ".".join([*parents, *([base.lstrip(".")] if base.strip(".") else [])])
        if not parents:
            return
    if not base:
        return
    if "star" in fields:
        yield from (replace(found, is_star=True) for found in _python(item, "", base, base, module))
    elif name := "".join(fields.get("name", "").split()):
        package = base if fields["from"].strip(". ") else ""  # `from . import types` names the module itself
        is_exported = is_package or fields.get("alias") == name  # `import Client as Client`
        yield from _python(item, fields.get("alias") or name, f"{base}.{name}", package, module, is_exported)


def _python(
    item: Capture, name: str, target: str, source: str, module: str, is_exported: bool = False
) -> Iterator[Import]:
    root = target.split(".")[0]
    if root in sys.stdlib_module_names and root != module.split(".")[0]:
        return
    same_package = root == module.split(".")[0]
    yield Import(
        name=name,
        target=target,
        module=source,
        line=item.line,
        scope=item.scope,
        is_exported=is_exported and same_package,
    )


def _read_ecmascript(item: Capture, module: str, is_package: bool) -> Iterator[Import]:
    fields = item.fields
    if "require" in fields and fields["require"] != "require":
        return
    path = fields.get("from", "").strip("'\"")
    if not path.startswith("."):
        return  # a package, or a default export of this file
    folder = module if is_package else module.rpartition("/")[0]
    source = normpath(join(folder, _EXTENSION.sub("", path)))
    source = source.removesuffix("/index") if source != "index" else source
    target, name = source, fields.get("star", "")
    if "default" in fields:
        target, name = f"{source}.default", fields["default"]
    elif "name" in fields:
        target, name = f"{source}.{fields['name']}", fields.get("alias") or fields["name"]
    is_exported = item.kind == "export"
    yield Import(name=name, target=target, module=source, line=item.line, scope=item.scope, is_exported=is_exported)


def _read_go(item: Capture, module: str, is_package: bool) -> Iterator[Import]:
    path = item.fields.get("path", "").strip('"`')
    name = item.fields.get("alias") or path.rpartition("/")[2]
    if path and name not in ("_", "."):
        yield Import(name=name, target=path, module=path, line=item.line, scope=item.scope)


def _read_java(item: Capture, module: str, is_package: bool) -> Iterator[Import]:
    path = "".join(item.fields.get("path", "").split())
    if path and not path.startswith(("java.", "javax.")) and "star" not in item.fields:
        name = path.rpartition(".")[2]
        yield Import(name=name, target=path, module="", line=item.line, scope=item.scope)


def _read_c(item: Capture, module: str, is_package: bool) -> Iterator[Import]:
    path = _EXTENSION.sub("", item.fields.get("path", "").strip('"'))
    if path:
        source = normpath(join(module.rpartition("/")[0], path))
        yield Import(name="", target=source, module=source, line=item.line, scope=item.scope)


def _read_rust(item: Capture, module: str, is_package: bool) -> Iterator[Import]:
    for path, name in _rust_paths(item.fields.get("path", "")):
        found = rust_path(path, module=module, is_package=is_package)
        if found and name not in ("self", "_", "*"):
            yield Import(name=name, target=found, module=found.rpartition(".")[0], line=item.line, scope=item.scope)


def rust_path(path: list[str], *, module: str, is_package: bool) -> str:
    """Return the qualified name of a path that starts with `crate`, `super` or `self`; empty for other paths."""
    parts = module.split("/")
    rest = list(path)
    if not rest or rest[0] not in ("crate", "super", "self"):
        return ""
    if rest[0] == "crate":
        parts = parts[: parts.index("src") + 1] if "src" in parts else parts[:1]
        rest = rest[1:]
    elif not is_package and rest[0] == "self":
        rest = rest[1:]
    while rest and rest[0] in ("super", "self"):
        parts = parts[:-1] if rest[0] == "super" else parts
        rest = rest[1:]
    if not rest:
        return "/".join(parts)
    # by convention, types begin with a capital letter and modules do not
    cut = next((at for at, part in enumerate(rest) if part[:1].isupper()), len(rest) - 1)
    return ".".join(["/".join([*parts, *rest[:cut]]), *rest[cut:]])


def _rust_paths(text: str) -> Iterator[tuple[list[str], str]]:
    """Yield the paths of a `use` declaration with the names they bind: `a::{b, c as d}` gives `a::b` and `a::c`."""
    prefixes: list[list[str]] = []
    current: list[str] = []
    for token in _RUST_LIST.findall(text):
        if token == "{":
            prefixes.append(current)
            current = list(current)
            if len(prefixes) > MAX_RUST_NESTING:
                return
        elif token in "},":
            if token == "}" and prefixes:
                prefixes.pop()
            current = list(prefixes[-1]) if prefixes else []
        elif token.strip():
            path, _, alias = token.partition(" as ")
            parts = [part.strip() for part in path.split("::") if part.strip()]
            current = [*(prefixes[-1] if prefixes else []), *parts]
            if parts and not path.rstrip().endswith("::"):
                yield current, alias.strip() or parts[-1]


_READERS: Mapping[str, Callable[[Capture, str, bool], Iterator[Import]]] = {
    "python": _read_python,
    "javascript": _read_ecmascript,
    "typescript": _read_ecmascript,
    "tsx": _read_ecmascript,
    "go": _read_go,
    "java": _read_java,
    "rust": _read_rust,
    "c": _read_c,
    "cpp": _read_c,
}
