"""
Trust in the graph for a question, 0 to 1.

Before the walk: the share of the question's content words that its entities explain, doubled.

    what if we change the OAuth provider?     content words: change, OAuth, provider
    entity `OAuth Provider`, one chunk is about it      explains 2 words   2/3 ÷ 0.5 → trust 1
    the same entity, 12 chunks are about it             explains 2 · 3/12  0.5/3 ÷ 0.5 → trust 0.33
    an entity that no chunk is about                    explains 0         → trust 0

After the walk: times the agreement of the graph with the best text hits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.rank.boost import GRAPH_EXPONENT
from weft.records import Hit, Question
from weft.search.question.entities import Seed

MAX_DEFINING_CHUNKS = 3
"""Number of defining chunks up to which an entity explains its words fully; with n chunks it explains 3/n of them."""

MIN_EXPLAINED_SHARE = 0.5
"""Share of a question's content words that entities must explain for full trust."""

MAX_COMPARED_HITS = 5
"""Number of best text hits that are compared with the graph."""

LAG_EXPONENT = 5
"""Exponent of a text hit's score relative to the best score: a weaker hit counts less."""

MIN_AGREEMENT, FULL_AGREEMENT = 0.3, 0.9
"""Raw agreement that maps to 0, and raw agreement that maps to 1; linear in between."""

ANSWERED = 0.5
"""Minimum agreement if an entity of the question has a relation that the question asks for."""

MIN_LEADING_TRUST = 0.35
"""Trust from which a graph hit may be placed before the best text hit."""

TRUST_BY_MEANING = 0.02
"""Trust in entities that the question does not name; it only breaks ties."""


def graph_trust(question: Question, seeds: Sequence[Seed], *, defining_chunks: Mapping[str, int]) -> float:
    """
    Return the trust in the graph, 0 to 1.

    `defining_chunks` is the number of defining chunks of each seed, by entity id. An entity with many mentions and no
    defining chunk reaches too many chunks: `bone marrow` is a poor seed in a medical library, a film title is a good
    one.
    """
    named = [seed for seed in seeds if seed.words]
    if not named:
        return TRUST_BY_MEANING if seeds else 0.0
    explained = sum(seed.words * _explained_part(defining_chunks.get(seed.entity.id, 0)) for seed in named)
    return min(1.0, explained / max(1, len(question.content_words)) / MIN_EXPLAINED_SHARE)


def agreement(text: Sequence[Hit], graph: Sequence[Hit]) -> float:
    """
    Return the agreement of the graph with the best text hits, 0 to 1.

    A question about one passage names entities of several passages, and the graph does not start at its best passage.
    A question over several hops starts at the best text passages, so both agree.
    """
    best = graph[0].score if graph else 0.0
    if best <= 0 or not text:
        return 1.0 if best > 0 else 0.0
    first, top, found = text[:MAX_COMPARED_HITS], text[0].score, 0.0
    wanted = {hit.chunk_id for hit in first}
    scores = {id: max(0.0, score) / best for id, _, score in graph if id in wanted}  # hot loop
    for hit in first:
        near = max(0.0, hit.score / top) ** LAG_EXPONENT if top > 0 else 1.0
        found = max(found, float(scores.get(hit.chunk_id, 0.0) ** GRAPH_EXPONENT * near))
    return min(1.0, max(0.0, (found - MIN_AGREEMENT) / (FULL_AGREEMENT - MIN_AGREEMENT)))


def _explained_part(defining_chunks: int) -> float:
    return min(1.0, MAX_DEFINING_CHUNKS / defining_chunks) if defining_chunks else 0.0
