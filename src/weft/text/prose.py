"""Prose of a text: the lines outside fenced code, without code spans, HTML tags and addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from weft.text.links import blank_inline_code, replace_links
from weft.text.markdown.blocks import fenced_lines
from weft.text.normalise import count_letters

_MARKUP = re.compile(r"<[^<>]{1,300}>|\b[a-z]{2,10}://\S+")


def prose_lines(text: str) -> Iterator[str]:
    """Yield the lines of prose of a Markdown or plain text."""
    code = fenced_lines(text)
    for index, line in enumerate(text.split("\n")):
        if index not in code:
            yield _MARKUP.sub(" ", replace_links(blank_inline_code(line)))


def prose_scripts(texts: Iterable[str]) -> dict[str, float]:
    """Return the share of each script among the letters of the prose of several texts; empty without letters."""
    counts: dict[str, int] = {}
    for text in texts:
        for name, count in count_letters("\n".join(prose_lines(text))).items():
            counts[name] = counts.get(name, 0) + count
    total = sum(counts.values())
    return {name: count / total for name, count in sorted(counts.items())}
