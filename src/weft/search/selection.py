"""Selection of the evidence and of the connected passages, and the number of omitted hits by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from weft.graph.expand import FULL_WEIGHT
from weft.rank.boost import put_first
from weft.rank.gate import Verdict
from weft.records import Hit, Query
from weft.search.chunks import Chunks
from weft.search.document_spread import add_leading_documents, find_leaders, prefer_new_documents, read_owners, spread
from weft.search.graph.connected import Neighbours, choose_connected
from weft.search.graph.join import FOLLOWED_GRAPH_SCORE, Joined, Walked
from weft.search.graph.trust import TRUST_BY_MEANING
from weft.search.search_context import SearchContext
from weft.search.writing_systems import drop_unsupported

MAX_ADDED_PER_DOCUMENT = 2
"""Maximum number of chunks of one document that the graph may add to the evidence."""

POOL_FACTOR = 4
"""Text hits that compete for the places of the evidence, as a multiple of `top_k`."""

MAX_RIVAL_SHARE = 0.9
"""Share of the best text score from which a hit of another document makes the first place unclear."""

TOO_WEAK = "below the relevance threshold"
SAME_DOCUMENT = "the graph adds at most two chunks per document"
OTHER_DOCUMENTS = "other documents take its place"
NO_PLACE = "more results than requested"
NOT_NAMED = "the trust in the graph is too low, so it only changed the order"
WEAK_LINK = "a link on the path is below graph.min_graph_score"
"""Reasons for omitted hits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The judged hits from which an answer is chosen."""

    fused: Sequence[Hit]
    """The union of text and graph."""
    kept: Sequence[Hit]
    """The part of `fused` that the gate kept."""
    text: Sequence[Hit]
    """The hits of the text channels that may be shown, in their order."""
    walked: Walked
    neighbours: Neighbours
    prefers_new: bool
    """True if documents that are not shown yet come first."""
    leaders: Sequence[str] = ()
    """The best chunks of the first documents of each text channel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The hits of the answer, and the candidates they were chosen from."""

    found: Candidates
    hits: Sequence[Hit]
    """Evidence, best first; at most `top_k` hits."""
    connected: Sequence[Hit]
    """Passages of stated neighbours that are no evidence, best first."""
    dropped: Mapping[str, int]
    """Number of omitted hits, by reason."""

    def pool(self) -> list[Hit]:
        """Return every hit that may be evidence, in the order of the union."""
        ids = {hit.chunk_id for hit in (*self.found.text, *self.hits)}
        return [hit for hit in self.found.fused if hit.chunk_id in ids]


def select_hits(
    query: Query, joined: Joined, verdict: Verdict, neighbours: Neighbours, search: SearchContext
) -> Selection:
    """Return the hits of the answer, chosen from those that the gate kept."""
    with search.stopwatch.stage("select"):
        walked = joined.walked
        is_mixed = joined.relations is not None and bool(joined.text) and walked.cited is None
        found = Candidates(
            fused=joined.hits,
            kept=verdict.kept,
            text=verdict.text,
            walked=walked,
            neighbours=neighbours,
            prefers_new=is_mixed and search.graph.fusion == "boost",
            leaders=find_leaders(query, joined.rankings, chunks=search.chunks, top_k=search.options.top_k),
        )
        hits = choose_evidence(found, search)
        if search.embedder and query.vector_weight:
            # A walk from entities close in meaning depends on vectors, so it does not confirm vector hits.
            names = ("keyword", "graph") if walked.trust > TRUST_BY_MEANING else ("keyword",)
            others = [joined.rankings[name] for name in names if name in joined.rankings]
            hits = drop_unsupported(hits, others, chunks=search.chunks, card=search.embedder.card)
        hits, connected = add_connected(hits, found, search)
        dropped = count_dropped([*hits, *connected], found, text=joined.text, search=search)
    return Selection(found=found, hits=hits, connected=connected, dropped=dropped)


def choose_evidence(found: Candidates, search: SearchContext) -> list[Hit]:
    """
    Return the evidence, at most `top_k` hits, by score.

    | hits | in the evidence |
    | --- | --- |
    | hits of `text` | by their score; with `prefers_new`, new documents have seven of ten places |
    | graph hits that the gate kept | the same; at most two chunks per document: it must not hide the next hop |
    | graph hits of entities that the question does not name | never; they only change the order |
    | the documents of `leaders` | with `prefers_new`, in place of further hits of other documents |
    | the best half of the hybrid results | with `search.exact`, in place of the last of these hits |

    The best text hit stays first if the gate kept it, unless the graph determines the order.
    """
    top_k, chunks, walked = search.options.top_k, search.chunks, found.walked
    if not walked.found.hits and not found.prefers_new:
        return spread(found.kept, chunks=chunks, top_k=top_k, leaders=found.leaders)
    own = spread(found.text, chunks=chunks, top_k=top_k, leaders=found.leaders)
    likely = {hit.chunk_id for hit in found.kept}
    text = own
    if found.prefers_new:
        near = [hit for hit in found.text if hit.rank <= POOL_FACTOR * top_k or hit.chunk_id in found.leaders]
        text = [hit for hit in near if hit.chunk_id in likely]
    passed = likely if walked.trust > TRUST_BY_MEANING or not found.text else set()
    added = [hit.chunk_id for hit in walked.found.hits if hit.chunk_id in passed]
    ids = {hit.chunk_id for hit in text} | _limit_per_document(added, chunks=chunks, count=top_k)
    chosen = [hit for hit in found.fused if hit.chunk_id in ids]
    owners = read_owners(chosen, chunks=chunks) if found.prefers_new else {}
    keeps_first = not walked.leads or (not walked.decides and found.prefers_new and _is_clear(found.text, owners))
    if found.text and keeps_first and found.text[0].chunk_id in likely:
        chosen = put_first(chosen, found.text[0].chunk_id)
    if found.prefers_new:
        chosen = prefer_new_documents(chosen, owners=owners, top_k=top_k)
    reserved = [id for id in _best_half(found, search) if id in ids] if search.options.exact else []
    first = cut_hits(chosen, reserved=reserved, top_k=top_k)
    if found.prefers_new:
        first = add_leading_documents(chosen, first, leaders=found.leaders, owners=owners, kept=reserved)
    return _renumber(_drop_weak(first, found, search))


def add_connected(hits: Sequence[Hit], found: Candidates, search: SearchContext) -> tuple[list[Hit], list[Hit]]:
    """
    Return the evidence and the connected passages; without evidence there are none.

    At most `graph.max_chunks` passages are connected. With another algorithm than `walk`, the evidence that it added
    counts as well. `weighted` and `rrf` keep the merging of their designs: only what the algorithm found is connected.
    With `search.exact`, both lists together have at most `top_k` hits, and the best half of the evidence stays.
    """
    options, top_k = search.graph, search.options.top_k
    shown = {hit.chunk_id for hit in hits}
    by_text = {hit.chunk_id for hit in found.text}
    added = [hit.chunk_id for hit in found.walked.found.hits if hit.chunk_id in shown and hit.chunk_id not in by_text]
    limit = max(0, options.max_chunks - (len(added) if options.algorithm != "walk" else 0)) if hits else 0
    if options.fusion != "boost" and options.algorithm != "walk":
        expanded = {hit.chunk_id for hit in found.walked.found.hits}
        others = [hit for hit in found.kept if hit.chunk_id in expanded and hit.chunk_id not in {*shown, *by_text}]
        connected = _drop_weak(others[:limit], found, search)
    else:
        connected = [
            hit
            for hit in choose_connected(found.neighbours, shown=shown, limit=limit)
            if found.neighbours.weights[hit.chunk_id] >= FULL_WEIGHT * options.min_graph_score
        ]
    evidence = list(hits)
    if search.options.exact and len(evidence) + len(connected) > top_k:
        count = max(top_k // 2, top_k - len(evidence))
        connected = connected[:count]
        evidence = cut_hits(
            evidence, reserved=[id for id in _best_half(found, search) if id in shown], top_k=top_k - len(connected)
        )
    return _renumber(evidence), _renumber(connected)


def _best_half(found: Candidates, search: SearchContext) -> list[str]:
    """Return the chunk ids of the best half of the hybrid results."""
    top_k = search.options.top_k
    own = spread(found.text, chunks=search.chunks, top_k=top_k, leaders=found.leaders)
    return [hit.chunk_id for hit in own[: (top_k + 1) // 2]]


def _is_clear(text: Sequence[Hit], owners: Mapping[str, str]) -> bool:
    """Return True if no hit of another document comes near the best text hit."""
    first = owners.get(text[0].chunk_id) if text else None
    other = next((hit for hit in text if owners.get(hit.chunk_id, first) != first), None)
    return other is None or other.score < MAX_RIVAL_SHARE * text[0].score


def cut_hits(hits: Sequence[Hit], *, reserved: Sequence[str], top_k: int) -> list[Hit]:
    """Return the first `top_k` hits; `reserved` ones, best first, are in place of the last of the others."""
    must = set(reserved[:top_k])
    ids = [hit.chunk_id for hit in hits]
    free = [id for id in ids if id not in must][: top_k - len(must)]
    chosen = must.union(free)
    return [hit for hit in hits if hit.chunk_id in chosen]


def _drop_weak(hits: Sequence[Hit], found: Candidates, search: SearchContext) -> list[Hit]:
    """
    Return the hits without those that only a path with a weak link brought.

    The threshold applies after the selection. So a stricter one returns a subset.
    """
    least = FULL_WEIGHT * search.graph.min_graph_score
    by_text = {hit.chunk_id for hit in found.text}
    doubtful = [hit.chunk_id for hit in hits if hit.chunk_id not in by_text]
    if not doubtful or found.walked.cited is not None or least <= FULL_WEIGHT * FOLLOWED_GRAPH_SCORE:
        return list(hits)
    weights = found.walked.found.weakest_links(doubtful)
    stated = found.neighbours.weights
    weak = {id for id in doubtful if max(weights.get(id, 0.0), stated.get(id, 0.0)) < least}
    return [hit for hit in hits if hit.chunk_id not in weak]


def _renumber(hits: Sequence[Hit]) -> list[Hit]:
    return [Hit(id, rank, score) for rank, (id, _, score) in enumerate(hits, start=1)]


def count_dropped(
    shown: Sequence[Hit], found: Candidates, *, text: Sequence[Hit], search: SearchContext
) -> dict[str, int]:
    """Return, by reason, how many of the first `top_k` text hits and graph hits are not in the answer."""
    top_k, walked = search.options.top_k, found.walked
    passed, present = ({hit.chunk_id for hit in hits} for hits in (found.kept, shown))
    by_text = {hit.chunk_id for hit in text[:top_k]}
    first = dict.fromkeys(hit.chunk_id for hit in chain(text[:top_k], walked.found.hits[:top_k]))
    is_full = len(shown) >= top_k
    reasons = Counter[str]()
    for id in (id for id in first if id not in present):
        if id not in passed:
            reasons[TOO_WEAK] += 1
        elif id in by_text:
            reasons[OTHER_DOCUMENTS if found.prefers_new or not walked.found.hits else NO_PLACE] += 1
        elif walked.trust <= TRUST_BY_MEANING and found.text:
            reasons[NOT_NAMED] += 1
        elif search.graph.min_graph_score > FOLLOWED_GRAPH_SCORE and not is_full:
            reasons[WEAK_LINK] += 1
        else:
            reasons[NO_PLACE if is_full else SAME_DOCUMENT] += 1
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
