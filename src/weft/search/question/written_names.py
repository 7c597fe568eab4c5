"""
Names that a question marks as such: in quotation marks, formatted as code, or written like an option.

| question | text | kind | words |
| --- | --- | --- | --- |
| `Does "Foo Bar" reset the ledger?` | `Foo Bar` | `quoted` | `Foo`, `Bar` |
| ``Where is `httpx.AsyncClient`?`` | `httpx.AsyncClient` | `code` | `httpx`, `AsyncClient` |
| ``What does `weft frobnicate x.md` print?`` | `weft frobnicate` | `command` | `weft`, `frobnicate` |
| `What does --dry-run change?` | `--dry-run` | `option` | `dry`, `run` |
| ``Why `x += 1`?`` | none: an expression | | |
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from weft.extract.phrases import find_quoted
from weft.records import WrittenName
from weft.text.normalise import is_unspaced

MAX_QUOTED_WORDS = 5
"""Maximum number of words of a quoted name; a longer text is a sentence or a message with values in it."""

_CODE = re.compile(r"(?<!`)`([^`\n]{1,80})`(?!`)")
_COMMAND = re.compile(r"([A-Za-z_][\w.:-]{1,40}) ([a-z][a-z-]{1,40})(?= |$)")
_NAME = re.compile(r"[A-Za-z_][\w.:#-]{1,79}(?=(?:\(\))?$)")
_OPTION = re.compile(r"(?<![\w-])--([A-Za-z][\w-]{1,40})")
_PART = re.compile(r"[^\W_]+")


def find_written_names(text: str) -> Iterator[WrittenName]:
    """Yield the marked names of a text. Paths and expressions are left out."""
    for option in _OPTION.finditer(text):
        yield WrittenName(option[0], "option", tuple(_PART.findall(option[1])))
    for code in _CODE.finditer(text):
        span = code[1].strip()
        if command := _COMMAND.match(span):
            yield WrittenName(command[0], "command", (command[1], command[2]))
        elif name := _NAME.match(span):
            parts = tuple(re.split(r"[.:#]+", name[0].rstrip(".:#-")))
            yield WrittenName(name[0], "code", parts)
    for quoted in find_quoted(text):
        words = tuple(quoted.text.split())
        if 1 < len(words) <= MAX_QUOTED_WORDS and not is_unspaced(quoted.text):
            yield WrittenName(quoted.text, "quoted", words)
