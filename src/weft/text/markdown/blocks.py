r"""
Blocks of a Markdown page: one parse for all that read it.

    - Install it:                 item       "Install it:"     lines 0–1, depth 1
                                  code       "# a comment"     lines 1–4, depth 1
          ```
          # a comment
          ```
    ## Limits { #max }            heading    "Limits { #max }" level 2
    !!! note "Take care"          directive  "Take care"
        The **limit** is 3.       paragraph  "The **limit** is 3.", depth 1
    | up | 99 % |                 cell "up", cell "99 %"

The parser is markdown-it-py with the block rules of `flavours.py`; inline markup is read on demand (`inline.py`).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate, groupby
from typing import Any, Literal, TypeAlias

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock, html_block, reference
from markdown_it.token import Token

from weft.text.markdown import flavours
from weft.text.markdown.inline import Inline, heading_text, read_inline

Kind: TypeAlias = Literal["heading", "paragraph", "item", "cell", "html", "code", "comment", "directive"]

MAX_NESTING = 60
"""Lists and quotes within each other; deeper text is not read."""
MAX_HEADING_CHARACTERS = 300
"""A longer line is prose. A heading is repeated in every chunk of its section."""

_TASK = re.compile(r"\[[ xX]\][ \t]+")
_NOTE = re.compile(rf"{flavours.NOTE}:[ \t]*")
_CALLOUT = re.compile(r"\[!([\w|-]{1,40})\][+-]?[ \t]*")
_ELEMENT = re.compile(r"<(template|svg)\b", re.IGNORECASE)
_UNREAD = re.compile(r"<(?:(script|style|pre|textarea|template|svg)\b|(!--|\?|!))", re.IGNORECASE)
_FENCES = ("```", "~~~")
_BAR = re.compile(r"(?<!\\)\|")
"""Border of a cell."""


@dataclass(frozen=True, slots=True)
class Block:
    """A leaf of the structure of a page."""

    kind: Kind
    start: int
    end: int
    """First line and the line after the last one, as indexes."""
    text: str
    """Lines without the marks of lists, quotes and headings; code without its fence."""
    level: int = 0
    """Level of a heading, else 0."""
    depth: int = 0
    """Number of lists, quotes and containers around the block."""
    path: tuple[str, ...] = ()
    """Headings above the block."""
    info: str = ""
    """Language of code, markup of a directive."""

    @property
    def is_prose(self) -> bool:
        """True for blocks whose text people read as sentences."""
        return self.kind not in ("code", "comment", "directive")


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed text, or a part of one."""

    lines: tuple[str, ...]
    blocks: tuple[Block, ...]
    references: dict[str, Any]
    """Link reference definitions of the whole page, as the parser keeps them."""
    _read: dict[str, Inline] = field(default_factory=dict, repr=False, compare=False)
    _starts: list[int] = field(default_factory=list, repr=False, compare=False)

    def inline(self, block: Block) -> Inline:
        """Return the text of a block without markup, and its spans. Each text is read once."""
        if (found := self._read.get(block.text)) is None:
            found = self._read[block.text] = read_inline(block.text, self.references)
        return found

    def code_lines(self) -> frozenset[int]:
        """Return the indexes of the lines that are code, comments or markup of a flavour."""
        return frozenset(line for block in self.blocks if not block.is_prose for line in range(block.start, block.end))

    def listing_lines(self) -> frozenset[int]:
        """Return the indexes of the lines of code, without template tags such as `{% highlight %}` around it."""
        found: set[int] = set()
        for block in self.blocks:
            if block.kind == "code":
                tags = 1 if flavours.CODE_TAG.match(self.lines[block.start].strip()) else 0
                found.update(range(block.start + tags, block.end - tags))
        return frozenset(found)

    def prose_lines(self) -> list[str]:
        """Return all lines, with an empty one in place of each line of code."""
        code = self.code_lines()
        return ["" if index in code else line for index, line in enumerate(self.lines)] if code else list(self.lines)

    def part(self, start: int, end: int) -> Page:
        """Return the part of the page between two offsets; lines count from its start, and cut blocks are cut."""
        if not self._starts:
            self._starts.extend(accumulate((len(line) + 1 for line in self.lines), initial=0))
        first = bisect_right(self._starts, start) - 1
        last = max(first, bisect_left(self._starts, end) - 1)
        lines = list(self.lines[first : last + 1])
        lines[-1] = lines[-1][: end - self._starts[last]]
        cut = start - self._starts[first]
        lines[0] = lines[0][cut:]
        at = bisect_right(self.blocks, first, key=lambda block: block.end)
        blocks = []
        while at < len(self.blocks) and self.blocks[at].start <= last:
            block = self._cut(self.blocks[at], first, last, cut, end - self._starts[last])
            if block.text or not block.is_prose:
                blocks.append(replace(block, start=max(0, block.start - first), end=min(last + 1, block.end) - first))
            at += 1
        return Page(tuple(lines), tuple(blocks), self.references, self._read)

    def _cut(self, block: Block, first: int, last: int, left: int, right: int) -> Block:
        """Return a block without its text before column `left` of line `first` and after column `right` of `last`."""
        is_begun = block.start < first or (block.start == first and left and self.lines[first][:left].strip())
        is_ended = block.end <= last or (block.end == last + 1 and not self.lines[last][right:].strip())
        if block.kind == "code" or block.kind == "cell" or (not is_begun and is_ended):
            return block
        lines = block.text.split("\n")
        low, high = max(0, first - block.start), max(0, last + 1 - block.start)
        if block.end > last and high <= len(lines):
            raw, line = self.lines[last].rstrip(), lines[high - 1].rstrip()
            lines[high - 1] = line[: max(0, right - (len(raw) - len(line)))]
            lines = lines[:high]
        if block.start <= first and low < len(lines):
            raw, line = self.lines[first].rstrip(), lines[low]
            shown = line.rstrip() if not (first == last and block.end > last) else line
            full = len(block.text.split("\n")[low].rstrip())
            lines[low] = shown[max(0, left - (len(raw) - full)) :]
        return replace(block, text="\n".join(lines[low:]).strip())


