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
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weft.extract.lexicon import ABBREVIATIONS, NUMBERED
from weft.text.exchanges import strip_turn_heads
from weft.text.links import link_target
from weft.text.markdown.blocks import Block, Page, fenced_lines, parse
from weft.text.markdown.inline import Inline, Span, read_inline
from weft.text.normalise import CJK

Form: TypeAlias = Literal["text", "markdown", "code", "table", "conversation"]
Role: TypeAlias = Literal["prose", "item", "heading", "cell"]

OUTER_MARKS = ("strong", "label")
"""Kinds of marks that may contain other marks and several names."""
MAX_SENTENCE_CHARACTERS = 1000
"""Maximum length of a sentence; a longer one is cut between words."""
MIN_WRAPPED_CHARACTERS = 60
"""Minimum length of a plain-text line that continues on the next line."""

_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_ROLES: dict[str, Role] = {"heading": "heading", "item": "item", "cell": "cell"}
_BULLET = re.compile(r"^[ \t]{0,40}•[ \t]{1,40}")
_LINES = re.compile(r"^[ \t]{0,40}•[ \t]", re.MULTILINE)
_TIME_OR_LABEL = re.compile(r"\s*(?:\d{1,4}[-:]\d\d|[A-Z][\w ]{0,20}: )")
_PLACE = re.compile(r"[a-z_][\w.\[\]-]{0,79}: ")
_COLUMNS = re.compile(r"\s{3,}|\t")
_COMMENT = re.compile(r"\s*(?:#(?!!|include\b|define\b|if|endif|else\b)|//+|--|/\*+|\*+(?!/)|;;+)\s?")
_TRIPLE = re.compile("\"\"\"|'''")
_REFERENCE = re.compile(r"\[([^\[\]]{1,300})\]\[[^\[\]]{0,200}\]")
_CLOSED = "[”’」』）]*"
_END = re.compile(
    f"[.!?…][\"'”’)\\]]* |[。！？；]+(?!》){_CLOSED}|(?<=[{CJK}])(?:[!?;]|…+(?=[{CJK}“‘「『《]|[”’」』）])){_CLOSED}"
)
_LAST_WORD = re.compile(r"(?<![\w.])[\w.]+$")
_CJK = re.compile(f"[{CJK}]")


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked-up part of a sentence: wikilink, code, bold text, label of a link, or a term that a shortcode links."""

    kind: Literal["link", "code", "strong", "label", "term"]
    name: str
    """Target of a link, else the text itself."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, heading or table cell without markup."""

    text: str
    marks: tuple[Mark, ...] = ()
    """Marks in order. Only those of `OUTER_MARKS` may contain other marks."""
    role: Role = "prose"


def read_sentences(text: str, *, form: Form) -> list[Sentence]:
    """Return the sentences, headings and cells of `text` in order. Code is skipped, comments are read."""
    if form == "markdown" or form == "conversation":
        return read_page_sentences(parse(strip_turn_heads(text) if form == "conversation" else text))
    return [
        sentence
        for role, block in _blocks(text, form)
        for sentence in _cut(*_to_marks(read_inline(" ".join(block.split()))), role)
    ]


def read_page_sentences(page: Page) -> list[Sentence]:
    """Return the sentences, headings and cells of a Markdown page, or of a part of one, in order."""
    found: list[Sentence] = []
    for block in page.blocks:
        if not block.is_prose:
            continue
        if _LINES.search(block.text):
            found += _line_sentences(block)
            continue
        line, marks = _to_marks(page.inline(block))
        role = _ROLES.get(block.kind, "prose")
        found += [Sentence(line, tuple(marks), role)] if role == "heading" else _cut(line, marks, role)
    return [sentence for sentence in found if sentence.text]


def _line_sentences(block: Block) -> Iterator[Sentence]:
    """Yield the sentences of a paragraph whose lines are items with `•`."""
    for line in block.text.split("\n"):
        role: Role = "item" if _BULLET.match(line) else "prose"
        yield from _cut(*_to_marks(read_inline(_BULLET.sub("", line))), role)


def strip_markup(text: str) -> str:
    """Return `text` on one line, without Markdown."""
    return read_inline(" ".join(text.split())).text


