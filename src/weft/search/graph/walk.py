"""The graph channel `walk`: activation spreads from the question's entities over the chunks that mention them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter

from weft.config import GraphOptions
from weft.extract.statements import inverse
from weft.graph.activate import activate, pagerank
from weft.graph.expand import FULL_WEIGHT
from weft.rank.fuse import order
from weft.records import Hit, Mention, Relation
from weft.search.graph.relations import Relations
from weft.search.question.entities import Seed, idf
from weft.store.base import Graph

ABOUT = 1.0
MENTIONED = 0.1
"""From an entity to a chunk about it, and to one that mentions it (times ln(1+count)/sqrt(chunks))."""

RELATED = 0.1
"""Share of an entity's activation that goes over its relations to other entities; the rest goes to chunks."""

RELATED_ASKED = 0.7
"""The same share where the question asks for some of its relations; then it goes over these alone."""

MIN_WEIGHT = 6.5
"""Relations of documents that carry activation: those somebody stated, not those that follow from standing together."""

MENTION_WEIGHTS = {0: 3, 2: 4, 3: 5, 4: 6}
"""By how often a chunk names an entity at least: what that link weighs, as relations do. A chunk about one: 10."""

BACK = 0.2
"""Share of a chunk's activation that flows back to what it is about; the rest goes to what it mentions."""

WEAK = 0.4
"""How much of its share a weak entity gets: a phrase that two documents use, or a name that no chunk is about."""

LEADING = 0.03
"""Share of all activation from which a chunk passes it on; one with less is found, and leads nowhere."""

MANY = 8
"""Chunks that may pass it on at once; where more are equally active none of them does, as nothing tells them apart."""

WEAK_CHUNKS = 100
"""A weak entity that more chunks mention links nothing: it is a common word."""


