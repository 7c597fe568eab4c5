r"""
Text without the markup that Markdown flavours add.

    written                                        loaded (shown)              indexed
    {{< glossary_tooltip text="pods" >}}           pods                        pods
    ::: tip Note, /// tip | Note, !!! tip "Note"   Note                        Note
    {* a.py hl[2:4] *}, --8<-- "a.md"              (empty)                     (empty)
    <dfn title="a b">AB</dfn>, <Tabs>              AB, (empty)                 AB, (empty)
    > [!warning]- Take care                        > [!warning]- Take care     > Take care
    ## Slots {#slots}                              ## Slots {#slots}           ## Slots
    harbour.[^3]                                   harbour.[^3]                harbour.
    the angle $\alpha_{1}$ is small                the angle $\alpha_{1}$ …    the angle  is small

The number of lines does not change, and code is unchanged. Headings and titles: `inline.heading_text`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from itertools import groupby
from typing import Any

from weft.text.markdown import flavours
from weft.text.markdown.blocks import fenced_lines, parse, tokens

_INDEXED_SIGNS = ("{{<", "{{%", ":::", "[!", "[^", "$", "{#", "{.", "{:", "{ #", "{ .")
"""A text without any of these has nothing to remove for the index."""
_LOADED_SIGNS = re.compile(
    r"\{\{[<%]|\{%|\{/?\*|\{[:.]|\{ ?\.|\) ?\{|:::|///|!!!|\?\?\?|===|8<|<<<|%%|\[\[_?toc|\[TOC\]|^import\s|^\("
    r"|```\{|~~~\{"
    r"|<(?:[A-Z]|abbr|center|details|dfn|div|figure|section|small|span|summary)|:(?:material|octicons|fontawesome|simple)-",
    re.MULTILINE | re.IGNORECASE,
)
_CONTAINER_SIGNS = re.compile(
    r":::|///|!!!|\?\?\?|^[ \t]{0,20}===|8<|<<<|%%|\[\[_?toc|\[TOC\]|^import\s|^\(|```\{|~~~\{|\{\*|^\{:",
    re.MULTILINE | re.IGNORECASE,
)
_TAGS = "abbr|center|details|dfn|div|figcaption|figure|section|small|span|summary"
_LOADED = re.compile(
    r"(?P<kept>`[^`\n]{1,1000}`|``(?:[^`]|`(?!`)){1,1000}``|\]\([^()\n]{0,1000}\)|<(?:a|img|Link)\s[^<>]{0,2000}>)"
    rf"|{flavours.SHORTCODE}"
    r"|(?P<removed>\{%[^{}]{0,600}%\}|\{/?\*[^*{}]{0,1000}\*/?\}"
    rf"|[ \t]?\{{:?[ \t]{{0,4}}\.[^{{}}\n#]{{0,200}}\}}|(?<=[)\]])\{{[ \t]?[a-z][\w-]{{0,30}}=[^{{}}\n]{{1,200}}\}}"
    rf"|{flavours.ICON}[ ]?|{flavours.COMMENT}"
    rf"|</(?:{_TAGS})\s{{0,4}}>|<(?:{_TAGS})(?=[\s/>])(?![^<>]{{0,1000}}\s(?:id|name)\s?=)[^<>]{{0,1000}}>)"
    r"|(?P<component>(?:^(?<![^\n])[ \t]{0,20})</?[A-Z][\w.]{0,80}(?:\s[^<>]{0,1000})?/?>(?=[ \t]*$))",
    re.MULTILINE,
)
_MDX_TAG = re.compile(r"`[^`\n]{1,1000}`|(?P<tag></?[A-Z][\w.]{0,80}(?:\s[^<>]{0,1000})?/?>)")
_MDX_STATEMENT = re.compile(r"(?:import|export)\s")
_MDX_OPEN = re.compile(r"[ \t]{0,40}<[A-Z][\w.]{0,80}(?:\s[^<>]{0,1000})?>[ \t]*$")
_MDX_CLOSE = re.compile(r"[ \t]{0,40}</[A-Z][\w.]{0,80}>")
_LABEL = re.compile(r"\b(?:title|label|heading)=[\"']([^\"'<>{}]{1,200})[\"']")

_CALLOUT = re.compile(r"([ \t]{0,3}>[> \t]{0,8})\[![\w|-]{1,40}\][+-]?[ \t]*")
_NOTE = re.compile(r"[ \t]{0,3}\[\^[\w-]{1,40}\]:[ \t]*")
_INDEXED = re.compile(
    rf"{flavours.SHORTCODE}"
    r"|(?P<note>(?<=[\w.,;:!?)”’。，；：！？）])\[\^[\w-]{1,40}\])"
    r"|\$\$(?P<block>[^$]{1,2000})\$\$"
    r"|(?<![\w$\\])\$(?=[^\s$\d])(?P<inline>[^$\n]{1,300})\$(?![\w$])"
)
_HEADING_ATTRIBUTES = re.compile(r"(?<=\S)[ \t]{0,9}\{:?[ \t]{0,4}[#.][^{}\n]{0,200}\}[ \t]*$")


def without_directives(text: str, *, is_mdx: bool = False) -> str:
    """Return a Markdown text without directives, shortcodes and components; the lines keep their numbers."""
    if is_mdx:
        text = _without_components(text)
    if not _LOADED_SIGNS.search(text):
        return text
    if _CONTAINER_SIGNS.search(text):
        text = _without_containers(text)
    return _outside(text, parse(text).code_lines(), lambda prose: _LOADED.sub(_loaded, prose))


def plain_text(text: str) -> str:
    """Return the text of a chunk as it is indexed, without the markup of Markdown flavours outside code."""
    if not any(sign in text for sign in _INDEXED_SIGNS):
        return text
    return _outside(text, parse(text).listing_lines(), _indexed_prose)


def _outside(text: str, code: Collection[int], change: Callable[[str], str]) -> str:
    """Return a text with the lines that are not code changed, as many lines at once as there are."""
    parts: list[str] = []
    for is_code, group in groupby(enumerate(text.split("\n")), key=lambda item: item[0] in code):
        lines = [line for _, line in group]
        parts += lines if is_code else [change("\n".join(lines))]
    return "\n".join(parts)


# ── loaded ──────────────────────────────────────────────────────────────────────────────────────


def _without_containers(text: str) -> str:
    """Return the text with the title in place of each directive; the body of an admonition is no longer indented."""
    env: dict[str, Any] = {}
    found = [token for token in tokens(text, env) if token.type == "directive_open" and token.map]
    if not found:
        return text
    lines = text.split("\n")
    for token in reversed(found):  # inner ones first
        start, end = token.map or (0, 0)
        if flavours.is_code_reference(token.markup):
            continue
        at = lines[start].find(token.markup)
        is_joined = end < len(lines) and lines[end].strip() != "" and token.info[-1:].isalnum()
        title = f"{token.info}." if is_joined else token.info  # the text below must not continue the title
        lines[start] = f"{lines[start][:at]}{title}".rstrip() if at >= 0 else lines[start]
        lines[start + 1 : end] = [""] * (end - start - 1)
        if (closing := token.meta.get("closing", len(lines))) < len(lines):
            lines[closing] = ""
        for index in range(end, min(token.meta.get("body", end), len(lines))):
            line = lines[index].expandtabs(4)
            lines[index] = line[min(4, len(line) - len(line.lstrip(" "))) :]
    return "\n".join(lines)


def _loaded(match: re.Match[str]) -> str:
    shown = match[0]
    if match["kept"]:
        return shown
    breaks = "\n" * shown.count("\n")
    if match["removed"]:
        return breaks
    if match["component"]:
        return _label(shown) + breaks
    found = flavours.SHORTCODE_TEXT.search(match["shortcode"])
    if found is None and _is_heading(match):
        found = flavours.SHORTCODE_ARGUMENT.match(match["shortcode"])
    return (found[1] if found else "") + breaks


def _is_heading(match: re.Match[str]) -> bool:
    start = match.string.rfind("\n", 0, match.start()) + 1
    return match.string.startswith("#", start)


def _label(tag: str) -> str:
    found = _LABEL.search(tag)
    return found[1] if found else ""


def _without_components(text: str) -> str:
    """Return a text of MDX without imports, exports and tags; titles of components stay."""
    code = fenced_lines(text)
    lines = text.split("\n")
    indents: list[int] = []  # of the text inside each open component, -1 before its first line
    is_statement = False
    for index, line in enumerate(lines):
        if index not in code and (is_statement or _MDX_STATEMENT.match(line)):
            is_statement = bool(line.strip())  # a statement ends at an empty line
            lines[index] = ""
            continue
        if index not in code and _MDX_CLOSE.match(line) and indents:
            indents.pop()
        if indents and line.strip():
            indent = len(line) - len(line.lstrip())
            indents[-1] = indent if indents[-1] < 0 else indents[-1]
            lines[index] = line[min(indent, indents[-1]) :]
        if index not in code and _MDX_OPEN.match(line) and not line.rstrip().endswith("/>"):
            indents.append(-1)
    joined = "\n".join(lines)
    return _outside(joined, fenced_lines(joined), lambda prose: _MDX_TAG.sub(_component, prose))


def _component(match: re.Match[str]) -> str:
    if not match["tag"]:
        return match[0]
    label = _label(match[0])
    breaks = "\n" * match[0].count("\n")
    return label + (breaks or " ") if label else breaks


# ── indexed ─────────────────────────────────────────────────────────────────────────────────────


def _indexed_prose(prose: str) -> str:
    return _INDEXED.sub(_indexed, "\n".join(map(_indexed_line, prose.split("\n"))))


def _indexed_line(line: str) -> str:
    if line.startswith("#"):
        line = _HEADING_ATTRIBUTES.sub("", line)
        return _INDEXED.sub(lambda match: _argument(match) or match[0], line) if "{{" in line else line
    if line.lstrip().startswith(":::"):
        found = flavours.DIRECTIVE.match(line.strip())
        return flavours.directive_title(found) if found else ""
    return _NOTE.sub("", _CALLOUT.sub(r"\1", line, count=1), count=1)


def _argument(match: re.Match[str]) -> str:
    found = flavours.SHORTCODE_ARGUMENT.match(match["shortcode"] or "")
    return found[1] if found else ""


def _indexed(match: re.Match[str]) -> str:
    if (shortcode := match["shortcode"]) is not None:
        found = flavours.SHORTCODE_TEXT.search(shortcode)
        return found[1] if found else ""
    if match["note"]:
        return ""
    return "" if flavours.LATEX.search(match["block"] or match["inline"] or "") else match[0]
