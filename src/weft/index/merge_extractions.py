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

    Extracted relations between two entities are dropped if the ready-made graph has a relation between them, because
    the text may be generated from the graph. Raises `InputError` if the document has no chunk.
    """
    given = document.given
    if not extractions:
        raise InputError(
            f"{document.source!r} has a graph but neither title nor text", hint="set the title of the document"
        )
    if subject := _find_subject(given):
        names = {name_key(document.title), whole_key(document.title)}
        extractions = [_replace_title(extraction, names=names, subject=subject) for extraction in extractions]
    strong = {candidate.key for candidate in given.candidates if candidate.kind in STRONG_KINDS}
    pairs = {frozenset((stated.source, stated.target)) for stated in given.stated_relations}
    related = {pair for pair in pairs if pair <= strong}
    first, *rest = [
        replace(
            extraction,
            stated_relations=tuple(
                c for c in extraction.stated_relations if frozenset((c.source, c.target)) not in related
            ),
        )
        for extraction in extractions
    ]
    merged = Extraction(
        candidates=(*given.candidates, *first.candidates),
        stated_relations=(*given.stated_relations, *first.stated_relations),
    )
    return [merged, *rest]


def _find_subject(given: Extraction) -> str:
    """Return the entity key of a record, such as the id of a paper; empty for other documents."""
    records = (item for item in given.candidates if item.kind == "metadata" and item.about and not item.alias_of)
    return next((item.key for item in records), "")


def _replace_title(extraction: Extraction, *, names: set[str], subject: str) -> Extraction:
    """Return an extraction with the entity `subject` in place of the title, which other documents may share."""

    def resolve(key: str) -> str:
        return subject if key in names else key

    candidates = (item._replace(alias_of=resolve(item.alias_of)) for item in extraction.candidates)
    stated_relations = (
        stated._replace(source=resolve(stated.source), target=resolve(stated.target))
        for stated in extraction.stated_relations
    )
    own = names | {subject}
    return Extraction(
        candidates=tuple(item for item in candidates if item.key not in own and item.key != item.alias_of),
        stated_relations=tuple(stated for stated in stated_relations if stated.source != stated.target),
    )
