"""
Sentence segmentation of prose, Markdown, tables and source code, with the marked-up parts of each sentence.

Example (Markdown):

    ## Limits                                     heading  "Limits"
    The **Auth Service** calls [[Redis|the        prose    "The Auth Service calls the cache."
    cache]]. See Dr. Who in `a.b`.                         strong "Auth Service" 4–16, link "Redis" 23–32
    - [x] done                                    prose    "See Dr. Who in a.b."        code "a.b" 15–18
    | up | 99 % |                                 item     "done"
                                                  cell     "up", cell "99 %"

Lines of a paragraph are joined first. A full stop inside a link or code, or after an abbreviation or initial, does not
end a sentence. Fenced code is skipped; of source code only comments and docstrings are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weft.extract.lexicon import ABBREVIATIONS, NUMBERED
from weft.text.exchanges import strip_turn_heads
from weft.text.links import MARKDOWN_LINK_PATTERN, WIKILINK_PATTERN, link_label, link_target
from weft.text.normalise import CJK

Form: TypeAlias = Literal["text", "markdown", "code", "table", "conversation"]
Role: TypeAlias = Literal["prose", "item", "heading", "cell"]

MAX_SENTENCE_CHARACTERS = 1000
"""Maximum length of a sentence; a longer one is cut between words."""
MIN_WRAPPED_CHARACTERS = 60
"""Minimum length of a plain-text line that continues on the next line."""

_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(?=\S)")
_CLOSING = re.compile(r"(?:^|\s)#+$")
"""Closing `#` marks of a heading follow a space: `C#` is unchanged."""
_CALLOUT = re.compile(r"\s{0,3}>[\s>]*\[!\w+\]")
"""First line of a callout, `> [!note] Title`. It is not part of the text."""
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_TIME_OR_LABEL = re.compile(r"\s*(?:\d{1,4}[-:]\d\d|[A-Z][\w ]{0,20}: )")
_PLACE = re.compile(r"[a-z_][\w.\[\]-]{0,79}: ")
_COLUMNS = re.compile(r"\s{3,}|\t")
_COMMENT = re.compile(r"\s*(?:#(?!!|include\b|define\b|if|endif|else\b)|//+|--|/\*+|\*+(?!/)|;;+)\s?")
_TRIPLE = re.compile("\"\"\"|'''")
_INLINE = re.compile(
    r":(?P<role>[a-z][a-z:+-]{0,30}):`(?P<target>[^`]{1,500})`"
    r"|(?<!`)``(?!`)(?P<literal>(?:[^`]|`(?!`)){1,500})``(?!`)"
    r"|`(?P<code>[^`]+)`"
    r"|\{\{[<%](?P<shortcode>[^{}]{0,600})[>%]\}\}"
    r"|(?P<template>\{\{[^{}]{0,600}\}\}|\{%[^{}]{0,600}%\}|\{[#.:][^{}]{0,200}\})"
    r"|(?P<math>\$\$[^$]{1,2000}\$\$|\$(?=[^\s$\d])[^$]{1,300}(?<=\S)\$(?![\w$])|\\\([^()]{1,300}\\\))"
    rf"|(?P<embed>!?){WIKILINK_PATTERN}"
    rf"|!?{MARKDOWN_LINK_PATTERN}"
    r"|(?P<strong>\*\*)"
    r"|(?P<drop>~~|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])|(?<!\w)_{1,2}(?=\S)|(?<=\S)_{1,2}(?!\w)"
    r"|<!--(?:(?!-->).){0,1000}-->|</?[A-Za-z][^<>]{0,200}>|https?://[^\s<>()\[\]]{1,2000}|\[\^?\d{1,4}\])"
)
_MARKUP = re.compile(r"[`{$\\\[*~_<]")
"""Characters without which `_INLINE` matches addresses only. The search takes a hundredth of its time."""
_SPHINX_NAME = re.compile(r"[~!]\.?[A-Za-z_][\w.]{0,200}$|\.(?=[A-Z_.]{0,40}[A-Za-z_.]{0,40}[a-z])[A-Z][\w.]{0,200}$")
"""Name in backticks as Sphinx shortens it, `.HTTPServer` or `~gen.coroutine`. `.env` and `.NET` are other names."""
_LINK_ROLES = frozenset({"any", "doc", "download", "numref", "ref"})
"""Roles of Sphinx whose text is a path or a label."""
_REFERENCE = re.compile(r"\[([^\[\]]{1,300})\]\[[^\[\]]{0,200}\]")
_SHORTCODE_TEXT = re.compile(r"\btext\s?=\s?\"([^\"]{1,200})\"")
_SHORTCODE_TERM = re.compile(r"\bterm(?:_id)?\s?=\s?\"([^\"]{1,200})\"")
_CONTAINER = re.compile(r"\s{0,8}(?::{3,}|!{3}|\?{3}\+?)")
"""First or last line of a container: `:::tip Title`, `!!! note "Title"`. It is not part of the text."""
_ELEMENT = re.compile(r"<(script|style|template|svg)\b", re.IGNORECASE)
_CLOSED = "[”’」』）]*"
_END = re.compile(
    f"[.!?…][\"'”’)\\]]* |[。！？；]+(?!》){_CLOSED}|(?<=[{CJK}])(?:[!?;]|…+(?=[{CJK}“‘「『《]|[”’」』）])){_CLOSED}"
)
_LAST_WORD = re.compile(r"(?<![\w.])[\w.]+$")
_CJK = re.compile(f"[{CJK}]")


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked-up part of a sentence: wikilink, code, bold text, or a term that a shortcode links."""

    kind: Literal["link", "code", "strong", "term"]
    name: str
    """Target of a link, else the text itself."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, heading or table cell without markup."""

    text: str
    marks: tuple[Mark, ...] = ()
    """Marks in order. Only `strong` may contain other marks."""
    role: Role = "prose"


