"""
Imports of a source file, by language.

| statement | name in the file | target |
| --- | --- | --- |
| `from .core import Command as C` in `click.types` | `C` | `click.core.Command` |
| `import os.path` | `os` | `os` |
| `import { parse } from './util'` in `src/app/main` | `parse` | `src/app/util.parse` |
| `import { run } from '@app/job'`, with `@app/*` in `tsconfig.json` | `run` | `src/job.run` |
| `import "example.com/app/store"` | `store` | `example.com/app/store` |
| `use crate::graph::Node;` in `src/store/read` | `Node` | `src/graph.Node` |
| `pub use graph::Node;`, below `mod graph;` in `src/lib.rs` | `Node` | `src/graph.Node` |
| `import com.example.App;` | `App` | `com.example.App` |
| `import com.example.*;`, `from .core import *`, `use crate::graph::*;` | | the module, as a star import |
| `#include "list.h"` in `src/main` | | `src/list` |
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from posixpath import join, normpath

from weft.text.code.project_paths import resolve_path
from weft.text.code.syntax import MODULE_SCOPE, Capture, Definition, Syntax

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
    syntax: Syntax,
    *,
    module: str,
    is_package: bool,
    exported: Collection[str] | None = None,
    paths: Sequence[str] = (),
) -> list[Import]:
    """
    Return the imports of a file. Modules of the standard library are left out where they are known.

    `exported` are the names in the `__all__` of a Python file, `paths` the import paths of the project.
    """
    read = _READERS.get(syntax.grammar)
    captures = [item for item in syntax.captures if item.kind in ("import", "export")]
    if read is None:
        return []
    names = {item.fields["mod"] for item in captures if "mod" in item.fields}
    file = _File(module, is_package, paths, modules=names, definitions=syntax.definitions)
    found = [item for capture in captures for item in read(capture, file) if item.target != module]
    return [replace(item, is_exported=True) if exported and item.name in exported else item for item in found]


@dataclass(frozen=True, slots=True)
class _File:
    """What the imports of a file depend on."""

    module: str
    is_package: bool
    paths: Sequence[str]
    modules: Collection[str]
    """Modules that a Rust file declares: `mod graph;`."""
    definitions: Sequence[Definition]

    def depth(self, scope: int) -> int:
        """Return the number of namespaces around a scope."""
        count = 0
        while scope != MODULE_SCOPE:
            count += self.definitions[scope].kind == "namespace"
            scope = self.definitions[scope].parent
        return count


def _read_python(item: Capture, file: _File) -> Iterator[Import]:
    fields, module, is_package = item.fields, file.module, file.is_package
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
        is_exported = is_package or fields.get("alias") == name  # `import Client as Client`
        yield from _python(item, fields.get("alias") or name, f"{base}.{name}", base, module, is_exported)


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


def _read_ecmascript(item: Capture, file: _File) -> Iterator[Import]:
    fields, module = item.fields, file.module
    if "require" in fields and fields["require"] != "require":
        return
    path = fields.get("from", "").strip("'\"")
    if path.startswith("."):
        folder = module if file.is_package else module.rpartition("/")[0]
        source = normpath(join(folder, _EXTENSION.sub("", path)))
    elif not (source := resolve_path(_EXTENSION.sub("", path), file.paths) if path else ""):
        return  # a package, or a default export of this file
    source = source.removesuffix("/index") if source != "index" else source
    target, name = source, fields.get("star", "")
    if "default" in fields:
        target, name = f"{source}.default", fields["default"]
    elif "name" in fields:
        target, name = f"{source}.{fields['name']}", fields.get("alias") or fields["name"]
    is_exported = item.kind == "export"
    yield Import(name=name, target=target, module=source, line=item.line, scope=item.scope, is_exported=is_exported)


def _read_go(item: Capture, file: _File) -> Iterator[Import]:
    path = item.fields.get("path", "").strip('"`')
    name = item.fields.get("alias") or path.rpartition("/")[2]
    if path and name != "_":
        is_star = name == "."
        name = "" if is_star else name
        yield Import(name=name, target=path, module=path, line=item.line, scope=item.scope, is_star=is_star)


def _read_java(item: Capture, file: _File) -> Iterator[Import]:
    path = "".join(item.fields.get("path", "").split())
    if not path or path.startswith(("java.", "javax.")):
        return
    if "star" in item.fields:
        yield Import(name="", target=path, module=path, line=item.line, scope=item.scope, is_star=True)
    else:
        yield Import(name=path.rpartition(".")[2], target=path, module="", line=item.line, scope=item.scope)


def _read_c(item: Capture, file: _File) -> Iterator[Import]:
    path = _EXTENSION.sub("", item.fields.get("path", "").strip('"<>'))
    if path:
        near = normpath(join(file.module.rpartition("/")[0], path))
        for source in dict.fromkeys((near, normpath(path))):  # the second one below an include path
            if not source.startswith(".."):
                yield Import(name="", target=source, module=source, line=item.line, scope=item.scope)


def _read_rust(item: Capture, file: _File) -> Iterator[Import]:
    if name := item.fields.get("mod"):
        target = f"{file.module}/{name}"
        yield Import(name=name, target=target, module=target, line=item.line, scope=item.scope)
        return
    for path, name in _rust_paths(item.fields.get("path", "")):
        found = _rust_target(path, file, depth=file.depth(item.scope))
        if not found or name in ("self", "_"):
            continue
        is_star = name == "*"
        source = found if is_star else found.rpartition(".")[0]
        yield Import(
            name="" if is_star else name,
            target=found,
            module=source,
            line=item.line,
            scope=item.scope,
            is_exported="public" in item.fields and not is_star,
            is_star=is_star,
        )


def _rust_target(path: list[str], file: _File, *, depth: int) -> str:
    """Return what a path of a `use` declaration inside `depth` inline modules names; a star names its module."""
    ups = next((at for at, part in enumerate(path) if part != "super"), len(path))
    if depth and ups:  # `mod tests { use super::Node; }`
        path = ["super"] * (ups - depth) + path[ups:] if ups > depth else ["self", *path[ups:]]
    if path[-1] == "*":
        return _rust_target([*path[:-1], "x"], file, depth=0).rpartition(".")[0] if len(path) > 1 else ""
    if path[0] in file.modules:
        path = ["self", *path]
    if found := rust_path(path, module=file.module, is_package=file.is_package):
        return found
    cut = next((at for at, part in enumerate(path) if part[:1].isupper()), len(path) - 1)
    source = resolve_path("/".join([*path[:cut], "x"]), file.paths) if cut > 0 else ""
    return ".".join([source.removesuffix("/x"), *path[cut:]]) if source else ""


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


_READERS: Mapping[str, Callable[[Capture, _File], Iterator[Import]]] = {
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
