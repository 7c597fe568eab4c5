"""Extractive answer: the sentence of the best passages that is closest to the question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from weft.extract.sentences import Form, Sentence, read_sentences, shorten
from weft.models.base import Embedder
from weft.records import Evidence, Quote, Result
from weft.text.analyzer import query_terms, terms
from weft.text.split import join_text

MAX_QUOTED_PASSAGES = 5
"""Number of best passages whose sentences are compared."""
MAX_COMPARED_SENTENCES = 80
MAX_QUOTE_CHARACTERS = 400
COVERAGE_WEIGHT = 0.5
"""Weight of the share of question words in a sentence, beside its cosine (docs/decisions/0088-answer-line.md)."""
PASSAGE_WEIGHT = 0.2
"""Weight of the score of the passage."""


def find_quote(result: Result, *, embedder: Embedder | None) -> Quote | None:
    """
    Return the sentence of the best passages that answers the question best, with its citation.

    None if the result is not relevant enough or has no sentences. A question about relations is answered by the
    sentence that states the first of them. Without an embedder only words are compared.
    """
    if result.status not in ("ok", "degraded"):
        return None
    stated = result.relations.items[:1] if result.relations else ()
    if stated and stated[0].sentence and stated[0].citation:
        return Quote(text=stated[0].sentence, citation=stated[0].citation, chunk_id=stated[0].chunk_id)
    found = [(piece, text) for piece in result.evidence[:MAX_QUOTED_PASSAGES] for text in _sentences(piece)]
    if not (found := found[:MAX_COMPARED_SENTENCES]):
        return None
    scores = _scores(result.query, found, embedder=embedder)
    piece, text = found[max(range(len(found)), key=lambda index: (scores[index], -index))]
    return Quote(text=shorten(text, limit=MAX_QUOTE_CHARACTERS), citation=piece.citation, chunk_id=piece.chunk.id)


def _scores(query: str, found: Sequence[tuple[Evidence, str]], *, embedder: Embedder | None) -> list[float]:
    """Return the score of each sentence. Title and headings belong to its meaning, but not to its words."""
    shares = coverages(query, [text for _, text in found])
    scores = [
        COVERAGE_WEIGHT * share + PASSAGE_WEIGHT * piece.score for share, (piece, _) in zip(shares, found, strict=True)
    ]
    if embedder is None:
        return scores
    question = embedder.embed([query], kind="query")[0]
    rows = embedder.embed([join_text(piece.document.title, piece.chunk.heading, text) for piece, text in found])
    return [score + float(row @ question) for score, row in zip(scores, rows, strict=True)]


def coverages(question: str, texts: Sequence[str]) -> list[float]:
    """Return for each text the share of the question's terms that it contains; terms that few texts have weigh more."""
    wanted = set(query_terms(question))
    held = [wanted.intersection(terms(text)) for text in texts]
    counts = Counter(term for found in held for term in found)
    weights = {term: math.log1p(len(texts) / (1 + counts[term])) for term in wanted}
    total = math.fsum(weights.values()) or 1.0
    return [math.fsum(weights[term] for term in found) / total for found in held]


def _sentences(piece: Evidence) -> list[str]:
    """
    Return the sentences and list items of a passage. Headings, table cells and questions state nothing.

    A sentence that introduces a list is joined with the items: `Two reasons:` alone answers nothing.
    """
    read = read_sentences(piece.chunk.text, form=_form(piece))
    found: list[str] = []
    for index, one in enumerate(read):
        if one.role not in ("prose", "item") or one.text.endswith(("?", "？")):
            continue
        items = takewhile(lambda other: other.role == "item", read[index + 1 :]) if _is_introduction(one) else ()
        found.append(" ".join([one.text, *(item.text for item in items)]))
    return found


def _is_introduction(sentence: Sentence) -> bool:
    return sentence.role == "prose" and sentence.text.endswith((":", "："))


def _form(piece: Evidence) -> Form:
    if piece.chunk.start_time is not None:
        return "conversation"
    return "code" if "language" in piece.document.metadata else "markdown"
