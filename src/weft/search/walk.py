"""The graph channel `walk`: activation spreads from the question's entities over the chunks that mention them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from weft.config import GraphOptions
from weft.graph.activate import activate, pagerank
from weft.rank.fuse import order
from weft.records import Hit, Mention
from weft.search.recognise import Seed, idf
from weft.store.base import Graph

ABOUT = 1.0
MENTIONED = 0.1
"""From an entity to a chunk about it, and to one that mentions it (times ln(1+count)/sqrt(chunks))."""

BACK = 0.2
"""Share of a chunk's activation that flows back to what it is about; the rest goes to what it mentions."""

WEAK_CHUNKS = 100
"""A weak entity that more chunks mention links nothing: it is a common word."""


@dataclass
class Walk:
    """Spreads activation, and remembers the way it came."""

    graph: Graph
    options: GraphOptions
    total: int
    came_from: dict[str, tuple[float, str]] = field(default_factory=dict)
    """By node: the strongest contribution when it was first reached, and the node it came from."""

    def spread(self, x: Mapping[str, float]) -> dict[str, float]:
        """Return one step: from entities to chunks and from chunks to entities at once."""
        entities, chunks = [n for n in x if n[0] == "e"], [n for n in x if n[0] == "c"]
        after: dict[str, float] = defaultdict(float)
        ways: dict[str, tuple[float, str]] = {}
        edges: list[tuple[str, str, float]] = []
        if entities:
            edges += self._to_chunks(self.graph.mentions_of(entities, limit=self.options.max_edges))
        if chunks:
            edges += self._to_entities(self.graph.mentions_in(chunks))
        for source, target, share in edges:
            flow = x[source] * share
            after[target] += flow
            if flow > ways.get(target, (0.0, ""))[0]:
                ways[target] = (flow, source)
        for node, way in ways.items():
            self.came_from.setdefault(node, way)
        return dict(after)

    def _to_chunks(self, mentions: Sequence[Mention]) -> list[tuple[str, str, float]]:
        weights: dict[str, dict[str, float]] = defaultdict(dict)
        for mention in mentions:
            strength = math.log1p(mention.count) / math.sqrt(max(1, mention.chunks))
            weights[mention.entity_id][mention.chunk_id] = ABOUT if mention.about else MENTIONED * strength
        return [(e, c, w / sum(ws.values())) for e, ws in weights.items() for c, w in ws.items()]

    def _to_entities(self, mentions: Sequence[Mention]) -> list[tuple[str, str, float]]:
        edges: list[tuple[str, str, float]] = []
        by_chunk: dict[str, list[Mention]] = defaultdict(list)
        for mention in mentions:
            if mention.strong or mention.chunks <= WEAK_CHUNKS:
                by_chunk[mention.chunk_id].append(mention)
        for chunk, found in by_chunk.items():
            about = [mention for mention in found if mention.about]
            others = {m.entity_id: math.log1p(m.count) * idf(m.chunks, self.total) for m in found if not m.about}
            strongest = sorted(others.items(), key=lambda item: (-item[1], item[0]))[: self.options.max_edges]
            total = sum(weight for _, weight in strongest)
            edges += [(chunk, m.entity_id, BACK / len(about)) for m in about]
            edges += [(chunk, id, (1 - BACK) * weight / total) for id, weight in strongest if total]
        return edges

    def path(self, node: str) -> list[str]:
        """Return the nodes from a seed to `node`, both included."""
        nodes = [node]
        while nodes[-1] in self.came_from and len(nodes) < 20:
            before = self.came_from[nodes[-1]][1]
            if before in nodes:
                break
            nodes.append(before)
        return nodes[::-1]


def walk(seeds: Sequence[Seed], *, graph: Graph, options: GraphOptions) -> tuple[list[Hit], Walk]:
    """Return chunks by activation, best first, and the walk that can explain them. No seeds, no hits."""
    state = Walk(graph=graph, options=options, total=max(1, graph.size()))
    activation = activate(
        state.spread,
        {seed.entity.id: seed.weight for seed in seeds},
        coefficients=pagerank(options.damping, 2 * options.rounds),
        prune=options.prune,
        keep=options.max_frontier,
    )
    return order({node: value for node, value in activation.items() if node[0] == "c"}), state
