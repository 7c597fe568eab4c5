"""Features of a question that need no index: cue words, identifiers, quoted parts, language."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from weft.records import Features, FoundId, Question
from weft.text.normalise import scripts

MAX_CHARACTERS = 2000
"""Maximum number of characters of a question in which features are searched."""

_COMPARISON = re.compile(
    r"\b(?:vs|versus|compar(?:e|es|ed|ing|ison|isons)|contrast(?:s|ed|ing)?|differences?|differs?|distinguish(?:es)?"
    r"|(?:better|worse|faster|slower|older|younger|larger|smaller|earlier|later|more|less) than|pros and cons)\b"
    r"|对比|對比|相比|区别|區別|差别|差別|差异|差異|异同|異同|优劣|優劣|孰|哪个更|哪個更"
    r"|比较[^。？]*(?:和|与|跟)|比較[^。？]*(?:和|與|跟)|(?:和|与|與|跟)[^。？]*(?:比较|比較)(?:$|[？。])",
    re.IGNORECASE,
)
_OVERVIEW = re.compile(
    r"\b(?:overviews?|surveys?|summar(?:y|ies|ise|ize)|state of the art|landscape|big picture|introduction to|outlines?"
    r"|(?:literature )?review of|main (?:themes|topics|ideas))\b"
    r"|综述|綜述|概述|概览|概覽|概况|概況|总结|總結|总览|總覽|全貌|现状|現狀|介绍一下|介紹一下",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(
    r"(?<![\w-])[A-Za-z0-9]+(?:[-_./:#][A-Za-z0-9]+)+(?![\w-])|(?<!\w)[A-Za-z]+[0-9]+[A-Za-z0-9]*(?!\w)",
    re.IGNORECASE | re.ASCII,
)
_QUOTE_PAIRS = (('"', '"'), ("“", "”"), ("«", "»"), ("「", "」"), ("『", "』"), ("《", "》"))
_QUOTED = re.compile(
    "|".join(f"{first}([^{last}]{{1,120}}){last}" for first, last in _QUOTE_PAIRS) + "|„([^“”]{1,120})[“”]"
)


def read_features(question: Question) -> Features:
    """Return the features of a question; the fields that need an index stay empty."""
    text = question.text[:MAX_CHARACTERS]
    return Features(
        language=find_language(question.scripts if len(text) == len(question.text) else scripts(text)),
        citation=question.citations[0].kind if question.citations else "",
        ids=_find_ids(text, [id for id in question.paper_ids if id.end <= MAX_CHARACTERS]),
        quoted=tuple(next(filter(None, groups)) for groups in _QUOTED.findall(text)),
        comparison=_COMPARISON.search(text) is not None,
        overview=_OVERVIEW.search(text) is not None,
    )


def find_language(shares: Mapping[str, float]) -> str:
    """Return `zh` for mostly Han letters, `en` for mostly Latin ones, else the main script; empty without letters."""
    if not shares:
        return ""
    main = max(shares, key=lambda name: (shares[name], name))
    return {"han": "zh", "latin": "en"}.get(main, main)


def _find_ids(text: str, papers: Sequence[FoundId]) -> tuple[str, ...]:
    """Return paper ids in canonical form, then other identifiers as written."""
    rest = list(text)
    for found in papers:
        rest[found.start : found.end] = " " * (found.end - found.start)
    others = (match[0] for match in _IDENTIFIER.finditer("".join(rest)) if _is_id(match[0]))
    return tuple(dict.fromkeys([*(found.id for found in papers), *others]))


def _is_id(token: str) -> bool:
    """Return True for `SR-052` and `ERR_CONN_RESET`; False for `two-hop`, `1965-1970` and `and/or`."""
    has_digit = any(character.isdigit() for character in token)
    return any(character.isalpha() for character in token) and (has_digit or "_" in token)