def read_sentences(text: str, *, form: Form) -> list[Sentence]:
    """Return the sentences, headings and cells of `text` in order. Code is skipped, comments are read."""
    if form == "conversation":
        text, form = strip_turn_heads(text), "markdown"
    found: list[Sentence] = []
    for role, block in _blocks(text, form):
        line, marks = _render(" ".join(block.split()))
        found += [Sentence(line, tuple(marks), role)] if role == "heading" else _cut(line, marks, role)
    return [sentence for sentence in found if sentence.text]


def strip_markup(text: str) -> str:
    """Return `text` on one line, without Markdown."""
    return _render(" ".join(text.split()))[0]


def sentence_around(block: str, offset: int, label: str) -> str:
    """
    Return the sentence of a paragraph that contains the link at `offset` with this label, without markup.

    The link is searched by its label and the words before it, so the time does not depend on the number of links.
    """
    around = block[max(0, offset - MAX_SENTENCE_CHARACTERS) : offset + MAX_SENTENCE_CHARACTERS]
    around = _REFERENCE.sub(r"\1", around) if "][" in around else around
    line = " ".join(around.split())
    item = _ITEM.match(line)
    text, marks = _render(line[item.end() :] if item else line)
    shown = strip_markup(label)
    before = strip_markup(block[max(0, offset - 40) : offset])[-12:].lstrip()
    at = text.find(shown)
    for lead in (before, f"{before} ") if before else ():
        if (found := text.find(f"{lead}{shown}")) >= 0:
            at = found + len(lead)
            break
    at = max(0, at)
    start = 0
    for end in [*_ends(text, [mark for mark in marks if mark.kind != "strong"]), len(text)]:
        if at < end:
            return text[start:end].strip()
        start = end
    return text[start:].strip()