@dataclass
class Walk:
    """Spreads activation, and remembers the way it came."""

    graph: Graph
    relations: Relations
    options: GraphOptions
    total: int
    relation_types: Collection[str] = ()
    """Relation types the question asks for."""
    reached: set[str] = field(default_factory=set)
    """Nodes that activation has come to; the seeds from the beginning."""
    came_from: dict[str, str] = field(default_factory=dict)
    """By node: where the strongest contribution came from when it was first reached."""
    about: set[tuple[str, str]] = field(default_factory=set)
    """Entities and the chunks that are about them."""
    edges: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    """By node, where its activation goes and in which shares; each node is looked up once."""
    steps: int = 0
    """How many were made."""
    answers: bool = False
    """Whether a relation that the question asks for leaves one of its entities."""

    @cached_property
    def least_count(self) -> float:
        """How often a chunk that is not about an entity must name it for the two to lead to each other."""
        strong = (n for n, weight in MENTION_WEIGHTS.items() if weight / FULL_WEIGHT >= self.options.min_graph_score)
        return min(strong, default=math.inf)

    def spread(self, x: Mapping[str, float]) -> dict[str, float]:
        """Return one step: from entities to chunks and from chunks to entities at once."""
        self.steps += 1
        leading = _leading(x)
        self._look_up([node for node in leading if node not in self.edges])
        after: dict[str, float] = defaultdict(float)
        strongest: dict[str, float] = {}
        ways: dict[str, str] = {}
        for source, value in leading.items():
            for target, share in self.edges[source]:
                flow = value * share
                after[target] += flow
                if flow > strongest.get(target, 0.0):
                    strongest[target], ways[target] = flow, source
        self.came_from |= {target: source for target, source in ways.items() if target not in self.reached}
        self.reached |= ways.keys()
        return dict(after)

    def _look_up(self, nodes: Sequence[str]) -> None:
        entities, chunks = [n for n in nodes if n[0] == "e"], [n for n in nodes if n[0] == "c"]
        self.edges |= {node: [] for node in nodes}
        limit = self.options.max_edges
        if entities:
            least = FULL_WEIGHT * self.options.min_graph_score
            mentions, relations = self.relations.with_mentions(
                entities, limit=limit, min_weight=max(MIN_WEIGHT, least), min_fact_weight=least
            )
            self._leave_entities(entities, mentions, relations)
        if chunks and self.steps < 2 * self.options.rounds:  # what the last step brings to entities leads nowhere
            self._leave_chunks(self.graph.mentions_in(chunks))

    def _leave_entities(
        self, entities: Sequence[str], mentions: Sequence[Mention], relations: Sequence[Relation]
    ) -> None:
        chunks: dict[str, dict[str, float]] = {entity: {} for entity in entities}
        least = self.least_count
        for entity, chunk, count, about, known, _, _, _ in mentions:
            if about:
                chunks[entity][chunk] = ABOUT
                self.about.add((entity, chunk))
            elif count >= least:
                chunks[entity][chunk] = MENTIONED * (math.log1p(count) / math.sqrt(known or 1))
        others: dict[str, dict[str, float]] = defaultdict(dict)
        answers: dict[str, dict[str, float]] = defaultdict(dict)
        for one, other, kind, weight, *_ in relations:
            for source, type, target in ((one, kind, other), (other, inverse(kind), one)):
                near = (answers if type in self.relation_types else others)[source]
                near[target] = max(weight, near.get(target, 0.0))
        self.answers |= self.steps == 1 and not answers.keys().isdisjoint(entities)
        for entity, own in chunks.items():
            over, near = (RELATED_ASKED, answers[entity]) if entity in answers else (RELATED, others.get(entity, {}))
            shares = (1.0 - over, over) if own and near else (1.0, 1.0)
            for share, weights in zip(shares, (own, near), strict=True):
                total = sum(weights.values())
                self.edges[entity] += [(node, share * weight / total) for node, weight in weights.items()]

    def _leave_chunks(self, mentions: Sequence[Mention]) -> None:
        """A name that stands in one chunk alone leads back to it, so it gets nothing."""
        abouts: dict[str, list[str]] = defaultdict(list)
        others: dict[str, dict[str, float]] = defaultdict(dict)
        least = self.least_count
        for entity, chunk, count, about, known, strong, elsewhere, home in mentions:
            is_strong = strong and home
            if not (about or elsewhere) or not (is_strong or known <= WEAK_CHUNKS):
                continue
            if about:
                abouts[chunk].append(entity)
            elif count >= least:
                weight = math.log1p(count) * idf(known, self.total)
                others[chunk][entity] = weight if is_strong else weight * WEAK
        for chunk, found in abouts.items():
            self.edges[chunk] += [(entity, BACK / len(found)) for entity in found]
        for chunk, weights in others.items():
            # strongest first, of equals the smaller id
            ordered = sorted(sorted(weights.items()), key=itemgetter(1), reverse=True)[: self.options.max_edges]
            total = sum([weight for _, weight in ordered])
            self.edges[chunk] += [(entity, (1 - BACK) * weight / total) for entity, weight in ordered if total]

    def path(self, node: str) -> list[str]:
        """Return the nodes from a seed to `node`, both included."""
        nodes = [node]
        while nodes[-1] in self.came_from and len(nodes) < 20:
            before = self.came_from[nodes[-1]]
            if before in nodes:
                break
            nodes.append(before)
        return nodes[::-1]


def _leading(x: Mapping[str, float]) -> dict[str, float]:
    """Return the nodes that pass their activation on: all entities, and the few strongest chunks."""
    chunks = sorted([value for node, value in x.items() if node[0] == "c"], reverse=True)
    beyond = chunks[MANY] if len(chunks) > MANY else 0.0
    return {node: value for node, value in x.items() if node[0] == "e" or (value >= LEADING and value > beyond)}


def walk(
    seeds: Sequence[Seed], *, relations: Relations, options: GraphOptions, relation_types: Collection[str] = ()
) -> tuple[list[Hit], Walk]:
    """
    Return chunks by activation, best first, and the walk that can explain them. No seeds, no hits.

    `relation_types` are those the question asks for: activation prefers them.
    """
    starts = {seed.entity.id for seed in seeds}
    graph = relations.graph
    state = Walk(
        graph=graph,
        relations=relations,
        options=options,
        total=max(1, graph.size()),
        relation_types=relation_types,
        reached=starts,
    )
    activation = activate(
        state.spread,
        {seed.entity.id: seed.weight for seed in seeds},
        coefficients=pagerank(options.damping, 2 * options.rounds),
        prune=options.prune,
        keep=options.max_frontier,
    )
    return order({node: value for node, value in activation.items() if node[0] == "c"}), state
