"""
Anchors of a page: headings and explicit ids that links point to.

| syntax | heading | other ids |
| --- | --- | --- |
| Markdown | `## Limits {#max}`, underlined lines | `<a id="max">`, `<h2 id="max">`, `text ^max` |
| reStructuredText | underlined lines | `.. _max:` |
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

from weft.extract.links.markdown_links import blank_comments, prose_lines
from weft.extract.links.page_keys import normal_anchor
from weft.extract.sentences import strip_markup

MAX_ANCHORS = 3000
"""Anchors read from one document."""
MAX_HEADING_CHARACTERS = 300
MAX_PROPERTIES = 8
"""Lines below a heading of Org that may hold its ids."""
POINT = 9
"""Level of an id that is no heading: it stands for its own line."""

_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)$")
_CLOSING = re.compile(r"(?:^|(?<=\s))#+$")
_ATTRIBUTES = re.compile(r"\{:?\s{0,4}#([^\s{}]{1,120})[^{}]{0,200}\}$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_HTML_ID = re.compile(r"<(\w{1,20})\s(?:[^<>]{0,300}\s)?(?:id|name)\s{0,4}=\s{0,4}[\"']?([^\s\"'<>]{1,120})")
_BLOCK_ID = re.compile(r"(?:^|\s)\^([A-Za-z0-9-]{1,60})$")
_RULE = re.compile(r"([=\-~^*+#\"'`:.<>_!$%&,;/?@|{}()\[\]\\])\1{1,}$")
_RST_LABEL = re.compile(r"\s{0,40}\.\. _(?:`([^`]{1,200})`|([^:`]{1,200})):\s*$")
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


def find_anchors(text: str, *, suffix: str) -> list[Anchor]:
    """Return the anchors of a page in order; `suffix` is the extension of its file."""
    lines = text.split("\n")
    readers: dict[str, Callable[[Sequence[str]], Iterator[Mark]]] = {
        ".rst": _rst_marks,
        ".org": _org_marks,
        ".adoc": _asciidoc_marks,
        ".asciidoc": _asciidoc_marks,
        ".txt": _rst_marks,
    }
    marks: list[Mark] = []
    for mark in readers.get(suffix, _markdown_marks)(lines):
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
        title = mark.title
        if mark.level == POINT and not title and (heading := _heading_after(marks, index)) is not None:
            start, end, title = marks[heading].line, ends[heading], marks[heading].title
        if mark.title and mark.level != POINT:
            base = normal_anchor(title)
            slug = f"{base}{times[base]}" if times[base] else base
            times[base] += 1
            if base:
                anchors.append(Anchor(slug, title, start, end))
        if mark.id and normal_anchor(mark.id):
            anchors.append(Anchor(normal_anchor(mark.id), title or mark.id, start, end, label=mark.id))
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


def _markdown_marks(lines: Sequence[str]) -> Iterator[Mark]:
    prose = list(prose_lines(blank_comments("\n".join(lines)).split("\n")))
    for index, line in enumerate(prose):
        if not line:
            continue
        if found := _ATX.match(line):
            yield _heading(index, len(found[1]), found[2])
            continue
        below = prose[index + 1] if index + 1 < len(prose) else ""
        if below and (rule := _UNDERLINE.match(below)) and not line.lstrip().startswith(("|", "-", ">", "*", "=")):
            yield _heading(index, 1 if rule[1][0] == "=" else 2, line)
        if "<" in line and ("id=" in line or "name=" in line or "id =" in line):
            yield from (Mark(index, POINT, "", match[2]) for match in _HTML_ID.finditer(line))
        if "^" in line and (block := _BLOCK_ID.search(line[-70:].rstrip())):
            yield Mark(index, POINT, strip_markup(line[:MAX_HEADING_CHARACTERS])[:80], block[1])


def _heading(line: int, level: int, text: str) -> Mark:
    text = text.strip()[:MAX_HEADING_CHARACTERS]
    explicit = _ATTRIBUTES.search(text)
    html = _HTML_ID.search(text) if "<" in text else None
    if explicit:
        text = text[: explicit.start()].rstrip()
    text = _CLOSING.sub("", text) if text.endswith("#") else text
    id = explicit[1] if explicit else html[2] if html else ""
    return Mark(line, level, strip_markup(text), id)


def _rst_marks(lines: Sequence[str]) -> Iterator[Mark]:
    levels: dict[str, int] = {}
    for index, line in enumerate(lines):
        if label := _RST_LABEL.match(line):
            yield Mark(index, POINT, "", (label[1] or label[2]).strip())
            continue
        below = lines[index + 1].rstrip() if index + 1 < len(lines) else ""
        if not line.strip() or not below or len(line) > MAX_HEADING_CHARACTERS or line[0].isspace():
            continue
        rule = _RULE.match(below)
        if rule and len(below) + 2 >= len(line.rstrip()) and not _RULE.match(line.rstrip()):
            above = lines[index - 1].rstrip() if index else ""
            style = rule[1] + ("^" if above == below else "")
            yield Mark(index, levels.setdefault(style, len(levels) + 1), line.strip().replace("`", ""), "")


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
