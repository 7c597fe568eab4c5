"""Following citations and their like from entity to entity, a bounded number of steps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from weft.config import GraphOptions
from weft.extract.statements import inverse
from weft.records import CitationQuestion, Entity
from weft.store.base import Graph

CITES, INTRODUCES, WRITTEN_BY = "cites", "introduces", "written_by"

DIRECT = 1.0
"""What a paper counts that is reached at once."""

MAX_LINKS = 1000
"""Relations of one type and direction that are read of what a question is about."""

MAX_FURTHER = 100
"""The same of each entity that was reached, for the second step."""

MAX_EXPANDED = 50
"""Entities whose own relations are read for the second step."""


@dataclass(frozen=True, slots=True)
class Step:
    """A relation that was followed, by the ids of its ends and the name it has in this direction."""

    source: str
    type: str
    weight: float
    target: str


Way: TypeAlias = tuple[Step, ...]
Reached: TypeAlias = dict[str, tuple[float, Way]]
"""By entity id: what it counts, and the best way to it."""


def find_links(
    graph: Graph, ids: Sequence[str], type: str, *, outgoing: bool, limit: int = MAX_LINKS
) -> dict[str, list[tuple[str, float]]]:
    """Return, by entity, what relations of one type and direction lead to, with their weights."""
    wanted = set(ids)
    found: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for relation in graph.relations_of(list(ids), limit=limit, types=(type,)) if wanted else ():
        source, target = relation.source_id, relation.target_id
        if not outgoing:
            source, target = target, source
        if source in wanted:
            found[source].append((target, relation.weight))
    return found


def _follow(graph: Graph, ways: Mapping[str, Way], type: str, *, outgoing: bool) -> dict[str, list[Way]]:
    """Return, by entity, the ways to it that are one relation longer than those given."""
    longer: dict[str, list[Way]] = defaultdict(list)
    name = type if outgoing else inverse(type)
    limit = MAX_FURTHER if any(ways.values()) else MAX_LINKS
    found = find_links(graph, list(ways)[:MAX_EXPANDED], type, outgoing=outgoing, limit=limit)
    for source, links in found.items():
        for target, weight in links:
            longer[target].append((*ways[source], Step(source, name, weight, target)))
    return longer


def reach(question: CitationQuestion, starts: Sequence[Entity], *, graph: Graph, options: GraphOptions) -> Reached:
    """
    Return what the question asks for.

    Where papers of one title are asked about, one that cites another of them is an answer too.
    """
    origin: dict[str, Way] = {entity.id: () for entity in starts}
    match question.kind:
        case "citing":
            return _direct(_follow(graph, origin, CITES, outgoing=False))
        case "references":
            return _direct(_follow(graph, origin, CITES, outgoing=True))
        case "written_by":
            return _direct(_follow(graph, origin, WRITTEN_BY, outgoing=False))
        case "builds_on":
            first = _first(_follow(graph, origin, CITES, outgoing=False))
            reached = _further(first, graph=graph, directions=(False,), options=options)
        case "cocited":
            citing = _first(_follow(graph, origin, CITES, outgoing=False))
            reached = _shared(_follow(graph, citing, CITES, outgoing=True), count=len(citing))
        case "shared":
            concepts = _first(_follow(graph, origin, INTRODUCES, outgoing=True))
            reached = _shared(_follow(graph, concepts, INTRODUCES, outgoing=False), count=len(concepts))
        case "introduces":
            return _introducing(starts, graph=graph, options=options)
    return {id: found for id, found in reached.items() if id not in origin}


def _introducing(concepts: Sequence[Entity], *, graph: Graph, options: GraphOptions) -> Reached:
    """Sum over the concepts: 1 for a paper that introduces one, less for papers citations away from such a paper."""
    sums: dict[str, float] = defaultdict(float)
    best: Reached = {}
    for concept in concepts:
        first = _first(_follow(graph, {concept.id: ()}, INTRODUCES, outgoing=False))
        near = _further(first, graph=graph, directions=(True, False), options=options)
        for id, (score, way) in near.items():
            sums[id] += score
            if id not in best or score > best[id][0]:
                best[id] = (score, way)
    return {id: (sums[id], way) for id, (_, way) in best.items()}


def _further(first: Mapping[str, Way], *, graph: Graph, directions: Sequence[bool], options: GraphOptions) -> Reached:
    """
    Return papers and those around them, as far as the settings say: each citation further counts so much less.

    `directions` tell whether citations are followed from the paper that cites.
    """
    levels = [dict(first)]
    while len(levels) < options.citation_depth:
        near: dict[str, Way] = {}
        for outgoing in directions:
            for id, ways in _follow(graph, levels[-1], CITES, outgoing=outgoing).items():
                near.setdefault(id, ways[0])
        levels.append(near)
    reached: Reached = {}
    for steps, level in reversed(list(enumerate(levels))):  # the nearest of several ways counts
        reached |= {id: (DIRECT * options.citation_share**steps, way) for id, way in level.items()}
    return reached


def _direct(found: Mapping[str, Sequence[Way]]) -> Reached:
    return {id: (DIRECT, ways[0]) for id, ways in found.items()}


def _first(found: Mapping[str, Sequence[Way]]) -> dict[str, Way]:
    return {id: ways[0] for id, ways in found.items()}


def _shared(found: Mapping[str, Sequence[Way]], *, count: int) -> Reached:
    """A paper counts the share of what lies between that it is linked with."""
    return {id: (len({way[-1].source for way in ways}) / max(1, count), ways[0]) for id, ways in found.items()}


def has_links(question: CitationQuestion, starts: Sequence[Entity], *, graph: Graph) -> bool:
    """Tell whether anything is known that a question of this kind asks for, in either direction."""
    type = {"written_by": WRITTEN_BY, "shared": INTRODUCES, "introduces": INTRODUCES}.get(question.kind, CITES)
    ids = [entity.id for entity in starts]
    return bool(graph.relations_of(ids, limit=1, types=(type,)))
