"""
Keys of code entities, and code names in a question.

| name | key |
| --- | --- |
| the class `Command` in `click.core` | `code:click.core.Command` |
| the function `command` in `click.decorators` | `code:click.decorators.command` |
| `Command`, `command`, as short names | `code:Command`, `code:command` |

A short name resolves to its definition only if no other definition of the corpus has it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from weft.records import CODE_PREFIX

MAX_KEY_CHARACTERS = 300
"""Longer qualified names are no entities."""

_NAME = re.compile(r"(?<![\w$@.])[A-Za-z_$][\w$]{0,80}(?:(?:\.|::|/|#)[A-Za-z_$][\w$]{0,80}){0,7}(?:\(\))?")
_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
"""`runCode`, `HTTPServer`; not `URLs`."""


def code_key(name: str) -> str:
    """Return the key of a qualified or short name; case is kept."""
    return CODE_PREFIX + name


def find_code_names(text: str, *, is_code_question: bool, ignored: Collection[str] = ()) -> Iterator[str]:
    """
    Yield the names of a question that may be code entities, as written, without parentheses.

    A plain word counts only in a question for callers, imports and the like, and not if it is in `ignored`.
    """
    for match in _NAME.finditer(text):
        name = match[0].removesuffix("()").replace("#", ".")
        is_like_code = (
            match[0].endswith("()")
            or any(sign in name for sign in "._:$/")
            or _CAMEL.search(name) is not None
            or text[match.start() - 1 : match.start()] == "`"
        )
        if is_like_code or (is_code_question and name.lower() not in ignored):
            yield name
