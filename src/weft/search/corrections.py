"""
Ordered list of the corrections of a ranking.

A correction is a function `(draft, search) -> draft` for one kind of question or text in which the plain scores are
wrong. `correct` applies those of a stage in the order of the list. `benchmarks/quality/corrections.py` leaves out one
after another; docs/ranking.md has its table.

| stage | the corrections change |
| --- | --- |
| `rankings` | the rankings of the text channels |
| `scores` | the fused scores of the text channels |
| `order` | the fused text, and its union with the graph |
| `confidence` | the rankings from which the confidence is computed |
| `verdict` | status and confidence |
| `candidates` | the text hits that compete for the places of the answer |
| `places` | the order of these hits and those of the graph, before the first `top_k` are taken |
| `answer` | the evidence |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

from weft.search.confidence import drop_stop_words, keep_meaningful
from weft.search.conversations import (
    add_time_bonus,
    judge_openings,
    lead_exchanges,
    rank_content_terms,
    spread_stages,
)
from weft.search.document_spread import find_leaders, prefer_new_documents, put_clear_first, spread
from weft.search.draft import Draft
from weft.search.question.absent_names import doubt_absent_names
from weft.search.question.bare_words import doubt_bare_words
from weft.search.question.rare_names import add_name_bonus
from weft.search.question.unrelated_names import doubt_unrelated_names
from weft.search.search_context import SearchContext
from weft.search.shared_words import reject_namesakes, reject_wordless
from weft.search.writing_systems import drop_unsupported_evidence, drop_unsupported_vectors

Stage: TypeAlias = Literal["rankings", "scores", "order", "confidence", "verdict", "candidates", "places", "answer"]


class Correction(NamedTuple):
    """A correction with its stage and its reason."""

    name: str
    stage: Stage
    apply: Callable[[Draft, SearchContext], Draft]
    why: str


CORRECTIONS: tuple[Correction, ...] = (
    Correction(
        "scripts", "rankings", drop_unsupported_vectors, "the vector of a text in an unsupported script is noise"
    ),
    Correction("content_terms", "rankings", rank_content_terms, "`how many times did I` occurs in every chat"),
    Correction("rare_names", "scores", add_name_bonus, "a name that three chunks contain tells more than BM25 says"),
    Correction("time", "scores", add_time_bonus, "`last week` and `the first time` say which exchanges are meant"),
    Correction("exchanges", "scores", lead_exchanges, "parts of one long answer would take the places of others"),
    Correction("stages", "order", spread_stages, "an order or overview needs each stage, not ten of the closest"),
    Correction("openings", "confidence", judge_openings, "the gate rejects what its rankings do not contain"),
    Correction("meaningful", "confidence", keep_meaningful, "some cosines and BM25 scores say nothing of an answer"),
    Correction("stop_words", "confidence", drop_stop_words, "without cosines, stop words look like a match"),
    Correction("wordless", "verdict", reject_wordless, "in a small namespace every cosine is high"),
    Correction("namesakes", "verdict", reject_namesakes, "other things share a common word of a name"),
    Correction("bare_words", "verdict", doubt_bare_words, "`yes` and one common word ask for nothing"),
    Correction("absent_names", "verdict", doubt_absent_names, "the rest of the question concerns something else"),
    Correction("unrelated_names", "verdict", doubt_unrelated_names, "`why` presupposes what no passage says of a name"),
    Correction("leaders", "candidates", find_leaders, "the best chunk of one channel may be unknown to the other"),
    Correction("spread", "candidates", spread, "a long document would take every place"),
    Correction("clear_first", "places", put_clear_first, "the graph adds below a clear first place"),
    Correction("new_documents", "places", prefer_new_documents, "an answer may need several documents"),
    Correction("unsupported", "answer", drop_unsupported_evidence, "as `scripts`, for chunks that only vectors found"),
)
"""All corrections in the order in which they apply; the stages follow each other."""


def correct(stage: Stage, draft: Draft, search: SearchContext) -> Draft:
    """Return the draft with the corrections of a stage."""
    for correction in CORRECTIONS:
        if correction.stage == stage and correction.name not in search.without:
            draft = correction.apply(draft, search)
    return draft
