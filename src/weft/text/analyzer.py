"""
Text analyzer: the index terms of a text. All stores, indexing and search share it.

| text | terms | rule |
| --- | --- | --- |
| `Cafés` | `cafe` | case, width, accents and script are folded, English endings are stemmed |
| `gpt-4o` | `gpt-4o` `gpt` `4o` | an identifier gives itself and its parts |
| `parseHTML` | `parsehtml` `pars` `html` | so does camel case |
| `图检索` | `图` `检` `索` `图检` `检索` | an unspaced script gives characters and bigrams; a question only bigrams |
| `重跑gen-itgc后` | those of `重跑`, of `gen-itgc` and of `后` | an unspaced run ends where ASCII begins |

Unspaced scripts are Chinese, Japanese, Thai, Lao, Burmese and Khmer; Korean is treated like them.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache

import Stemmer

from weft.text.normalise import MARKS, UNSPACED, fold

VERSION = 3
"""Part of every content hash. A new version makes `weft index` process every document again."""

MAX_TERM_CHARACTERS = 120
"""A longer run (a path, base64, minified code) gives only its parts, each cut to this length."""

_LETTER = f"[^\\W_{UNSPACED}]"
_LETTERS = f"{_LETTER}+(?:[{MARKS}]+{_LETTER}*)*"
_INNER = f"[^\\W_]+(?:[{MARKS}]+[^\\W_]*)*"
"""`_LETTERS` for words that are known to have no unspaced script. This pattern compiles much faster."""


@cache
def _token(letters: str) -> re.Pattern[str]:
    return re.compile(
        f"(?P<unspaced>[{UNSPACED}]+)"
        # letters and digits, joined by the punctuation of identifiers; C++, C#, F#
        f"|(?P<word>{letters}(?:[-._:/@&'’+#\\\\]{{1,2}}{letters}|_+{letters})*(?:\\+\\+|#)?)"
        # emoji and symbols are terms; a flag is two regional indicators, a skin tone is not a term
        "|(?P<symbol>[\U0001f1e6-\U0001f1ff]{2}"
        "|[\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff])"
    )


_TOKEN = _token(f"{_LETTER}+")
_PLAIN_WORD = re.compile(r"[^\W_]+(?:[-._:/@&'’+#\\]{1,2}[^\W_]+|_+[^\W_]+)*(?:\+\+|#)?")
"""The only tokens of Latin text without symbols."""
_NOT_PLAIN = re.compile("[^\x00-\u02ff\u2010-\u2027]")
_MARK = re.compile(f"[{MARKS}]")
_PART = re.compile(_INNER)
_CAMEL_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NUMBER = re.compile(r"(?<!\d)\d+(?:\.\d+)+")
_SIGNED_LETTER = re.compile(r"\b[a-z](?:\+\+|#)")
_INITIALS = re.compile(r"[^\W_](?:\.[^\W_])+")
_APOSTROPHE = re.compile(r"['’](?:s|S)$|['’]")
_ELIDED = re.compile(f"['’]({_INNER})")
_INVISIBLE = re.compile("[\u00ad\u200c\u200d\u2060\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]")
_STEMMER = Stemmer.Stemmer("english", 0)  # `_stem` has the cache

_QUESTION_WORDS = (
    "为什么|什么样?|甚么|哪[些个里儿位种年]?|谁|多少|几[个年次位种]?|如何|怎么样?|怎样|为何|何[时地处人]"
    "|是否|吗|呢|的|是"
)
_NOT_QUESTION_WORDS = "目的地?|标的|的士|的确|的黎波里|几何|几乎|几内亚|任何|是非"
"""Words that contain the characters of a question word but are not one."""
_QUESTION_WORD = re.compile(f"(?P<kept>{_NOT_QUESTION_WORDS})|{_QUESTION_WORDS}")
"""Question words in simplified Chinese. Runs are folded before they are matched."""


def terms(text: str) -> list[str]:
    """Return the terms of a document's `text` in order, with repetitions."""
    found: list[str] = []
    unified = _unify(text)
    if unified.isascii() or not _NOT_PLAIN.search(unified):  # nearly all English texts
        for run in _PLAIN_WORD.findall(unified):
            found += _identifier_terms(run) if len(run) <= MAX_TERM_CHARACTERS else _word_terms(run)
        return found
    for match in _tokens(unified):
        run = match.group()
        if match.lastgroup == "unspaced":
            run = fold(run)
            found += run
            found += (run[i : i + 2] for i in range(len(run) - 1))
        elif match.lastgroup == "word":
            found += _word_terms(run)
        else:
            found.append(run)
    return found


