"""Answers of an engine: a quoted sentence, and sentences of the configured language model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from weft.errors import WeftError
from weft.models.base import AnswerWriter, Embedder
from weft.records import Answer, Result, WrittenSentence
from weft.search.answer.quote import find_quote
from weft.search.answer.support import read_sentences
from weft.text.split import indexed_text

MAX_WRITER_PASSAGES = 8
"""Number of best passages that a language model reads."""
NO_ANSWER_NOTE = "the language model found no answer in the passages"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerListener:
    """Callbacks for the parts of an answer, in their order."""

    on_quote: Callable[[Answer], None] = lambda answer: None
    """Called with the result and the quote before the language model is called."""
    on_sentence: Callable[[WrittenSentence], None] = lambda sentence: None
    """Called with each written sentence when it is complete."""


SILENT = AnswerListener()


def answer(
    result: Result,
    *,
    embedder: Embedder | None,
    writer: AnswerWriter | None,
    to: AnswerListener = SILENT,
) -> Answer:
    """
    Return a result with its quote and written answer.

    A failure of the language model becomes a note. A result without evidence has neither quote nor written answer.
    """
    found = Answer(result=result, quote=find_quote(result, embedder=embedder), model=writer.name if writer else "")
    to.on_quote(found)
    passages = result.evidence[:MAX_WRITER_PASSAGES]
    if writer is None or not passages:
        return found
    texts = [indexed_text(piece.document.title, piece.chunk.heading, piece.chunk.text) for piece in passages]
    sentences: list[WrittenSentence] = []
    note = ""
    try:
        for sentence in read_sentences(writer.write(result.query, texts), passages=passages):
            sentences.append(sentence)
            to.on_sentence(sentence)
    except WeftError as error:
        note = f"the written answer failed: {error}"
    return replace(found, sentences=tuple(sentences), note=note or ("" if sentences else NO_ANSWER_NOTE))