def sentence_around(block: str, offset: int, label: str) -> str:
    """
    Return the sentence of a paragraph that contains the link at `offset` with this label, without markup.

    The link is searched by its label and the words before it, so the time does not depend on the number of links.
    """
    around = block[max(0, offset - MAX_SENTENCE_CHARACTERS) : offset + MAX_SENTENCE_CHARACTERS]
    around = _REFERENCE.sub(r"\1", around) if "][" in around else around
    line = " ".join(around.split())
    item = _ITEM.match(line)
    text, marks = _to_marks(read_inline(line[item.end() :] if item else line))
    shown = strip_markup(label)
    before = strip_markup(block[max(0, offset - 40) : offset])[-12:].lstrip()
    at = text.find(shown)
    for lead in (before, f"{before} ") if before else ():
        if (found := text.find(f"{lead}{shown}")) >= 0:
            at = found + len(lead)
            break
    return next(iter(sentences_at(text, marks, [max(0, at)])))


def sentences_of_spans(inline: Inline, spans: Sequence[Span]) -> Iterator[str]:
    """Yield the sentence around each of some spans of a block, which are in order."""
    text, marks = _to_marks(inline)
    return sentences_at(text, marks, [span.start for span in spans])


def sentences_at(text: str, marks: Sequence[Mark], offsets: Iterable[int]) -> Iterator[str]:
    """Yield the sentence at each offset of a text, in ascending order; of a long one only the part near the offset."""
    ends = [*_ends(text, [mark for mark in marks if mark.kind not in OUTER_MARKS]), len(text)]
    for offset in offsets:
        at = min(bisect_right(ends, offset), len(ends) - 1)
        start = max(ends[at - 1] if at else 0, offset - MAX_SENTENCE_CHARACTERS)
        yield text[start : min(ends[at], offset + MAX_SENTENCE_CHARACTERS)].strip()


def shorten(text: str, *, limit: int = 300) -> str:
    """Return `text`; if it is longer than `limit` characters, cut it between words and append `…`."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    return head[: max(head.rfind(" "), limit // 2)].rstrip() + "…"


# ── blocks ──────────────────────────────────────────────────────────────────────────────────────


def _blocks(text: str, form: Form) -> Iterator[tuple[Role, str]]:
    """Yield the paragraphs, list items and table cells of plain text or comments with their roles."""
    pending: list[str] = []
    role: Role = "prose"
    for line in prose_lines(text, form=form):
        kind, pieces = _classify(line, form)
        if pending and (kind != "prose" or not pieces or not _continues(pending[-1], line)):
            yield role, " ".join(pending)
            pending = []
        if kind == "cell":
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
    """Return the role of a line of plain text and its parts; a blank line has no parts."""
    bare = line.strip()
    if not bare:
        return "prose", []
    if bare.startswith("|"):
        return "cell", [cell for cell in bare.split("|") if cell.strip(" :-")]
    if item := _ITEM.match(line):
        return "item", [line[item.end() :]]
    if form == "text" and (place := _PLACE.match(bare)):
        return "item", [bare[place.end() :]]
    return "prose", _COLUMNS.split(bare)


def _continues(before: str, line: str) -> bool:
    """Return True if a line of plain text continues the paragraph above it."""
    first = line.lstrip()[:1]
    return not _TIME_OR_LABEL.match(line) and (first.islower() or len(before) >= MIN_WRAPPED_CHARACTERS)


def prose_lines(text: str, *, form: Form) -> Iterator[str]:
    """Yield all lines of a text that is no Markdown, with an empty line in place of each line of code."""
    if form == "code":
        yield from _comment_lines(text)
        return
    code = fenced_lines(text)
    for index, line in enumerate(text.split("\n")):
        yield "" if index in code else line


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


def _to_marks(inline: Inline) -> tuple[str, list[Mark]]:
    """Return a text without markup, and its marks in order."""
    marks: list[Mark] = []
    for span in inline.spans:
        if span.start == span.end:
            continue
        match span.kind:
            case "strong":
                marks.append(Mark("strong", inline.text[span.start : span.end], span.start, span.end))
            case "link":
                marks.append(Mark("label", inline.text[span.start : span.end], span.start, span.end))
            case "code" | "literal":
                marks.append(Mark("code", span.target, span.start, span.end))
            case "term":
                marks.append(Mark("term", span.target, span.start, span.end))
            case "wikilink":
                marks.append(Mark("link", link_target(span.target), span.start, span.end))
            case _:
                pass
    return inline.text, sorted(marks, key=lambda mark: mark.start)


# ── sentences ───────────────────────────────────────────────────────────────────────────────────


def _cut(line: str, marks: list[Mark], role: Role) -> Iterator[Sentence]:
    """Yield the sentences of a line, each with its marks."""
    at = start = 0
    inner = [mark for mark in marks if mark.kind not in OUTER_MARKS]
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
