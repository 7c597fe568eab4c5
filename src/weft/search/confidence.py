"""Inputs of the confidence: calibration, rankings with meaningful scores, coverage of terms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from weft.models.base import Embedder
from weft.rank.fuse import coverage
from weft.rank.gate import shipped_calibration
from weft.records import Calibration, Query, Question, Ranking
from weft.search.writing_systems import embedder_weight
from weft.store.base import StoreReader
from weft.text.analyzer import terms
from weft.text.normalise import scripts
from weft.text.searchable_metadata import metadata_text
from weft.text.split import indexed_text

MIN_SHARED_SCRIPTS = 0.5
"""Share of letters in common scripts below which a question and a text have no words in common."""

MAX_COVERAGE_CHUNKS = 5
"""Number of best keyword chunks whose coverage is measured. A chunk with nearly all terms is always among them."""


def find_calibration(question: Question, *, store: StoreReader, embedder: Embedder | None) -> Calibration:
    """Return the calibration for a question: fitted to the namespace, or else shipped with the embedder."""
    calibration = store.calibration() or shipped_calibration(embedder.card if embedder else None)
    return fit_script(calibration, is_unspaced=question.is_unspaced)


def min_relevant_cosine(question: Question, *, store: StoreReader, embedder: Embedder) -> float:
    """Return the cosine at which a match is relevant with probability 0.5, by the calibration for a question."""
    return find_calibration(question, store=store, embedder=embedder).cosine.middle


def fit_script(calibration: Calibration, *, is_unspaced: bool) -> Calibration:
    """Return the calibration with the `words` curve for the script of a question."""
    return replace(calibration, words=calibration.pairs) if is_unspaced else calibration


def keep_meaningful(
    query: Query, rankings: Mapping[str, Ranking], *, store: StoreReader, embedder: Embedder | None
) -> dict[str, Ranking]:
    """
    Return the rankings whose scores are meaningful for this question.

    | ranking | meaningless if |
    | --- | --- |
    | vector, keyword | the question consists of stop words |
    | vector | there is no embedder, or it does not support the script, or it is degraded |
    | keyword | the closest chunk is in another script, which the embedder supports: words cannot match |

    """
    if not query.question.content_terms:
        return {channel: ranking for channel, ranking in rankings.items() if channel == "graph"}
    if embedder is None or query.vector_weight == 0 or embedder.card.degraded:
        return {channel: ranking for channel, ranking in rankings.items() if channel != "vector"}
    vector, keyword = rankings.get("vector"), rankings.get("keyword")
    words_cannot_match = False
    if vector and vector.hits and keyword and coverage(keyword) < 1:
        closest = (scripts(chunk.text) for chunk in store.chunks([vector.hits[0].chunk_id]))
        words_cannot_match = any(
            embedder_weight(found, card=embedder.card)[0] and _differ(query.question.scripts, found)
            for found in closest
        )
    return {channel: ranking for channel, ranking in rankings.items() if channel != "keyword" or not words_cannot_match}


def measure_coverage(question: Question, keyword: Ranking | None, *, store: StoreReader) -> dict[str, float]:
    """Return the share of the question's content terms in each of the best keyword chunks, by chunk id."""
    wanted = question.content_terms
    if not wanted or keyword is None or not keyword.hits:
        return {}
    chunks = store.chunks([hit.chunk_id for hit in keyword.hits[:MAX_COVERAGE_CHUNKS]])
    documents = {document.id: document for document in store.documents([chunk.document_id for chunk in chunks])}
    shares = {}
    for chunk in chunks:
        if (document := documents.get(chunk.document_id)) is None:  # deleted by another process between two reads
            continue
        indexed = set(terms(indexed_text(document.title, chunk.heading, chunk.text)))
        if not chunk.ordinal:  # metadata is indexed with the first chunk
            indexed.update(terms(metadata_text(document.metadata)))
        shares[chunk.id] = sum(term in indexed for term in wanted) / len(wanted)
    return shares


def _differ(question: Mapping[str, float], text: Mapping[str, float]) -> bool:
    """Return True if less than half of a question's letters are in scripts of the text."""
    shared = sum(min(share, text.get(name, 0.0)) for name, share in question.items())
    return bool(question and text) and shared < MIN_SHARED_SCRIPTS
