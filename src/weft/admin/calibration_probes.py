"""Probes: questions put to an index that nobody had to write for it, some it can answer and some it cannot."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Literal, TypeVar

from weft.extract.lexicon import STARTERS, ZH_STOPS
from weft.extract.sentences import read_sentences
from weft.records import Chunk
from weft.text.ids import digest
from weft.text.normalise import UNSPACED, fold, is_unspaced

_T = TypeVar("_T")

WINDOW = 12
"""Words of a sentence that a probe looks at; it leaves out every other informative one."""

TOGETHER = 3
"""Words of a sentence that stay together, at most."""

NAME = 4
"""Words of a title that name the subject, at most: the longest piece a probe quotes."""

REPEATED = 3
"""Words, of those a text repeats most, that name its subject where it has no title."""

PIECE = 4
"""Characters of a script without spaces that stay together, at most."""

PIECES = 3
"""Such pieces of a sentence in a probe; up to two of the title stand before them."""

_ASKING = (
    "What kind of {}?", "In which year was {}?", "Who is known for {}?", "What is the main reason for {}?",
    "Where did {} take place?", "How many {} are there?", "What is the name of the {}?", "Which {} is meant?",
    "Why is {} important?", "How does {} work?", "When did {} begin?", "What do we know about {}?",
)  # fmt: skip
_ASKING_HAN = (
    "{}是什么？",
    "{}在哪里？",
    "{}有哪些？",
    "为什么{}？",
    "{}是谁？",
    "{}有多少？",
    "{}是哪一年？",
    "{}怎么样？",
)
_WORD = re.compile(f"[^\\W_{UNSPACED}]+(?:['’.-][^\\W_{UNSPACED}]+)*")
_RUN = re.compile(f"[{UNSPACED}]+")
_HAN_STOP = re.compile(f"[{''.join(sorted(ZH_STOPS))}和与及]")
_SMALL = STARTERS | frozenset("is are was were be been being has have had do does did can could will would may".split())


def make_probe(chunk: Chunk, *, title: str, other: str) -> str:
    """
    Return a question that `chunk` answers, in its own words; empty where it has none to ask about.

    It names the subject, then some informative words of one sentence in their order. One word of `other`, the text of
    another chunk, is among them, for a question is never made of the words of its answer alone. The same chunk gives
    the same question on every machine.
    """
    if is_unspaced(f"{title} {chunk.text}"):
        return _ask_unspaced(chunk, title)
    return _ask_spaced(chunk, title, other)


@cache
def foreign_questions(language: Literal["en", "zh"]) -> tuple[str, ...]:
    """Return everyday questions about many subjects, none of which a given index is likely to be about."""
    text = (resources.files("weft.admin") / f"foreign_{language}.txt").read_text("utf-8")
    return tuple(line for line in text.splitlines() if line)


# ── scripts with spaces ─────────────────────────────────────────────────────────────────────────


def _ask_spaced(chunk: Chunk, title: str, other: str) -> str:
    lines = [_WORD.findall(sentence.text) for sentence in read_sentences(chunk.text, form="markdown")]
    long = [line for line in lines if len(line) > TOGETHER] or lines[:1] or [[]]
    line = _draw(long, seed=chunk.id, purpose="sentence")
    start = _number(chunk.id, "window") % max(1, len(line) - WINDOW + 1)
    subject = _subject(chunk, title)
    known = {fold(word) for word in subject}
    detail = [word for word in _thin(line[start : start + WINDOW], seed=chunk.id) if fold(word) not in known]
    if not subject and not detail:
        return ""
    strange = [word for word in _WORD.findall(other) if not _is_small(word)]
    # between subject and detail, so that no more than either is quoted
    words = [*subject, *([_draw(strange, seed=chunk.id, purpose="strange")] if strange else ()), *detail]
    return _draw(_ASKING, seed=chunk.id, purpose="form").format(" ".join(words))


def _subject(chunk: Chunk, title: str) -> list[str]:
    """Return the first words of the title or of the heading, else the informative words the text repeats most."""
    named = [words for words in map(_WORD.findall, (title, *chunk.heading[-1:])) if words]
    if named:
        return _draw(named, seed=chunk.id, purpose="subject")[:NAME]
    words = [word for word in _WORD.findall(chunk.text) if len(word) > 2 and not _is_small(word)]
    counts = Counter(map(fold, words))
    first = {fold(word): at for at, word in reversed(list(enumerate(words)))}
    best = sorted(counts, key=lambda word: (-counts[word], first[word]))[:REPEATED]
    return [words[at] for at in sorted(first[word] for word in best)]


def _thin(line: Sequence[str], *, seed: str) -> list[str]:
    """Return the words of a line without half of the informative ones and without small words at its ends."""
    informative = [at for at, word in enumerate(line) if not _is_small(word)]
    drawn = sorted(informative, key=lambda at: _number(seed, f"leave out {at}"))
    gone = set(drawn[: len(drawn) // 2])
    kept: list[str] = []
    together = 0
    for at, word in enumerate(line):
        if at in gone or together == TOGETHER:
            together = 0
        else:
            kept.append(word)
            together += 1
    telling = [at for at, word in enumerate(kept) if not _is_small(word)]
    return kept[telling[0] : telling[-1] + 1] if telling else []


def _is_small(word: str) -> bool:
    return fold(word) in _SMALL


# ── scripts without ─────────────────────────────────────────────────────────────────────────────


def _ask_unspaced(chunk: Chunk, title: str) -> str:
    """Pieces that did not stand together make pairs of characters the text does not have: strange enough."""
    # every other piece, so that no two that stand together are quoted as one
    lines = [_pieces(sentence.text)[::2] for sentence in read_sentences(chunk.text, form="markdown")]
    long = [line for line in lines if len(line) > 1] or lines[:1] or [[]]
    line = _draw(long, seed=chunk.id, purpose="sentence")
    drawn = sorted(range(len(line)), key=lambda at: _number(chunk.id, f"keep {at}"))[:PIECES]
    named = [pieces for pieces in map(_pieces, (title, *chunk.heading[-1:])) if pieces]
    subject = _draw(named, seed=chunk.id, purpose="subject")[:2] if named else _most_repeated(chunk.text)
    words = [*subject, *(line[at] for at in sorted(drawn) if line[at] not in subject)]
    return _draw(_ASKING_HAN, seed=chunk.id, purpose="form").format("".join(words)) if words else ""


def _most_repeated(text: str) -> list[str]:
    pairs = Counter(run[at : at + 2] for run in _runs(text) for at in range(len(run) - 1))
    return sorted(pairs, key=lambda pair: (-pairs[pair], text.find(pair)))[:1]


def _pieces(text: str) -> list[str]:
    cut = [run[at : at + PIECE] for run in _runs(text) for at in range(0, len(run), PIECE)]
    return [piece for piece in cut if len(piece) > 1]


def _runs(text: str) -> list[str]:
    return [run for found in _RUN.findall(text) for run in _HAN_STOP.split(found) if len(run) > 1]


# ── chance without chance ───────────────────────────────────────────────────────────────────────


def _draw(choices: Sequence[_T], *, seed: str, purpose: str) -> _T:
    return choices[_number(seed, purpose) % len(choices)]


def _number(seed: str, purpose: str) -> int:
    """Return a large number that depends on nothing else; the module `random` promises less."""
    return int(digest((seed, purpose), size=8), 16)
