r"""
Inline markup of a block: its text as a reader sees it, and the spans of that text.

    The **Auth Service** calls [[Redis|the cache]] in `a.b`, see [Pods](pods.md).[^1]
    → "The Auth Service calls the cache in a.b, see Pods."
      strong 4–16, wikilink "Redis|the cache" 23–32, code "a.b" 36–39, link "pods.md" 45–49, footnote 50–50

The parser is markdown-it-py; one more rule reads what flavours add.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from types import SimpleNamespace
from typing import Any, Literal, TypeAlias

from markdown_it import MarkdownIt
from markdown_it.helpers import parseLinkDestination, parseLinkTitle
from markdown_it.rules_inline import StateInline, html_inline
from markdown_it.token import Token

from weft.text.links import WIKILINK_PATTERN, link_label
from weft.text.markdown import flavours

SpanKind: TypeAlias = Literal[
    "attributes", "code", "footnote", "html", "image", "link", "literal", "math", "role", "strong", "term", "wikilink"
]


@dataclass(frozen=True, slots=True)
class Span:
    """A marked-up part of a text; empty if the markup shows nothing."""

    kind: SpanKind
    start: int
    end: int
    target: str = ""
    """Address of a link or image, inner text of a wikilink, code, attributes; the tag itself for HTML."""
    label: str = ""
    """Text of a link as written; name of a role."""
    line: int = 0
    """Lines between the start of the block and the markup."""


@dataclass(frozen=True, slots=True)
class Inline:
    """The text of a block without markup."""

    text: str
    spans: tuple[Span, ...] = ()
    """In the order of their ends."""


MAX_LABEL_CHARACTERS = 1000
"""Longest text of a link."""

_MARKUP = re.compile(r"[`{$\\\[*~_<&^%=\n]|\]|://|:[a-z]")
"""A text without any of these has no markup."""
_BREAK = re.compile(r"\n")
_SPACES = re.compile(r"[^\S\n]{2,}|[^\S\n ]")
_FLAVOUR = re.compile(
    rf"{flavours.SHORTCODE}"
    r"|\{(?P<myst>[a-z][\w:+-]{0,30})\}`(?P<target>[^`]{1,500})`"
    rf"|(?P<attributes>{flavours.ATTRIBUTES}|(?<=[)\]`*])\{{[ \t]?[a-z][\w-]{{0,30}}=[^{{}}\n]{{1,200}}\}}"
    r"|(?<!\S)\^[A-Za-z0-9-]{1,60}\s{0,9}\Z)"
    rf"|(?P<template>{flavours.TEMPLATE}|{flavours.ICON}|{flavours.COMMENT}|{flavours.HIGHLIGHT})"
    rf"|(?P<math>{flavours.MATH})"
    rf"|(?P<note>{flavours.NOTE}(?!\()|\[\d{{1,4}}\](?![(\[]))"
    rf"|(?P<embed>!?){WIKILINK_PATTERN}"
    r"|:(?P<role>[a-z][a-z:+-]{0,30}):`(?P<text>[^`]{1,500})`"
    r"|(?P<url>https?://[^\s<>()\[\]]{1,2000})"
)
_FLAVOUR_STARTS = frozenset("{$\\[!:h^%=")
_TERMINATORS = re.compile(r"[\n`{$\\\[\]*~_<&]|!(?=\[)|:(?=[a-z])|\^|%(?=%)|=(?==)|h(?=ttps?://)")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,2000}>")
_DESTINATION = re.compile(
    r"(?:[^\s()\\<{]|\\.|\{\{[^{}\n]{0,200}\}\}|\{%[^{}\n]{0,200}%\}|\{(?![{%])|\([^\s()]{0,200}\)){0,1000}"
)
_BACKTICKS = re.compile(r"`+")
_BRACKET = re.compile(r"\\.|`+|[\[\]]")
_NESTED = re.compile(r"\]\(")
_LINK_TAG = re.compile(r"<(?:a|Link|RouterLink|router-link|NuxtLink)\s", re.IGNORECASE)
_LINK_END = re.compile(r"</(?:a|Link|RouterLink|router-link|NuxtLink)\s{0,4}>", re.IGNORECASE)
_HREF = re.compile(
    r"\s(?:href|to)\s{0,4}=\s{0,4}(?:\"([^\"]{0,1000})\"|'([^']{0,1000})'|\{[\"'`]([^\"'`]{0,1000})[\"'`]\}|([^\s\"'>{]{1,1000}))"
)
_SPHINX_NAME = re.compile(r"[~!]\.?[A-Za-z_][\w.]{0,200}$|\.(?=[A-Z_.]{0,40}[A-Za-z_.]{0,40}[a-z])[A-Z][\w.]{0,200}$")
"""Name in backticks as Sphinx shortens it, `.HTTPServer` or `~gen.coroutine`. `.env` and `.NET` are other names."""
_LINK_ROLES = frozenset({"any", "doc", "download", "numref", "ref"})
"""Roles of Sphinx whose text is a path or a label."""


def read_inline(text: str, references: dict[str, Any] | None = None) -> Inline:
    """Return a text on one line without markup, and its spans. `references` are link definitions of the page."""
    if not _MARKUP.search(text):
        return Inline(" ".join(text.split()))
    source = _SPACES.sub(" ", text)
    return _Writer(source).write(_tokens(source, references or {}))


@lru_cache(maxsize=1024)
def heading_text(text: str) -> str:
    """Return a heading or title without links, tags and the markup of flavours. Emphasis and code marks stay."""
    if not _MARKUP.search(text):
        return " ".join(text.split())
    source = _SPACES.sub(" ", text)
    tokens = _tokens(source, {})
    texts = [token for token in tokens if token.type != "image"]  # `# Starter [![Open in StackBlitz](…)](…)`
    shown = _Writer(source, keeps_marks=True).write(texts).text
    if len(texts) < len(tokens) and not shown.strip():
        shown = _Writer(source, keeps_marks=True).write(tokens).text
    return " ".join(shown.split())


def _tokens(source: str, references: dict[str, Any]) -> list[Token]:
    state = _State(source, _PARSER, {"references": references}, [])
    _PARSER.inline.tokenize(state)
    for rule in _PARSER.inline.ruler2.getRules(""):
        rule(state)
    return state.tokens


class _State(StateInline):
    """Inline state that notes the offset of each token."""

    _brackets: dict[int, int] | None = None

    @property
    def brackets(self) -> dict[int, int]:
        """Closing bracket of each opening one outside code, and the opening one of each closing one, negated."""
        if self._brackets is None:
            self._brackets = _match_brackets(self.src)
        return self._brackets

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        """Add a token."""
        token = super().push(ttype, tag, nesting)
        token.map = [self.pos, self.pos]
        return token


class _Writer:
    """Joins tokens to a text."""

    def __init__(self, source: str, *, keeps_marks: bool = False) -> None:
        self._source = source
        self._breaks = [match.start() for match in _BREAK.finditer(source)]
        self._keeps_marks = keeps_marks
        self._parts: list[str] = []
        self._length = 0
        self._spans: list[Span] = []
        self._opened: list[tuple[int, int, str]] = []  # links: offset in the text and in the source, address
        self._strong = -1

    def write(self, tokens: list[Token]) -> Inline:
        """Return the text and spans of the tokens."""
        for token in tokens:
            match token.type:
                case "text" | "text_special":
                    self._add(token.content)
                case "softbreak" | "hardbreak":
                    self._add(" ")
                case "code_inline":
                    self._code(token)
                case "strong_open" | "strong_close" | "em_open" | "em_close" | "s_open" | "s_close":
                    self._emphasis(token)
                case "link_open":
                    self._opened.append((self._length, _at(token), str(token.attrs.get("href", ""))))
                case "link_close":
                    self._close_link(_at(token), _at(token))
                case "image":
                    self._show("image", token.content, token, str(token.attrs.get("src", "")))
                case "html_inline":
                    self._html(token)
                case _:
                    self._flavour(token)
        for _ in range(len(self._opened)):
            start, offset, address = self._opened.pop()
            self._spans.append(Span("link", start, start, address, "", self._line(offset)))
        return self._finish()

    def _finish(self) -> Inline:
        text = "".join(self._parts)
        lead = len(text) - len(text.lstrip())
        spans = self._spans
        if lead:
            spans = [
                Span(s.kind, max(0, s.start - lead), max(0, s.end - lead), s.target, s.label, s.line) for s in spans
            ]
        return Inline(text.strip(), tuple(spans))

    def _add(self, text: str) -> None:
        if text == " " and (not self._parts or self._parts[-1][-1:] == " "):
            return
        if text:
            self._parts.append(text.replace("\xa0", " "))
            self._length += len(text)

    def _show(self, kind: SpanKind, shown: str, token: Token, target: str, label: str = "") -> None:
        start = self._length
        self._add(shown)
        self._spans.append(Span(kind, start, self._length, target, label, self._line(_at(token))))

    def _line(self, offset: int) -> int:
        return bisect_left(self._breaks, offset)

    def _code(self, token: Token) -> None:
        content = token.content.strip() or token.content
        if self._keeps_marks:
            self._add(f"{token.markup}{token.content}{token.markup}")
        elif token.markup == "`" and _SPHINX_NAME.match(content):
            self._role("", content, token)
        else:
            self._show("code" if token.markup == "`" else "literal", content, token, content)

    def _emphasis(self, token: Token) -> None:
        if self._keeps_marks:
            self._add(token.markup)
        elif token.markup == "**":
            if token.nesting > 0:
                self._strong = self._length
            elif 0 <= self._strong < self._length:
                self._spans.append(Span("strong", self._strong, self._length))
                self._strong = -1

    def _close_link(self, source_end: int, at: int) -> None:
        if not self._opened:
            return
        start, offset, address = self._opened.pop()
        label = " ".join(self._source[offset:source_end].split())
        self._spans.append(Span("link", start, self._length, address, label, self._line(offset)))

    def _html(self, token: Token) -> None:
        tag = token.content
        if _LINK_END.match(tag):
            self._close_link(_at(token), _at(token))
        elif _LINK_TAG.match(tag) and (href := _HREF.search(tag)):
            address = next((group for group in href.groups() if group), "")
            self._opened.append((self._length, _at(token) + len(tag), unescape(address)))
            if tag.endswith("/>"):
                self._close_link(_at(token) + len(tag), _at(token))
        else:
            self._spans.append(Span("html", self._length, self._length, tag, "", self._line(_at(token))))
            if tag.lower().startswith("<br"):
                self._add(" ")

    def _flavour(self, token: Token) -> None:
        match: re.Match[str] | None = token.meta.get("match")
        if match is None:
            return
        if (shortcode := match["shortcode"]) is not None:
            self._shortcode(shortcode, token)
        elif match["target"] or match["text"]:
            self._role(match["myst"] or match["role"], match["target"] or match["text"], token)
        elif match["attributes"]:
            self._show("attributes", "", token, match["attributes"])
        elif match["math"]:
            is_shown = self._keeps_marks and not flavours.LATEX.search(match["math"])
            self._show("math", match["math"] if is_shown else "", token, match["math"])
        elif match["note"]:
            self._show("footnote", "", token, match["note"])
        elif match["wiki"]:
            self._show("wikilink", "" if match["embed"] else link_label(match["wiki"]), token, match["wiki"])

    def _shortcode(self, shortcode: str, token: Token) -> None:
        """Show the text of a shortcode: `{{< glossary_tooltip text="pods" term_id="pod" >}}`."""
        if shown := flavours.SHORTCODE_TEXT.search(shortcode):
            term = flavours.SHORTCODE_TERM.search(shortcode)
            self._show("term", shown[1], token, term[1].replace("-", " ") if term else shown[1])
        elif self._keeps_marks and (argument := flavours.SHORTCODE_ARGUMENT.match(shortcode)):
            self._add(argument[1])  # `{{% heading "whatsnext" %}}`: the heading would be empty otherwise

    def _role(self, role: str, target: str, token: Token) -> None:
        """
        Show the visible text of a role of Sphinx; a link to a page or label names nothing.

        | role | visible | name |
        | --- | --- | --- |
        | ``:doc:`/deploying/index` `` | | |
        | ``:class:`.Flask` ``, ``{class}`!Flask` `` | `Flask` | `Flask` |
        | ``:meth:`~flask.Flask.run` `` | `run` | `flask.Flask.run` |
        | ``:func:`run it <flask.run>` `` | `run it` | |
        """
        label, bracket, rest = target.partition(" <")
        if bracket or role.rpartition(":")[2] in _LINK_ROLES:
            self._show("role", label if bracket else "", token, rest.rstrip("> ") if bracket else target, role)
            return
        name = target.lstrip("~!.")
        self._show("code", name.rpartition(".")[2] if target.startswith("~") else name, token, name)


def _at(token: Token) -> int:
    return token.map[0] if token.map else 0


# ── rules ───────────────────────────────────────────────────────────────────────────────────────


def _flavour(state: StateInline, silent: bool) -> bool:
    """Inline rule: markup that a flavour adds."""
    if state.src[state.pos] not in _FLAVOUR_STARTS:
        return False
    match = _FLAVOUR.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        state.push("flavour", "", 0).meta = {"match": match}
    state.pos = match.end()
    return True


def _html(state: StateInline, silent: bool) -> bool:
    """Inline rule: HTML as in CommonMark, and tags of components, `<Tabs v-slot:a>`."""
    if state.src[state.pos] != "<":
        return False
    if html_inline(state, silent):
        return True
    match = _TAG.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        state.push("html_inline", "", 0).content = match[0]
    state.pos = match.end()
    return True


def _label_end(state: StateInline, start: int, disableNested: bool = False) -> int:  # noqa: N803
    """Return the closing bracket of a label, or -1. A label contains no other link."""
    if not isinstance(state, _State):
        return -1
    end = state.brackets.get(start, -1)
    if end < 0 or end - start > MAX_LABEL_CHARACTERS or end >= state.posMax:
        return -1
    for inner in _NESTED.finditer(state.src, start, end) if disableNested else ():
        opening = state.brackets.get(-inner.start(), 0)
        if opening > start and state.src[opening - 1] != "!":
            return -1
    return end


def _match_brackets(source: str) -> dict[int, int]:
    runs = [match.span() for match in _BACKTICKS.finditer(source)]
    closing: dict[int, int] = {}
    code: dict[int, int] = {}
    for start, end in reversed(runs):
        if (close := closing.get(end - start)) is not None:
            code[start] = close
        closing[end - start] = end
    found: dict[int, int] = {}
    opened: list[int] = []
    position = 0
    while token := _BRACKET.search(source, position):
        position = token.end()
        if token[0][0] == "`":
            position = code.get(token.start(), position)
        elif token[0] == "[":
            opened.append(token.start())
        elif token[0] == "]" and opened:
            opening = opened.pop()
            found[opening], found[-token.start()] = token.start(), opening
    return found


def _destination(source: str, at: int, end: int) -> Any:
    """Return the destination of a link, which may contain a shortcode: `(pods/{{< param "v" >}}.md)`."""
    if not source.startswith("<", at) and (match := _DESTINATION.match(source, at, end)) and "{" in match[0]:
        return SimpleNamespace(ok=True, pos=match.end(), str=match[0])
    return parseLinkDestination(source, at, end)


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 60}).enable("strikethrough")
    parser.helpers = SimpleNamespace(  # type: ignore[assignment]
        parseLinkDestination=_destination, parseLinkLabel=_label_end, parseLinkTitle=parseLinkTitle
    )
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    parser.inline.ruler.after("text", "flavour", _flavour)
    parser.inline.ruler.at("html_inline", _html)
    parser.inline.terminator_re = _TERMINATORS
    return parser


_PARSER = _parser()
