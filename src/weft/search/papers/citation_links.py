"""
Traversal of citations between papers, authors and concepts, with a limited number of steps.

| kind | relations followed from the start | score |
| --- | --- | --- |
| `citing` | ← cites | 1 |
| `references` | cites → | 1 |
| `written_by` | ← written_by | 1 |
| `builds_on` | ← cites, repeated up to `graph.citation_depth` | `graph.citation_share` per further step |
| `cocited` | ← cites, cites → | share of the citing papers that cite both |
| `shared` | introduces →, ← introduces | share of the concepts in common |
| `introduces` | ← introduces, then citations in both directions | sum over concepts, less per further step |
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from weft.config import GraphOptions
from weft.extract.statements import inverse
from weft.records import CitationQuestion, Entity
from weft.store.base import GraphReader

CITES, INTRODUCES, WRITTEN_BY = "cites", "introduces", "written_by"

DIRECT_SCORE = 1.0
"""Score of a paper reached in one step."""

MAX_LINKS = 1000
"""Maximum number of relations per type and direction of the entity in the question."""

MAX_FURTHER_LINKS = 100
"""Maximum number of relations of each entity reached in the first step."""

MAX_EXPANDED_ENTITIES = 50
"""Maximum number of entities per step whose relations are read."""


@dataclass(frozen=True, slots=True)
class Step:
    """A followed relation: the ids of its ends, and its type in this direction."""

    source: str
    type: str
    weight: float
    target: str


Path: TypeAlias = tuple[Step, ...]


class Reach(NamedTuple):
    """Score of a reached entity, and the best path to it."""

    score: float
    path: Path


Reached: TypeAlias = dict[str, Reach]
"""Reached entities by id."""


def find_links(
    graph: GraphReader, ids: Sequence[str], type: str, *, outgoing: bool, limit: int = MAX_LINKS
) -> dict[str, list[tuple[str, float]]]:
    """Return the targets of relations of one type and direction, with their weights, by entity."""
    wanted = set(ids)
    found: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for relation in graph.relations_of(list(ids), limit=limit, types=(type,)) if wanted else ():
        source, target = relation.source_id, relation.target_id
        if not outgoing:
            source, target = target, source
        if source in wanted:
            found[source].append((target, relation.weight))
    return found


def _follow(graph: GraphReader, paths: Mapping[str, Path], type: str, *, outgoing: bool) -> dict[str, list[Path]]:
    """Return the paths extended by one relation, by the entity they reach."""
    longer: dict[str, list[Path]] = defaultdict(list)
    name = type if outgoing else inverse(type)
    limit = MAX_FURTHER_LINKS if any(paths.values()) else MAX_LINKS
    found = find_links(graph, list(paths)[:MAX_EXPANDED_ENTITIES], type, outgoing=outgoing, limit=limit)
    for source, links in found.items():
        for target, weight in links:
            longer[target].append((*paths[source], Step(source, name, weight, target)))
    return longer


def reach(
    question: CitationQuestion, starts: Sequence[Entity], *, graph: GraphReader, options: GraphOptions
) -> Reached:
    """
    Return the entities that the question asks for, by id.

    With `citing`, `references` and `written_by`, one of several start papers of the same title may be an answer.
    """
    origin: dict[str, Path] = {entity.id: () for entity in starts}
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


def _introducing(concepts: Sequence[Entity], *, graph: GraphReader, options: GraphOptions) -> Reached:
    """Return the papers that introduce the concepts, and papers around them; scores are summed over the concepts."""
    sums: dict[str, float] = defaultdict(float)
    best: Reached = {}
    for concept in concepts:
        first = _first(_follow(graph, {concept.id: ()}, INTRODUCES, outgoing=False))
        near = _further(first, graph=graph, directions=(True, False), options=options)
        for id, found in near.items():
            sums[id] += found.score
            if id not in best or found.score > best[id].score:
                best[id] = found
    return {id: Reach(sums[id], found.path) for id, found in best.items()}


def _further(
    first: Mapping[str, Path], *, graph: GraphReader, directions: Sequence[bool], options: GraphOptions
) -> Reached:
    """
    Return papers within `graph.citation_depth` citations. Each step multiplies the score by `graph.citation_share`.

    `directions` contains True to follow citations forwards (from the citing paper), False to follow them backwards.

    """
    levels = [dict(first)]
    while len(levels) < options.citation_depth:
        near: dict[str, Path] = {}
        for outgoing in directions:
            for id, paths in _follow(graph, levels[-1], CITES, outgoing=outgoing).items():
                near.setdefault(id, paths[0])
        levels.append(near)
    reached: Reached = {}
    for steps, level in reversed(list(enumerate(levels))):  # of several paths, the shortest is used
        reached |= {id: Reach(DIRECT_SCORE * options.citation_share**steps, path) for id, path in level.items()}
    return reached


def _direct(found: Mapping[str, Sequence[Path]]) -> Reached:
    return {id: Reach(DIRECT_SCORE, paths[0]) for id, paths in found.items()}


def _first(found: Mapping[str, Sequence[Path]]) -> dict[str, Path]:
    return {id: paths[0] for id, paths in found.items()}


def _shared(found: Mapping[str, Sequence[Path]], *, count: int) -> Reached:
    """Return the share of the `count` intermediate entities that each paper is linked with."""
    return {
        id: Reach(len({path[-1].source for path in paths}) / max(1, count), paths[0]) for id, paths in found.items()
    }


def has_links(question: CitationQuestion, starts: Sequence[Entity], *, graph: GraphReader) -> bool:
    """Return True if a start entity has any relation of the type that the question asks for, in either direction."""
    type = {"written_by": WRITTEN_BY, "shared": INTRODUCES, "introduces": INTRODUCES}.get(question.kind, CITES)
    ids = [entity.id for entity in starts]
    return bool(graph.relations_of(ids, limit=1, types=(type,)))
