"""
Removal of chunks in scripts that the embedder does not support.

The vector of a text in an unsupported script is noise. Such chunks lie close to every question.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from weft.choices import GRAPH, VECTOR
from weft.rank.fuse import number_hits
from weft.records import ModelCard
from weft.search.draft import Draft
from weft.search.graph.trust import TRUST_BY_MEANING
from weft.search.search_context import SearchContext
from weft.text.normalise import scripts

SAMPLE_CHARACTERS = 300
"""Characters of a chunk by which its scripts are determined."""

MAX_UNSUPPORTED_SHARE = 0.5
"""Share of letters in unsupported scripts from which cosines are not used."""


def embedder_weight(shares: Mapping[str, float], *, card: ModelCard) -> tuple[float, str]:
    """
    Return the weight of the vector channel for a text with these shares of scripts, and a note if it is 0.

    If the embedder supports the scripts, it is the weight on the embedder's card.
    """
    if "*" in card.scripts:
        return card.weight, ""
    unsupported = {name: share for name, share in shares.items() if name not in card.scripts}
    if sum(unsupported.values()) < MAX_UNSUPPORTED_SHARE:
        return card.weight, ""
    names = ", ".join(sorted(unsupported, key=lambda name: -unsupported[name]))
    return 0.0, f"{card.name} was not trained on {names} text, so the vector channel has weight 0"


def is_supported(text: str, *, card: ModelCard) -> bool:
    """Return True if the embedder supports the scripts of a text."""
    sample = text[:SAMPLE_CHARACTERS]
    return sample.isascii() or "*" in card.scripts or bool(embedder_weight(scripts(sample), card=card)[0])


def drop_unsupported_vectors(draft: Draft, search: SearchContext) -> Draft:
    """
    Return the draft without vector hits in unsupported scripts if the best one is in such a script.

    Such chunks lie close to every question. If the best chunk is supported, nearly all chunks are.
    """
    ranking = draft.rankings.get(VECTOR)
    if ranking is None or search.embedder is None or not draft.query.vector_weight:
        return draft
    chunks, card = search.chunks, search.embedder.card
    first = chunks.read([hit.chunk_id for hit in ranking.hits[:1]])
    if all(is_supported(chunk.text, card=card) for chunk in first.values()):
        return draft
    texts = chunks.read([hit.chunk_id for hit in ranking.hits])
    kept = [hit for hit in ranking.hits if hit.chunk_id in texts and is_supported(texts[hit.chunk_id].text, card=card)]
    hits = tuple(number_hits([hit.chunk_id for hit in kept], [hit.score for hit in kept]))
    rankings = {**draft.rankings, VECTOR: replace(ranking, hits=hits)}
    return draft._replace(rankings=rankings, complete=rankings)


def drop_unsupported_evidence(draft: Draft, search: SearchContext) -> Draft:
    """
    Return the draft without evidence in unsupported scripts that only the vector channel found.

    A walk from entities close in meaning depends on vectors, so it does not confirm vector hits.
    """
    if search.embedder is None or not draft.query.vector_weight:
        return draft
    card = search.embedder.card
    texts = search.chunks.read([hit.chunk_id for hit in draft.evidence])
    unsupported = {id for id, chunk in texts.items() if not is_supported(chunk.text, card=card)}
    if unsupported:
        names = {VECTOR} if draft.walked.trust > TRUST_BY_MEANING else {VECTOR, GRAPH}
        others = [ranking for name, ranking in draft.rankings.items() if name not in names]
        unsupported -= {hit.chunk_id for ranking in others for hit in ranking.hits}
    return draft._replace(evidence=[hit for hit in draft.evidence if hit.chunk_id not in unsupported])
