"""Selection of the hits of the answer, and the number of omitted hits by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest

from weft.config import SearchOptions
from weft.rank.boost import put_first
from weft.rank.gate import Verdict
from weft.records import Hit, Query
from weft.search.chunks import Chunks
from weft.search.document_spread import find_leaders, spread
from weft.search.graph.connected import Connected
from weft.search.graph.join import Joined, Walked
from weft.search.graph.trust import TRUST_BY_MEANING
from weft.search.search_context import SearchContext
from weft.search.writing_systems import drop_unsupported

MAX_ADDED_PER_DOCUMENT = 2
"""Maximum number of chunks of one document that the graph may add to an answer."""

TOO_WEAK = "below the relevance threshold"
SAME_DOCUMENT = "the graph adds at most two chunks per document"
OTHER_DOCUMENTS = "other documents take its place"
NO_PLACE = "more results than requested"
NOT_NAMED = "the trust in the graph is too low, so it only changed the order"
"""Reasons for omitted hits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The hits of the answer, and the rankings they were chosen from."""

    fused: Sequence[Hit]
    """The union of text and graph."""
    kept: Sequence[Hit]
    """The part of `fused` that the gate kept."""
    text: Sequence[Hit]
    """The hits of the text channels that may be shown, in their order."""
    walked: Walked
    hits: Sequence[Hit]
    """Hits of the answer."""
    dropped: Mapping[str, int]
    """Number of omitted hits, by reason."""

    def pool(self) -> list[Hit]:
        """Return every hit that may be in the answer, in the order of the union."""
        ids = {hit.chunk_id for hit in (*self.text, *self.hits)}
        return [hit for hit in self.fused if hit.chunk_id in ids]


def select_hits(query: Query, joined: Joined, verdict: Verdict, search: SearchContext) -> Selection:
    """Return the hits of the answer, chosen from those that the gate kept."""
    with search.stopwatch.stage("select"):
        walked = joined.walked
        leaders = find_leaders(query, joined.rankings, chunks=search.chunks, top_k=search.options.top_k)
        hits = choose_hits(joined.hits, verdict.kept, text=verdict.text, walked=walked, search=search, leaders=leaders)
        dropped = count_dropped(hits, verdict.kept, text=joined.text, walked=walked, options=search.options)
        if search.embedder and query.vector_weight:
            # A walk from entities close in meaning depends on vectors, so it does not confirm vector hits.
            names = ("keyword", "graph") if walked.trust > TRUST_BY_MEANING else ("keyword",)
            others = [joined.rankings[name] for name in names if name in joined.rankings]
            hits = drop_unsupported(hits, others, chunks=search.chunks, card=search.embedder.card)
    return Selection(fused=joined.hits, kept=verdict.kept, text=verdict.text, walked=walked, hits=hits, dropped=dropped)


def choose_hits(
    fused: Sequence[Hit],
    kept: Sequence[Hit],
    *,
    text: Sequence[Hit],
    walked: Walked,
    search: SearchContext,
    leaders: Sequence[str] = (),
) -> list[Hit]:
    """
    Return the hits of the answer, in the order of the union.

    | hits | in the answer |
    | --- | --- |
    | first `top_k` of `text` | always, so the answer may have more than `top_k` hits; three per document (`spread`) |
    | `leaders`, the best of each channel | in place of the last of these hits |
    | graph hits that the gate kept | at most two chunks per document: a long document must not hide the next hop |
    | graph hits of entities that the question does not name | never; they only change the order |

    The best text hit stays first if the gate kept it, unless the graph determines the order. Passages of stated
    neighbours are added to an answer that is not empty. With `search.exact`, the answer is cut at `top_k` hits.
    """
    top_k = search.options.top_k
    pick = partial(spread, chunks=search.chunks, top_k=top_k, leaders=leaders)
    chosen = _choose(fused, kept, text=text, walked=walked, chunks=search.chunks, top_k=top_k, pick=pick)
    known = search.chunks.read([hit.chunk_id for hit in chosen]) if walked.connected.hits else {}
    owners = {id: chunk.document_id for id, chunk in known.items()}
    hits = add_connected(chosen, walked.connected, owners=owners, top_k=top_k)
    return cut_hits(hits, text=pick(text), top_k=top_k) if search.options.exact else hits


def _choose(
    fused: Sequence[Hit],
    kept: Sequence[Hit],
    *,
    text: Sequence[Hit],
    walked: Walked,
    chunks: Chunks,
    top_k: int,
    pick: Callable[[Sequence[Hit]], list[Hit]],
) -> list[Hit]:
    if not walked.found.hits:
        return pick(kept)
    own = {hit.chunk_id for hit in pick(text)}
    likely = {hit.chunk_id for hit in kept}
    passed = likely if walked.trust > TRUST_BY_MEANING or not text else set()
    found = [hit.chunk_id for hit in walked.found.hits if hit.chunk_id in passed]
    if found:
        chunks.read([*own, *found[:top_k]])  # one read for nearly all hits of the answer
    shown = own | _limit_per_document(found, chunks=chunks, count=top_k)
    chosen = [hit for hit in fused if hit.chunk_id in shown]
    is_first = bool(text) and not walked.leads and text[0].chunk_id in likely
    return put_first(chosen, text[0].chunk_id) if is_first else chosen


def cut_hits(hits: Sequence[Hit], *, text: Sequence[Hit], top_k: int) -> list[Hit]:
    """
    Return at most `top_k` hits in their order; `text` is the answer without the graph.

    The best half of the text hits stays. The hits that the graph added get the other places, then further text hits.
    """
    best = [hit.chunk_id for hit in text[: (top_k + 1) // 2]]
    further = {hit.chunk_id for hit in text[:top_k]}
    ids = [hit.chunk_id for hit in hits]
    kept = [id for id in ids if id in best]
    others = sorted((id for id in ids if id not in best), key=lambda id: id in further)  # stable
    chosen = {*kept, *others[: top_k - len(kept)]}
    return [hit for hit in hits if hit.chunk_id in chosen]


def add_connected(hits: Sequence[Hit], connected: Connected, *, owners: Mapping[str, str], top_k: int) -> list[Hit]:
    """
    Return the answer with the best passages of stated neighbours; an empty answer stays empty.

    They get half of the `top_k` places, or `top_k` − 1 if the question asks for their relation, even if all are in one
    document. A neighbour of a clear name that is in the answer already keeps its rank and takes one of these places.
    `owners` are the document ids by chunk. With `top_k` = 6, neighbours n, and hits named after their documents:

        A1 B1 A2 | n1 C1 n2 | A3 B2 n3      they take the places of further chunks of documents, which move behind;
                                            further neighbours of names follow, those of pages are left out
        A1 n1 B1 n2 A2 n3 …                 the question asks for the relation: they alternate with the hits that
                                            follow the last such neighbour
    """
    if not hits or not connected.hits:
        return list(hits)
    known = {hit.chunk_id for hit in hits}
    missing = sum(hit.chunk_id not in known for hit in connected.hits[: connected.asked])
    present = sum(hit.chunk_id in known for hit in connected.hits[: connected.due])
    places = max(top_k // 2 - present, min(missing, top_k - 1 - connected.asked + missing), 0)
    added = [hit for hit in connected.hits if hit.chunk_id not in known][:places]
    if connected.asked:
        asked = {hit.chunk_id for hit in connected.hits[: connected.asked]}
        last = max((place for place, hit in enumerate(hits[:top_k]) if hit.chunk_id in asked), default=0)
        pairs = zip_longest((hit for hit in added if hit.chunk_id in connected.named), hits[last + 1 :])
        merged = [*hits[: last + 1], *(hit for pair in pairs for hit in pair if hit)]
    else:
        merged = _replace_repeated(hits, added, named=connected.named, owners=owners, top_k=top_k)
    return _renumber(merged, known=known)


def _replace_repeated(
    hits: Sequence[Hit], added: Sequence[Hit], *, named: Collection[str], owners: Mapping[str, str], top_k: int
) -> list[Hit]:
    """
    Return the hits with further chunks of documents among the first `top_k` replaced and put behind.

    The first half keeps two chunks of each document, the second half one. Added hits without a place follow if they are
    `named`.
    """
    first, seen, repeated = list(hits[:top_k]), Counter[str](), list[int]()
    for place, hit in enumerate(first):
        owner = owners.get(hit.chunk_id, hit.chunk_id)
        seen[owner] += 1
        if seen[owner] > (1 if place >= top_k // 2 else 2):
            repeated.append(place)
    taken = repeated[max(0, len(repeated) - len(added)) :]
    for place, hit in zip(taken, added, strict=False):
        first[place] = hit
    waiting, free = added[len(taken) :], top_k - len(first)
    last = [hit for hit in waiting[free:] if hit.chunk_id in named]
    return [*first, *waiting[:free], *(hits[place] for place in taken), *hits[top_k:], *last]


def _renumber(hits: Sequence[Hit], *, known: Collection[str]) -> list[Hit]:
    """Return the hits with ranks in this order, and scores that never rise; new hits get the score before them."""
    numbered = list[Hit]()
    for rank, hit in enumerate(hits, start=1):
        before = numbered[-1].score if numbered else hit.score
        numbered.append(Hit(hit.chunk_id, rank, min(before, hit.score) if hit.chunk_id in known else before))
    return numbered


def count_dropped(
    chosen: Sequence[Hit], kept: Sequence[Hit], *, text: Sequence[Hit], walked: Walked, options: SearchOptions
) -> dict[str, int]:
    """Return, by reason, how many of the first `top_k` text hits and graph hits are not in the answer."""
    top_k = options.top_k
    passed, shown = ({hit.chunk_id for hit in hits} for hits in (kept, chosen))
    by_text = {hit.chunk_id for hit in text[:top_k]}
    first = dict.fromkeys(hit.chunk_id for hit in (*text[:top_k], *walked.found.hits[:top_k]))
    reasons = Counter[str]()
    for id in first:
        if id not in passed:
            reasons[TOO_WEAK] += 1
        elif id not in shown and options.exact and len(chosen) == top_k:
            reasons[NO_PLACE] += 1
        elif id not in shown and id in by_text:
            reasons[OTHER_DOCUMENTS] += 1
        elif id not in shown:
            reasons[SAME_DOCUMENT if walked.trust > TRUST_BY_MEANING else NOT_NAMED] += 1
    return dict(reasons)


def _limit_per_document(ids: Sequence[str], *, chunks: Chunks, count: int) -> set[str]:
    """Return the first `count` chunks, at most `MAX_ADDED_PER_DOCUMENT` of each document."""
    taken: Counter[str] = Counter()
    chosen: set[str] = set()
    for start in range(0, min(len(ids), 4 * count), count):
        if len(chosen) == count:
            break
        some = ids[start : start + count]
        known = chunks.read(some)
        for id in some:
            owner = known[id].document_id if id in known else ""
            if taken[owner] < MAX_ADDED_PER_DOCUMENT and len(chosen) < count:
                taken[owner] += 1
                chosen.add(id)
    return chosen
