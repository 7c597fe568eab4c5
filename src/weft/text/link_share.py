"""
Share of a text that is links and headings: 1 for a table of contents, about 0 for prose.

| text | share |
| --- | --- |
| `- [Install](#install)` | 1 |
| `## Install`, an empty line, `## Upgrade` | 1 |
| `3.2 Upgrade ........ 17` | 1: a line of a printed table of contents |
| `- [Install](#install): download and unpack the archive` | 0.2 |
| `Read [the guide](guide.md) before you start.` | 0.3 |
| a comment `# install` inside a code block | 0 |
"""

from __future__ import annotations

import re
from functools import lru_cache

from weft.text.links import MARKDOWN_LINK_PATTERN, WIKILINK_PATTERN, link_label
from weft.text.markdown.blocks import fenced_lines

_LINK = re.compile(f"{WIKILINK_PATTERN}|{MARKDOWN_LINK_PATTERN}|(?P<url>https?://[^\\s<>()]{{1,500}})")
_HEADING = re.compile(r"#{1,6} ")
_PAGE_NUMBER = re.compile(r"(?:\.{4}|(?: \.){4}|…)[. …]{0,200}\d{1,5}$")
_NO_SIGNS = {code: None for code in range(128) if not chr(code).isalnum()}
_SIGNS = ("](", "[[", "://", "# ", "....", ". . .", "…")
"""Texts without any of these have no link and no heading."""


def is_link_list(text: str, *, min_share: float) -> bool:
    """
    Return True if at least a share of letters and digits is in labels of links, web addresses and headings.

    Reading stops at the line from which on too much other text is known.
    """
    return any(sign in text for sign in _SIGNS) and _has_share(text, min_share)


@lru_cache(maxsize=2048)
def _has_share(text: str, min_share: float) -> bool:
    """Return the same for a text with such signs. Long lists take a millisecond, and many questions find them."""
    inside, outside, is_start = 0, 0, True
    most, code = (1 - min_share) * _count(text), fenced_lines(text)
    for index, line in enumerate(map(str.strip, text.split("\n"))):
        if index in code:
            outside += _count(line)
        elif (is_start and _HEADING.match(line)) or _PAGE_NUMBER.search(line[-240:]):
            inside += _count(line)
        elif "](" not in line and "[[" not in line and "://" not in line:
            outside += _count(line)
        else:
            inside += sum(_count(_label(match)) for match in _LINK.finditer(line))
            outside += _count(_LINK.sub("", line))
        if outside > most:  # labels are a part of the text, so `inside` cannot make up for it
            return False
        is_start = not line  # in code of other languages a `#` line follows other lines
    return inside > 0 and inside >= min_share * (inside + outside)


def _label(match: re.Match[str]) -> str:
    if wiki := match["wiki"]:
        return link_label(wiki)
    return match["label"] or match["url"] or ""


def _count(text: str) -> int:
    """Return the number of letters and digits. Most lines are plain, and a translation is faster than a loop."""
    return len(text.translate(_NO_SIGNS)) if text.isascii() else sum(map(str.isalnum, text))
