"""Selection of the evidence and of the connected passages, and the number of omitted hits by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from weft.graph.expand import FULL_WEIGHT
from weft.records import Hit
from weft.search.conversations import is_talk
from weft.search.corrections import correct
from weft.search.document_spread import add_leading_documents
from weft.search.draft import Draft
from weft.search.graph.connected import choose_connected
from weft.search.graph.link_weights import FOLLOWED_GRAPH_SCORE
from weft.search.graph.trust import TRUST_BY_MEANING
from weft.search.search_context import SearchContext
from weft.text.ids import owner

MAX_ADDED_PER_DOCUMENT = 2
"""Maximum number of chunks of one document that the graph may add to the evidence."""

POOL_FACTOR = 4
"""Hits of the text, and of the graph, that compete for the places of the evidence, as a multiple of `top_k`."""

TOO_WEAK = "below the relevance threshold"
SAME_DOCUMENT = "the graph adds at most two chunks per document"
OTHER_DOCUMENTS = "to show more documents"
NO_PLACE = "more results than requested"
NOT_NAMED = "connected only to something that the question does not name"
WEAK_LINK = "a link on the path is below graph.min_graph_score"
"""Reasons for omitted hits."""


def read_candidates(draft: Draft, search: SearchContext) -> Draft:
    """Read the chunks that will probably be shown or compared, at once, and return the draft unchanged."""
    text = [hit.chunk_id for hit in draft.verdict.text[: search.options.top_k]]
    search.chunks.read([*text, *_graph_candidates(draft, search)])
    return draft


def select_hits(draft: Draft, search: SearchContext) -> Draft:
    """Return the draft with the hits of the answer, chosen from those that the gate kept."""
    with search.stopwatch.stage("select"):
        draft = choose_hits(draft, search)
        return draft._replace(dropped=count_dropped(draft, search))


def choose_hits(draft: Draft, search: SearchContext) -> Draft:
    """
    Return the draft with the evidence and the connected passages.

    `graph.min_graph_score` applies to the chosen passages, so a stricter threshold returns a subset.
    """
    return _drop_weak(_add_connected(choose_evidence(draft, search), search), search)


def choose_evidence(draft: Draft, search: SearchContext) -> Draft:
    """
    Return the draft with the evidence, at most `top_k` hits, by score.

    | hits | in the evidence |
    | --- | --- |
    | text hits | by their score; with `prefers_new`, new documents have seven of ten places |
    | text hits that are mostly of conversations | by their score; one session may take every place |
    | graph hits that the gate kept | the same; at most two chunks per document: it must not hide the next hop |
    | graph hits of entities that the question does not name | never; they only change the order |
    | the documents of `leaders` | with `prefers_new`, in place of further hits of other documents |
    | the best half of the hybrid results | with `search.exact`, in place of the last of these hits |

    The best text hit stays first if the gate kept it, unless the graph determines the order.
    """
    top_k, likely = search.options.top_k, {hit.chunk_id for hit in draft.verdict.kept}
    is_mixed = draft.relations is not None and bool(draft.text) and not draft.is_cited and not draft.is_reranked
    talks = is_talk(draft, search)
    prefers_new = is_mixed and search.graph.fusion == "boost" and not talks
    draft = draft._replace(prefers_new=prefers_new, evidence=draft.verdict.text)
    if not talks:
        draft = correct("candidates", draft, search)
    text, half = draft.evidence, list[str]()
    if search.options.exact:
        own = draft.evidence if talks else correct("candidates", draft._replace(prefers_new=False), search).evidence
        half = [hit.chunk_id for hit in own[: (top_k + 1) // 2]]
    if draft.prefers_new:
        text = [
            hit
            for hit in text
            if hit.chunk_id in likely and (hit.rank <= POOL_FACTOR * top_k or hit.chunk_id in draft.leaders)
        ]
    added = _limit_per_document(_graph_candidates(draft, search), count=top_k)
    ids = {hit.chunk_id for hit in text} | added
    draft = correct("places", draft._replace(evidence=[hit for hit in draft.hits if hit.chunk_id in ids]), search)
    half = [id for id in half if id in ids]
    first = cut_hits(draft.evidence, reserved=half, top_k=top_k)
    if draft.prefers_new:
        first = add_leading_documents(draft.evidence, first, leaders=draft.leaders, kept=half)
    draft = draft._replace(evidence=_renumber(first), reserved=half)
    return correct("answer", draft, search)


def _add_connected(draft: Draft, search: SearchContext) -> Draft:
    """
    Return the draft with the connected passages; without evidence there are none.

    At most `graph.max_chunks` passages are connected. With another algorithm than `walk`, the evidence that it added
    counts as well. `weighted` and `rrf` keep the merging of their designs: only what the algorithm found is connected.
    With `search.exact`, both lists together have at most `top_k` hits, and the best half of the evidence stays.
    """
    options, top_k = search.graph, search.options.top_k
    shown = {hit.chunk_id for hit in draft.evidence}
    by_text = {hit.chunk_id for hit in draft.verdict.text}
    added = [hit.chunk_id for hit in draft.walked.found.hits if hit.chunk_id in shown and hit.chunk_id not in by_text]
    limit = max(0, options.max_chunks - (len(added) if options.algorithm != "walk" else 0)) if shown else 0
    if options.fusion != "boost" and options.algorithm != "walk":
        expanded = {hit.chunk_id for hit in draft.walked.found.hits}
        others = [hit for hit in draft.verdict.kept if hit.chunk_id in expanded and hit.chunk_id not in shown | by_text]
        connected = others[:limit]
    else:
        connected = choose_connected(draft.neighbours, shown=shown, limit=limit)
    evidence = draft.evidence
    if search.options.exact and len(evidence) + len(connected) > top_k:
        connected = connected[: max(top_k // 2, top_k - len(evidence))]
        kept = [id for id in draft.reserved if id in shown]
        evidence = cut_hits(evidence, reserved=kept, top_k=top_k - len(connected))
    return draft._replace(evidence=_renumber(evidence), connected=_renumber(connected))


def cut_hits(hits: Sequence[Hit], *, reserved: Sequence[str], top_k: int) -> list[Hit]:
    """Return the first `top_k` hits; `reserved` ones, best first, are in place of the last of the others."""
    must = set(reserved[:top_k])
    ids = [hit.chunk_id for hit in hits]
    free = [id for id in ids if id not in must][: top_k - len(must)]
    chosen = must.union(free)
    return [hit for hit in hits if hit.chunk_id in chosen]


def _drop_weak(draft: Draft, search: SearchContext) -> Draft:
    """
    Return the draft without hits that only a path with a weak link brought; without evidence nothing is connected.

    Up to `FOLLOWED_GRAPH_SCORE` the walk itself follows no weaker link.
    """
    least, by_text = FULL_WEIGHT * search.graph.min_graph_score, {hit.chunk_id for hit in draft.verdict.text}
    doubtful = [hit.chunk_id for hit in (*draft.evidence, *draft.connected) if hit.chunk_id not in by_text]
    stated = draft.neighbours.weights
    weak = {id for id in doubtful if stated.get(id, least) < least}
    if doubtful and not draft.is_cited and least > FULL_WEIGHT * FOLLOWED_GRAPH_SCORE:
        weights = draft.walked.found.weakest_links(doubtful)
        weak = {id for id in doubtful if max(weights.get(id, 0.0), stated.get(id, 0.0)) < least}
    if not weak:
        return draft
    evidence = _renumber([hit for hit in draft.evidence if hit.chunk_id not in weak])
    connected = _renumber([hit for hit in draft.connected if hit.chunk_id not in weak]) if evidence else ()
    return draft._replace(evidence=evidence, connected=connected)


def _renumber(hits: Sequence[Hit]) -> list[Hit]:
    return [Hit(id, rank, score) for rank, (id, _, score) in enumerate(hits, start=1)]


def count_dropped(draft: Draft, search: SearchContext) -> dict[str, int]:
    """Return, by reason, how many of the first `top_k` text hits and graph hits are not in the answer."""
    top_k, walked = search.options.top_k, draft.walked
    shown = {hit.chunk_id for hit in (*draft.evidence, *draft.connected)}
    passed = {hit.chunk_id for hit in draft.verdict.kept}
    by_text = {hit.chunk_id for hit in draft.text[:top_k]}
    first = dict.fromkeys(hit.chunk_id for hit in chain(draft.text[:top_k], walked.found.hits[:top_k]))
    is_full = len(shown) >= top_k
    reasons = Counter[str]()
    for id in (id for id in first if id not in shown):
        if id not in passed:
            reasons[TOO_WEAK] += 1
        elif id in by_text:
            reasons[OTHER_DOCUMENTS if draft.prefers_new or not walked.found.hits else NO_PLACE] += 1
        elif walked.trust <= TRUST_BY_MEANING and draft.verdict.text:
            reasons[NOT_NAMED] += 1
        elif search.graph.min_graph_score > FOLLOWED_GRAPH_SCORE and not is_full:
            reasons[WEAK_LINK] += 1
        else:
            reasons[NO_PLACE if is_full else SAME_DOCUMENT] += 1
    return dict(reasons)


def _graph_candidates(draft: Draft, search: SearchContext) -> list[str]:
    """Return the chunks of the graph that compete for the places of the evidence, best first."""
    if draft.walked.trust <= TRUST_BY_MEANING and draft.verdict.text:
        return []
    passed = {hit.chunk_id for hit in draft.verdict.kept}
    added = [hit.chunk_id for hit in draft.walked.found.hits if hit.chunk_id in passed]
    return added[: POOL_FACTOR * search.options.top_k]


def _limit_per_document(ids: Sequence[str], *, count: int) -> set[str]:
    """Return the first `count` chunks, at most `MAX_ADDED_PER_DOCUMENT` of each document."""
    taken: Counter[str] = Counter()
    chosen: set[str] = set()
    for id in ids:
        document = owner(id)
        if taken[document] < MAX_ADDED_PER_DOCUMENT and len(chosen) < count:
            taken[document] += 1
            chosen.add(id)
    return chosen
