"""Index terms of a document: its chunk texts and its searchable metadata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from weft.records import URLS, Metadata
from weft.text import analyzer

IMPORT = "_import"
"""Metadata key with the name of the import, for a document that an import created."""

READ_BY = "_extractor"
"""Metadata key with extractor, model and prompt version, for a document that a language model has read."""

NOT_SEARCHED = frozenset({"_id", "links", IMPORT, READ_BY, URLS})
"""Metadata keys that are not indexed: BEIR ids, wikilinks (their words are in the text) and Weft's own keys."""


def searched_terms(texts: Iterable[str], *, metadata: Metadata) -> list[Counter[str]]:
    """Return the term frequencies of each chunk. `texts` are the indexed texts of a document's chunks, in order."""
    terms = [analyzer.count_terms(text) for text in texts]
    if terms:
        # Only the first chunk gets the metadata: in every chunk the metadata would outweigh the chunk's own words.
        terms[0].update(analyzer.terms(metadata_text(metadata)))
    return terms


def metadata_text(metadata: Metadata) -> str:
    """Return the searchable values of the metadata, one per line; list elements count as values."""
    kept = [value for key, value in metadata.items() if key not in NOT_SEARCHED]
    values = [item for value in kept for item in (value if isinstance(value, list) else [value])]
    return "\n".join(str(value) for value in values if value is not None and not isinstance(value, bool))
