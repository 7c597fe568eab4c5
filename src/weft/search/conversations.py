"""
Search rules for chunks of conversations, which are the chunks with a time.

| rule | reason |
| --- | --- |
| keywords without stop words | `how many times did I` occurs in every chat, and BM25 would count it |
| bonus for closeness to the named time | `last week`, `the first time` |
| exchange at its question | three parts of one long answer would take the places of three exchanges |
| bonus for standing rules | `Always add tests when I ask for code` holds for every question about code |
| answer beside its question | a question of a long exchange alone tells a model little |
| stages | a question for an order or an overview needs an exchange of each stage, not ten of the closest |

The bonus of closeness is centred between the closest and the most distant chunk. So conversations as a whole gain
nothing over other documents, which keep their scores. A question that names no time has none: its answer is as often
old as new (decision 0091).

The chunk that opens a long exchange, which is what the user said, gets the best score of the chunks of its answer
(decision 0078):

    question A 0.50   answer A1 0.90   answer A2 0.80   question B 0.60     →
    question A 0.90   question B 0.60   answer A1 0.54   answer A2 0.44

A question that is not among the candidates is read from the store.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from weft.choices import KEYWORD, VECTOR
from weft.rank.fuse import round_cosines
from weft.records import Chunk, Evidence, Hit, TimeLimits
from weft.search.cite import cite
from weft.search.draft import Draft
from weft.search.question.time_words import find_order, find_time
from weft.search.search_context import SearchContext
from weft.text.exchanges import openings

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

JUDGED_CHUNKS = 300
"""Chunks of each channel that the gate compares; parts of answers are most of them."""

STANDING_BONUS = 0.15
"""Share of the best score that an exchange gains in which the user states a standing rule (decision 0078)."""
MAX_RULE_CHARACTERS = 400
"""A longer turn is more often a task or a pasted text than a rule."""
STAGES = 5
"""Number of stages of a history; one exchange of each comes first."""
MIN_STAGE_CHARACTERS = 200
"""A shorter turn of the user, such as `ok, and then?`, opens no stage."""

MAX_ANSWER_CHARACTERS = 600
"""Characters of an answer that are shown beside its question."""

_STANDING = re.compile(
    r"(?:^|[.!?;:,] |\b(?:please|should|must|you|to) )(?:always|never)\b"
    r"|\b(?:whenever|when|every time|each time) I ask\b|\bfrom now on\b|\bin future\b|\bgoing forward\b"
    r"|总是|永远|每次|每当|从现在起|以后都|不要再",
    re.IGNORECASE,
)
"""
Words of standing rules.

    Always name the port.                  matches
    I have always liked ports.             does not match
