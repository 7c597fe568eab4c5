"""What tells a question from others, and which chunks hold all of it."""

from __future__ import annotations

from collections.abc import Sequence

from weft.extract.lexicon import OPENERS, word_set
from weft.records import Ranking
from weft.search.facts.match import ASKING
from weft.search.question.entities import QUESTION_WORDS
from weft.store.base import Store
from weft.text.analyzer import terms
from weft.text.searchable_metadata import metadata_text
from weft.text.split import indexed_text

FIRST = 5
"""Chunks that are looked at, the best by words: one that holds nearly all of a question is among them."""

SMALL = (
    QUESTION_WORDS
    | ASKING
    | OPENERS
    | word_set(
        "there here should may might must shall happen happens happened mean means some many much most often ever very "
        "just also then so into onto over under between during after before up down out off too only other others such "
        "same own"
    )
)
"""Words that stand in questions and texts of any kind."""

_SMALL_TERMS = frozenset(term for word in SMALL for term in terms(word))


def telling_terms(asked: Sequence[str]) -> list[str]:
    """Return the terms of a question without those of small words."""
    return [term for term in asked if term not in _SMALL_TERMS]


def measure_cover(asked: Sequence[str], keyword: Ranking | None, *, store: Store) -> dict[str, float]:
    """Return, of the best chunks by words, which share of a question's telling terms each holds."""
    wanted = telling_terms(asked)
    if not wanted or keyword is None or not keyword.hits:
        return {}
    chunks = store.chunks([hit.chunk_id for hit in keyword.hits[:FIRST]])
    documents = {document.id: document for document in store.documents([chunk.document_id for chunk in chunks])}
    found = {}
    for chunk in chunks:
        if (document := documents.get(chunk.document_id)) is None:  # deleted by another process between two reads
            continue
        held = set(terms(indexed_text(document.title, chunk.heading, chunk.text)))
        if not chunk.ordinal:  # metadata is searched with the first chunk
            held.update(terms(metadata_text(document.metadata)))
        found[chunk.id] = sum(term in held for term in wanted) / len(wanted)
    return found
