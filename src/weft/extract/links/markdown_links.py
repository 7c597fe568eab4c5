r"""
Links of Markdown text: inline, by reference, wikilinks, autolinks and HTML.

| text | address | label |
| --- | --- | --- |
| `[Pods](../pods.md "title")` | `../pods.md` | `Pods` |
| `[Pods][p]` … `[p]: /pods/` | `/pods/` | `Pods` |
| `<a href="/pods/">Pods</a>`, `<Link to="/pods/">Pods</Link>` | `/pods/` | `Pods` |
| `<https://host/pods>` | `https://host/pods` | |
| `[[Pods#Limits\|the limits]]`, `![[Pods]]` | `Pods#Limits`, `Pods` | `the limits`, `Pods` |
| `![alt](pods.png)` | none: an image | |
| code in fences, backticks or an indented block; comments | none | |

A paragraph is scanned once from left to right; every repetition has a limit, so the time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import unescape

MAX_LINKS = 5000
"""Links read from one document; later ones are ignored."""
MAX_LABEL_CHARACTERS = 300
MAX_DEFINITIONS = 2000


@dataclass(frozen=True, slots=True)
class Link:
    """A link as written."""

    line: int
    """Index of the line in the text."""
    address: str
    label: str = ""
    is_wiki: bool = False
    kind: str = ""
    """`label` for a reference to a label instead of a page, `code` for one to a name of source code."""
    block: str = ""
    """Paragraph that contains the link."""
    offset: int = 0
    """Offset of the link in the paragraph."""


_FENCE = re.compile(r"[\s>]{0,40}(?:[-*+]\s{1,4})?(`{3,}|~{3,})(.*)")
_ITEM = re.compile(r"(\s{0,40})(?:[-*+]|\d{1,9}[.)])(\s{1,4})(?=\S)")
_BREAK = re.compile(r"\s{0,3}(?:#{1,6}\s|\||>)")
_CONTAINER = re.compile(r"\s{0,40}(?:!!!|\?\?\?|===|:::|<)")
_DEFINITION = re.compile(r" {0,3}\[([^\[\]^][^\[\]]{0,200})\]:\s{0,9}(?:<([^<>]{0,1000})>|([^\s<]\S{0,999}))")
_TOKEN = re.compile(r"\\.|`+|!?\[|\]|<(?=[aALRNrh])")
_WIKILINK = re.compile(r"\[\[([^\[\]\n]{1,300})\]\]")
_DESTINATION = re.compile(
    r"\(\s{0,9}(?:<([^<>\n]{0,1000})>"
    r"|((?:[^\s()\\<{]|\\.|\{\{[^{}\n]{0,200}\}\}|\{%[^{}\n]{0,200}%\}|\{(?![{%])|\([^\s()]{0,200}\)){0,1000}))"
    r"(?:\s{1,9}(?:\"[^\"]{0,300}\"|'[^']{0,300}'|\([^()]{0,300}\)))?\s{0,9}\)"
)
_REFERENCE = re.compile(r"\[([^\[\]]{0,200})\]")
_TAG = re.compile(r"<(?:a|A|Link|RouterLink|router-link|NuxtLink)\s[^<>]{0,2000}>")
_HREF = re.compile(
    r"\s(?:href|to)\s{0,4}=\s{0,4}(?:\"([^\"]{0,1000})\"|'([^']{0,1000})'|\{[\"'`]([^\"'`]{0,1000})[\"'`]\}|([^\s\"'>{]{1,1000}))"
)
_AUTOLINK = re.compile(r"<(https?://[^\s<>]{1,1000})>")
_CLOSING = re.compile(r"</(?:a|A|Link|RouterLink|router-link|NuxtLink)\s{0,4}>")
_INNER_TAG = re.compile(r"<[^<>]{0,300}>")
_BACKTICKS = re.compile(r"`+")
_SCRIPT = re.compile(r"<(script|style)\b", re.IGNORECASE)


def find_links(text: str) -> list[Link]:
    """Return the links of Markdown text in order. Code and comments contain none."""
    if "[" not in text and "<" not in text:
        return []
    lines = blank_comments(text).split("\n")
    blocks = list(iter_blocks(lines))
    definitions = _find_definitions(blocks)
    found: list[Link] = []
    for start, block in blocks:
        if "[" in block or "<" in block:
            found += _scan(block, start, definitions)
        if len(found) >= MAX_LINKS:
            break
    return found[:MAX_LINKS]


def blank_comments(text: str) -> str:
    """Return the text without HTML comments; their line ends stay."""
    parts, position = list[str](), 0
    while (start := text.find("<!--", position)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts += [text[position:start], "\n" * text.count("\n", start, end)]
        position = end + 3
    return "".join([*parts, text[position:]])


# ── blocks ──────────────────────────────────────────────────────────────────────────────────────


def prose_lines(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines; lines of fenced or indented code, scripts and styles are empty."""
    fence, script, was_blank, is_code, indent = "", "", True, False, -1
    for line in lines:
        if script:
            script = "" if f"</{script}" in line.lower() else script
            yield ""
            continue
        mark = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if fence:
            fence = "" if mark and mark[1].startswith(fence) and not mark[2].strip() else fence
            yield ""
            continue
        if mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence, was_blank = mark[1], False
            yield ""
            continue
        if (tag := _SCRIPT.match(line)) and f"</{tag[1].lower()}" not in line.lower():
            script = tag[1].lower()
            yield ""
            continue
        bare = line.lstrip(" \t")
        if not bare:
            was_blank = True
            yield ""
            continue
        width = len(line[: len(line) - len(bare)].expandtabs(4))
        is_code = width >= max(0, indent) + 4 and (was_blank or is_code)
        if not is_code:
            indent = _container_indent(line, width, before=indent, was_blank=was_blank)
        was_blank = False
        yield "" if is_code else line