"""
_COURSE = re.compile(
    r"\b(?:the|what|which|in|chronological) order\b|\bchronolog|\bsequence of\b|\bsummar|\boverview\b|\brecap\b"
    r"|先后顺序|按时间|总结|概括|回顾|概述",
    re.IGNORECASE,
)
"""Words of questions for an order or an overview."""
_DAY_MICROSECONDS = 86_400_000_000


def rank_content_terms(draft: Draft, search: SearchContext) -> Draft:
    """Return the draft with keywords ranked without stop words if most of the best chunks are of conversations."""
    question, keyword = draft.query.question, draft.rankings.get(KEYWORD)
    is_plain = question.is_unspaced or len(question.content_terms) == len(question.terms)
    if keyword is None or len(draft.rankings) < 2 or is_plain or not question.content_terms:
        return draft
    if not draft.has_exchanges or not _are_exchanges(keyword.hits, search):
        return draft
    keyword = search.store.search_keyword(question.content_terms, limit=search.pool_size, where=search.where)
    return draft._replace(rankings={**draft.rankings, KEYWORD: keyword})


def is_talk(draft: Draft, search: SearchContext) -> bool:
    """Return True if most of the best hits of the fused text are chunks of conversations."""
    return draft.has_exchanges and _are_exchanges(draft.text, search)


def _are_exchanges(hits: Sequence[Hit], search: SearchContext) -> bool:
    """Return True if most of the best hits are chunks of conversations."""
    best = search.chunks.read([hit.chunk_id for hit in hits[:MAX_COMPARED_HITS]]).values()
    return 2 * sum(chunk.start_time is not None for chunk in best) > len(best)


def judge_openings(draft: Draft, search: SearchContext) -> Draft:
    """
    Return the draft with longer rankings for the gate if most of the best hits are chunks of conversations.

    A question is often among the best hits because of its answer. Parts of other answers fill the rankings, and the
    gate rejects a chunk that they do not contain. The best scores, and so the confidence, stay.
    """
    vector, keyword, query = draft.complete.get(VECTOR), draft.complete.get(KEYWORD), draft.query
    if vector is None or keyword is None or query.vector is None or not is_talk(draft, search):
        return draft
    longer = {
        VECTOR: round_cosines(search.store.search_vector(query.vector, limit=JUDGED_CHUNKS, where=search.where)),
        KEYWORD: search.store.search_keyword(query.terms, limit=JUDGED_CHUNKS, where=search.where),
    }
    return draft._replace(complete={**draft.complete, **longer})


def add_time_bonus(draft: Draft, search: SearchContext) -> Draft:
    """Return the draft with a bonus for chunks close to the time that the question names, or to the first or last."""
    scores = draft.scores
    if search.at is None or not scores:
        return draft
    asked, text = search.where.before or search.at, draft.query.question.text
    named, order = find_time(text, at=asked), find_order(text)
    if (named is None and order is None) or not draft.has_exchanges:
        return draft
    timed = {id: chunk for id, chunk in search.chunks.read(list(scores)).items() if chunk.start_time is not None}
    best = max(map(abs, scores.values())) or 1.0
    strong = [chunk for id, chunk in timed.items() if scores[id] >= MIN_ANCHOR_SHARE * best]
    target = named or _find_anchor(strong, order)
    if target is None:
        return draft
    closeness = {id: math.exp(-_distance(chunk, target) / CLOSENESS_DAYS) for id, chunk in timed.items()}
    middle = (min(closeness.values()) + max(closeness.values())) / 2
    gains = {id: CLOSENESS_BONUS * (value - middle) for id, value in closeness.items()}
    if named:
        gains |= {
            id: gains[id] + TIME_BONUS
            for id, chunk in timed.items()
            if named.overlaps(chunk.start_time, chunk.end_time)
        }
    return draft._replace(scores={**scores, **{id: scores[id] + best * gain for id, gain in gains.items()}})


def lead_exchanges(draft: Draft, search: SearchContext) -> Draft:
    """
    Return the draft with the best score of a long exchange at its question, and lower ones at its answer.

    Questions that state a standing rule gain a bonus.
    """
    scores = draft.scores
    if not draft.has_exchanges:
        return draft
    timed = [chunk for chunk in search.chunks.read(list(scores)).values() if chunk.start_time is not None]
    parts = [chunk.id for chunk in timed if chunk.heading]
    opened = search.store.passages.openings(parts) if parts else {}
    best = max(map(abs, scores.values()), default=0.0)
    changed = dict(scores)
    for id, opening in opened.items():
        changed[opening.id] = max(changed.get(opening.id, -math.inf), scores[id])
        changed[id] = scores[id] - ANSWER_PENALTY * best
    known = {chunk.id: chunk for chunk in (*timed, *opened.values()) if not chunk.heading}
    rules = (id for id, chunk in known.items() if _states_rule(chunk))
    return draft._replace(scores={**changed, **{id: changed[id] + STANDING_BONUS * best for id in rules}})


def spread_stages(draft: Draft, search: SearchContext) -> Draft:
    """
    Return the draft with an exchange of every stage first if the question asks for an order or an overview.

    The candidates of conversations are cut into stages of equal numbers by time; the best of each come first, in time.
    """
    if not is_talk(draft, search) or not _COURSE.search(draft.query.question.text):
        return draft
    ranks = {hit.chunk_id: hit.rank for hit in draft.text}
    chunks = [
        chunk
        for chunk in search.chunks.read(list(ranks)).values()
        if chunk.start_time is not None and not chunk.heading and len(_said(chunk)) >= MIN_STAGE_CHARACTERS
    ]
    if len(chunks) < STAGES:
        return draft
    chunks.sort(key=lambda chunk: (chunk.start_time or 0, chunk.document_id, chunk.ordinal))
    size = len(chunks) / STAGES
    stages = [chunks[round(number * size) : round((number + 1) * size)] for number in range(STAGES)]
    first = [min(stage, key=lambda chunk: ranks[chunk.id]).id for stage in stages]
    return draft._replace(text=_put_first(draft.text, first), hits=_put_first(draft.hits, first))


def show_answers(evidence: Sequence[Evidence], search: SearchContext) -> list[Evidence]:
    """
    Return the evidence with the beginning of the answer beside each question of a long exchange.

    Ids stay those of the opening chunks; lines and citations include the beginning of the answer.
    """
    ids = [piece.chunk.id for piece in evidence if piece.chunk.start_time is not None and not piece.chunk.heading]
    answers = search.store.passages.answers(ids) if ids else {}
    return [_add_answer(piece, answers[piece.chunk.id]) if piece.chunk.id in answers else piece for piece in evidence]


def _add_answer(piece: Evidence, answer: Chunk) -> Evidence:
    text = answer.text.strip()
    if len(text) > MAX_ANSWER_CHARACTERS:
        text = text[:MAX_ANSWER_CHARACTERS].rpartition(" ")[0].rstrip() + " …"
    chunk = replace(
        piece.chunk,
        text=f"{piece.chunk.text.rstrip()}\n\n{text}",
        end_line=max(piece.chunk.end_line, answer.start_line),
        end_time=max(filter(None, (piece.chunk.end_time, answer.start_time)), default=None),
    )
    own, shown = (cite(piece.document, cited).removeprefix(piece.document.source) for cited in (piece.chunk, chunk))
    return replace(piece, chunk=chunk, citation=piece.citation.removesuffix(own) + shown)


def _put_first(hits: Sequence[Hit], ids: Sequence[str]) -> list[Hit]:
    """Return the hits with those of some chunks first; scores stay in descending order."""
    places = {id: place for place, id in enumerate(ids)}
    ordered = sorted(hits, key=lambda hit: places.get(hit.chunk_id, len(places)))
    scores = sorted((hit.score for hit in hits), reverse=True)
    return [Hit(hit.chunk_id, rank, score) for rank, (hit, score) in enumerate(zip(ordered, scores, strict=True), 1)]


def _states_rule(chunk: Chunk) -> bool:
    said = _said(chunk)
    return len(said) <= MAX_RULE_CHARACTERS and _STANDING.search(said) is not None


def _said(chunk: Chunk) -> str:
    """Return the turn that opens the exchange of a chunk."""
    return openings(chunk.text)[0].text


def _find_anchor(strong: list[Chunk], order: str | None) -> TimeLimits | None:
    """Return the time of the first or last relevant chunk; None if no relevant chunk has a time."""
    if not strong:
        return None
    first, last = min(chunk.start_time or 0 for chunk in strong), max(chunk.end_time or 0 for chunk in strong)
    return TimeLimits(first, first) if order == "first" else TimeLimits(last, last)


def _distance(chunk: Chunk, target: TimeLimits) -> float:
    """Return the days between a chunk and a range of times; 0 if they overlap."""
    start, end = chunk.start_time or 0, chunk.end_time or 0
    return max(0, target.start - end, start - target.end) / _DAY_MICROSECONDS
