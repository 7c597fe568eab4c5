"""
Table of the channels: how each is searched, weighed and scaled, and which methods search it.

A new ranking channel is a row here, with a function that searches it. Methods, fusion, explanations and evaluation
follow from the table. The graph is a row without a search: it is walked after the others (`search/graph/join.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from weft.choices import GRAPH, KEYWORD, VECTOR
from weft.rank.fuse import coverage, relative_scale, round_cosines, standard_scale
from weft.records import Query, Ranking
from weft.search.search_context import SearchContext
from weft.text.ids import owner

DEFAULT_BACKGROUND = (0.0, 0.1)
"""Mean and standard deviation of cosines without an embedder's card."""

MAX_COMPARED_HITS = 20
"""Number of best hits of each channel whose documents are counted."""

MIN_COMPARED_CHUNKS = 500
"""Number of chunks from which documents are counted. The best hits of a smaller namespace have few documents anyway."""

LONG_DOCUMENT_SHARES = (0.5, 0.8)
LONG_DOCUMENT_WEIGHT = 0.35
"""
Shares of distinct documents between which the weight of vectors grows, and its value at the first.

Chosen on one half of the questions of LongMemEval; the other half and real folders are in docs/quality.md.
"""

Rankings: TypeAlias = Mapping[str, Ranking]


class Channel(NamedTuple):
    """One way of finding chunks."""

    name: str
    label: str
    """What a hit of the channel has in common with the question."""
    measure: str
    """Name of its score."""
    methods: frozenset[str]
    """Methods that search it."""
    search: Callable[[Query, SearchContext], Ranking | None] | None = None
    """Returns its ranking; None without input, such as a vector."""
    weigh: Callable[[Rankings, Query, tuple[float, float]], float] = lambda rankings, query, shares: 1.0
    """Returns its weight in the fusion, relative to the others, by the weights of vectors and keywords."""
    scale: Callable[[Ranking, SearchContext], tuple[float, float]] = lambda ranking, search: relative_scale(ranking)
    """Returns the centre and the unit that make its scores comparable."""
    is_fallback: bool = False
    """True if it is also searched if there is no embedder."""


def _search_vector(query: Query, search: SearchContext) -> Ranking | None:
    if query.vector is None:
        return None
    return round_cosines(search.store.search_vector(query.vector, limit=search.pool_size, where=search.where))


def _search_keyword(query: Query, search: SearchContext) -> Ranking | None:
    return search.store.search_keyword(query.terms, limit=search.pool_size, where=search.where)


def _weigh_vector(rankings: Rankings, query: Query, shares: tuple[float, float]) -> float:
    return shares[0] * query.vector_weight


def _weigh_keyword(rankings: Rankings, query: Query, shares: tuple[float, float]) -> float:
    return shares[1] * coverage(rankings[KEYWORD])


def _scale_vector(ranking: Ranking, search: SearchContext) -> tuple[float, float]:
    return standard_scale(ranking, search.embedder.card.background if search.embedder else DEFAULT_BACKGROUND)


def _share_weights(rankings: Rankings, search: SearchContext) -> tuple[float, float]:
    """
    Return the weights of vectors and keywords: those of the settings, or else by the length of the documents found.

    Chunks of one long document are about one subject, so their vectors are close to each other and say little. The
    length shows in the share of distinct documents among the best chunks:

    | share of distinct documents | example | weights |
    | --- | --- | --- |
    | 0.8 or more | passages and abstracts | 0.7 and 0.3 |
    | 0.5 or less | conversations, long pages | 0.35 and 0.65 |

    """
    options = search.options
    is_set = options.vector_weight is not None or options.text_weight is not None
    is_small = VECTOR not in rankings or rankings[VECTOR].count < MIN_COMPARED_CHUNKS
    if is_set or is_small or options.fusion != "weighted" or len(rankings) < 2:
        return options.weights
    ids = {hit.chunk_id for ranking in rankings.values() for hit in ranking.hits[:MAX_COMPARED_HITS]}
    share = len(set(map(owner, ids))) / max(1, len(ids))
    first, last = LONG_DOCUMENT_SHARES
    if share >= last:
        return options.weights
    shortness = max(0.0, (share - first) / (last - first))
    vector_weight = LONG_DOCUMENT_WEIGHT + shortness * (options.weights[0] - LONG_DOCUMENT_WEIGHT)
    return vector_weight, 1 - vector_weight


CHANNELS: tuple[Channel, ...] = (
    Channel(
        name=VECTOR,
        label="closest in meaning",
        measure="cosine",
        methods=frozenset({"vector", "hybrid", "mix"}),
        search=_search_vector,
        weigh=_weigh_vector,
        scale=_scale_vector,
    ),
    Channel(
        name=KEYWORD,
        label="keyword match",
        measure="BM25",
        methods=frozenset({"keyword", "hybrid", "mix"}),
        search=_search_keyword,
        weigh=_weigh_keyword,
        is_fallback=True,
    ),
    Channel(name=GRAPH, label="through the graph", measure="activation", methods=frozenset({"graph", "mix"})),
)
"""All channels, in the order in which they are searched."""


def channels_of(method: str) -> frozenset[str]:
    """Return the names of the channels that a method searches."""
    return frozenset(channel.name for channel in CHANNELS if method in channel.methods)


def weigh(rankings: Rankings, query: Query, search: SearchContext) -> dict[str, float]:
    """Return the weight of each ranking, by channel. If all are 0, these channels are the only ones: all count 1."""
    shares = _share_weights(rankings, search)
    weights = {c.name: c.weigh(rankings, query, shares) for c in CHANNELS if c.name in rankings}
    return weights if any(weights.values()) else dict.fromkeys(rankings, 1.0)


def scales(rankings: Rankings, search: SearchContext) -> dict[str, tuple[float, float]]:
    """Return the centre and the unit of each ranking, by channel."""
    return {c.name: c.scale(rankings[c.name], search) for c in CHANNELS if c.name in rankings}


def explain_channel(name: str) -> tuple[str, str]:
    """Return the label of a channel and the name of its score."""
    return next(((c.label, c.measure) for c in CHANNELS if c.name == name), (name, "score"))