def query_terms(text: str) -> list[str]:
    """
    Return the distinct terms to search for, in order.

    A single unspaced character is a term; a longer run gives only its bigrams, which are more selective. Chinese
    question words split a run: `蓍的别名是什么` gives `蓍` and `别名`.
    """
    found: dict[str, None] = {}
    for match in _tokens(_unify(text)):
        run = match.group()
        if match.lastgroup == "unspaced":
            for part in split_at_question_words(fold(run)):
                found |= dict.fromkeys((part[i : i + 2] for i in range(len(part) - 1)) if len(part) > 1 else part)
        elif match.lastgroup == "word":
            found |= dict.fromkeys(_word_terms(run))
        else:
            found[run] = None
    return list(found)


def count_terms(text: str) -> Counter[str]:
    """Return the frequency of each term of a document's `text`."""
    return Counter(terms(text))


def split_at_question_words(run: str) -> list[str]:
    """
    Return the parts of a Chinese run between its question words, or the whole run if nothing else is left.

    Bigrams across a question word (`蝉的`, `是谁`) carry no content.
    """
    return _QUESTION_WORD.sub(lambda match: match["kept"] or " ", run).split() or [run]


def _unify(text: str) -> str:
    """Return `text` in NFKC without invisible characters, which would split a word."""
    if text.isascii():
        return text
    visible = _INVISIBLE.sub("", text).replace("™", " ")  # NFKC would turn `Lego™` into `LegoTM`
    return unicodedata.normalize("NFKC", visible)


def _tokens(unified: str) -> Iterator[re.Match[str]]:
    """Yield the tokens of a text that `_unify` returned."""
    # the pattern with combining marks takes twice the time
    return (_token(_LETTERS) if not unified.isascii() and _MARK.search(unified) else _TOKEN).finditer(unified)


def _word_terms(run: str) -> tuple[str, ...]:
    """Return the terms of one word or identifier: the whole, then its parts."""
    if len(run) <= MAX_TERM_CHARACTERS:
        return _identifier_terms(run)
    return tuple(_stem(fold(part)[:MAX_TERM_CHARACTERS]) for part in _PART.findall(run))


@lru_cache(maxsize=65536)
def _identifier_terms(run: str) -> tuple[str, ...]:
    plain = _APOSTROPHE.sub("", run)
    whole = fold(plain)
    # `l'homme` is found by `homme`; the ending of `don't` or `we'll` is not a word
    elided = [part for part in _ELIDED.findall(run) if len(part) > 2]
    if whole.isalpha() and _is_plain(plain) and not elided:
        return (_stem(whole),)
    found = [whole, *_NUMBER.findall(whole), *_SIGNED_LETTER.findall(whole)]
    if _INITIALS.fullmatch(whole):
        found.append(whole.replace(".", ""))
    for part in _PART.findall(plain):
        found.append(_stem(fold(part)))
        found += (_stem(fold(piece)) for piece in _CAMEL_BOUNDARY.split(part) if 1 < len(piece) < len(part))
    found += (_stem(fold(part)) for part in elided)
    return tuple(dict.fromkeys(found))


def _is_plain(word: str) -> bool:
    return word.islower() or word.isupper() or word.istitle() or word.lower() == word.upper()


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    stem: str = _STEMMER.stemWord(word)
    return stem
