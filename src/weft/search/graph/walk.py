"""
Graph algorithm `walk`: activation spreads from the question's entities over the chunks that mention them.

One step from entity A with activation 1.0. Chunk c1 is about A. Chunk c2, one of four that mention A, names it twice.
A relation of weight 8 joins A with B.

                 ┌─ 0.9 to chunks ────┬─ c1   weight 1.0                      → 0.9 · 1.000 / 1.055 = 0.853
    A (1.0) ─────┤                    └─ c2   weight 0.1 · ln(1+2)/√4 = 0.055 → 0.9 · 0.055 / 1.055 = 0.047
                 └─ 0.1 to entities ──── B    weight 8                        → 0.1 · 8 / 8         = 0.100

If the question asks for this type of relation, 0.7 goes to B and 0.3 to the chunks. The next step from c1:

                 ┌─ 0.2 to the entities c1 is about ──── A                    → 0.853 · 0.2 = 0.171
    c1 (0.853) ──┤
                 └─ 0.6 to the entities c1 mentions, by ln(1+count) · idf     → 0.853 · 0.6 = 0.512 in all

Personalised PageRank sums the steps (`weft.graph.activate`).
"""

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
from weft.store.base import GraphReader
from weft.text.ids import fact_entity_key

ABOUT_WEIGHT = 1.0
"""Weight of the edge from an entity to a chunk about it."""

MENTION_WEIGHT = 0.1
"""Weight of the edge from an entity to a chunk that mentions it, times ln(1+count)/√(chunks that mention it)."""

RELATION_SHARE = 0.1
"""Share of an entity's activation that flows over its relations; the rest flows to chunks."""

ASKED_RELATION_SHARE = 0.7
"""The same share if the question asks for some of these relations; the share flows over those only."""

MIN_RELATION_WEIGHT = 6.5
"""Relations of documents below this weight carry no activation: they derive from co-occurrence; nothing states them."""

MENTION_LINK_WEIGHTS = {0: 3, 2: 4, 3: 5, 4: 6}
"""Link weight by minimum number of mentions in a chunk, on the scale of relations. A defining chunk has 10."""

ABOUT_SHARE = 0.2
"""Share of a chunk's activation that flows back to the entities it is about."""

MENTIONED_SHARE = 0.6
"""Share of a chunk's activation that flows to the entities it mentions. The rest is that of names not looked up."""

WEAK_ENTITY_FACTOR = 0.4
"""Factor on the weight of a weak entity: a phrase that two documents use, or a name without a defining chunk."""

MIN_EXPANDED_ACTIVATION = 0.03
"""Minimum share of all activation for a chunk to be expanded; a weaker chunk is found but not expanded."""

MAX_EXPANDED_CHUNKS = 8
"""Maximum number of chunks expanded in one step. Chunks that tie at this limit are not expanded."""

MAX_READ_STEPS = {"e": 3, "c": 3}
"""
Last step that reads the edges of entities (`e`) and of chunks (`c`): two hops from the question.

Later steps have small coefficients and follow only known edges, mostly back to the chunks of the question's entities.
"""

EXTRA_ASKED_STEPS = 2
"""Further steps, one hop, if the question asks for relations: what depends on it may do so over two others."""

MAX_WEAK_CHUNKS = 100
"""A weak entity that more chunks mention is a common word and carries no activation."""


