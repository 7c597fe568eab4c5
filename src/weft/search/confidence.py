"""Inputs of the confidence: calibration, rankings with meaningful scores, coverage of terms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from weft.choices import KEYWORD, VECTOR
from weft.extract.names import words
from weft.models.base import Embedder
from weft.rank.fuse import coverage
from weft.rank.gate import shipped_calibration
from weft.records import Calibration, Hit, Question, Ranking
from weft.search.chunks import Chunks
from weft.search.draft import Draft
from weft.search.search_context import SearchContext
from weft.search.writing_systems import embedder_weight
from weft.store.base import StoreReader
from weft.text.analyzer import terms
from weft.text.normalise import scripts
from weft.text.searchable_metadata import metadata_text
from weft.text.split import indexed_text

MIN_SHARED_SCRIPTS = 0.5
"""Share of letters in common scripts below which a question and a text have no words in common."""

USUAL_CONTENT_TERMS = 6
USUAL_CONTENT_BIGRAMS = 12
SHORT_QUESTION_SHARE = 0.525
"""Content terms or character bigrams of a usual question, and the weight of shorter ones in `short_question_margin`."""

MAX_COVERAGE_CHUNKS = 5
"""Number of best keyword chunks whose coverage is measured. A chunk with nearly all terms is always among them."""


def find_calibration(question: Question, *, store: StoreReader, embedder: Embedder | None) -> Calibration:
    """Return the calibration for a question: fitted to the namespace, or else shipped with the embedder."""
    calibration = store.calibration() or shipped_calibration(embedder.card if embedder else None)
    return fit_question(calibration, question)


def min_relevant_cosine(question: Question, *, store: StoreReader, embedder: Embedder) -> float:
    """Return the cosine at which a match is relevant with probability 0.5, by the calibration for a question."""
    return find_calibration(question, store=store, embedder=embedder).cosine.middle


def fit_question(calibration: Calibration, question: Question) -> Calibration:
    """Return the calibration with the `words` curve for the script and the length of a question."""
    words = calibration.pairs if question.is_unspaced else calibration.words
    return replace(calibration, words=replace(words, middle=words.middle + short_question_margin(question)))


def short_question_margin(question: Question) -> float:
    """
    Return the keyword share that a short question must reach beyond one of six content terms; negative for a long one.

    One of two terms in a chunk is half of a question, and one of twelve is little. Fitted on five open sets and two
    folders of documentation: 0.31 for one term, 0 for six, -0.10 for twenty-four. A bigram counts as half a term.
    """
    count = max(1, len(question.content_terms))
    usual = USUAL_CONTENT_BIGRAMS if question.is_unspaced else USUAL_CONTENT_TERMS
    return SHORT_QUESTION_SHARE * (1 / math.sqrt(count) - 1 / math.sqrt(usual))


def drop_stop_words(draft: Draft, search: SearchContext) -> Draft:
    """
    Return the draft with a keyword ranking by content terms for the confidence if there is no vector ranking.

    Without cosines the keyword score decides alone, and stop words of a foreign question match everywhere.
    """
    question, keyword = draft.query.question, draft.complete.get(KEYWORD)
    is_plain = question.is_unspaced or set(question.content_terms) == set(question.terms)
    if VECTOR in draft.complete or keyword is None or not keyword.hits or is_plain:
        return draft
    found = search.store.search_keyword(question.content_terms, limit=search.pool_size, where=search.where)
    return draft._replace(complete={**draft.complete, KEYWORD: found})


def is_heading(hits: Sequence[Hit], question: Question, search: SearchContext) -> bool:
    """Return True if one of the best chunks has the question as the title of its document or as its heading."""
    wanted = [word.text for word in question.words]
    chunks = search.chunks.read([hit.chunk_id for hit in hits[:MAX_COVERAGE_CHUNKS]]).values()
    titles = [document.title for document in search.chunks.documents(chunks).values()]
    headings = (*titles, *(chunk.heading[-1] for chunk in chunks if chunk.heading))
    return any([word.text for word in words(heading)] == wanted for heading in headings)


def keep_meaningful(draft: Draft, search: SearchContext) -> Draft:
    """
    Return the draft with the rankings whose scores are meaningful for the confidence.

    | ranking | meaningless if |
    | --- | --- |
    | vector, keyword | the question consists of stop words; a keyword ranking without hits means that none occurs |
    | vector | there is no embedder, or it is degraded, or its cosines in the question's script are meaningless |
    | keyword | the closest chunk is in another script, which the embedder supports: words cannot match |
    """
    query, embedder, meaningless = draft.query, search.embedder, set[str]()
    vector, keyword = draft.complete.get(VECTOR), draft.complete.get(KEYWORD)
    if not query.question.content_terms:
        meaningless = {VECTOR, KEYWORD} if keyword and keyword.hits else {VECTOR}
    elif embedder is None or not query.vector_weight or embedder.card.degraded or _is_weak(query.question, embedder):
        meaningless = {VECTOR}
    elif vector and vector.hits and keyword and coverage(keyword) < 1:
        closest = (scripts(chunk.text) for chunk in search.chunks.read([vector.hits[0].chunk_id]).values())
        if any(
            embedder_weight(found, card=embedder.card)[0] and _differ(query.question.scripts, found)
            for found in closest
        ):
            meaningless = {KEYWORD}
    kept = {channel: ranking for channel, ranking in draft.complete.items() if channel not in meaningless}
    return draft._replace(complete=kept)


def measure_coverage(question: Question, keyword: Ranking | None, *, chunks: Chunks) -> dict[str, float]:
    """Return the share of the question's content terms in each of the best keyword chunks, by chunk id."""
    wanted = question.content_terms
    if not wanted or keyword is None or not keyword.hits:
        return {}
    best = [hit.chunk_id for hit in keyword.hits[:MAX_COVERAGE_CHUNKS]]
    found = {**find_terms(wanted, [id for id in best if id not in keyword.shared], chunks=chunks), **keyword.shared}
    return {id: sum(term in indexed for term in wanted) / len(wanted) for id, indexed in found.items()}


def find_terms(wanted: Sequence[str], ids: Sequence[str], *, chunks: Chunks) -> dict[str, set[str]]:
    """Return which of these terms each chunk contains, by chunk id; unknown chunks are left out."""
    known = chunks.read(ids).values()
    documents = chunks.documents(known)
    found = {}
    for chunk in known:
        document = documents[chunk.document_id]
        indexed = set(terms(indexed_text(document.title, chunk.heading, chunk.text)))
        if not chunk.ordinal:  # metadata is indexed with the first chunk
            indexed.update(terms(metadata_text(document.metadata)))
        found[chunk.id] = indexed.intersection(wanted)
    return found


def _is_weak(question: Question, embedder: Embedder) -> bool:
    """Return True if most letters of a question are in scripts in which cosines say nothing about an answer."""
    share = sum(share for name, share in question.scripts.items() if name in embedder.card.weak_scripts)
    return share > 1 - MIN_SHARED_SCRIPTS


def _differ(question: Mapping[str, float], text: Mapping[str, float]) -> bool:
    """Return True if less than half of a question's letters are in scripts of the text."""
    shared = sum(min(share, text.get(name, 0.0)) for name, share in question.items())
    return bool(question and text) and shared < MIN_SHARED_SCRIPTS
