"""How far to trust the graph for a question: by how much of it the entities it names explain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.rank.boost import GRAPH_EXPONENT
from weft.records import Hit, Question
from weft.search.question.entities import Seed

HOMES = 3
"""Chunks about an entity up to which it stands for itself; one with more of them explains less, for it is vaguer."""

MIN_EXPLAINED_SHARE = 0.5
"""Share of a question's words that trusted entities must explain for the graph to count in full."""

FIRST = 5
"""Text hits that the graph may agree with."""

NEARNESS = 5
"""Exponent of how close such a hit is to the best one: the further behind, the less it says."""

DOUBT, ACCORD = 0.3, 0.9
"""Agreement up to which the graph and the text speak of different things, and from which they speak of the same."""

ANSWERED = 0.5
"""What agreement is taken for at least where the graph has a relation that the question asks for of what it names."""

LEADS = 0.35
"""Trust from which the graph may put something before the best of the text."""

BY_MEANING = 0.02
"""Trust in entities that the question does not name: they decide between equals, no more."""


def graph_trust(question: Question, seeds: Sequence[Seed], *, homes: Mapping[str, int]) -> float:
    """
    Return how far the graph may move an answer, 0 to 1.

    `homes` are, by entity id, the chunks that are about a seed. An entity that only stands in many texts, but that
    none is about, leads everywhere: `bone marrow` is no way into a library of medicine, a film's title is one.
    """
    named = [seed for seed in seeds if seed.words]
    if not named:
        return BY_MEANING if seeds else 0.0
    explained = sum(seed.words * _explains(homes.get(seed.entity.id, 0)) for seed in named)
    return min(1.0, explained / max(1, len(question.content_words)) / MIN_EXPLAINED_SHARE)


def agreement(text: Sequence[Hit], graph: Sequence[Hit]) -> float:
    """
    Return how far the graph and the first text hits speak of the same thing, 0 to 1.

    A question about one passage names what several passages mention; its best passage is none the graph starts at. A
    question over several hops begins where the text's best passages are, so there the two agree.
    """
    best = graph[0].score if graph else 0.0
    if best <= 0 or not text:
        return 1.0 if best > 0 else 0.0
    first, top, found = text[:FIRST], text[0].score, 0.0
    wanted = {hit.chunk_id for hit in first}
    scores = {id: max(0.0, score) / best for id, _, score in graph if id in wanted}
    for hit in first:
        near = max(0.0, hit.score / top) ** NEARNESS if top > 0 else 1.0
        found = max(found, float(scores.get(hit.chunk_id, 0.0) ** GRAPH_EXPONENT * near))
    return min(1.0, max(0.0, (found - DOUBT) / (ACCORD - DOUBT)))


def _explains(homes: int) -> float:
    return min(1.0, HOMES / homes) if homes else 0.0
