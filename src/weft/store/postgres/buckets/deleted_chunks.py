"""Rows of the graph without chunks whose text is deleted, and which a settler has not yet subtracted."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping

from weft.store.relational.session import Row


def _without_mentions(row: Row, removed: Collection[str]) -> Row:
    """Return a row of `links_of` without mentions in deleted chunks."""
    id, chunks, strong, mentions, relations = row
    kept = [mention for mention in json.loads(mentions) if mention[0] not in removed]
    return id, chunks, strong, json.dumps(kept), relations


def _without_claims(row: Row, removed: Collection[str]) -> Row:
    """Return a row of `relation_claims` without claims of deleted chunks."""
    *ends, claims = row
    return *ends, json.dumps([claim for claim in json.loads(claims) if claim[1] not in removed], ensure_ascii=False)


IN_TEXT: Mapping[str, Callable[[Row, Collection[str]], Row | None]] = {
    "links_of": _without_mentions,
    "relation_claims": _without_claims,
    "mentions_in": lambda row, removed: None if row[1] in removed else row,
    "unembedded_entities": lambda row, removed: None if row[0] in removed else row,
}
"""Statements that name chunks by id, with a function that returns a row without deleted chunks, or None."""
