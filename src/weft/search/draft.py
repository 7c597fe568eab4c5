"""The record of an answer in the making, filled by the stages of a search and changed by the corrections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from weft.rank.gate import UNJUDGED, Verdict
from weft.rank.heuristic_confidence import GRAPH_OFF
from weft.records import Evidence, GraphContext, GraphSource, Hit, Query, Ranking
from weft.search.graph.channel import GraphFound, relations_between
from weft.search.graph.relations import Relations
from weft.search.papers.citation_search import Cited
from weft.search.question.choose_method import Plan
from weft.search.question.entities import Seed

MAX_ENTITIES = 12
"""Maximum number of entities in the graph context: those of the question and of the best graph chunks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walked:
    """The outcome of the graph channel for a question."""

    found: GraphFound = field(default_factory=GraphFound)
    seeds: tuple[Seed, ...] = ()
    skipped: str = ""
    """Reason why the graph was not walked; empty if it was."""
    trust: float = 1.0
    """Trust in the graph for this question, 0 to 1."""
    rated: float = GRAPH_OFF
    """The heuristic confidence; used with `graph.confidence = "heuristic"`."""
    cited: Cited | None = None
    """The answer to a citation question; it needs no agreement with the text."""
    leads: bool = True
    """True if a graph hit may be placed before the best text hit."""
    decides: bool = False
    """True if it may even if the best text hit is clearly the best: the graph knows what the text cannot say."""

    def context(self, evidence: Sequence[Evidence], *, relations: Relations) -> GraphContext:
        """Return the entities of the question and of the answer, with the relations among them."""
        graph = relations.graph
        ids = [seed.entity.id for seed in self.seeds]
        if self.cited is not None:
            ids += [id for id in self.cited.entities if id not in ids]
        shown = [piece.chunk.id for piece in evidence if piece.graph is not None]
        for mention in graph.mentions_in(shown, about=True):
            if mention.entity_id not in ids:
                ids.append(mention.entity_id)
        known = {seed.entity.id: seed.entity for seed in self.seeds}
        wanted = ids[:MAX_ENTITIES]
        known |= {entity.id: entity for entity in graph.entities([id for id in wanted if id not in known])}
        entities = [known[id] for id in wanted if id in known]
        return GraphContext(
            entities=tuple(entities),
            relations=tuple(relations_between(entities, relations=relations)),
            recognised=tuple(seed.entity.name for seed in self.seeds),
            found_by=("name" if self.seeds[0].words else "meaning") if self.seeds else "",
            trust=self.trust if self.seeds and not self.skipped else 0.0,
            skipped=self.skipped,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """The passages of stated neighbours of the named entities."""

    by_entity: tuple[tuple[Hit, ...], ...] = ()
    """For each named entity, the passages of its neighbours, best first; a passage may be in several lists."""
    sources: Mapping[str, GraphSource] = field(default_factory=dict)
    """By chunk, its path."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """By chunk, the weight of its strongest relation with a named entity."""


_EMPTY: Mapping[str, Any] = MappingProxyType({})


class Draft(NamedTuple):
    """
    An answer in the making. Every stage and every correction returns a changed copy, which takes a tuple a microsecond.

    The fields are in the order in which they are filled.
    """

    query: Query
    plan: Plan
    rankings: Mapping[str, Ranking] = _EMPTY
    """Rankings by channel, without chunks below `search.min_score`; the answer is chosen from these."""
    complete: Mapping[str, Ranking] = _EMPTY
    """Rankings by channel, including chunks below `search.min_score`; the confidence is computed from these."""
    has_exchanges: bool = False
    """True if one of the best hits of a channel is of a conversation."""
    scores: Mapping[str, float] = _EMPTY
    """Fused scores of the text channels by chunk, before they are ordered."""
    name_candidates: Mapping[str, Sequence[str]] = _EMPTY
    """The chunks with all words of a name of the question, by name, if few have them."""
    rare_names: Mapping[str, tuple[str, ...]] = _EMPTY
    """Rare names of the question in each chunk, by chunk id."""
    text: Sequence[Hit] = ()
    """The fused text channels."""
    walked: Walked = Walked()
    relations: Relations | None = None
    """None if the method does not use the graph."""
    hits: Sequence[Hit] = ()
    """The fused union of text and graph."""
    verdict: Verdict = UNJUDGED
    neighbours: Neighbours = Neighbours()
    is_reranked: bool = False
    """True if a reranker determines the order of the text hits."""
    prefers_new: bool = False
    """True if documents that are not shown yet come first."""
    leaders: Sequence[str] = ()
    """The best chunks of the first documents of each text channel."""
    evidence: Sequence[Hit] = ()
    """Evidence, best first; in the end at most `top_k` hits."""
    reserved: Sequence[str] = ()
    """With `search.exact`, the chunks of the best half of the hybrid results, which stay."""
    connected: Sequence[Hit] = ()
    """Passages of stated neighbours that are no evidence, best first."""
    dropped: Mapping[str, int] = _EMPTY
    """Number of omitted hits, by reason."""

    @property
    def is_cited(self) -> bool:
        """True if the citation search answers the question."""
        return self.walked.cited is not None

    def pool(self) -> list[Hit]:
        """Return every hit that may be evidence, in the order of the union."""
        ids = {hit.chunk_id for hit in (*self.verdict.text, *self.evidence)}
        return [hit for hit in self.hits if hit.chunk_id in ids]
