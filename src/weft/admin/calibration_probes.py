"""Probes for calibration: questions generated from chunks, and foreign questions without an answer."""

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

WINDOW_WORDS = 12
"""Number of words of a sentence used for a probe. Half of the content words are then dropped."""

MAX_QUOTED_WORDS = 3
"""Maximum number of consecutive words quoted from a sentence."""

MAX_TITLE_WORDS = 4
"""Maximum number of title words used as the subject, the longest quotation in a probe."""

MAX_REPEATED_WORDS = 3
"""Maximum number of frequent words used as the subject if there is no title."""

PIECE_CHARACTERS = 4
"""Length in characters of a quoted piece in a script without spaces."""

MAX_PIECES = 3
"""Maximum number of quoted pieces per probe, after up to two pieces of the title."""

_TEMPLATES = (
    "What kind of {}?", "In which year was {}?", "Who is known for {}?", "What is the main reason for {}?",
    "Where did {} take place?", "How many {} are there?", "What is the name of the {}?", "Which {} is meant?",
    "Why is {} important?", "How does {} work?", "When did {} begin?", "What do we know about {}?",
)  # fmt: skip
_TEMPLATES_HAN = (
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
_FUNCTION_WORDS = STARTERS | frozenset(
    "is are was were be been being has have had do does did can could will would may".split()
)


def make_probe(chunk: Chunk, *, title: str, other: str) -> str:
    """
    Return a question that `chunk` answers, generated from its words; empty if it has no content words.

    The question has a subject, then content words of one sentence in their order. One word comes from `other`, the
    text of another chunk, because real questions contain words that their answers lack. The same chunk gives the same
    question on every machine.
    """
    if is_unspaced(f"{title} {chunk.text}"):
        return _ask_unspaced(chunk, title)
    return _ask_spaced(chunk, title, other)


@cache
def foreign_questions(language: Literal["en", "zh"]) -> tuple[str, ...]:
    """Return everyday questions about many subjects that an index is unlikely to answer."""
    text = (resources.files("weft.admin") / f"foreign_questions_{language}.txt").read_text("utf-8")
    return tuple(line for line in text.splitlines() if line)


# ── scripts with spaces ─────────────────────────────────────────────────────────────────────────


def _ask_spaced(chunk: Chunk, title: str, other: str) -> str:
    lines = [_WORD.findall(sentence.text) for sentence in read_sentences(chunk.text, form="markdown")]
    long = [line for line in lines if len(line) > MAX_QUOTED_WORDS] or lines[:1] or [[]]
    line = _draw(long, seed=chunk.id, purpose="sentence")
    start = _number(chunk.id, "window") % max(1, len(line) - WINDOW_WORDS + 1)
    subject = _subject(chunk, title)
    known = {fold(word) for word in subject}
    detail = [word for word in _thin(line[start : start + WINDOW_WORDS], seed=chunk.id) if fold(word) not in known]
    if not subject and not detail:
        return ""
    strange = [word for word in _WORD.findall(other) if not _is_function_word(word)]
    # The foreign word separates subject and detail; otherwise they could form one longer quotation.
    words = [*subject, *([_draw(strange, seed=chunk.id, purpose="strange")] if strange else ()), *detail]
    return _draw(_TEMPLATES, seed=chunk.id, purpose="form").format(" ".join(words))


def _subject(chunk: Chunk, title: str) -> list[str]:
    """Return the first words of the title or heading, else the most repeated content words."""
    named = [words for words in map(_WORD.findall, (title, *chunk.heading[-1:])) if words]
    if named:
        return _draw(named, seed=chunk.id, purpose="subject")[:MAX_TITLE_WORDS]
    words = [word for word in _WORD.findall(chunk.text) if len(word) > 2 and not _is_function_word(word)]
    counts = Counter(map(fold, words))
    first = {fold(word): at for at, word in reversed(list(enumerate(words)))}
    best = sorted(counts, key=lambda word: (-counts[word], first[word]))[:MAX_REPEATED_WORDS]
    return [words[at] for at in sorted(first[word] for word in best)]


def _thin(line: Sequence[str], *, seed: str) -> list[str]:
    """Return a line without half of its content words, and without function words at both ends."""
    content = [at for at, word in enumerate(line) if not _is_function_word(word)]
    drawn = sorted(content, key=lambda at: _number(seed, f"leave out {at}"))
    dropped = set(drawn[: len(drawn) // 2])
    kept: list[str] = []
    together = 0
    for at, word in enumerate(line):
        if at in dropped or together == MAX_QUOTED_WORDS:
            together = 0
        else:
            kept.append(word)
            together += 1
    content = [at for at, word in enumerate(kept) if not _is_function_word(word)]
    return kept[content[0] : content[-1] + 1] if content else []


def _is_function_word(word: str) -> bool:
    return fold(word) in _FUNCTION_WORDS


# ── scripts without spaces ──────────────────────────────────────────────────────────────────────


def _ask_unspaced(chunk: Chunk, title: str) -> str:
    """Return a question in a script without spaces. Joined pieces form character pairs that the text lacks."""
    # Every second piece, because adjacent pieces would form one longer quotation.
    lines = [_pieces(sentence.text)[::2] for sentence in read_sentences(chunk.text, form="markdown")]
    long = [line for line in lines if len(line) > 1] or lines[:1] or [[]]
    line = _draw(long, seed=chunk.id, purpose="sentence")
    drawn = sorted(range(len(line)), key=lambda at: _number(chunk.id, f"keep {at}"))[:MAX_PIECES]
    named = [pieces for pieces in map(_pieces, (title, *chunk.heading[-1:])) if pieces]
    subject = _draw(named, seed=chunk.id, purpose="subject")[:2] if named else _most_repeated(chunk.text)
    words = [*subject, *(line[at] for at in sorted(drawn) if line[at] not in subject)]
    return _draw(_TEMPLATES_HAN, seed=chunk.id, purpose="form").format("".join(words)) if words else ""


def _most_repeated(text: str) -> list[str]:
    pairs = Counter(run[at : at + 2] for run in _runs(text) for at in range(len(run) - 1))
    return sorted(pairs, key=lambda pair: (-pairs[pair], text.find(pair)))[:1]


def _pieces(text: str) -> list[str]:
    cut = [run[at : at + PIECE_CHARACTERS] for run in _runs(text) for at in range(0, len(run), PIECE_CHARACTERS)]
    return [piece for piece in cut if len(piece) > 1]


def _runs(text: str) -> list[str]:
    return [run for found in _RUN.findall(text) for run in _HAN_STOP.split(found) if len(run) > 1]


# ── deterministic draws ─────────────────────────────────────────────────────────────────────────


def _draw(choices: Sequence[_T], *, seed: str, purpose: str) -> _T:
    return choices[_number(seed, purpose) % len(choices)]


def _number(seed: str, purpose: str) -> int:
    """Return a pseudorandom number of 64 bits. Unlike `random`, it is the same in every Python version."""
    return int(digest((seed, purpose), size=8), 16)
