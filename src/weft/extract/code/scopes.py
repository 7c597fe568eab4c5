"""
Resolution of names in a source file.

    import click                        click          → click
    def run(ctx: Context):
        ctx.invoke()                    ctx.invoke     → click.core.Context.invoke, by the annotation
        helper()                        helper         → module.helper, defined in this file
        print()                                        → nothing: not defined or imported here
    class App(Base):
        def start(self):
            self.stop()                 self.stop      → module.App.stop, or Base.stop if App has none

An ambiguous name is not resolved.
"""

from __future__ import annotations

import builtins
import re
from collections import defaultdict
from collections.abc import Sequence

from weft.extract.code.imports import Import, rust_path
from weft.text.code.syntax import MODULE_SCOPE, Capture, Definition, Syntax

MAX_BASE_CLASSES = 8
"""Base classes followed from class to class in one file."""

MAX_STAR_IMPORTS = 4
"""Modules with `import *` in which an unknown name of a file is looked up."""

SELF_NAMES = frozenset({"self", "cls", "mcs", "this", "Self", "super"})

GLOBAL_NAMES = frozenset({"c", "cpp"})
"""Languages whose functions are known by their names in all files."""

PACKAGE_NAMES = frozenset({"go", "java"})
"""Languages whose files see the definitions of other files in the same module."""

BUILTINS = frozenset(dir(builtins))

_GO_TEST = re.compile(r"(?:Test|Benchmark|Example|Fuzz)(?:[^a-z]|$)")
_DOTTED = re.compile(r"[\w$]+(?:\.[\w$]+){0,7}")
_OPTIONAL = re.compile(r"(?:\w{1,60}\.)?(?:Optional|Type|type)\[(.{1,200})\]")
_SEPARATORS = re.compile(r"::|\.")