def shorten(text: str, *, limit: int = 300) -> str:
    """Return `text`; if it is longer than `limit` characters, cut it between words and append `…`."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    return head[: max(head.rfind(" "), limit // 2)].rstrip() + "…"


# ── blocks ──────────────────────────────────────────────────────────────────────────────────────


def _blocks(text: str, form: Form) -> Iterator[tuple[Role, str]]:
    """Yield paragraphs, list items, headings and table cells with their roles."""
    pending: list[str] = []
    role: Role = "prose"
    for line in prose_lines(text, form=form):
        kind, pieces = _classify(line, form)
        if pending and (kind != "prose" or not pieces or not _continues(pending[-1], line, form)):
            yield role, " ".join(pending)
            pending = []
        if kind in ("heading", "cell"):
            yield from ((kind, piece) for piece in pieces)
            continue
        if len(pieces) > 1:  # table columns are not wrapped
            yield from ((kind, piece) for piece in [" ".join([*pending, pieces[0]]), *pieces[1:]])
            pending = []
            continue
        role = role if pending else kind
        pending += pieces
    if pending:
        yield role, " ".join(pending)


def _classify(line: str, form: Form) -> tuple[Role, list[str]]:
    """Return the role of a line and its parts; a blank line has no parts."""
    bare = line.strip().lstrip(">").lstrip() if form == "markdown" else line.strip()
    if not bare or (form == "markdown" and (_CALLOUT.match(line) or _CONTAINER.match(line))):
        return "prose", []
    if form == "markdown" and (heading := _HEADING.match(line)):
        return "heading", [_CLOSING.sub("", line[heading.end() :].rstrip())]
    if bare.startswith("|"):
        return "cell", [cell for cell in bare.split("|") if cell.strip(" :-")]
    if item := _ITEM.match(line):
        return "item", [line[item.end() :]]
    if form == "text" and (place := _PLACE.match(bare)):
        return "item", [bare[place.end() :]]
    return "prose", [bare] if form == "markdown" else _COLUMNS.split(bare)


def _continues(before: str, line: str, form: Form) -> bool:
    """Return True if a line continues the paragraph above it."""
    if form == "markdown":
        return True
    first = line.lstrip()[:1]
    return not _TIME_OR_LABEL.match(line) and (first.islower() or len(before) >= MIN_WRAPPED_CHARACTERS)


def prose_lines(text: str, *, form: Form) -> Iterator[str]:
    """Yield all lines, with an empty line in place of each line of code."""
    if form == "code":
        yield from _comment_lines(text)
        return
    fence = closing = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        element = _ELEMENT.match(line) if form == "markdown" and not fence and not closing else None
        if element and f"</{element[1].lower()}>" not in line.lower():
            closing = f"</{element[1].lower()}>"
        if closing or element:
            closing = "" if closing in line.lower() else closing
            yield ""
        elif fence:
            fence = "" if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]) else fence
            yield ""
        elif mark and not (mark[1][0] == "`" and "`" in line[mark.end() :]):
            fence = mark[1]
            yield ""
        else:
            yield line


def _comment_lines(text: str) -> Iterator[str]:
    """Yield the comments and triple-quoted texts of source code, with an empty line for other lines."""
    is_inside = False
    for line in text.split("\n"):
        parts = _TRIPLE.split(line)
        if is_inside or len(parts) > 1:
            # text between quotes: the odd parts, or the even parts if the quote was opened on an earlier line
            inner = parts[0::2] if is_inside else parts[1::2]
            is_inside ^= len(parts) % 2 == 0
            yield " ".join(inner)
        elif comment := _COMMENT.match(line):
            yield line[comment.end() :].removesuffix("*/")
        else:
            yield ""


# ── inline markup ───────────────────────────────────────────────────────────────────────────────


def _render(block: str) -> tuple[str, list[Mark]]:
    """Return a line without markup, and its marks."""
    if "://" not in block and not _MARKUP.search(block):
        return block.strip(), []
    parts: list[str] = []
    marks: list[Mark] = []
    length = position = 0
    opened = -1  # offset of an open `**`, else -1
    for match in _INLINE.finditer(block):
        parts.append(block[position : match.start()])
        length += len(parts[-1])
        position = match.end()
        if match["strong"]:
            if 0 <= opened < length:
                marks.append(Mark("strong", "", opened, length))
            opened = -1 if opened >= 0 else length
            continue
        shown, mark = _inline(match)
        if mark and shown:
            marks.append(Mark(mark[0], mark[1], length, length + len(shown)))
        parts.append(shown)
        length += len(shown)
    line = "".join([*parts, block[position:]])
    lead = len(line) - len(line.lstrip())
    moved = [
        Mark(m.kind, m.name or line[m.start : m.end], m.start - lead, m.end - lead) for m in marks if m.start >= lead
    ]
    return line.strip(), sorted(moved, key=lambda mark: mark.start)


def _inline(match: re.Match[str]) -> tuple[str, tuple[Literal["link", "code", "term"], str] | None]:
    """Return the visible text of a piece of markup, and its mark."""
    if (shortcode := match["shortcode"]) is not None:  # `{{< glossary_tooltip text="pods" term_id="pod" >}}`
        shown = _SHORTCODE_TEXT.search(shortcode)
        term = _SHORTCODE_TERM.search(shortcode)
        return (shown[1], ("term", term[1].replace("-", " ") if term else shown[1])) if shown else ("", None)
    if target := match["target"]:
        return _role(match["role"], target)
    if code := match["literal"]:
        return code.strip(), ("code", code.strip())
    if code := match["code"]:
        return _role("", code) if _SPHINX_NAME.match(code) else (code, ("code", code))
    if inner := match["wiki"]:
        return ("", None) if match["embed"] else (link_label(inner), ("link", link_target(inner)))
    return match["label"] or "", None


def _role(role: str, target: str) -> tuple[str, tuple[Literal["link", "code", "term"], str] | None]:
    """
    Return the visible text of a role of reStructuredText, and its mark; a link to a page or label has none.

    | role | visible | name |
    | --- | --- | --- |
    | ``:doc:`/deploying/index` `` | | |
    | ``:class:`.Flask` ``, ``:class:`!Flask` `` | `Flask` | `Flask` |
    | ``:meth:`~flask.Flask.run` `` | `run` | `flask.Flask.run` |
    | ``:func:`run it <flask.run>` `` | `run it` | |
    """
    label, bracket, _ = target.partition(" <")
    if bracket or role.rpartition(":")[2] in _LINK_ROLES:
        return label if bracket else "", None
    name = target.lstrip("~!.")
    return (name.rpartition(".")[2] if target.startswith("~") else name), ("code", name)


# ── sentences ───────────────────────────────────────────────────────────────────────────────────


def _cut(line: str, marks: list[Mark], role: Role) -> Iterator[Sentence]:
    """Yield the sentences of a line, each with its marks."""
    at = start = 0
    inner = [mark for mark in marks if mark.kind != "strong"]
    for end in [*_ends(line, inner), len(line)]:
        for piece_start, piece_end in _pieces(line, start, end):
            while at < len(marks) and marks[at].start < piece_start:
                at += 1
            first = at
            while at < len(marks) and marks[at].start < piece_end:
                at += 1
            kept = tuple(
                Mark(mark.kind, mark.name, mark.start - piece_start, mark.end - piece_start)
                for mark in marks[first:at]
                if mark.end <= piece_end
            )
            yield Sentence(line[piece_start:piece_end], kept, role)
        start = end


def _pieces(line: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the stripped span in parts of at most `MAX_SENTENCE_CHARACTERS`."""
    while end > start and line[end - 1].isspace():
        end -= 1
    while start < end:
        while line[start].isspace():
            start += 1
        stop = end
        if end - start > MAX_SENTENCE_CHARACTERS:
            space = line.rfind(" ", start + 1, start + MAX_SENTENCE_CHARACTERS)
            stop = space if space > 0 else start + MAX_SENTENCE_CHARACTERS
        yield start, stop
        start = stop


