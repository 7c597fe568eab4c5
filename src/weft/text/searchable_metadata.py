"""What of a document is searched by its words: its texts and, once, the values of its metadata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from weft.records import Metadata
from weft.text import analyzer

IMPORT = "_import"
"""Metadata of a document that an import made: the name of the import. No file stands behind it."""

READ_BY = "_extractor"
"""Metadata of a document that a language model was asked about: the extractor, with model and version of the prompt."""

NOT_SEARCHED = frozenset({"_id", "links", IMPORT, READ_BY})
"""Metadata that is no content: BEIR ids, the wikilinks, whose words stand in the text already, and our own marks."""


def searched_terms(texts: Iterable[str], *, metadata: Metadata) -> list[Counter[str]]:
    """Return the terms of each chunk of a document, given what is indexed of its chunks in their order."""
    terms = [analyzer.count_terms(text) for text in texts]
    if terms:
        # Metadata is searched by keyword too, once: repeating it in every chunk would drown their own words.
        terms[0].update(analyzer.terms(metadata_text(metadata)))
    return terms


def metadata_text(metadata: Metadata) -> str:
    """Return the words of the metadata: its text values, and the elements of its lists."""
    kept = [value for key, value in metadata.items() if key not in NOT_SEARCHED]
    values = [item for value in kept for item in (value if isinstance(value, list) else [value])]
    return "\n".join(str(value) for value in values if value is not None and not isinstance(value, bool))
