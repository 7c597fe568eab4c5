"""
Sections of a source file: whole definitions where they fit into a chunk.

    module head                         imports, module docstring
    function, small class               one section with its decorators and the comment above it
    class larger than a chunk           its header, then each member
    function larger than a chunk        groups of its statements

Small neighbours are joined if they have the same parent; a class header is joined with its first members.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from weft.text.code.syntax import MODULE_SCOPE, Syntax
from weft.text.structure import Section, Span
from weft.text.tokens import estimate_tokens


@dataclass(frozen=True, slots=True)
class _Part:
    """A range of lines, from 1, that belongs to one definition or to the module."""

    first: int
    last: int
    path: tuple[str, ...]
    """Names of the definition; empty for the module."""
    is_header: bool = False
    """True if it is the header of a class whose members follow."""


def syntax_sections(text: str, syntax: Syntax, *, module: str, max_tokens: int, min_tokens: int) -> list[Section]:
    """Return the sections of a parsed source file; together they contain every line."""
    source = _Source(text, syntax, max_tokens)
    parts = source.divide(MODULE_SCOPE, first=1, last=source.line_count, path=())
    head = (module,) if module else ()
    return [
        Section((*head, ".".join(part.path)) if part.path else head, source.span(part.first, part.last))
        for part in _join_small(source, parts, max_tokens=max_tokens, min_tokens=min_tokens)
    ]


@dataclass(frozen=True, slots=True)
class _Step:
    """A definition to divide, or the end of one."""

    index: int
    path: tuple[str, ...]
    """Names of the definition that the lines before it belong to."""
    is_end: bool = False
    is_first: bool = False
    """True if it is the first member of a class."""


class _Source:
    """The lines of a text, and its definitions by parent."""

    def __init__(self, text: str, syntax: Syntax, max_tokens: int) -> None:
        self.text = text
        self.max_tokens = max_tokens
        self._starts = [0]
        for line in text.split("\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)
        self.line_count = len(self._starts) - 1
        self._members: dict[int, list[int]] = {}
        self._definitions = syntax.definitions
        self._breaks = sorted(syntax.breaks, key=lambda item: item.line)
        self._lines = [item.line for item in self._breaks]
        for index, definition in enumerate(syntax.definitions):
            if not definition.is_local:
                self._members.setdefault(definition.parent, []).append(index)

    def span(self, first: int, last: int) -> Span:
        """Return the characters of lines."""
        return Span(self._starts[first - 1], min(self._starts[last], len(self.text)))

    def size(self, first: int, last: int) -> int:
        """Return the estimated tokens of lines."""
        span = self.span(first, last)
        return estimate_tokens(self.text[span.start : span.end].strip())

    def divide(self, scope: int, *, first: int, last: int, path: tuple[str, ...]) -> list[_Part]:
        """Return the parts of a module or class: its members, and the lines between them."""
        parts: list[_Part] = []
        at = first
        queue = [_Step(index, path) for index in reversed(self._members.get(scope, []))]
        while queue:
            step = queue.pop()
            definition = self._definitions[step.index]
            if step.is_end:  # lines after the last member
                if at <= definition.last_line:
                    parts.append(_Part(at, definition.last_line, step.path))
                at = max(at, definition.last_line + 1)
                continue
            start, end = max(at, definition.first_line), definition.last_line
            if start > end:
                continue  # on the last line of the one before
            if at < start:
                parts.append(_Part(at, start - 1, step.path, is_header=step.is_first))
            at = start
            members = self._members.get(step.index, [])
            if members and (definition.kind == "namespace" or self.size(start, end) > self.max_tokens):
                queue.append(_Step(step.index, definition.path, is_end=True))
                queue += [_Step(member, definition.path, is_first=member == members[0]) for member in reversed(members)]
                continue
            parts += [_Part(*lines, definition.path) for lines in self._group(start, end, after=definition.line)]
            at = end + 1
        if at <= last:
            parts.append(_Part(at, last, path))
        return [part for part in parts if self.size(part.first, part.last)]

    def _group(self, first: int, last: int, *, after: int) -> list[tuple[int, int]]:
        """Return ranges of lines that fit into a chunk, cut before the outermost statements possible."""
        done: list[tuple[int, int]] = []
        pending = [(first, last)]
        while pending:
            start, end = pending.pop()
            inner = []
            if self.size(start, end) > self.max_tokens:
                lines = bisect_right(self._lines, max(start, after)), bisect_right(self._lines, end)
                inner = self._breaks[slice(*lines)]
            if not inner:
                done.append((start, end))
                continue
            depth = min(item.depth for item in inner)
            cuts = sorted({item.line for item in inner if item.depth == depth})
            bounds = list(zip([start, *cuts], [*(cut - 1 for cut in cuts), end], strict=True))
            pending += reversed(self._pack(bounds))
        return done

    def _pack(self, bounds: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Join neighbouring ranges that fit into a chunk together."""
        packed = [bounds[0]]
        for start, end in bounds[1:]:
            if self.size(packed[-1][0], end) <= self.max_tokens:
                packed[-1] = (packed[-1][0], end)
            else:
                packed.append((start, end))
        return packed


def _join_small(source: _Source, parts: Sequence[_Part], *, max_tokens: int, min_tokens: int) -> list[_Part]:
    joined: list[_Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if last and not part.is_header and _are_near(last.path, part.path):
            sizes = source.size(last.first, last.last), source.size(part.first, part.last)
            if min(sizes) < min_tokens and source.size(last.first, part.last) <= max_tokens:
                joined[-1] = replace(last, last=part.last, path=_common(last.path, part.path))
                continue
        joined.append(part)
    return joined


def _are_near(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Return True if two parts have the same parent, or one is the parent of the other."""
    return first[:-1] == second[:-1] or first == second[:-1] or first[:-1] == second


def _common(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    same = 0
    while same < min(len(first), len(second)) and first[same] == second[same]:
        same += 1
    return first[:same]
