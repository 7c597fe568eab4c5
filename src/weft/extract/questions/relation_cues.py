"""
Relation types that a question asks for.

| question | types |
| --- | --- |
| `who directed Heat` | `directed_by`, `directed` |
| `what breaks if Redis goes down` | `depended_on_by`, `used_by`, `called_by`, `affects`, … |
| `谁依赖登录服务` | the same, and `depends_on`, `uses`, … |
| `who calls Command.invoke`, `谁调用 Command.invoke` | `called_by` |
| `what does Command.invoke call` | `calls` |
| `which tests cover the parser` | `tested_by` |
| `why was parser.py changed` | `changed_in`, `caused_by`, `caused` |
| `how do I bake bread` | none |
"""

from __future__ import annotations

import re

from weft.extract.relation_types import QUESTION_CUES
from weft.text.simplified import simplify

_ENGLISH, _CHINESE = (
    tuple((re.compile(cue[language]), frozenset(cue[2].split())) for cue in QUESTION_CUES if cue[language])
    for language in (0, 1)
)

MAX_QUESTION_CHARACTERS = 2000
"""Maximum number of characters of a question that are searched."""


def relation_types(text: str) -> frozenset[str]:
    """Return the relation types that a question asks for, in the direction from the entities in the question."""
    plain = simplify(text[:MAX_QUESTION_CHARACTERS]).lower()
    patterns = _ENGLISH if plain.isascii() else _ENGLISH + _CHINESE
    return frozenset().union(*[types for pattern, types in patterns if pattern.search(plain)])