class Scopes:
    """The names of one file: definitions, imports, local names, base classes."""

    def __init__(
        self, syntax: Syntax, *, module: str, is_package: bool, imports: Sequence[Import], is_test: bool = False
    ) -> None:
        self._syntax = syntax
        self._module = module
        self.helpers = f"{module}_test" if is_test and syntax.grammar == "go" else ""
        """
        Module of the helpers of a Go test, which share their package with the code under test; empty for other files.
        """
        self._own = {definition.path[0] for definition in syntax.definitions if len(definition.path) == 1}
        self._is_package = is_package
        self._definitions = syntax.definitions
        self.qualified = [self._qualify(definition) for definition in syntax.definitions]
        """Qualified names of the definitions, by index; empty for local ones."""
        self._paths = {
            definition.path: index
            for index, definition in reversed(list(enumerate(syntax.definitions)))
            if not definition.is_local and not definition.is_continued
        }
        self._by_name = {self.qualified[index]: index for index in self._paths.values()}
        self._imports: dict[int, dict[str, str]] = defaultdict(dict)
        for item in imports:
            if item.name:
                self._imports[item.scope].setdefault(item.name, item.target)
        self._stars = [item.target for item in imports if item.is_star][:MAX_STAR_IMPORTS]
        self._types = self._read_types()
        self._locals = {
            (definition.parent, definition.name) for definition in syntax.definitions if definition.is_local
        }
        self._bases = self._read_bases()

    def _qualify(self, definition: Definition) -> str:
        if definition.is_local:
            return ""
        if self._syntax.grammar in GLOBAL_NAMES:
            name = "::".join(definition.path)
            is_own = "static" in definition.fields.get("storage", "") or name == "main"
            return f"{self._module}.{name}" if is_own and definition.kind != "method" else name
        first = definition.path[0]
        is_helper = self.helpers and first in self._own and not _GO_TEST.match(first)
        module = self.helpers if is_helper else self._module
        return ".".join((module, *definition.path) if module else definition.path)

    def _read_types(self) -> dict[int, dict[str, set[str]]]:
        """Return the types of bound names by scope; an empty text stands for an unknown type."""
        by_line: dict[tuple[int, str, int], str] = {}
        for item in self._syntax.captures:
            if item.kind == "bind":
                type = _plain_type(item.fields.get("type", "")) or _made(item.fields.get("of", ""))
                known = by_line.get((item.scope, item.text, item.line), "")
                by_line[item.scope, item.text, item.line] = known or type
        types: dict[int, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for (scope, name, _), type in by_line.items():
            types[scope][name].add(type)
        return types

    def _read_bases(self) -> dict[str, list[str]]:
        """Return the base classes by the qualified name of a class."""
        bases: dict[str, list[str]] = defaultdict(list)
        for item in self._syntax.captures:
            if item.kind == "base" and item.scope != MODULE_SCOPE and self.qualified[item.scope]:
                parent = self._definitions[item.scope].parent
                bases[self.qualified[item.scope]].append(self.resolve(item.text, parent))
        for index, definition in enumerate(self._definitions):
            if definition.is_continued and (trait := definition.fields.get("trait")):
                bases[self.qualified[index]].append(self.resolve(trait.partition("<")[0], definition.parent))
        return bases

    def bases(self, name: str) -> list[str]:
        """Return the qualified names of the base classes of a class; an unresolved one is empty."""
        return self._bases.get(name, [])

    def find(self, name: str) -> Definition | None:
        """Return the definition of a qualified name in this file."""
        index = self._by_name.get(name)
        return self._definitions[index] if index is not None else None

    def owner_class(self, scope: int) -> str:
        """Return the qualified name of the class around a scope; empty outside classes."""
        while scope != MODULE_SCOPE:
            definition = self._definitions[scope]
            if definition.kind == "method" and not definition.is_local:
                return self._parent_name(definition)
            if definition.kind == "class" and not definition.is_local:
                return self.qualified[scope]
            scope = definition.parent
        return ""

    def _parent_name(self, definition: Definition) -> str:
        separator = "::" if self._syntax.grammar in GLOBAL_NAMES else "."
        is_helper = self.helpers and definition.path[0] in self._own
        module = self.helpers if is_helper else self._module
        prefix = "" if self._syntax.grammar in GLOBAL_NAMES or not module else f"{module}."
        return prefix + separator.join(definition.path[:-1])

    def resolve_call(self, item: Capture) -> str:
        """Return the qualified name that a call refers to; empty if it is not certain."""
        if item.kind == "selfcall":
            return self.member(self.owner_class(item.scope), item.fields.get("name", ""))
        if item.kind == "chain":  # `super().run()`, `Command(name).run()`
            made, name = item.fields.get("made", ""), item.fields.get("name", "")
            if made == "super":
                return self._inherited(self.owner_class(item.scope), name)
            owner = self.resolve(made, item.scope)
            return self.member(owner, name) if owner and self._is_class(owner) else ""
        owner_object = item.fields.get("object")
        return self.resolve(f"{owner_object}.{item.text}" if owner_object else item.text, item.scope)

    def find_starred(self, item: Capture) -> list[str]:
        """Return the names that a call may refer to by `import *`, if nothing in the file binds its name."""
        text = item.fields["object"] if item.fields.get("object") else item.text
        first, *rest = _SEPARATORS.split("".join(text.split()))
        if not self._stars or item.kind != "call" or first in BUILTINS or self._is_bound(first, item.scope):
            return []
        return [".".join([module, first, *rest]) for module in self._stars]

    def elsewhere(self, name: str) -> list[str]:
        """
        Return what a name of the own package may be instead.

        It is a name of a package imported with a star, or in a Go test the helper of another test.
        """
        own = f"{self._module}."
        others = [self.helpers, *self._stars] if self.helpers else self._stars
        if self._syntax.grammar not in PACKAGE_NAMES or not others or not name.startswith(own):
            return []
        first = name[len(own) :].split(".")[0]
        return [] if (first,) in self._paths else [f"{module}.{name[len(own) :]}" for module in others]

    def _is_bound(self, name: str, scope: int) -> bool:
        """Return True if a name is a definition, an import or a variable of the file."""
        if name in SELF_NAMES or (name,) in self._paths:
            return True
        while True:
            scopes = (self._imports.get(scope, {}), self._types.get(scope, {}))
            if any(name in known for known in scopes) or (scope, name) in self._locals:
                return True
            if scope == MODULE_SCOPE:
                return False
            scope = self._definitions[scope].parent

    def resolve(self, text: str, scope: int) -> str:
        """Return the qualified name that a dotted name refers to in a scope; empty if it is not certain."""
        parts = _SEPARATORS.split("".join(text.split()))
        if not all(parts) or not _DOTTED.fullmatch(".".join(parts)):
            return ""
        first, rest = parts[0], parts[1:]
        if first in SELF_NAMES or self._is_receiver(first, scope):
            return self._resolve_self(parts, scope)
        if first == "crate":
            return rust_path(parts, module=self._module, is_package=self._is_package)
        start = scope
        while scope != MODULE_SCOPE:
            if self._definitions[scope].kind in ("function", "method") or scope == start:
                if (scope, first) in self._locals:
                    return ""
                if first in self._imports.get(scope, {}):
                    return ".".join([self._imports[scope][first], *rest])
                if first in self._types.get(scope, {}):
                    return self._resolve_typed(first, rest, scope)
            scope = self._definitions[scope].parent
        return self._resolve_global(first, rest, start)

    def _resolve_global(self, first: str, rest: list[str], scope: int) -> str:
        around = () if scope == MODULE_SCOPE else self._definitions[scope].path
        for size in range(len(around), -1, -1):  # inner classes and namespaces first
            if size and self._syntax.grammar == "python":
                continue
            if (found := self._paths.get((*around[:size], first))) is not None:
                return self._members(self.qualified[found], rest)
        imported = self._imports.get(MODULE_SCOPE, {}).get(first)
        if imported:
            return self._members(imported, rest)
        if first in self._types.get(MODULE_SCOPE, {}):
            return self._resolve_typed(first, rest, MODULE_SCOPE)
        if self._syntax.grammar in PACKAGE_NAMES and (first[:1].isupper() or not rest):
            if self._syntax.grammar == "java" and not first[:1].isupper():
                return self.member(self.owner_class(scope), first)
            return ".".join([self._module, first, *rest])
        return "::".join([first, *rest]) if self._syntax.grammar in GLOBAL_NAMES else ""

    def _members(self, owner: str, rest: list[str]) -> str:
        for name in rest:
            owner = self.member(owner, name)
        return owner

    def _is_receiver(self, name: str, scope: int) -> bool:
        while scope != MODULE_SCOPE:
            if self._definitions[scope].fields.get("self") == name:
                return True
            scope = self._definitions[scope].parent
        return False

    def _resolve_self(self, parts: list[str], scope: int) -> str:
        owner = self.owner_class(scope)
        if not owner or len(parts) > 2:
            return ""
        if parts[0] == "super":
            return self._inherited(owner, parts[1]) if len(parts) == 2 else ""
        return self.member(owner, parts[1]) if len(parts) == 2 else owner if parts[0] == "Self" else ""

    def _resolve_typed(self, name: str, rest: list[str], scope: int) -> str:
        """Return a method of a local name whose class is known."""
        types = self._types[scope][name]
        if len(types) != 1 or len(rest) != 1:
            return ""
        type = next(iter(types))
        owner = self.resolve(type, self._definitions[scope].parent if scope != MODULE_SCOPE else scope) if type else ""
        return self.member(owner, rest[0]) if owner and owner != name and self._is_class(owner) else ""

    def _is_class(self, name: str) -> bool:
        found = self.find(name)
        return found.kind == "class" if found else _SEPARATORS.split(name)[-1][:1].isupper()

    def member(self, owner: str, name: str) -> str:
        """Return the qualified name of a member of a module or class; empty if a class of this file has none."""
        if not owner or not name:
            return ""
        separator = "::" if self._syntax.grammar in GLOBAL_NAMES else "."
        definition = self.find(owner)
        if definition is None:
            return f"{owner}{separator}{name}"
        if (*definition.path, name) in self._paths:
            return f"{owner}{separator}{name}"
        if self._syntax.grammar == "go" or (self._syntax.grammar == "cpp" and definition.kind == "class"):
            return f"{owner}{separator}{name}"  # methods may be in other files
        return self._inherited(owner, name)

    def _inherited(self, owner: str, name: str) -> str:
        """Return the method that a class inherits, if its only base class is known."""
        separator = "::" if self._syntax.grammar in GLOBAL_NAMES else "."
        for _ in range(MAX_BASE_CLASSES):
            bases = self.bases(owner)
            if len(bases) != 1 or not bases[0]:
                return ""
            owner = bases[0]
            definition = self.find(owner)
            if definition is None or (*definition.path, name) in self._paths:
                return f"{owner}{separator}{name}"
        return ""

    def overridden(self, owner: str, name: str) -> list[str]:
        """Return the methods of base classes that a method replaces: the nearest of each base class."""
        separator = "::" if self._syntax.grammar in GLOBAL_NAMES else "."
        found: list[str] = []
        for base in self.bases(owner):
            definition = self.find(base) if base else None
            if base and (definition is None or (*definition.path, name) in self._paths):
                found.append(f"{base}{separator}{name}")
            elif base and (inherited := self._inherited(base, name)):
                found.append(inherited)
        return list(dict.fromkeys(found))


def _plain_type(text: str) -> str:
    """Return the class of an annotation: `Context` of `t.Optional["Context"]` and of `Context | None`; else empty."""
    text = text.strip().strip("\"'")
    if match := _OPTIONAL.fullmatch(text):
        text = match[1].strip().strip("\"'")
    parts = [part.strip().strip("\"'") for part in text.split("|")]
    parts = [part for part in parts if part != "None"]
    return parts[0] if len(parts) == 1 and _DOTTED.fullmatch(parts[0]) else ""


def _made(text: str) -> str:
    """Return the class of a constructor call; by convention it begins with a capital letter."""
    return text if _SEPARATORS.split(text)[-1][:1].isupper() else ""