@lru_cache(maxsize=16)
def parse(text: str) -> Page:
    """Return the blocks of a Markdown text. The last texts are kept, so that a document is parsed once."""
    env: dict[str, Any] = {}
    lines = tuple(text.split("\n"))
    return Page(lines, tuple(_Reader(lines).read(tokens(text, env))), env.get("references", {}))


def tokens(text: str, env: dict[str, Any]) -> list[Token]:
    """Return the block tokens of a text; link reference definitions are added to `env`."""
    found: list[Token] = []
    _PARSER.block.parse(text, _PARSER, env, found)
    return found


@lru_cache(maxsize=64)
def fenced_lines(text: str) -> frozenset[int]:
    """Return the indexes of the lines of fenced code in a text of any form."""
    if not any(fence in text for fence in _FENCES):
        return frozenset()
    found: list[Token] = []
    _FENCE_PARSER.block.parse(text, _FENCE_PARSER, {}, found)
    return frozenset(line for token in found if token.type == "fence" and token.map for line in range(*token.map))


class _Reader:
    """Turns tokens into blocks."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._path: list[tuple[int, str]] = []
        self._depth = self._quotes = 0
        self._headings: tuple[str, ...] = ()

    def read(self, found: Sequence[Token]) -> Iterator[Block]:
        """Yield the blocks of the tokens in order."""
        before = ""
        role: Kind = "paragraph"
        for index, token in enumerate(found):
            kind = token.type
            if kind == "inline":
                yield from self._text(token, found[index - 1], role)
            elif kind == "paragraph_open":
                role = "item" if before == "list_item_open" else "paragraph"
            elif kind in ("blockquote_open", "list_item_open", "blockquote_close", "list_item_close"):
                self._depth += token.nesting
                self._quotes += token.nesting if kind.startswith("blockquote") else 0
            elif kind in ("fence", "code_block"):
                yield self._block("code", token, token.content, info=token.info.strip())
            elif kind == "html_block":
                yield from self._html(token)
            elif kind == "directive_open":
                yield self._block("directive", token, token.info, info=token.markup)
                self._depth += 1
            elif kind == "directive_close":
                self._depth -= 1
            before = kind

    def _text(self, token: Token, opening: Token, role: Kind) -> Iterator[Block]:
        if opening.type == "heading_open":
            yield from self._heading(token, opening)
        elif opening.type in ("th_open", "td_open"):
            if token.content.strip():
                yield self._block("cell", token, token.content)
        else:
            yield from self._paragraph(token, role)

    def _html(self, token: Token) -> Iterator[Block]:
        unread = _UNREAD.match(token.content.lstrip())
        block = self._block(
            "html" if unread is None else "code" if unread[1] else "comment", token, token.content.rstrip()
        )
        before, mark, after = block.text.rpartition("-->")
        if block.kind != "comment" or not after.strip():
            yield block
            return
        if block.end - block.start > 1:
            yield replace(block, end=block.end - 1, text=before + mark)
        yield self._at("html", block.end - 1, block.end, after.strip())

    def _heading(self, token: Token, opening: Token) -> Iterator[Block]:
        is_underlined = opening.markup in ("=", "-")
        title = heading_text(token.content)
        if (is_underlined and "\n" in token.content) or len(title) > MAX_HEADING_CHARACTERS:
            yield self._block("paragraph", opening, token.content)
            return
        level = int(opening.tag[1])
        if not self._depth:
            self._path = [entry for entry in self._path if entry[0] < level]
            self._headings = tuple(entry[1] for entry in self._path)
        yield self._block("heading", opening, token.content, level=level)
        if not self._depth and title:
            self._path.append((level, title))
            self._headings = (*self._headings, title)

    def _paragraph(self, token: Token, role: Kind) -> Iterator[Block]:
        """Yield a paragraph; a callout and notes below each other are divided."""
        text = token.content
        start = token.map[0] if token.map else 0
        if role == "item" and (task := _TASK.match(text)):
            text = text[task.end() :]
        if self._quotes and (callout := _CALLOUT.match(text)):
            first, _, text = text.partition("\n")
            yield self._at("directive", start, start + 1, first[callout.end() :].strip(), info=callout[0])
            start += 1
        if not text:
            return
        if text.startswith("|") or "\n|" in text:
            yield from self._rows(text, start, role)
            return
        if not _NOTE.match(text):
            yield self._at(role, start, start + text.count("\n") + 1, text)
            return
        for line in text.split("\n"):
            yield self._at("paragraph", start, start + 1, _NOTE.sub("", line, count=1))
            start += 1

    def _rows(self, text: str, start: int, role: Kind) -> Iterator[Block]:
        """Yield the cells of rows without a header, and the lines around them."""
        for is_row, group in groupby(enumerate(text.split("\n"), start), key=lambda item: item[1].startswith("|")):
            lines = list(group)
            if not is_row:
                yield self._at(role, lines[0][0], lines[-1][0] + 1, "\n".join(line for _, line in lines))
                continue
            for number, line in lines:
                for cell in _BAR.split(line):
                    if cell.strip(" :-"):
                        yield self._at("cell", number, number + 1, cell.strip())

    def _block(self, kind: Kind, token: Token, text: str, *, level: int = 0, info: str = "") -> Block:
        start, end = token.map or (0, 1)
        return self._at(kind, start, min(end, len(self._lines)), text, level=level, info=info)

    def _at(self, kind: Kind, start: int, end: int, text: str, *, level: int = 0, info: str = "") -> Block:
        return Block(kind, start, end, text, level, self._depth, self._headings, info)


# ── rules ───────────────────────────────────────────────────────────────────────────────────────


def _html(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Block rule: HTML as in CommonMark, but a fence ends it, and a template lasts until its closing tag."""
    count = len(state.tokens)
    at = state.bMarks[start] + state.tShift[start]
    if at < state.eMarks[start] and state.src[at] == "<" and (found := _ELEMENT.match(state.src, at)):
        closing = f"</{found[1].lower()}>"
        last = next((i for i in range(start, end) if closing in state.getLines(i, i + 1, 0, False).lower()), -1)
        if last >= 0 and not state.is_code_block(start):
            if not silent:
                token = state.push("html_block", "", 0)
                token.map = [start, last + 1]
                token.content = state.getLines(start, last + 1, state.blkIndent, True)
                state.line = last + 1
            return True
    if not html_block(state, start, end, silent):
        return False
    if silent or _UNREAD.match(state.src, at):
        return True
    token = state.tokens[count]
    for line in range(start + 1, state.line):
        begin = state.bMarks[line] + state.tShift[line]
        if state.src.startswith(_FENCES, begin):
            token.map = [start, line]
            token.content = state.getLines(start, line, state.blkIndent, True)
            state.line = line
            break
    return True


def _reference(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Block rule: a link reference definition; `[^1]: text` is a footnote."""
    at = state.bMarks[start] + state.tShift[start]
    return not state.src.startswith("[^", at) and reference(state, start, end, silent)


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": MAX_NESTING}).enable("table")
    ends: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    ruler = parser.block.ruler
    ruler.before("table", "prose_fence", flavours.prose_fence, ends)
    ruler.before("prose_fence", "directive", flavours.directive, ends)
    ruler.at("html_block", _html, {"alt": ["paragraph", "reference", "blockquote"]})
    ruler.at("reference", _reference)
    return parser


_PARSER = _parser()
_FENCE_PARSER = MarkdownIt("zero").enable("fence")
