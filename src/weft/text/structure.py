"""Sections, paragraphs, sentences and words of a text as character spans, for chunking."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from weft.text.markdown.blocks import parse
from weft.text.markdown.inline import heading_text
from weft.text.normalise import UNSPACED
from weft.text.tokens import count_quarters, estimate_tokens


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range of characters, `start` to `end`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Section:
    """Part of a text under one heading path."""

    heading: tuple[str, ...]
    body: Span
    """Text of the section. It starts after the heading line; in code, at the definition."""
    lines: tuple[int, ...] = ()
    """Offsets of the heading lines directly above the body, one for each of the last parts of `heading`."""


_DEFINITION = re.compile(
    r"(?:(?:export|default|pub(?:\([a-z]+\))?|public|private|protected|static|abstract|final|async|unsafe|inline|"
    r"open|internal|override|extern|const)\s+)*"
    r"(?:def|class|function|fn|func|interface|struct|impl|trait|enum|type|module|namespace|object|record|"
    r"CREATE\s+(?:OR\s+REPLACE\s+)?(?:TABLE|VIEW|FUNCTION|PROCEDURE|INDEX|TRIGGER))\b[^{(:=\n]{0,200}",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"(?<=[.!?…])[\"'”’)\]]*\s+(?=\S)|(?<=[。！？；])(?![。！？；])[”’」』）]*"
    f"|(?<=[{UNSPACED}][!?])(?![!?])[”’」』）]*"
)
_BLANK = re.compile(r"\n[ \t]*\n+")
_SPACE = re.compile(r"\s+")
_BREAK = re.compile("\n+")


def iter_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield (offset, line) pairs, lines without newlines."""
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def markdown_sections(text: str, *, title: str) -> list[Section]:
    """Return the sections at the headings of a Markdown text. A first heading equal to `title` adds no level."""
    page = parse(text)
    starts = [start for start, _ in iter_lines(text)] if any(block.level for block in page.blocks) else []
    marks: list[tuple[int, int, int, str]] = []  # start, end of the heading, level, heading
    for block in page.blocks:
        if block.level and not block.depth and (heading := heading_text(block.text)):
            last = block.end - 1
            marks.append((starts[block.start], starts[last] + len(page.lines[last]), block.level, heading))
    return _sections(text, marks, title=title)


def code_sections(text: str) -> list[Section]:
    """Return the sections at unindented definitions, each with the comments and decorators directly above it."""
    marks: list[tuple[int, int, int, str]] = []
    above: int | None = None
    for start, line in iter_lines(text):
        if line.startswith(("@", "#", "//", "/*", "*", "--", '"""')):
            above = start if above is None else above
        elif found := _DEFINITION.match(line):
            # the definition is part of the body, so both start at the same offset
            begin = start if above is None else above
            marks.append((begin, begin, 1, " ".join(found.group().split())))
            above = None
        else:
            above = None
    return _sections(text, marks, title="")


def _sections(text: str, marks: list[tuple[int, int, int, str]], *, title: str) -> list[Section]:
    first = marks[0][0] if marks else len(text)
    found = [Section((), Span(0, first))] if text[:first].strip() else []
    path: list[tuple[int, str]] = []
    for index, (start, body, level, heading) in enumerate(marks):
        end = marks[index + 1][0] if index + 1 < len(marks) else len(text)
        path = [entry for entry in path if entry[0] < level]
        is_title = index == 0 and heading == title.strip()
        path += [] if is_title else [(level, heading)]
        lines = () if is_title else (start,)
        found.append(Section(tuple(entry[1] for entry in path), Span(body, end), lines))
    return found


def cut(text: str, span: Span, *, size: int, by_line: bool = False) -> list[Span]:
    """
    Return pieces of a span of at most `size` estimated tokens, cut as coarsely as possible.

    Cuts are between paragraphs, then lines, sentences, words. Only a word longer than `size` is cut inside. Unspaced
    scripts may be cut between any two characters.
    """
    ladder = [_lines] if by_line else [_paragraphs, _lines, _sentences]
    pieces = [span]
    for split in [*ladder, _words, _characters]:
        finer: list[Span] = []
        for piece in pieces:
            fits = estimate_tokens(text[piece.start : piece.end]) <= size
            finer += [piece] if fits else _group(text, split(text, piece, size), size=size, split=split)
        pieces = finer
    return pieces


def pack(text: str, pieces: Iterable[Span], *, size: int) -> list[Span]:
    """Return neighbouring pieces joined into spans of at most `size` tokens and about equal length."""
    rest = [piece for piece in pieces if text[piece.start : piece.end].strip()]
    if not rest:
        return []
    # white space between two pieces counts towards the joined span
    places = itertools.chain([rest[0].start], (piece.end for piece in rest))
    weights = [count_quarters(text[start:end]) for start, end in itertools.pairwise(places)]
    most = 4 * size
    goal = sum(weights) / max(1, -(-sum(weights) // most))
    packed: list[Span] = []
    current, weight = rest[0], weights[0]
    for piece, extra in zip(rest[1:], weights[1:], strict=True):
        # stop at the length nearest to the target; otherwise the last span could be tiny
        if weight + extra > most or weight + extra / 2 > goal:
            packed.append(current)
            current, weight = piece, count_quarters(text[piece.start : piece.end])
        else:
            current, weight = Span(current.start, piece.end), weight + extra
    return [*packed, current]


def _group(text: str, spans: list[Span], *, size: int, split: object) -> list[Span]:
    """
    Return spans grouped up to `size` tokens.

    Words and characters are packed at once, to avoid thousands of pieces.
    """
    return pack(text, spans, size=size) if split in (_words, _characters) else spans


def _at(pattern: re.Pattern[str], text: str, span: Span) -> list[Span]:
    starts = [span.start, *(match.end() for match in pattern.finditer(text, span.start, span.end)), span.end]
    return [Span(start, end) for start, end in itertools.pairwise(starts) if start < end]


def _paragraphs(text: str, span: Span, size: int) -> list[Span]:
    return _at(_BLANK, text, span)


def _lines(text: str, span: Span, size: int) -> list[Span]:
    return _at(_BREAK, text, span)


def _sentences(text: str, span: Span, size: int) -> list[Span]:
    return _at(_SENTENCE, text, span)


def _words(text: str, span: Span, size: int) -> list[Span]:
    return _at(_SPACE, text, span)


def _characters(text: str, span: Span, size: int) -> list[Span]:
    """Return the pieces of a run without white space: a few characters in unspaced scripts, else `size` tokens each."""
    few_characters = max(1, size // 16)  # single characters would give the same result more slowly
    atom = re.compile(f"[{UNSPACED}]{{1,{few_characters}}}|[^{UNSPACED}]{{1,{size * 4}}}")
    return [Span(*match.span()) for match in atom.finditer(text, span.start, span.end)]
