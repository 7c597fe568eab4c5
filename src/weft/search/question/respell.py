"""
Names of a question that the namespace spells with other letters: `Sorensen` for `Sørensen`, `Joerg` for `Jörg`.

| question | text | letters |
| --- | --- | --- |
| `Sorensen`, `Soerensen` | `Sørensen` | without the stroke, or written as two letters |
| `Joerg` | `Jörg` | two letters for an umlaut; `Jorg` is the same term anyway |
| `Sørensen`, `Jörg` | `Sorensen`, `Joerg` | the other way round |
| `Poet` | `pot` | none: the text has no special letter |

Stored keys are unchanged. A word is respelled only if no chunk contains it and a chunk contains the other spelling.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from weft.records import Filter, Question, Word
from weft.search.question.content_terms import STOP_WORDS
from weft.search.question.read import read_question
from weft.store.base import StoreReader
from weft.text.analyzer import query_terms
from weft.text.normalise import fold
from weft.text.searchable_metadata import metadata_text

MAX_WORDS = 4
"""Maximum number of words that are looked up, in the order of the question."""

MIN_CHARACTERS = 4
MAX_CHARACTERS = 40
"""Length of a looked-up word."""

MAX_VARIANTS = 20
"""Maximum number of looked-up spellings of a word."""

MAX_HOLDERS = 3
"""Maximum number of chunks in which a spelling is confirmed."""

_AS_ONE = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ß": "ss"})
_AS_TWO = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "æ": "ae", "œ": "oe", "þ": "th", "ß": "ss"}
)
_INDEXED = {
    "oe": ("o", "ø", "œ"), "ae": ("a", "æ"), "ue": ("u",), "aa": ("a",), "th": ("þ",), "o": ("ø",), "l": ("ł",),
    "d": ("đ", "ð"), "i": ("ı",),
}  # fmt: skip
"""Letters of a question, and the letters of an index term that may be meant. Index terms have no umlauts."""


def respell_names(question: Question, store: StoreReader) -> Question:
    """Return the question with the spellings that the namespace uses."""
    words = [word for word in _find_words(question) if _is_candidate(word)][:MAX_WORDS]
    own = {word: query_terms(word.text)[:1] for word in words}
    terms = [*question.terms, *(term for terms in own.values() for term in terms)]  # those of the search as well
    counts = store.keyword_statistics(terms).counts if words else {}
    text = question.text
    for word in reversed(words):
        if own[word] and not counts.get(own[word][0]):
            written = next(_letters(question.text[word.start : word.end]), "")  # without `'s`
            text = text[: word.start] + (_find_spelling(written, store) or written) + text[word.start + len(written) :]
    return read_question(text) if text != question.text else question


def _find_words(question: Question) -> list[Word]:
    """Return the words written like names, or all words of a question without any."""
    return [word for word in question.words if word.is_name_like] or list(question.words)


def _is_candidate(word: Word) -> bool:
    is_usual = MIN_CHARACTERS <= len(word.text) <= MAX_CHARACTERS and word.text.isalpha()
    return is_usual and word.text not in STOP_WORDS and all(character < "\u0250" for character in word.text)


def _find_spelling(written: str, store: StoreReader) -> str:
    """Return the spelling of a word in the namespace; empty if no chunk contains another spelling."""
    terms = list(dict.fromkeys(term for variant in _variants(written) for term in query_terms(variant)[:1]))
    counts = store.keyword_statistics(terms).counts if terms else {}
    wanted = _readings(written)
    for term in terms:
        if counts.get(term):
            hits = store.search_keyword([term], limit=MAX_HOLDERS, where=Filter()).hits
            for text in _texts([hit.chunk_id for hit in hits], store):
                for word in _letters(text):
                    if wanted & _readings(word) and query_terms(word)[:1] == [term]:
                        return word
    return ""


def _readings(word: str) -> set[str]:
    """Return a word without special letters, in all transliterations."""
    composed = unicodedata.normalize("NFC", word).casefold()
    return {fold(composed.translate(table)) for table in (_AS_ONE, _AS_TWO)} | {fold(composed)}


def _variants(written: str) -> Iterator[str]:
    """Yield other spellings of a word: its transliterations, then those with one or all of its letters replaced."""
    folded = fold(written)
    found = dict.fromkeys(sorted(_readings(written) - {folded}))
    for letters, others in _INDEXED.items():
        places = [at for at in range(len(folded)) if folded.startswith(letters, at)]
        for other in others if places else ():
            found |= {folded[:at] + other + folded[at + len(letters) :]: None for at in places}
            found[folded.replace(letters, other)] = None
    yield from list(found)[:MAX_VARIANTS]


def _texts(chunk_ids: list[str], store: StoreReader) -> Iterator[str]:
    for chunk, document in store.passages.with_documents(chunk_ids):
        yield "\n".join([chunk.text, *chunk.heading, document.title, metadata_text(document.metadata)])


def _letters(text: str) -> Iterator[str]:
    """Yield the words of a text."""
    ends = [-1, *(at for at, character in enumerate(text) if not character.isalpha()), len(text)]
    for before, after in pairwise(ends):
        if after - before > 1:
            yield text[before + 1 : after]
