"""Stop words of questions, and the content words and terms that remain without them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from weft.extract.lexicon import OPENERS, word_set
from weft.records import Word
from weft.text.analyzer import terms
from weft.text.normalise import is_unspaced

QUESTION_WORDS = frozenset(
    """
    who whom whose what when where which why how is are was were did do does has have had can could will would
    in on of at by for from to and or not the a an it he she they this that these those name list both if
    be been as with than more we i you my our your
    的 是 了 吗 呢 谁 哪 什 么 几 何 怎 为 多 少 在 有 和 与 被 由 于 里 些 个 请 问
    什么 多少 哪里 哪些 哪个 如何 怎么 怎样 为何 何时 何处 是否 为什么
    """.split()
)
"""Words that introduce a question and never name its subject."""

FIRST_PERSON = frozenset({"i", "me", "my", "mine", "myself", "我"})
RECALL_WORDS = frozenset({"know", "tell", "say", "about", "remember", "recall", "please", "so", "far"}) | FIRST_PERSON
"""Words that ask for everything known, as in `tell me all you know about X`."""

STOP_WORDS = (
    QUESTION_WORDS
    | RECALL_WORDS
    | OPENERS
    | word_set(
        "there here should may might must shall happen happens happened mean means some many much most often ever very "
        "just also then so into onto over under between during after before up down out off too only other others such "
        "same own"
    )
)
"""Words that occur in questions and texts on any subject."""


MAX_BARE_DIGITS = 2
"""A number of so few digits occurs in texts on any subject."""


def content_terms(found: Iterable[str]) -> tuple[str, ...]:
    """
    Return the terms of a question without those of stop words; empty if only single letters and small numbers remain.

    | question | content terms |
    | --- | --- |
    | `vitamin B` | `vitamin`, `b` |
    | `what is x`, `12`, `是什么` | none |
    """
    stop_terms = _stop_terms()
    kept = tuple(term for term in found if term not in stop_terms and not _is_stop_bigram(term))
    return kept if any(map(_is_selective, kept)) else ()


def _is_stop_bigram(term: str) -> bool:
    """Return True for `是什`, which the analyzer makes of `是什么`."""
    return len(term) == 2 and not term.isascii() and all(character in QUESTION_WORDS for character in term)


def _is_selective(term: str) -> bool:
    """Return False for a single letter of a script with spaces, and for a small number."""
    if term.isdigit():
        return len(term) > MAX_BARE_DIGITS
    return len(term) > 1 or not term.isalpha() or is_unspaced(term)


def is_question_word(word: Word, text: str) -> bool:
    """Return True for `who`. `WHO` is a name, unless the whole text is in capitals."""
    if word.text not in QUESTION_WORDS:
        return False
    written = text[word.start : word.end]
    return len(written) == 1 or not written.isupper() or text.isupper()


@cache
def _stop_terms() -> frozenset[str]:
    return frozenset(term for word in STOP_WORDS for term in terms(word))
