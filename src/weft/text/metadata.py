"""The metadata of a document: what of it is searched by words, and what are marks of our own."""

from __future__ import annotations

from weft.records import Metadata

IMPORT = "_import"
"""Metadata of a document that an import made: the name of the import. No file stands behind it."""

READ_BY = "_extractor"
"""Metadata of a document that a language model was asked about: the extractor, with model and version of the prompt."""

NOT_SEARCHED = frozenset({"_id", "links", IMPORT, READ_BY})
"""Metadata that is no content: BEIR ids, the wikilinks, whose words stand in the text already, and our own marks."""


def metadata_text(metadata: Metadata) -> str:
    """Return the words of the metadata, searched with the first chunk: its text values, and elements of its lists."""
    kept = [value for key, value in metadata.items() if key not in NOT_SEARCHED]
    values = [item for value in kept for item in (value if isinstance(value, list) else [value])]
    return "\n".join(str(value) for value in values if value is not None and not isinstance(value, bool))
