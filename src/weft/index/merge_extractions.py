"""What a document brings with it, joined with what an extractor reads out of its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weft.errors import InputError
from weft.extract.names import name_key, whole_key
from weft.records import STRONG_KINDS, Claim, Document, Extraction, Nomination


def join_given(document: Document, extractions: Sequence[Extraction]) -> list[Extraction]:
    """
    Return what the chunks say, with what was given said by the first of them.

    How two given entities are related stands as it was given: the text, which may be made from it, adds nothing to it.
    """
    given = document.given
    if not extractions:
        raise InputError(f"{document.source!r} brings a graph but neither title nor text", hint="give it a title")
    if subject := _find_subject(given):
        names = {name_key(document.title), whole_key(document.title)}
        extractions = [_tell_of(subject, extraction, names=names) for extraction in extractions]
    meant = {nomination.key for nomination in given.nominations if nomination.kind in STRONG_KINDS}
    pairs = {frozenset((claim.source, claim.target)) for claim in given.claims}
    settled = {pair for pair in pairs if pair <= meant}
    first, *rest = [
        replace(
            extraction, claims=tuple(c for c in extraction.claims if frozenset((c.source, c.target)) not in settled)
        )
        for extraction in extractions
    ]
    joined = Extraction(nominations=(*given.nominations, *first.nominations), claims=(*given.claims, *first.claims))
    return [joined, *rest]


def _find_subject(given: Extraction) -> str:
    """Return the key of the record that the document is, if it is one: a paper is its id, not its title."""
    records = (item for item in given.nominations if item.kind == "metadata" and item.about and not item.alias_of)
    return next((item.key for item in records), "")


def _tell_of(subject: str, extraction: Extraction, *, names: set[str]) -> Extraction:
    """Return an extraction that says of `subject` what it said of the document's title, which others may have too."""

    def moved(key: str) -> str:
        return subject if key in names else key

    nominations = (replace(item, alias_of=moved(item.alias_of)) for item in extraction.nominations)
    claims = (replace(claim, source=moved(claim.source), target=moved(claim.target)) for claim in extraction.claims)
    return Extraction(
        nominations=tuple(item for item in nominations if _is_other(item, names | {subject})),
        claims=tuple(claim for claim in claims if _is_between_two(claim)),
    )


def _is_other(item: Nomination, own: set[str]) -> bool:
    return item.key not in own and item.key != item.alias_of


def _is_between_two(claim: Claim) -> bool:
    return claim.source != claim.target