def _container_indent(line: str, width: int, *, before: int, was_blank: bool) -> int:
    """Return the indentation of the text inside the current list item or container; -1 outside."""
    if item := _ITEM.match(line):
        return len(item[0].expandtabs(4))
    if _CONTAINER.match(line):
        return width + 4
    return -1 if was_blank and width < max(1, before) and before >= 0 else before


def iter_blocks(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield (index of the first line, text) of paragraphs, list items, headings and table rows without code."""
    pending: list[str] = []
    start = 0
    for index, line in enumerate(prose_lines(lines)):
        is_new = not line or _ITEM.match(line) or _BREAK.match(line)
        if pending and is_new:
            yield start, "\n".join(pending)
            pending = []
        if line:
            start = start if pending else index
            pending.append(line)
    if pending:
        yield start, "\n".join(pending)


def _find_definitions(blocks: Sequence[tuple[int, str]]) -> dict[str, str]:
    """Return the addresses of link reference definitions, by label; the first one counts."""
    found: dict[str, str] = {}
    for _, block in blocks:
        if "]:" in block and len(found) < MAX_DEFINITIONS:
            for line in block.split("\n"):
                if match := _DEFINITION.match(line):
                    found.setdefault(_fold(match[1]), match[2] or match[3] or "")
    return found


def _fold(label: str) -> str:
    return " ".join(label.casefold().split())


# ── inline ──────────────────────────────────────────────────────────────────────────────────────


def _scan(block: str, start: int, definitions: dict[str, str]) -> Iterator[Link]:
    """Yield the links of a block, whose first line has the index `start`."""
    partners = _code_spans(block)
    opened: list[tuple[int, bool]] = []  # offset after the bracket, whether it opens an image
    position, line, counted = 0, start, 0
    while token := _TOKEN.search(block, position):
        text, at = token[0], token.start()
        position = token.end()
        line, counted = line + block.count("\n", counted, at), at
        if text[0] == "\\":
            continue
        if text[0] == "`":
            position = partners.get(at, position)
        elif text.endswith("["):
            if wiki := _WIKILINK.match(block, position - 1):
                yield Link(line, wiki[1], is_wiki=True, block=block, offset=at)
                position = wiki.end()
            else:
                opened.append((position, text[0] == "!"))
        elif text == "]":
            if not opened:
                continue
            inside, is_image = opened.pop()
            found = _read_target(block, inside, at, definitions)
            if found is None:
                continue
            address, position = found
            if not is_image and not (address == "" or _DEFINITION.match(block, inside - 1)):
                yield Link(line, address, _label(block[inside:at]), block=block, offset=inside - 1)
        else:
            tag = _read_tag(block, at)
            if tag:
                yield Link(line, tag[0], tag[1], block=block, offset=at)
                position = tag[2]


def _read_target(block: str, inside: int, at: int, definitions: dict[str, str]) -> tuple[str, int] | None:
    """Return the address after a closing bracket at `at` and the offset behind it; None if it is no link."""
    after = at + 1
    if destination := _DESTINATION.match(block, after):
        return _unescape(destination[1] or destination[2] or ""), destination.end()
    if not definitions or at - inside > MAX_LABEL_CHARACTERS:
        return None
    if reference := _REFERENCE.match(block, after):
        address = definitions.get(_fold(reference[1] or block[inside:at]))
        return (address, reference.end()) if address is not None else None
    address = definitions.get(_fold(block[inside:at]))
    return (address, after) if address is not None else None


def _read_tag(block: str, at: int) -> tuple[str, str, int] | None:
    """Return address, label and end of the HTML link or autolink at `at`."""
    if auto := _AUTOLINK.match(block, at):
        return auto[1], "", auto.end()
    tag = _TAG.match(block, at)
    href = _HREF.search(tag[0]) if tag else None
    if tag is None or href is None:
        return None
    closing = _CLOSING.search(block, tag.end(), tag.end() + 2 * MAX_LABEL_CHARACTERS)
    label = _INNER_TAG.sub("", block[tag.end() : closing.start()]) if closing else ""
    address = next((group for group in href.groups() if group), "")
    return unescape(address), _label(unescape(label)), tag.end()


def _label(text: str) -> str:
    return " ".join(text[:MAX_LABEL_CHARACTERS].split())


def _unescape(address: str) -> str:
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", address) if "\\" in address else address


def _code_spans(block: str) -> dict[int, int]:
    """Return the end of each code span by its start, in linear time."""
    runs = [match.span() for match in _BACKTICKS.finditer(block)]
    closing: dict[int, int] = {}
    partners: dict[int, int] = {}
    for start, end in reversed(runs):
        if (close := closing.get(end - start)) is not None:
            partners[start] = close
        closing[end - start] = end
    return partners
