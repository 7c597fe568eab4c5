"""
Relations of a source file: imports, base classes, calls, overridden methods, tests.

| type | from | to | weight |
| --- | --- | --- | --- |
| `inherits` | class | base class | 10 |
| `overrides` | method | method of a base class | 10 |
| `calls` | function, method, class or module | function, method or class | 9 |
| `tests` | test function or test module | function, class or module under test | 9 |
| `imports` | module | module or definition | 8 |
| `defines` | module or class | class, function or method | 7 |

The target of a relation may be in another file. It has a qualified name, so that files can be indexed in any order. A
relation to a name that no file defines is stored but never shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weft.extract.code.imports import Import
from weft.extract.code.scopes import Scopes
from weft.text.code.syntax import MODULE_SCOPE, Definition, Syntax

WEIGHTS = {"inherits": 10.0, "overrides": 10.0, "calls": 9.0, "tests": 9.0, "imports": 8.0, "defines": 7.0}

_TEST_FILE = re.compile(
    r"(?:^|/)(?:test_[^/]{0,200}\.(?:pyi?|c|cc|cpp|cxx)|[^/]{0,200}_test\.(?:py|go|c|cc|cpp|cxx)|[^/]{0,200}[.-](?:test|spec)\.[cm]?[jt]sx?"
    r"|__tests__/[^/]{0,200}|tests?/[^/]{0,200}\.rs|[^/]{0,200}Tests?\.java)$"
)
_TESTS_FOLDERS = frozenset({"__tests__", "spec", "test", "tests"})
_TEST_NAME = re.compile(r"(?:test|Test|Benchmark|Example)")
_TEST_STEM = re.compile(r"(?:^|[/.])(?:test_)?([\w-]{1,200}?)(?:_test|[.-](?:test|spec))?$")


@dataclass(frozen=True, slots=True)
class CodeRelation:
    """A relation between two qualified names, with the line that states it."""

    source: str
    target: str
    type: str
    line: int


def is_test_file(source: str) -> bool:
    """Return True if a path is that of a test file by the conventions of its language."""
    return _TEST_FILE.search(source.replace("\\", "/")) is not None


def find_relations(
    syntax: Syntax, scopes: Scopes, imports: Sequence[Import], *, module: str, source: str
) -> Iterator[CodeRelation]:
    """Yield the relations that a source file states."""
    yield from _find_defined(syntax, scopes, module)
    yield from _find_imports(imports, module, is_test=is_test_file(source))
    yield from _find_bases(syntax, scopes)
    yield from _find_calls(syntax, scopes, module, is_test=is_test_file(source))


def _find_defined(syntax: Syntax, scopes: Scopes, module: str) -> Iterator[CodeRelation]:
    for index, definition in enumerate(syntax.definitions):
        name = scopes.qualified[index]
        if not name or definition.kind == "namespace" or definition.is_continued:
            continue
        owner = scopes.owner_class(definition.parent) if definition.kind != "method" else scopes.owner_class(index)
        if (owner or module) and (owner or module) != name:
            yield CodeRelation(owner or module, name, "defines", definition.line)


def _find_imports(imports: Sequence[Import], module: str, *, is_test: bool) -> Iterator[CodeRelation]:
    stem = _TEST_STEM.search(module)
    for item in imports:
        for target in dict.fromkeys((item.target, item.module)):
            if target and target != module:
                yield CodeRelation(module, target, "imports", item.line)
                # `test_parser` tests the module `parser` that it imports from
                if is_test and stem and target == item.module and _last(target) == stem[1]:
                    yield CodeRelation(module, target, "tests", item.line)


def _find_bases(syntax: Syntax, scopes: Scopes) -> Iterator[CodeRelation]:
    for index, definition in enumerate(syntax.definitions):
        name = scopes.qualified[index]
        if name and definition.kind == "class":
            for found in scopes.bases(name):
                for base in [found, *scopes.elsewhere(found)]:
                    if base and base != name:
                        yield CodeRelation(name, base, "inherits", definition.line)
        elif name and definition.kind == "method":
            owner = scopes.owner_class(index)
            for method in scopes.overridden(owner, definition.name):
                yield CodeRelation(name, method, "overrides", definition.line)


def _find_calls(syntax: Syntax, scopes: Scopes, module: str, *, is_test: bool) -> Iterator[CodeRelation]:
    support = (scopes.helpers, _tests_folder(module)) if is_test else ()
    for item in syntax.captures:
        if item.kind not in ("call", "selfcall", "chain", "ref"):
            continue
        if item.kind == "ref" and not is_test:
            continue
        owner = syntax.owner(item.scope)
        while owner != MODULE_SCOPE and syntax.definitions[owner].kind == "namespace":
            owner = syntax.definitions[owner].parent
        source = scopes.qualified[owner] if owner != MODULE_SCOPE else module
        found = scopes.resolve_call(item)
        for target in [found, *scopes.elsewhere(found)] if found else scopes.find_starred(item):
            if target == source or not source:
                continue
            if item.kind != "ref":
                yield CodeRelation(source, target, "calls", item.line)
            is_own = scopes.find(target) is not None or any(folder and _is_below(target, folder) for folder in support)
            if is_test and not is_own and _is_test(syntax, owner):
                yield CodeRelation(source, target, "tests", item.line)


def _is_test(syntax: Syntax, owner: int) -> bool:
    """Return True if a function is a test; the module is one if its tests are callbacks, as with jest."""
    if owner == MODULE_SCOPE:
        return syntax.grammar in ("javascript", "typescript", "tsx")
    definition: Definition = syntax.definitions[owner]
    return _TEST_NAME.match(definition.name) is not None or syntax.grammar in ("java", "rust")


def _tests_folder(module: str) -> str:
    """Return the package of tests around a test, which also holds what tests share: `tests` of `tests.api.test_x`."""
    parts = re.split(r"([./])", module)
    at = next((index for index in range(len(parts) - 3, -1, -2) if parts[index] in _TESTS_FOLDERS), -1)
    return "".join(parts[: at + 1])


def _is_below(name: str, module: str) -> bool:
    return name.startswith(module) and name[len(module) : len(module) + 1] in (".", "/")


def _last(name: str) -> str:
    return re.split(r"[./]", name)[-1]
