"""Merging of a document's ready-made graph with the extractions of its chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weft.errors import InputError
from weft.extract.names import name_key, whole_key
from weft.records import STRONG_KINDS, Document, Extraction


def merge_given(document: Document, extractions: Sequence[Extraction]) -> list[Extraction]:
    """
    Return the extractions with the document's ready-made graph added to the first chunk.

    Extracted claims between two entities are dropped if the ready-made graph has a relation between them, because the
    text may be generated from the graph. Raises `InputError` if the document has no chunk.
    """
    given = document.given
    if not extractions:
        raise InputError(
            f"{document.source!r} has a graph but neither title nor text", hint="set the title of the document"
        )
    if subject := _find_subject(given):
        names = {name_key(document.title), whole_key(document.title)}
        extractions = [_replace_title(extraction, names=names, subject=subject) for extraction in extractions]
    strong = {nomination.key for nomination in given.nominations if nomination.kind in STRONG_KINDS}
    pairs = {frozenset((claim.source, claim.target)) for claim in given.claims}
    related = {pair for pair in pairs if pair <= strong}
    first, *rest = [
        replace(
            extraction, claims=tuple(c for c in extraction.claims if frozenset((c.source, c.target)) not in related)
        )
        for extraction in extractions
    ]
    merged = Extraction(nominations=(*given.nominations, *first.nominations), claims=(*given.claims, *first.claims))
    return [merged, *rest]


def _find_subject(given: Extraction) -> str:
    """Return the entity key of a record, such as the id of a paper; empty for other documents."""
    records = (item for item in given.nominations if item.kind == "metadata" and item.about and not item.alias_of)
    return next((item.key for item in records), "")


def _replace_title(extraction: Extraction, *, names: set[str], subject: str) -> Extraction:
    """Return an extraction with the entity `subject` in place of the title, which other documents may share."""

    def resolve(key: str) -> str:
        return subject if key in names else key

    nominations = (replace(item, alias_of=resolve(item.alias_of)) for item in extraction.nominations)
    claims = (replace(claim, source=resolve(claim.source), target=resolve(claim.target)) for claim in extraction.claims)
    own = names | {subject}
    return Extraction(
        nominations=tuple(item for item in nominations if item.key not in own and item.key != item.alias_of),
        claims=tuple(claim for claim in claims if claim.source != claim.target),
    )
