"""
Anchors of a page: headings and explicit ids that links point to.

| syntax | heading | other ids |
| --- | --- | --- |
| Markdown | `## Limits {#max}`, underlined lines | `<a id="max">`, `<h2 id="max">`, `text ^max` |
| Org | `* Limits` | `:CUSTOM_ID: max`, `:ID: 4d2f`, `<<max>>` |
| AsciiDoc | `== Limits` | `[[max]]`, `[#max]` |

A repeated heading gets a number, as on GitHub: `Limits`, `Limits` give `limits`, `limits1`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from weft.extract.links.page_keys import normal_anchor
from weft.text.markdown.blocks import Page, parse
from weft.text.markdown.inline import Span

MAX_ANCHORS = 3000
"""Anchors read from one document."""
MAX_HEADING_CHARACTERS = 300
MAX_PROPERTIES = 8
"""Lines below a heading of Org that may hold its ids."""
POINT = 9
"""Level of an id that is no heading: it stands for its own line."""

_ATTRIBUTES = re.compile(r"#([^\s{}]{1,120})")
_HTML_ID = re.compile(r"<(\w{1,20})\s(?:[^<>]{0,300}\s)?(?:id|name)\s{0,4}=\s{0,4}[\"']?([^\s\"'<>]{1,120})")
_STARS = re.compile(r"(\*{1,8})\s{1,9}(\S.*)$")
_PROPERTY = re.compile(r"\s{0,20}:(?:CUSTOM_)?ID:\s{1,9}(\S{1,120})", re.IGNORECASE)
_ORG_TARGET = re.compile(r"<<([^<>\n]{1,120})>>")
_EQUALS = re.compile(r"(={1,6})\s{1,9}(\S.*)$")
_ADOC_ID = re.compile(r"\[(?:\[([^\[\],]{1,120})[^\[\]]{0,120}\]|[\w.%]{0,40}#([^\[\],.%]{1,120})[^\[\]]{0,120})\]")


class Mark(NamedTuple):
    """A heading or id at a line."""

    line: int
    level: int
    title: str
    id: str
    """Explicit id; empty for a heading without one."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A part of a page that a link can point to."""

    id: str
    """Normalised."""
    title: str
    start: int
    end: int
    """First and last line of the part, as indexes."""
    label: str = ""
    """Explicit id as written, by which other pages may refer to it."""
    is_name: bool = False
    """True if the label is a name that the page defines, as `setting:DEBUG`."""
    is_section: bool = False
    """True if the part has a heading; a link to another one is a link to the page."""


def find_anchors(text: str, *, suffix: str) -> list[Anchor]:
    """Return the anchors of a page in order; `suffix` is the extension of its file."""
    lines = text.split("\n")
    readers: dict[str, Callable[[Sequence[str]], Iterator[Mark]]] = {
        ".org": _org_marks,
        ".adoc": _asciidoc_marks,
        ".asciidoc": _asciidoc_marks,
    }
    marks: list[Mark] = []
    for mark in readers[suffix](lines) if suffix in readers else _markdown_marks(parse(text)):
        marks.append(mark)
        if len(marks) == MAX_ANCHORS:
            break
    return _to_anchors(marks, last=len(lines) - 1)


def _to_anchors(marks: Sequence[Mark], *, last: int) -> list[Anchor]:
    ends = _section_ends(marks, last=last)
    times: Counter[str] = Counter()
    anchors: list[Anchor] = []
    for index, mark in enumerate(marks):
        start, end = mark.line, ends[index]
        title, is_section = mark.title, mark.level != POINT
        if not (title or is_section) and (heading := _heading_after(marks, index)) is not None:
            start, end, title, is_section = marks[heading].line, ends[heading], marks[heading].title, True
        if mark.title and mark.level != POINT:
            base = normal_anchor(title)
            slug = f"{base}{times[base]}" if times[base] else base
            times[base] += 1
            if base:
                anchors.append(Anchor(slug, title, start, end, is_section=True))
        if mark.id and normal_anchor(mark.id):
            anchors.append(
                Anchor(normal_anchor(mark.id), title or mark.id, start, end, label=mark.id, is_section=is_section)
            )
    return anchors


def _section_ends(marks: Sequence[Mark], *, last: int) -> list[int]:
    """Return the last line of the part of each mark: before the next heading of the same or a higher level."""
    ends = [last] * len(marks)
    opened: list[int] = []
    for index, mark in enumerate(marks):
        if mark.level == POINT:
            ends[index] = mark.line
            continue
        while opened and marks[opened[-1]].level >= mark.level:
            ends[opened.pop()] = mark.line - 1
        opened.append(index)
    return ends


def _heading_after(marks: Sequence[Mark], index: int) -> int | None:
    """Return the index of the heading that directly follows an id, which then belongs to it."""
    for at in range(index + 1, min(index + 6, len(marks))):
        if marks[at].level != POINT:
            return at if marks[at].line - marks[index].line <= 4 + (at - index) else None
    return None


# ── syntaxes ────────────────────────────────────────────────────────────────────────────────────


def _markdown_marks(page: Page) -> Iterator[Mark]:
    for block in page.blocks:
        if not block.is_prose or not (block.level or "<" in block.text or "^" in block.text):
            continue
        inline = page.inline(block)
        ids = [(block.start + span.line, id) for span in inline.spans if (id := _span_id(span))]
        title = inline.text[:MAX_HEADING_CHARACTERS]
        if block.level:
            yield Mark(block.start, block.level, title, ids[-1][1] if ids else "")
        else:
            yield from (Mark(line, POINT, title[:80] if id[0] == "^" else "", id.lstrip("^")) for line, id in ids)


def _span_id(span: Span) -> str:
    """Return the id that a span gives to its block: of a tag, `{#max}` or `^max`."""
    if span.kind == "html":
        found = _HTML_ID.match(span.target)
        return found[2] if found else ""
    if span.kind != "attributes":
        return ""
    if span.target.startswith("^"):
        return span.target.strip()
    found = _ATTRIBUTES.search(span.target)
    return found[1] if found else ""


def _org_marks(lines: Sequence[str]) -> Iterator[Mark]:
    is_below = False
    for index, line in enumerate(lines):
        if stars := _STARS.match(line):
            title = stars[2].strip()[:MAX_HEADING_CHARACTERS]
            below = (_PROPERTY.match(other) for other in lines[index + 1 : index + 1 + MAX_PROPERTIES])
            ids = [found[1] for found in below if found]
            is_below = True
            yield Mark(index, len(stars[1]), title, ids[0] if ids else "")
            yield from (Mark(index, POINT, title, id) for id in ids[1:])
        elif not is_below and (found := _PROPERTY.match(line)):  # the id of the file
            yield Mark(index, POINT, "", found[1])
        elif "<<" in line and (target := _ORG_TARGET.search(line)):
            yield Mark(index, POINT, "", target[1])


def _asciidoc_marks(lines: Sequence[str]) -> Iterator[Mark]:
    for index, line in enumerate(lines):
        if equals := _EQUALS.match(line):
            yield Mark(index, len(equals[1]), equals[2].strip()[:MAX_HEADING_CHARACTERS], "")
        elif line.startswith("[") and (found := _ADOC_ID.match(line)):
            yield Mark(index, POINT, "", found[1] or found[2])
