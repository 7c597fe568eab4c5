"""What can be measured of a question without an index: cue words, identifiers, quoted text, language."""

from __future__ import annotations

import re

from weft.extract.papers.citation_questions import read_citation
from weft.extract.papers.paper_ids import find_ids
from weft.records import Features
from weft.text.normalise import scripts

MAX_TEXT = 2000
"""Characters of a question that are read."""

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
_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|「([^」]+)」|『([^』]+)』|《([^》]+)》")


def read_features(text: str) -> Features:
    """Return what a question shows by itself; what the index knows of it is left empty."""
    text = text[:MAX_TEXT]
    readings = read_citation(text)
    return Features(
        language=find_language(text),
        citation=readings[0].kind if readings else "",
        ids=_find_ids(text),
        quoted=tuple(next(filter(None, groups)) for groups in _QUOTED.findall(text)),
        comparison=_COMPARISON.search(text) is not None,
        overview=_OVERVIEW.search(text) is not None,
    )


def find_language(text: str) -> str:
    """Return `zh` for text that is mostly Chinese, `en` for mostly Latin text, else the main script."""
    shares = scripts(text)
    if not shares:
        return ""
    main = max(shares, key=lambda name: (shares[name], name))
    return {"han": "zh", "latin": "en"}.get(main, main)


def _find_ids(text: str) -> tuple[str, ...]:
    """Return the ids of papers, canonical, then other identifiers as they are written."""
    papers = find_ids(text)
    rest = list(text)
    for found in papers:
        rest[found.start : found.end] = " " * (found.end - found.start)
    others = (match[0] for match in _IDENTIFIER.finditer("".join(rest)) if _is_id(match[0]))
    return tuple(dict.fromkeys([*(found.id for found in papers), *others]))


def _is_id(token: str) -> bool:
    """`SR-052` and `ERR_CONN_RESET` are ids; `two-hop`, `1965-1970` and `and/or` are words and numbers."""
    has_digit = any(character.isdigit() for character in token)
    return any(character.isalpha() for character in token) and (has_digit or "_" in token)
