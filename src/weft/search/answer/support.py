"""Reading of a written answer: its sentences as they arrive, and which of them the cited passages support."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from weft.records import Evidence, WrittenSentence
from weft.search.question.content_terms import STOP_WORDS
from weft.text.analyzer import terms
from weft.text.split import indexed_text

NO_ANSWER = "NO ANSWER"
"""Reply of a model that finds no answer in the passages; the prompt demands it."""
MAX_SENTENCES = 5
MAX_SENTENCE_CHARACTERS = 600
MIN_SUPPORTED_SHARE = 0.5
"""Minimum share of the words of a sentence that the cited passages must contain."""

_REFERENCES = re.compile(r"[ \t]?\[(\d{1,3}(?:, ?\d{1,3}){0,9})\]")
_DIGITS = re.compile(r"\d+")


def read_sentences(pieces: Iterable[str], *, passages: Sequence[Evidence]) -> Iterator[WrittenSentence]:
    """
    Yield the sentences of a reply, one per line, as soon as each is complete; at most `MAX_SENTENCES`.

        The rotation runs at 02:00 [2][3].   → text without numbers, citations of passages 2 and 3
        NO ANSWER                            → nothing
    """
    count = 0
    for line in _lines(pieces):
        if NO_ANSWER in line.upper() or count == MAX_SENTENCES:
            return
        if (sentence := _read(line, passages)) is not None:
            count += 1
            yield sentence


def is_supported(text: str, sources: Sequence[str]) -> bool:
    """Return True if the sources contain all numbers of a text and at least half of its words."""
    if not sources:
        return False
    known, digits = set(), set()
    for source in sources:
        known.update(terms(source))
        digits.update(_DIGITS.findall(source))
    wanted = [term for term in terms(text) if term not in STOP_WORDS]
    if not wanted or not digits.issuperset(_DIGITS.findall(text)):
        return False
    return sum(term in known for term in wanted) >= MIN_SUPPORTED_SHARE * len(wanted)


def _lines(pieces: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a text that arrives in pieces; a line that is too long is cut."""
    pending = ""
    for piece in pieces:
        pending += piece
        *whole, pending = pending.split("\n")
        yield from whole
        if len(pending) > MAX_SENTENCE_CHARACTERS:
            yield pending
            return
    yield pending


def _read(line: str, passages: Sequence[Evidence]) -> WrittenSentence | None:
    """Return a line as a sentence with the passages that it cites; None for a line without words."""
    numbers = [int(number) for match in _REFERENCES.finditer(line) for number in match[1].split(",")]
    text = _REFERENCES.sub("", line).strip(" \t-*•")[:MAX_SENTENCE_CHARACTERS]
    if not any(character.isalnum() for character in text):
        return None
    cited = [passages[number - 1] for number in dict.fromkeys(numbers) if 1 <= number <= len(passages)]
    sources = [indexed_text(piece.document.title, piece.chunk.heading, piece.chunk.text) for piece in cited]
    citations = tuple(piece.citation for piece in cited)
    return WrittenSentence(text=text, citations=citations, is_supported=is_supported(text, sources))
