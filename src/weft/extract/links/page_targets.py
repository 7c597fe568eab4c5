"""
Targets of links that a loader found: labels and names that a page defines.

    PageLink(12, "label:limits", "Limits", "target")       the section `Limits`, if its heading is on line 12
    PageLink(30, "py:flask.Flask", "flask.Flask", "target")     line 30
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace

from weft.extract.links.anchors import Anchor
from weft.extract.links.page_keys import normal_anchor
from weft.records import Document

NAME = "name"
"""Kind of a link whose address is a name that some page may define."""
TARGET = "target"
"""Kind of a link that is the target of others."""

_LABEL = "label:"


def target_anchors(document: Document, headings: Sequence[Anchor]) -> Iterator[Anchor]:
    """Yield the parts of a page that its labels and names stand for; a label above a heading is one of its section."""
    sections = {anchor.start: anchor for anchor in reversed(headings)}
    lines = document.text.split("\n")
    last = len(lines) - 1
    first_names: dict[tuple[int, str], str] = {}
    ids: dict[str, dict[str, int]] = {}
    for link in document.links:
        if link.kind != TARGET or link.address.startswith("record:"):  # a number names the whole page
            continue
        is_name = not link.address.startswith(_LABEL)
        label = link.address if is_name else link.address.removeprefix(_LABEL)
        at = link.line - 1 if document.lines is None else bisect_left(document.lines, link.line)
        at = min(at, last)
        while at < last and not lines[at].strip():  # an empty line has the number of the line below
            at += 1
        if at in sections:
            yield replace(sections[at], label=label, is_name=is_name, is_section=link.label != "")
            continue
        id = normal_anchor(first_names.setdefault((at, link.label), label))
        spellings = ids.setdefault(id, {})  # `flask.Request` and `flask.request` are two names
        number = spellings.setdefault(link.label, len(spellings))
        if id:
            yield Anchor(
                f"{id}{number or ''}",
                link.label or label,
                at,
                at,
                label=label,
                is_name=is_name,
                is_section=link.label != "",
            )
