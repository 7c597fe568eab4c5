"""
Chunking: splits a document at its structure first, then by size, and keeps line numbers.

1. Cut into sections: at Markdown headings, around code definitions, at exchanges of a conversation, else one section.
2. Join a section below `min_tokens` with its neighbour if both fit into `max_tokens`.
3. Cut a section above `max_tokens` at paragraphs, lines, sentences, words (`weft.text.structure`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from weft.config import SplitOptions
from weft.records import Chunk, Document
from weft.text import exchanges
from weft.text.code import syntax
from weft.text.code.grammar import find_grammar, grammar_version, installed_grammars
from weft.text.code.module_names import module_name
from weft.text.code.sections import syntax_sections
from weft.text.exchanges import TurnTimes, exchange_sections
from weft.text.ids import chunk_id
from weft.text.markdown.plain import plain_text
from weft.text.structure import Section, Span, code_sections, cut, iter_lines, markdown_sections, pack
from weft.text.tokens import estimate_tokens

MIN_MANUAL_TOKENS = 200
"""
Minimum chunk size in reStructuredText, whose sections are short: an introduction of two lines below a good title would
rank above the passage that answers. Measured in docs/decisions/0081-restructuredtext.md.
"""
_MANUALS = frozenset({".rst", ".txt"})
"""Files that are Markdown because they were reStructuredText."""

VERSION = 5
"""Part of every content hash. A new version makes `weft index` split every document again."""


def split(document: Document, *, document_id: str, options: SplitOptions) -> list[Chunk]:
    """Return the chunks of a document in order. An empty text with a title gives one chunk without text."""
    text = document.text
    spans = [
        (section.heading, span)
        for section in _sections(document, options)
        for span in _spans(text, section, form=document.form, size=options.max_tokens)
    ]
    if not spans and document.title:
        spans = [((), Span(0, 0))]
    starts = [start for start, _ in iter_lines(text)]
    turn_times = TurnTimes(document.turns)
    seen: Counter[str] = Counter()
    chunks = []
    for ordinal, (heading, span) in enumerate(spans):
        span = _trim(text, span)
        times = turn_times.find(span)
        body = text[span.start : span.end]
        indexed = indexed_text(document.title, heading, body)
        chunks.append(
            Chunk(
                id=chunk_id(document_id, indexed, seen[indexed]),
                document_id=document_id,
                ordinal=ordinal,
                heading=heading,
                start_line=_line(document, starts, span.start),
                end_line=_line(document, starts, max(span.start, span.end - 1)),
                text=body,
                start_time=times.start,
                end_time=times.end,
            )
        )
        seen[indexed] += 1
    return chunks


def split_version(document: Document) -> str:
    """Return the version of the rules that split a document; source code depends on the installed grammar."""
    if document.form == "conversation":
        return f"{VERSION} conversation-{exchanges.VERSION}"
    grammar = grammar_version(find_grammar(document))
    return f"{VERSION} code-{syntax.VERSION}-{grammar}" if grammar else str(VERSION)


def installed_version() -> str:
    """Return the version of the rules of this installation, for workers that must agree."""
    return f"{VERSION} {installed_grammars()}".rstrip()


def indexed_text(title: str, heading: tuple[str, ...], text: str) -> str:
    """Return the text of a chunk that is embedded and keyword-indexed: title, heading path, body without markup."""
    return join_text(title, heading, plain_text(text))


def join_text(title: str, heading: tuple[str, ...], text: str) -> str:
    """Return title, heading path and body as one text. Up to version 2, chunk ids derived from it."""
    head = " › ".join(part for part in (title, *heading) if part)
    return f"{head}\n{text}" if head and text else head or text


def _sections(document: Document, options: SplitOptions) -> list[Section]:
    text = document.text
    match document.form:
        case "markdown":
            if PurePosixPath(document.source).suffix.lower() in _MANUALS:
                least = max(options.min_tokens, min(MIN_MANUAL_TOKENS, options.max_tokens // 2))
                options = replace(options, min_tokens=least)
            sections = markdown_sections(text, title=document.title)
        case "code":
            parsed = syntax.read_syntax(document)
            if parsed is not None:
                return syntax_sections(
                    text,
                    parsed,
                    module=module_name(document),
                    max_tokens=options.max_tokens,
                    min_tokens=options.min_tokens,
                )
            sections = code_sections(text)
        case "conversation":
            return exchange_sections(text, document.turns, max_tokens=options.max_tokens, min_tokens=options.min_tokens)
        case _:
            sections = [Section((), Span(0, len(text)))]
    return _join_small(text, sections, options)


def _join_small(text: str, sections: list[Section], options: SplitOptions) -> list[Section]:
    """Join neighbours while one of them is small. The joined section gets their common heading path."""
    joined: list[Section] = []
    for section in _filled(text, sections):
        if joined:
            last = joined[-1]
            sizes = [estimate_tokens(text[s.body.start : s.body.end].strip()) for s in (last, section)]
            if min(sizes) < options.min_tokens and sum(sizes) <= options.max_tokens:
                heading = _common(last.heading, section.heading)
                # the lines of headings outside the common path are moved to the body; they would be lost otherwise
                kept = max(0, len(last.lines) - (len(last.heading) - len(heading)))
                start = min(last.lines[kept:], default=last.body.start)
                joined[-1] = Section(heading, Span(start, section.body.end), last.lines[:kept])
                continue
        joined.append(section)
    return joined


def _filled(text: str, sections: list[Section]) -> Iterator[Section]:
    """
    Yield the sections with text.

    An empty section becomes its heading line, unless a subsection repeats the heading.
    """
    above: tuple[int, ...] = ()
    for index, section in enumerate(sections):
        below = sections[index + 1].heading if index + 1 < len(sections) else None
        lines = (above + section.lines)[-max(1, len(section.heading)) :]
        if text[section.body.start : section.body.end].strip():
            yield Section(section.heading, section.body, lines)
            above = ()
        elif below is not None and below[: len(section.heading)] == section.heading:
            above = lines
        elif lines:
            yield Section(section.heading[:-1], Span(lines[-1], section.body.end), lines[:-1])
            above = ()


def _common(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    same = 0
    while same < min(len(first), len(second)) and first[same] == second[same]:
        same += 1
    return first[:same]


def _spans(text: str, section: Section, *, form: str, size: int) -> list[Span]:
    pieces = cut(text, section.body, size=size, by_line=form in ("table", "code"))
    return pack(text, pieces, size=size)


def _trim(text: str, span: Span) -> Span:
    body = text[span.start : span.end]
    lead = len(body) - len(body.lstrip())
    if "\n" in body[:lead] or span.start == 0 or text[span.start - 1] == "\n":
        lead = body.rfind("\n", 0, lead) + 1  # keep the indentation of the first line
    return Span(span.start + lead, span.start + max(lead, len(body.rstrip())))


def _line(document: Document, starts: list[int], offset: int) -> int:
    index = bisect_right(starts, offset) - 1
    if document.lines is None:
        return index + 1
    return document.lines[min(index, len(document.lines) - 1)] if document.lines else 1
