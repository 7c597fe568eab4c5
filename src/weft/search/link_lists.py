"""Demotion of lists of links and headings, such as a table of contents: they name a subject and say nothing of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from weft.rank.fuse import order
from weft.records import Hit
from weft.search.draft import Draft
from weft.search.search_context import SearchContext
from weft.text.link_share import is_link_list

MIN_LINK_SHARE = 0.6
"""Share of links and headings from which a chunk is a list of them."""

LIST_FACTOR = 0.6
"""Factor of the score of such a chunk: hits with at least this share of its score come first."""

MAX_CHECKED_HITS = 20
"""Number of best hits whose text is checked."""


def demote_link_lists(draft: Draft, search: SearchContext) -> Draft:
    """Return the draft with reduced scores of lists of links and headings. Other hits keep their scores."""
    ids = dict.fromkeys(hit.chunk_id for hits in (draft.text, draft.hits) for hit in hits[:MAX_CHECKED_HITS])
    chunks = search.chunks.read(list(ids))
    lists = {id for id, chunk in chunks.items() if is_link_list(chunk.text, min_share=MIN_LINK_SHARE)}
    return replace(draft, text=_demote(draft.text, lists), hits=_demote(draft.hits, lists)) if lists else draft


def _demote(hits: Sequence[Hit], lists: Collection[str]) -> list[Hit]:
    return order({id: score * LIST_FACTOR if id in lists and score > 0 else score for id, _, score in hits})