def _ends(line: str, marks: list[Mark]) -> Iterator[int]:
    """Yield the ends of sentences: not inside links and code, not after abbreviations and initials."""
    at = 0
    for match in _END.finditer(line):
        end = match.end()
        while at < len(marks) and marks[at].end <= match.start():
            at += 1
        if at < len(marks) and marks[at].start < end < marks[at].end:
            continue
        is_marked = at < len(marks) and marks[at].start == end  # a sentence may begin with code in lower case
        if is_marked or line[match.start()] in "。！？；" or _ends_sentence(line, match.start(), end):
            yield end


def _ends_sentence(line: str, stop: int, end: int) -> bool:
    """Return True if the full stop at `stop` ends a sentence. The text after `end` decides."""
    following = line[end : end + 3].lstrip("\"'“‘([「《 ")[:1]
    if _CJK.match(line[stop - 1 : stop]):
        return True
    if not (following.isupper() or following.isdigit() or _CJK.match(following)):
        return False
    word = _LAST_WORD.search(line, max(0, stop - 12), stop)
    if word is None or line[stop] != ".":
        return True
    last = word[0].lower()
    is_initial = last[-1:].isalpha() and (len(last) == 1 or last[-2] == ".") and word[0][-1].isupper()
    return not is_initial and last not in (NUMBERED if following.isdigit() else ABBREVIATIONS)
