"""Chunks in scripts that the embedder was not trained on: what it says of them is noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weft.rank.fuse import number_hits
from weft.records import Hit, ModelCard, Ranking
from weft.search.chunks import Chunks
from weft.search.question.prepare import trust

SAMPLE = 300
"""Characters of a chunk by which its script is told."""


def is_legible(text: str, *, card: ModelCard) -> bool:
    """Tell whether an embedder knows the script of a text."""
    sample = text[:SAMPLE]
    return sample.isascii() or "*" in card.scripts or bool(trust(sample, card=card)[0])


def without_noise(ranking: Ranking, *, chunks: Chunks, card: ModelCard) -> Ranking:
    """
    Return a ranking by vectors without chunks that the embedder cannot read, where such a one is its best.

    They lie close to everything, so that one look tells nearly always whether there are any.
    """
    first = chunks.read([hit.chunk_id for hit in ranking.hits[:1]])
    if all(is_legible(chunk.text, card=card) for chunk in first.values()):
        return ranking
    texts = chunks.read([hit.chunk_id for hit in ranking.hits])
    kept = [hit for hit in ranking.hits if hit[0] in texts and is_legible(texts[hit[0]].text, card=card)]
    return replace(ranking, hits=tuple(number_hits([hit.chunk_id for hit in kept], [hit.score for hit in kept])))


def drop_noise(hits: Sequence[Hit], others: Sequence[Ranking], *, chunks: Chunks, card: ModelCard) -> list[Hit]:
    """Return hits without those that the embedder cannot read and none of the `others`, words and graph, found."""
    texts = chunks.read([hit.chunk_id for hit in hits])
    odd = {id for id, chunk in texts.items() if not is_legible(chunk.text, card=card)}
    if odd:
        odd -= {hit[0] for ranking in others for hit in ranking.hits}
    return [hit for hit in hits if hit[0] not in odd]
