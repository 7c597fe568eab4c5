"""
Search rules for chunks of conversations, which are the chunks with a time.

| rule | reason |
| --- | --- |
| keywords without stop words | `how many times did I` occurs in every chat, and BM25 would count it |
| bonus for closeness in time | a question is more often about a recent chat than about an old one |
| bonus for the named time | `last week` |
| exchange at its question | three parts of one long answer would take the places of three exchanges |

The bonus of closeness is centred between the closest and the most distant chunk. So conversations as a whole gain
nothing over other documents, which keep their scores. It was chosen on even questions of LongMemEval (docs/memory.md).

The chunk that opens a long exchange, which is what the user said, gets the best score of the chunks of its answer
(decision 0078):

    question A 0.50   answer A1 0.90   answer A2 0.80   question B 0.60     →
    question A 0.90   question B 0.60   answer A1 0.54   answer A2 0.44
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from weft.choices import KEYWORD
from weft.records import Chunk, TimeLimits, to_microseconds
from weft.search.draft import Draft
from weft.search.question.time_words import find_order, find_time
from weft.search.search_context import SearchContext
from weft.text.exchanges import first_line

TIME_BONUS = 0.05
"""Share of the best score that a chunk at the named time gains besides (decision 0033)."""
CLOSENESS_BONUS = 0.3
"""Share of the best score by which a chunk at the time exceeds a distant one."""
CLOSENESS_DAYS = 15
"""Days after which the closeness has decreased to 37 %."""
MAX_COMPARED_HITS = 20
"""Number of best hits that decide whether the namespace has conversations about the question."""
MIN_ANCHOR_SHARE = 0.5
"""Share of the best score from which a chunk can be the first or last one of the subject."""
ANSWER_PENALTY = 0.4
"""Share of the best score that a part of a long answer loses, so that questions of other exchanges come first."""

_DAY_MICROSECONDS = 86_400_000_000


def rank_content_terms(draft: Draft, search: SearchContext) -> Draft:
    """Return the draft with keywords ranked without stop words if most of the best chunks are of conversations."""
    question, keyword = draft.query.question, draft.rankings.get(KEYWORD)
    is_plain = question.is_unspaced or len(question.content_terms) == len(question.terms)
    if keyword is None or len(draft.rankings) < 2 or is_plain or not question.content_terms:
        return draft
    best = search.chunks.read([hit.chunk_id for hit in keyword.hits[:MAX_COMPARED_HITS]]).values()
    if 2 * sum(chunk.start_time is not None for chunk in best) <= len(best):
        return draft
    keyword = search.store.search_keyword(question.content_terms, limit=search.pool_size, where=search.where)
    return replace(draft, rankings={**draft.rankings, KEYWORD: keyword})


def add_time_bonus(draft: Draft, search: SearchContext) -> Draft:
    """Return the draft with a bonus for chunks close to the time of the question, or to the time that it names."""
    scores = draft.scores
    if search.at is None or not scores:
        return draft
    asked, text = search.where.before or search.at, draft.query.question.text
    if not _has_exchanges(scores, search):
        return draft
    timed = {id: chunk for id, chunk in search.chunks.read(list(scores)).items() if chunk.start_time is not None}
    best = max(map(abs, scores.values())) or 1.0
    strong = [chunk for id, chunk in timed.items() if scores[id] >= MIN_ANCHOR_SHARE * best]
    named = find_time(text, at=asked)
    target = named or _find_anchor(strong, text, asked)
    closeness = {id: math.exp(-_distance(chunk, target) / CLOSENESS_DAYS) for id, chunk in timed.items()}
    middle = (min(closeness.values()) + max(closeness.values())) / 2
    gains = {id: CLOSENESS_BONUS * (value - middle) for id, value in closeness.items()}
    if named:
        gains |= {
            id: gains[id] + TIME_BONUS
            for id, chunk in timed.items()
            if named.overlaps(chunk.start_time, chunk.end_time)
        }
    return replace(draft, scores={**scores, **{id: scores[id] + best * gain for id, gain in gains.items()}})


def lead_exchanges(draft: Draft, search: SearchContext) -> Draft:
    """
    Return the draft with the best score of a long exchange at its question, and lower ones at its answer.

    Parts of an answer whose question was not found keep their scores.
    """
    scores = draft.scores
    if not _has_exchanges(scores, search):
        return draft
    chunks = search.chunks.read(list(scores)).values()
    timed = sorted((c for c in chunks if c.start_time is not None), key=lambda c: (c.document_id, c.ordinal))
    penalty = ANSWER_PENALTY * max(map(abs, scores.values()), default=0.0)
    changed: dict[str, float] = {}
    opening: Chunk | None = None
    for chunk in timed:
        if not chunk.heading:
            opening = chunk
        elif opening and opening.document_id == chunk.document_id and (first_line(opening.text),) == chunk.heading:
            changed[opening.id] = max(changed.get(opening.id, scores[opening.id]), scores[chunk.id])
            changed[chunk.id] = scores[chunk.id] - penalty
    return replace(draft, scores={**scores, **changed})


def _has_exchanges(scores: Mapping[str, float], search: SearchContext) -> bool:
    """Return True if one of the best chunks is of a conversation. Only then are the others worth reading."""
    leading = sorted(scores, key=scores.__getitem__, reverse=True)[:MAX_COMPARED_HITS]
    return any(chunk.start_time is not None for chunk in search.chunks.read(leading).values())


def _find_anchor(strong: list[Chunk], text: str, asked: datetime) -> TimeLimits:
    """Return the time from which distances count: the question's, or that of the first or last relevant chunk."""
    order = find_order(text) if strong else None
    if order == "first":
        time = min(chunk.start_time or 0 for chunk in strong)
    elif order == "last":
        time = max(chunk.end_time or 0 for chunk in strong)
    else:
        time = to_microseconds(asked)
    return TimeLimits(time, time)


def _distance(chunk: Chunk, target: TimeLimits) -> float:
    """Return the days between a chunk and a range of times; 0 if they overlap."""
    start, end = chunk.start_time or 0, chunk.end_time or 0
    return max(0, target.start - end, start - target.end) / _DAY_MICROSECONDS
