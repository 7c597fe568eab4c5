"""What can be measured of a question without an index: cue words, identifiers, quoted text, language."""

from __future__ import annotations

import re

from weft.records import Features
from weft.text.citing import read_citation
from weft.text.normalise import HAN, scripts

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
    r"https?://\S+|\bdoi:\s*\S+|\b10\.[0-9]{4,9}/\S+|\barxiv:\s*\S+|(?<![\w.])[0-9]{4}\.[0-9]{4,5}(?:v[0-9]+)?(?![\w.])"
    r"|(?<![\w-])[A-Za-z0-9]+(?:[-_./:#][A-Za-z0-9]+)+(?![\w-])|(?<!\w)[A-Za-z]+[0-9]+[A-Za-z0-9]*(?!\w)",
    re.IGNORECASE | re.ASCII,
)
_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|„([^“”]+)[“”]|«([^»]+)»|「([^」]+)」|『([^』]+)』|《([^》]+)》")
_HAN = re.compile(f"[{HAN}]")


def read_features(text: str) -> Features:
    """Return what a question shows by itself; what the index knows of it is left empty."""
    text = text[:MAX_TEXT]
    readings = read_citation(text)
    return Features(
        language=find_language(text),
        citation=readings[0].kind if readings else "",
        ids=tuple(dict.fromkeys(filter(_is_id, (match.rstrip(".,;:?!)") for match in _IDENTIFIER.findall(text))))),
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


def _is_id(token: str) -> bool:
    """`SR-052`, `ERR_CONN_RESET` and addresses are ids; `two-hop`, `1965-1970` and `and/or` are words and numbers."""
    if "://" in token:
        return True
    has_letter = any(character.isalpha() for character in token)
    has_digit = any(character.isdigit() for character in token)
    if not has_letter:
        return re.fullmatch(r"[0-9]{4}\.[0-9]{4,5}|10\.[0-9]{4,9}/\S+", token) is not None
    return has_digit or "_" in token
