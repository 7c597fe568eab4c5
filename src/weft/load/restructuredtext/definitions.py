"""
Labels and names that a page of reStructuredText defines, as the targets of links.

| written | targets |
| --- | --- |
| `.. _limits:` above a title | `label:limits`, with the title |
| `.. currentmodule:: flask`, then `.. class:: Flask(name)` | `py:flask.Flask`, `py:Flask` |
| `.. method:: run(host)` below it | `py:flask.Flask.run`, `py:Flask.run`, `py:run` |
| `.. setting:: DEBUG`, any other directive with a name | `setting:DEBUG`, `obj:DEBUG` |
| terms of `.. glossary::` | `term:pod` |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from weft.records import PageLink

MAX_TARGETS = 3000
"""Labels and names kept of one page."""
MAX_NAME_CHARACTERS = 200

_CODE = frozenset(
    "attribute class classmethod concept const data decorator decoratormethod enum enumerator enum-class enum-struct "
    "exception function macro member method module property staticmethod struct type typealias union var".split()
)
_SIGNATURE = re.compile(
    r"(?:(?:abstract|async|class|classmethod|const|final|static|staticmethod)\s+)*([A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)*)"
)
_C_SIGNATURE = re.compile(r"\b([A-Za-z_]\w*(?:::[A-Za-z_]\w*){0,8})\s{0,4}(?=[(\[]|$)")
"""In C the type comes first: `int PyLong_Check(PyObject *o)`."""
_PROSE = frozenset(
    "admonition attention caution card cards centered compound container danger deprecated div dropdown epigraph "
    "error figure grid grid-item grid-item-card highlights hint hlist important list-table note only pull-quote rubric "
    "seealso sidebar tab tab-item tab-set table tabs tip todo topic versionadded versionchanged versionremoved "
    "warning".split()
)
"""Directives whose argument is no name of a thing."""
_OBJECT = re.compile(r"[A-Za-z_@$./<{-][^\n]*")


class Definitions:
    """Collects targets in the order of the text."""

    def __init__(self) -> None:
        self.found: list[PageLink] = []
        self.module = ""
        self._labels: list[str] = []
        self._pending: list[tuple[str, str]] = []
        """Names above a heading, which then belong to its section."""
        self._outer: list[str] = []

    def add_labels(self, names: Iterable[str]) -> None:
        """Note labels; they stand for the next heading or block."""
        self._labels += names

    def add_heading(self, title: str, *, line: int) -> None:
        """Add the labels and names directly above a heading as targets of its section."""
        for label in self._labels:
            self._add(f"label:{label}", title, line)
        for name, _ in self._pending:
            self._add(name, title, line)
        self._labels, self._pending = [], []

    def place(self, line: int) -> None:
        """Add the labels and names above a block that is no heading."""
        for label in self._labels:
            self._add(f"label:{label}", "", line)
        for name, title in self._pending:
            self._add(name, title, line)
        self._labels, self._pending = [], []

    def open(self, directive: str, argument: str, *, text: str, line: int) -> str:
        """Add what a directive defines; return the text that shows its argument, empty for other directives."""
        kind = directive.rpartition(":")[2]
        self._outer.append(self._outer[-1] if self._outer else "")
        if kind == "glossary":
            for below, term in _terms(text):
                self._add(f"term:{term}", term, line + below)
            return ""
        if not argument or len(argument) > 20 * MAX_NAME_CHARACTERS or kind in _PROSE:
            return ""
        rows = argument.split("\n")
        if kind in _CODE or kind.startswith("auto"):
            for signature in rows:
                self._add_code(directive, signature, line)
            return "\n".join(f"`{kind.removeprefix('auto')} {row}`" for row in rows)
        names = [row for row in rows if _OBJECT.fullmatch(row) and len(row) <= MAX_NAME_CHARACTERS]
        for row in names:
            bare = row.split("(")[0].strip() or row
            self._pending += [(f"{kind}:{bare}", bare)]
        return "\n".join(f"`{row}`" for row in names)

    def close(self) -> None:
        """End the directive that was opened last."""
        self._outer.pop()

    def _add_code(self, directive: str, signature: str, line: int) -> None:
        domain, _, kind = directive.rpartition(":")
        match = (_C_SIGNATURE.search if domain in ("c", "cpp") else _SIGNATURE.match)(signature.strip())
        if match is None:
            return
        name = match[1].replace("::", ".")
        if kind in ("module", "automodule"):
            self.module = name
        else:
            outer = self._outer[-2] if len(self._outer) > 1 else ""
            if outer and not name.startswith(f"{outer}."):
                name = f"{outer}.{name}"
            is_whole = kind.startswith("auto") and "." in match[1] and not outer  # autodoc imports the name
            if self.module and not is_whole and name.split(".")[0] != self.module.split(".")[0]:
                name = f"{self.module}.{name}"
            self._outer[-1] = name
        parts = name.split(".")
        for start in range(len(parts)) if kind not in ("module", "automodule") else (0,):
            self._add(f"py:{'.'.join(parts[start:])}", name, line)

    def _add(self, name: str, title: str, line: int) -> None:
        if len(self.found) < MAX_TARGETS and len(name) <= MAX_NAME_CHARACTERS:
            self.found.append(PageLink(line, name, title[:MAX_NAME_CHARACTERS], "target"))


def _terms(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines, from 1, and the terms of a glossary."""
    rows = text.split("\n")
    for index, row in enumerate(rows):
        if row.strip() and not row[0].isspace() and not row.startswith(("..", ":")):
            yield index + 1, row.split(" : ")[0].strip()
