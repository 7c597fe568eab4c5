"""Weight of the weakest link on the path of a walk, for the threshold `graph.min_graph_score`."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

from weft.graph.expand import FULL_WEIGHT
from weft.search.graph.walk import MENTION_LINK_WEIGHTS, Walk

FOLLOWED_GRAPH_SCORE = 0.3
"""
Largest `graph.min_graph_score` that the search itself applies, and the least that `guided` and the fusion `boost` do.

A larger one removes passages from the answer afterwards. Without the weak links the search would find other passages,
and a stricter threshold would add some. With a smaller one, `boost` shows more passages in `connected`.
"""


def weakest_links(state: Walk, chunk_ids: Collection[str]) -> dict[str, float]:
    """
    Return the weight of the weakest link on the path to each chunk, 1 to 10.

    A link is a relation, or joins an entity and a chunk: 10 if the chunk defines the entity, else by the mentions.
    """
    paths = {id: state.path(id) for id in chunk_ids if id in state.came_from}
    nodes = sorted({node for path in paths.values() for node in path})
    entities = [node for node in nodes if node[0] == "e"]
    weights: dict[frozenset[str], float] = {}
    for relation in state.relations.between(entities) if len(entities) > 1 else ():
        pair = frozenset(relation[:2])
        weights[pair] = max(weights.get(pair, 0.0), relation.weight)
    for mention in state.graph.mentions_in([node for node in nodes if node[0] == "c"]):
        weights[frozenset(mention[:2])] = FULL_WEIGHT if mention.about else _mention_weight(mention.count)
    return {
        id: min((weights.get(frozenset(pair), 0.0) for pair in pairwise(path)), default=0.0)
        for id, path in paths.items()
    }


def _mention_weight(count: int) -> float:
    return max(weight for least, weight in MENTION_LINK_WEIGHTS.items() if count >= least)
