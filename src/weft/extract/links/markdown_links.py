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
| code, comments, markup of a flavour | none | |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from weft.extract.sentences import sentences_of_spans
from weft.text.markdown.blocks import Block, Page

MAX_LINKS = 5000
"""Links read from one document; later ones are ignored."""
MAX_LABEL_CHARACTERS = 300

_TAG = re.compile(r"<[^<>]{0,300}>")


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
    """Paragraph that contains the link, for markup whose sentences are found later."""
    offset: int = 0
    """Offset of the link in the paragraph."""
    sentence: str = ""
    """Sentence that contains the link, without markup."""


def find_links(page: Page) -> list[Link]:
    """Return the links of a Markdown page in order."""
    found: list[Link] = []
    for block in page.blocks:
        is_read = block.is_prose or block.info.startswith("[!")  # `> [!info] Needs [[Sync]]`
        if is_read and ("[" in block.text or "<" in block.text):
            found += _block_links(page, block)
        if len(found) >= MAX_LINKS:
            break
    return found[:MAX_LINKS]


def _block_links(page: Page, block: Block) -> Iterator[Link]:
    inline = page.inline(block)
    spans = [span for span in inline.spans if span.kind in ("link", "wikilink") and span.target]
    spans.sort(key=lambda span: (span.line, span.start))
    for span, sentence in zip(spans, sentences_of_spans(inline, spans), strict=True):
        label = "" if span.kind == "wikilink" else _TAG.sub("", span.label)[:MAX_LABEL_CHARACTERS]
        line = block.start + span.line
        yield Link(line, span.target, label, is_wiki=span.kind == "wikilink", sentence=sentence)
