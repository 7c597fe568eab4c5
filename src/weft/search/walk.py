"""The graph channel `walk`: activation spreads from the question's entities over the chunks that mention them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from weft.config import GraphOptions
from weft.graph.activate import activate, pagerank
from weft.graph.expand import FULL_WEIGHT
from weft.rank.fuse import order
from weft.records import Hit, Mention, Relation
from weft.search.recognise import Seed, idf
from weft.search.relations import Relations
from weft.store.base import Graph
from weft.text.statements import inverse

ABOUT = 1.0
MENTIONED = 0.1
"""From an entity to a chunk about it, and to one that mentions it (times ln(1+count)/sqrt(chunks))."""

RELATED = 0.1
"""Share of an entity's activation that goes over its relations to other entities; the rest goes to chunks."""

RELATED_ASKED = 0.7
"""The same share where the question asks for some of its relations; then it goes over these alone."""

MIN_WEIGHT = 6.5
"""Relations of documents that carry activation: those somebody stated, not those that follow from standing together."""

BACK = 0.2
"""Share of a chunk's activation that flows back to what it is about; the rest goes to what it mentions."""

WEAK = 0.4
"""How much of its share a weak entity gets: a phrase that two documents use, or a name that no chunk is about."""

WEAK_CHUNKS = 100
"""A weak entity that more chunks mention links nothing: it is a common word."""


@dataclass
class Walk:
    """Spreads activation, and remembers the way it came."""

    graph: Graph
    relations: Relations
    options: GraphOptions
    total: int
    asked: Collection[str] = ()
    """Relation types the question asks for."""
    seeds: Collection[str] = ()
    came_from: dict[str, tuple[float, str]] = field(default_factory=dict)
    """By node: the strongest contribution when it was first reached, and the node it came from."""
    about: set[tuple[str, str]] = field(default_factory=set)
    """Entities and the chunks that are about them."""
    edges: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    """By node, where its activation goes and in which shares; each node is looked up once."""

    def spread(self, x: Mapping[str, float]) -> dict[str, float]:
        """Return one step: from entities to chunks and from chunks to entities at once."""
        self._look_up([node for node in x if node not in self.edges])
        after: dict[str, float] = defaultdict(float)
        ways: dict[str, tuple[float, str]] = {}
        for source, value in x.items():
            for target, share in self.edges[source]:
                flow = value * share
                after[target] += flow
                if target not in self.came_from and target not in self.seeds and flow > ways.get(target, (0.0, ""))[0]:
                    ways[target] = (flow, source)
        self.came_from |= ways
        return dict(after)

    def _look_up(self, nodes: Sequence[str]) -> None:
        entities, chunks = [n for n in nodes if n[0] == "e"], [n for n in nodes if n[0] == "c"]
        self.edges |= {node: [] for node in nodes}
        limit = self.options.max_edges
        if entities:
            mentions = self.graph.mentions_of(entities, limit=limit)
            least = FULL_WEIGHT * self.options.min_graph_score
            relations = self.relations.of(
                entities, limit=limit, min_weight=max(MIN_WEIGHT, least), min_fact_weight=least
            )
            self._leave_entities(entities, mentions, relations)
        if chunks:
            for chunk, target, share in self._to_entities(self.graph.mentions_in(chunks)):
                self.edges[chunk].append((target, share))

    def _leave_entities(
        self, entities: Sequence[str], mentions: Sequence[Mention], relations: Sequence[Relation]
    ) -> None:
        chunks: dict[str, dict[str, float]] = defaultdict(dict)
        for mention in mentions:
            strength = math.log1p(mention.count) / math.sqrt(max(1, mention.chunks))
            chunks[mention.entity_id][mention.chunk_id] = ABOUT if mention.about else MENTIONED * strength
            if mention.about:
                self.about.add((mention.entity_id, mention.chunk_id))
        others: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        answers: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for relation in relations:
            for source, type, target in (
                (relation.source_id, relation.type, relation.target_id),
                (relation.target_id, inverse(relation.type), relation.source_id),
            ):
                into = answers if type in self.asked else others
                into[source][target] = max(relation.weight, into[source][target])
        for entity in entities:
            over, near = (RELATED_ASKED, answers[entity]) if entity in answers else (RELATED, others[entity])
            shares = {"c": 1.0 - over, "e": over} if chunks[entity] and near else {"c": 1.0, "e": 1.0}
            for kind, weights in (("c", chunks[entity]), ("e", near)):
                total = sum(weights.values())
                self.edges[entity] += [(node, shares[kind] * weight / total) for node, weight in weights.items()]

    def _to_entities(self, mentions: Sequence[Mention]) -> list[tuple[str, str, float]]:
        """Return the edges out of chunks. A name that stands in one chunk alone leads back to it, so it gets none."""
        edges: list[tuple[str, str, float]] = []
        by_chunk: dict[str, list[Mention]] = defaultdict(list)
        for mention in mentions:
            leads_on = mention.about or mention.elsewhere
            if leads_on and (_is_strong(mention) or mention.chunks <= WEAK_CHUNKS):
                by_chunk[mention.chunk_id].append(mention)
        for chunk, found in by_chunk.items():
            about = [mention for mention in found if mention.about]
            others = {
                m.entity_id: math.log1p(m.count) * idf(m.chunks, self.total) * (1.0 if _is_strong(m) else WEAK)
                for m in found
                if not m.about
            }
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


def _is_strong(mention: Mention) -> bool:
    return mention.strong and mention.home


def walk(
    seeds: Sequence[Seed], *, relations: Relations, options: GraphOptions, asked: Collection[str] = ()
) -> tuple[list[Hit], Walk]:
    """
    Return chunks by activation, best first, and the walk that can explain them. No seeds, no hits.

    `asked` are relation types the question asks for: activation prefers them.
    """
    starts = frozenset(seed.entity.id for seed in seeds)
    graph = relations.graph
    state = Walk(
        graph=graph, relations=relations, options=options, total=max(1, graph.size()), asked=asked, seeds=starts
    )
    activation = activate(
        state.spread,
        {seed.entity.id: seed.weight for seed in seeds},
        coefficients=pagerank(options.damping, 2 * options.rounds),
        prune=options.prune,
        keep=options.max_frontier,
    )
    return order({node: value for node, value in activation.items() if node[0] == "c"}), state
