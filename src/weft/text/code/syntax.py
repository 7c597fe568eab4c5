"""
Definitions and captures of a source file.

    class Command(Base):          definition 0: class    Command
        def invoke(self, ctx):    definition 1: method   Command.invoke     capture `bind` ctx   in scope 1
            return ctx.run()                                                capture `call` ctx.run  in scope 1

Positions are lines, from 1: chunks are cut between lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal, TypeAlias

from weft.records import Document
from weft.text.code.grammar import Match, find_grammar, is_parsable, load_grammar, parse

VERSION = 1
"""Part of the content hash of source code."""

MAX_CAPTURE_BYTES = 300
"""Longer names and types are dropped."""

MODULE_SCOPE = -1
"""Scope of a capture outside every definition."""

DefinitionKind: TypeAlias = Literal["class", "function", "method", "namespace"]

_DEFINITIONS = ("class", "function", "namespace", "extension")
_CAPTURES = ("base", "call", "selfcall", "chain", "ref", "import", "bind", "package", "export", "doc")
_LONG_CAPTURES = ("selfcall", "chain", "import", "export", "doc")
"""Captures whose text is not kept, only their fields and line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A class, function or method, or a namespace around them."""

    kind: DefinitionKind
    path: tuple[str, ...]
    """Names of the enclosing definitions and its own."""
    first_line: int
    """First line of its decorators and of the comment directly above it."""
    line: int
    """Line of its name."""
    last_line: int
    parent: int
    """Index of the enclosing definition, or `MODULE_SCOPE`."""
    is_local: bool
    """True if it is inside a function."""
    is_continued: bool = False
    """True if it only adds members to a class: an `impl` of Rust."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Further captures, such as the receiver of a Go method."""

    @property
    def name(self) -> str:
        """Return the name without its parents."""
        return self.path[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """A captured part of a definition: a call, an import, a bound name, a base class."""

    kind: str
    text: str
    line: int
    scope: int
    """Index of the innermost definition, or `MODULE_SCOPE`."""
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """The first line of a statement inside a definition."""

    line: int
    depth: int
    """Number of statements around it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Syntax:
    """The parsed content of a source file, in order of position."""

    grammar: str
    definitions: tuple[Definition, ...]
    captures: tuple[Capture, ...]
    breaks: tuple[Break, ...]

    def owner(self, scope: int) -> int:
        """Return the innermost definition around a scope that is not local, or `MODULE_SCOPE`."""
        while scope != MODULE_SCOPE and self.definitions[scope].is_local:
            scope = self.definitions[scope].parent
        return scope


def has_parser(document: Document) -> bool:
    """Return True if the grammar of a document is installed."""
    return load_grammar(find_grammar(document)) is not None


def read_syntax(document: Document) -> Syntax | None:
    """Return the parsed content of a source file; None without a grammar, or if it cannot be parsed within limits."""
    name = find_grammar(document)
    return _read(name, document.text) if name and is_parsable(document.text) else None


@lru_cache(maxsize=64)  # a document is split with its group, then read: at most 64 documents
def _read(name: str, text: str) -> Syntax | None:
    grammar = load_grammar(name)
    data = text.encode("utf-8", "surrogatepass")
    matches = parse(data, grammar) if grammar else []
    return _build(name, data, matches) if grammar and matches else None


def _build(name: str, data: bytes, matches: Sequence[Match]) -> Syntax:
    outer = {place[1]: place for match in matches if (place := match.nodes.get("outer"))}
    comments = {row for match in matches if (p := match.nodes.get("comment")) for row in range(p[2], p[3] + 1)}
    code_rows = {p[3] for match in matches if (p := match.nodes.get("comment")) and not _is_alone(data, p[0])}
    comments -= code_rows
    found = sorted(_iter_roots(matches), key=lambda item: (item[1][0], -item[1][1]))
    builder = _Builder(data, outer, comments, is_c=name in ("c", "cpp"))
    for kind, place, match in found:
        builder.add(kind, place, match)
    return Syntax(
        grammar=name,
        definitions=tuple(builder.definitions),
        captures=tuple(builder.captures),
        breaks=tuple(builder.breaks),
    )


def _iter_roots(matches: Sequence[Match]) -> list[tuple[str, tuple[int, int, int, int], Match]]:
    roots = (*_DEFINITIONS, *_CAPTURES, "break")
    return [(kind, match.nodes[kind], match) for match in matches for kind in roots if kind in match.nodes]


def _is_alone(data: bytes, start: int) -> bool:
    """Return True if only white space precedes an offset in its line."""
    return not data[data.rfind(b"\n", 0, start) + 1 : start].strip()


class _Builder:
    """Builds definitions and captures from matches in order of position."""

    def __init__(
        self, data: bytes, outer: Mapping[int, tuple[int, int, int, int]], comments: set[int], *, is_c: bool
    ) -> None:
        self._data = data
        self._is_c = is_c
        self._outer = outer
        self._comments = comments
        self._open: list[tuple[int, int]] = []
        """Enclosing definitions: end byte and index."""
        self._statements: list[int] = []
        """End bytes of the enclosing statements."""
        self._starts: dict[int, int] = {}
        """Definitions by start byte, since patterns may match twice."""
        self.definitions: list[Definition] = []
        self.captures: list[Capture] = []
        self.breaks: list[Break] = []

    def add(self, kind: str, place: tuple[int, int, int, int], match: Match) -> None:
        start, end, row, _ = place
        while self._open and self._open[-1][0] <= start:
            self._open.pop()
        scope = self._open[-1][1] if self._open else MODULE_SCOPE
        if kind == "break":
            while self._statements and self._statements[-1] <= start:
                self._statements.pop()
            self.breaks.append(Break(line=row + 1, depth=len(self._statements)))
            self._statements.append(end)
        elif kind in _DEFINITIONS:
            self._define(kind, place, match, scope)
        else:
            text = "" if kind in _LONG_CAPTURES else self._text(place)
            if text is not None and (kind != "ref" or "." in text or text[0].isupper()):  # most arguments are variables
                fields = self._fields(match, without=kind)
                self.captures.append(Capture(kind=kind, text=text, line=row + 1, scope=scope, fields=fields))

    def _define(self, kind: str, place: tuple[int, int, int, int], match: Match, scope: int) -> None:
        start, end, row, last = place
        name = match.nodes.get("name")
        text = self._text(name) if name else None
        if not name or not text or (self._is_c and text.isupper() and len(text) > 1):
            return  # `NODE_METHOD(run) {` is a macro call
        fields = self._fields(match, without=kind)
        if (known := self._starts.get(start)) is not None:
            merged = {**self.definitions[known].fields, **fields}
            self.definitions[known] = replace(self.definitions[known], fields=merged)
            return
        parent = self.definitions[scope] if scope != MODULE_SCOPE else None
        is_local = parent is not None and (parent.is_local or parent.kind in ("function", "method"))
        if kind == "function" and parent is not None and parent.kind == "class":
            kind = "method"
        around = self._outer.get(end)
        first = min(row, around[2]) if around and around[0] <= start else row
        while first - 1 in self._comments:
            first -= 1
        own = tuple(part for part in (fields.get("owner", ""), *text.replace("::", ".").split(".")) if part)
        if kind == "function" and len(own) > 1:
            kind = "method"
        self._starts[start] = len(self.definitions)
        self._open.append((end, len(self.definitions)))
        self.definitions.append(
            Definition(
                kind="class" if kind == "extension" else kind,  # type: ignore[arg-type]
                path=(*(parent.path if parent else ()), *own),
                first_line=first + 1,
                line=name[2] + 1,
                last_line=last + 1,
                parent=scope,
                is_local=is_local,
                is_continued=kind == "extension",
                fields=fields,
            )
        )

    def _text(self, place: tuple[int, int, int, int]) -> str | None:
        """Return the text of a node; None if it is too long."""
        start, end = place[:2]
        return self._data[start:end].decode("utf-8", "replace") if end - start <= MAX_CAPTURE_BYTES else None

    def _fields(self, match: Match, *, without: str) -> dict[str, str]:
        texts = {key: self._text(place) for key, place in match.nodes.items() if key != without}
        return {key: text for key, text in texts.items() if text is not None and key not in _DEFINITIONS}
