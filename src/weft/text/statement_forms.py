"""
Normal forms of statements: two statements with the same form say the same, as far as such rules can tell.

| statements | one form |
| --- | --- |
| `provide the estimates in hours`, `give estimates in hours` | yes |
| `favourite colour`, `favorite colors` | yes |
| `before you deploy`, `before deploying` | yes |
| `演示在星期五`, `演示在周五` | yes |
| `use SQLite`, `not use SQLite` | no: a negation is kept |
| `before lunch`, `after lunch`; `Anna calls Boris`, `Boris calls Anna` | no: prepositions and order are kept |

Vectors do not decide: statements that differ in a day or a preposition are as close as rewordings (decision 0094).
"""

from __future__ import annotations

import re
from functools import cache

import Stemmer

from weft.text.normalise import fold

_TOKEN = re.compile(r"[^\W_]+(?:[.:@+#/-]{1,3}[^\W_]+)*(?:\+\+|#)?")
_HOUR = re.compile(r"(?<=\d) (?=[ap]m\b)")
_CONTRACTIONS = (
    ("won't", "will not"), ("cannot", "can not"), ("can't", "can not"), ("n't ", " not "), ("'m ", " "), ("'re ", " "),
    ("'ve ", " "), ("'s ", " "), ("time zone", "timezone"),
)  # fmt: skip
_EMPTY_WORDS = frozenset(
    "a an the please really very just my our your ever also any all now directly generally you to into is are am be "
    "have has been".split()
)
"""Words that may be added to a statement without changing it."""
_SYNONYMS = (
    "give provide", "make create", "delete remove", "edit change modify", "answer reply respond", "check verify",
    "show display", "favourite favorite", "colour color", "licence license", "grey gray", "centre center",
    "postgresql postgres", "eur euro euros", "usd dollar dollars", "love enjoy", "food meal", "need require",
    "1 one", "2 two", "3 three", "4 four", "5 five", "6 six", "7 seven", "8 eight", "9 nine", "10 ten", "12 twelve",
)  # fmt: skip
_CHINESE = (
    ("使用", "用"), ("采用", "用"), ("星期", "周"), ("礼拜", "周"), ("回复", "回答"), ("删掉", "删除"), ("我们", ""),
    ("一个", ""), ("都", ""), ("请", ""), ("了", ""),
)  # fmt: skip


def statement_form(text: str) -> tuple[str, ...]:
    """Return the stems of a statement in order, without empty words and with one word for its synonyms."""
    plain = fold(text).replace("’", "'").replace("_", " ") + " "
    for written, same in (*_CONTRACTIONS, *_CHINESE):
        plain = plain.replace(written, same)
    words = _TOKEN.findall(_HOUR.sub("", plain))
    kept = [word for word in words if word not in _EMPTY_WORDS] or words
    synonyms = _synonyms()
    return tuple(synonyms.get(stem, stem) for stem in _stemmer().stemWords(kept))


def same_predicate(text: str) -> str:
    """Return a predicate with its nouns in the singular and one word for its synonyms: `rule commit secret`."""
    first, *rest = fold(text).replace("_", " ").split() or [""]
    return " ".join(_synonym_words().get(word, word) for word in (first, *map(_singular, rest)))


def _singular(word: str) -> str:
    is_plural = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if is_plural and _stemmer().stemWord(word) == _stemmer().stemWord(word[:-1]) else word


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


@cache
def _synonyms() -> dict[str, str]:
    return {_stemmer().stemWord(word): _stemmer().stemWord(first) for word, first in _synonym_words().items()}


@cache
def _synonym_words() -> dict[str, str]:
    return {word: group.split()[0] for group in _SYNONYMS for word in group.split()}
