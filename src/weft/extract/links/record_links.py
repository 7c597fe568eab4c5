"""Links by the number of a record: `PEP 484`, `ADR-0012`. They lead to a page if one carries that number."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from weft.extract.links.markdown_links import Link
from weft.extract.links.page_targets import NAME
from weft.text.record_numbers import find_numbers

MAX_RECORD_LINKS = 500
"""Mentions of records read from one document."""


def find_record_links(text: str, *, code: Collection[int]) -> Iterator[Link]:
    """Yield the mentions of records outside the lines of code, at most one of each record and line."""
    count = 0
    for index, line in enumerate(text.split("\n")):
        if index in code:
            continue
        for offset, written, record in find_numbers(line):
            yield Link(index, record.address, written, kind=NAME, block=line, offset=offset)
            count += 1
            if count == MAX_RECORD_LINKS:
                return
