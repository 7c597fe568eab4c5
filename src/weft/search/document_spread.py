"""Documents of an answer: new ones first, a bound on the hits of one, and places for the best of each channel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import zip_longest

from weft.choices import KEYWORD, VECTOR
from weft.rank.boost import put_first
from weft.rank.fuse import coverage
from weft.records import Hit
from weft.search.draft import Draft
from weft.search.search_context import SearchContext
from weft.text.ids import owner

MAX_PER_DOCUMENT = 3
"""Text hits of one document in an answer, as long as other documents have relevant ones."""

NEW_DOCUMENT_TENTHS = 7
"""
Tenths of the places of an answer that belong to documents not shown yet.

Chosen in `benchmarks/real/connected.py`: with eight, questions about one document lose more passages than with hybrid.
"""

LEADING_SHARE = 3
"""One of this many places belongs to the best documents of each text channel (decision 0007)."""

MAX_RIVAL_SHARE = 0.9
"""Share of the best text score from which a hit of another document makes the first place unclear."""


def put_clear_first(draft: Draft, search: SearchContext) -> Draft:
    """
    Return the draft with the best text hit first, unless the graph determines the order.

    In a mixed search a graph hit that may lead stays first, unless the best text hit is clearly the best.
    """
    walked, text = draft.walked, draft.verdict.text
    is_clear = not walked.decides and draft.prefers_new and _is_clear(text)
    likely = {hit.chunk_id for hit in draft.verdict.kept}
    if not text or text[0].chunk_id not in likely or (walked.leads and not is_clear):
        return draft
    return draft._replace(evidence=put_first(draft.evidence, text[0].chunk_id))


def _is_clear(text: Sequence[Hit]) -> bool:
    """Return True if no hit of another document comes near the best text hit."""
    other = next((hit for hit in text if owner(hit.chunk_id) != owner(text[0].chunk_id)), None)
    return other is None or other.score < MAX_RIVAL_SHARE * text[0].score


def prefer_new_documents(draft: Draft, search: SearchContext) -> Draft:
    """
    Return the draft with the best hits of the first documents before further ones of these documents.

    Seven of ten places belong to documents that are not shown yet, so the other places go to the best further hits. The
    order of the documents stays. A hit below the average, whose score is not positive, gets no such place. The scores
    of all hits that follow are lowered in one proportion, so that they fall.
    With three places for documents:

        A1 1.00   A2 0.96   B1 0.90   A3 0.90   C1 0.80   D1 0.72    →
        A1 1.00   B1 0.90   C1 0.80   A2 0.80   A3 0.75   D1 0.60
    """
    if not draft.prefers_new:
        return draft
    places, seen = -(-NEW_DOCUMENT_TENTHS * search.options.top_k // 10), set[str]()
    first, others = list[Hit](), list[Hit]()
    for hit in draft.evidence:
        document = owner(hit.chunk_id)
        is_new = not first or (document not in seen and len(first) < places and hit.score > 0)
        (first if is_new else others).append(hit)
        if is_new:
            seen.add(document)
    if others and others[0].score > first[-1].score:
        last, best = first[-1].score, others[0].score
        factor = last / best if last > 0 else 1.0
        others = [Hit(id, rank, min(last, score * factor)) for id, rank, score in others]
    return draft._replace(evidence=[*first, *others])


def add_leading_documents(
    hits: Sequence[Hit],
    chosen: Sequence[Hit],
    *,
    leaders: Sequence[str],
    kept: Collection[str] = (),
) -> list[Hit]:
    """
    Return the `chosen` part of the hits, with the missing documents of `leaders` in place of further hits of others.

    The last further hits are replaced first; the best hit of each document and the hits of `kept` stay.
    """
    seen, further = set[str](), list[str]()
    for hit in chosen:
        document = owner(hit.chunk_id)
        if document in seen and hit.chunk_id not in kept:
            further.append(hit.chunk_id)
        seen.add(document)
    present = {hit.chunk_id for hit in hits}
    missing = {owner(id): id for id in reversed(leaders) if id in present and owner(id) not in seen}
    added = list(missing.values())[::-1][: len(further)]
    replaced = set(further[len(further) - len(added) :])
    ids = {hit.chunk_id for hit in chosen} - replaced | set(added)
    return [hit for hit in hits if hit.chunk_id in ids]


def spread(draft: Draft, search: SearchContext) -> Draft:
    """
    Return the draft with `top_k` text hits, at most `MAX_PER_DOCUMENT` of each document if others can take its places.

    Without this bound a long document can take every place, and the answer may be in the next one. Documents of
    `leaders` get a place if one of these chunks is among the hits. If new documents come first, nothing changes.
    """
    if draft.prefers_new:
        return draft
    hits, top_k = draft.evidence, search.options.top_k
    taken, chosen, surplus = Counter[str](), list[Hit](), list[Hit]()
    for hit in hits:
        document = owner(hit.chunk_id)
        taken[document] += 1
        (chosen if taken[document] <= MAX_PER_DOCUMENT else surplus).append(hit)
        if len(chosen) >= top_k:
            break
    ids = [hit.chunk_id for hit in (chosen[:top_k] + surplus)[:top_k]]
    if len(ids) == top_k:
        present = {hit.chunk_id for hit in hits}
        ids = _add_leaders(ids, [id for id in draft.leaders if id in present])
    return draft._replace(evidence=[hit for hit in hits if hit.chunk_id in ids])


def find_leaders(draft: Draft, search: SearchContext) -> Draft:
    """
    Return the draft with the best chunks of the first documents of each text channel, best documents first.

    The fused score of a chunk that one channel does not find is low, even if it is the best one of the other channel.
    There are no leaders if a channel was not searched or has no weight: then one channel determines the order.
    """
    vector, keyword = draft.rankings.get(VECTOR), draft.rankings.get(KEYWORD)
    if not vector or not keyword or not draft.query.vector_weight or coverage(keyword) < 1 or draft.is_reranked:
        return draft
    top_k = search.options.top_k
    found = []
    for ranking in (vector, keyword):
        best: dict[str, str] = {}
        for hit in ranking.hits[:top_k]:
            best.setdefault(owner(hit.chunk_id), hit.chunk_id)
        found.append(list(best.values())[: top_k // LEADING_SHARE])
    return draft._replace(leaders=list(dict.fromkeys(id for pair in zip_longest(*found) for id in pair if id)))


def _add_leaders(ids: Sequence[str], leaders: Sequence[str]) -> list[str]:
    """Return the ids with the documents of all leaders; further chunks and other documents at the end are left out."""
    owners = {id: owner(id) for id in (*ids, *leaders)}
    kept, protected = list(ids), {owners[id] for id in leaders}
    for leader in leaders:
        count = Counter(owners[id] for id in kept)
        if count[owners[leader]]:
            continue
        surplus = (id for id in reversed(kept) if count[owners[id]] > 1 or owners[id] not in protected)
        if (last := next(surplus, None)) is not None:
            kept = [*(id for id in kept if id != last), leader]
    return kept