@dataclass
class Walk:
    """State of one walk: the edges read so far, and for each node the strongest predecessor."""

    graph: GraphReader
    relations: Relations
    options: GraphOptions
    total: int
    """Number of chunks in the namespace."""
    relation_types: Collection[str] = ()
    """Relation types that the question asks for."""
    reached: set[str] = field(default_factory=set)
    """Nodes with activation; the seeds from the start."""
    came_from: dict[str, str] = field(default_factory=dict)
    """For each node, the predecessor with the largest contribution when the node was first reached."""
    about: set[tuple[str, str]] = field(default_factory=set)
    """Pairs of an entity and a chunk about it."""
    edges: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    """For each node, its targets and their shares of its activation. Each node is read once."""
    read: list[Relation] = field(default_factory=list)
    """The relations of all entities read so far, of any weight."""
    names: dict[str, str] = field(default_factory=dict)
    """The names of these entities, by id."""
    steps: int = 0
    """Number of steps made."""
    answers: bool = False
    """True if a seed has a relation that the question asks for."""

    @cached_property
    def min_count(self) -> float:
        """Minimum number of mentions that link an entity with a chunk. A defining chunk needs none."""
        strong = (
            n for n, weight in MENTION_LINK_WEIGHTS.items() if weight / FULL_WEIGHT >= self.options.min_graph_score
        )
        return min(strong, default=math.inf)

    def spread(self, x: Mapping[str, float]) -> dict[str, float]:
        """Return the activation after one step: from entities to chunks and from chunks to entities at once."""
        self.steps += 1
        expanded = _expanded(x)
        self._read_edges([node for node in expanded if node not in self.edges])
        after: dict[str, float] = defaultdict(float)
        strongest: dict[str, float] = {}
        sources: dict[str, str] = {}
        for source, value in expanded.items():
            for target, share in self.edges[source]:
                flow = value * share
                after[target] += flow
                if flow > strongest.get(target, 0.0):
                    strongest[target], sources[target] = flow, source
        self.came_from |= {target: source for target, source in sources.items() if target not in self.reached}
        self.reached |= sources.keys()
        return dict(after)

    def _read_edges(self, nodes: Sequence[str]) -> None:
        extra = EXTRA_ASKED_STEPS if self.relation_types else 0
        read = [node for node in nodes if self.steps - extra <= MAX_READ_STEPS[node[0]] or self._is_behind_fact(node)]
        entities, chunks = [n for n in read if n[0] == "e"], [n for n in read if n[0] == "c"]
        self.edges |= {node: [] for node in nodes}
        if entities:
            least = FULL_WEIGHT * self.options.min_graph_score
            found, walked = self.relations.edges(
                entities,
                limit=self.options.max_edges,
                min_weight=max(MIN_RELATION_WEIGHT, least),
                min_fact_weight=least,
            )
            self.read += found.relations
            self.names |= found.names
            self._add_entity_edges(entities, found.mentions, walked)
        if chunks and self.steps < 2 * self.options.rounds:  # else the activation of entities is not needed
            self._add_chunk_edges(self.graph.mentions_in(chunks))

    def _is_behind_fact(self, node: str) -> bool:
        """Return True for an entity reached from one that only facts know; chains of facts are short."""
        return bool(fact_entity_key(node) or fact_entity_key(self.came_from.get(node, "")))

    def _add_entity_edges(
        self, entities: Sequence[str], mentions: Sequence[Mention], relations: Sequence[Relation]
    ) -> None:
        chunks: dict[str, dict[str, float]] = {entity: {} for entity in entities}
        least = self.min_count
        for entity, chunk, count, about, known, _, _, _ in mentions:  # hot loop
            if about:
                chunks[entity][chunk] = ABOUT_WEIGHT
                self.about.add((entity, chunk))
            elif count >= least:
                chunks[entity][chunk] = MENTION_WEIGHT * (math.log1p(count) / math.sqrt(known or 1))
        others: dict[str, dict[str, float]] = defaultdict(dict)
        answers: dict[str, dict[str, float]] = defaultdict(dict)
        for one, other, kind, weight, *_ in relations:  # hot loop
            for source, type, target in ((one, kind, other), (other, inverse(kind), one)):
                near = (answers if type in self.relation_types else others)[source]
                near[target] = max(weight, near.get(target, 0.0))
        self.answers |= self.steps == 1 and not answers.keys().isdisjoint(entities)
        for entity, own in chunks.items():
            is_asked = entity in answers
            near = (answers if is_asked else others)[entity]
            over = ASKED_RELATION_SHARE if is_asked else RELATION_SHARE
            shares = (1.0 - over, over) if own and near else (1.0, 1.0)
            for share, weights in zip(shares, (own, near), strict=True):
                total = sum(weights.values())
                self.edges[entity] += [(node, share * weight / total) for node, weight in weights.items()]

    def _add_chunk_edges(self, mentions: Sequence[Mention]) -> None:
        """Add the edges of chunks. An entity in only one chunk would return to that chunk, so it is skipped."""
        abouts: dict[str, list[str]] = defaultdict(list)
        others: dict[str, dict[str, float]] = defaultdict(dict)
        least = self.min_count
        for entity, chunk, count, about, known, strong, elsewhere, has_defining_chunk in mentions:  # hot loop
            is_strong = strong and has_defining_chunk
            if not (about or elsewhere) or not (is_strong or known <= MAX_WEAK_CHUNKS):
                continue
            if about:
                abouts[chunk].append(entity)
            elif count >= least:
                weight = math.log1p(count) * idf(known, self.total)
                others[chunk][entity] = weight if is_strong else weight * WEAK_ENTITY_FACTOR
        for chunk, found in abouts.items():
            self.edges[chunk] += [(entity, ABOUT_SHARE / len(found)) for entity in found]
        for chunk, weights in others.items():
            # Strongest first; ties go to the smaller id.
            ordered = sorted(sorted(weights.items()), key=itemgetter(1), reverse=True)[: self.options.max_edges]
            total = sum([weight for _, weight in ordered])
            self.edges[chunk] += [(entity, MENTIONED_SHARE * weight / total) for entity, weight in ordered if total]

    def path(self, node: str) -> list[str]:
        """Return the nodes from a seed to `node`, both included."""
        nodes = [node]
        while nodes[-1] in self.came_from and len(nodes) < 20:
            before = self.came_from[nodes[-1]]
            if before in nodes:
                break
            nodes.append(before)
        return nodes[::-1]


def _expanded(x: Mapping[str, float]) -> dict[str, float]:
    """Return the nodes to expand: all entities, and the strongest chunks."""
    chunks = sorted([value for node, value in x.items() if node[0] == "c"], reverse=True)
    beyond = chunks[MAX_EXPANDED_CHUNKS] if len(chunks) > MAX_EXPANDED_CHUNKS else 0.0
    return {
        node: value
        for node, value in x.items()
        if node[0] == "e" or (value >= MIN_EXPANDED_ACTIVATION and value > beyond)
    }


def walk(
    seeds: Sequence[Seed], *, relations: Relations, options: GraphOptions, relation_types: Collection[str] = ()
) -> tuple[list[Hit], Walk]:
    """
    Return the chunks by activation, best first, and the walk that explains them. Without seeds there are no hits.

    Activation prefers the `relation_types`, which the question asks for.
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
