"""A result into text for a model, in the format of `[context]`: what of the graph goes in, and where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from weft.config import ContextOptions
from weft.context.blend import build_blend
from weft.context.build import GraphView, build_evidence
from weft.context.graph_block import build_graph_block, build_no_graph
from weft.extract.mentions import DERIVED_TYPES
from weft.extract.statements import inverse
from weft.records import Context, GraphContext, Recalled, Relation, Result
from weft.search.graph.relations import Relations

NEIGHBOURS = 10
"""Relations looked up in each direction for each entity the question names."""

VAGUE = (("links_to",), DERIVED_TYPES)
"""Types that say little of how two entities are related, the vaguest last."""

LED_NOWHERE = "the graph led to nothing in this answer"


def build_context(
    result: Result,
    *,
    relations: Relations,
    count: Callable[[str], int],
    options: ContextOptions,
    budget: int | None,
    facts: Sequence[Recalled] = (),
) -> Context:
    """
    Return a result as text for a model, never more than `budget` tokens by `count`, or those of the settings.

    The graph is only part of it where it led to some of the evidence. The block alone has the budget of its own
    in the settings, unless another is given. The narrative of `facts` stands before all of it, in the same budget.
    """
    if not facts:
        return _build(result, relations=relations, count=count, options=options, budget=budget)
    limit = options.budget if budget is None else budget
    own = min(options.graph_budget, limit) if options.format == "graph" and budget is None else limit

    def rest(room: int) -> Context:
        return _build(result, relations=relations, count=count, options=options, budget=min(room, own))

    return build_blend(facts, rest=rest, count=count, budget=limit)


def _build(
    result: Result, *, relations: Relations, count: Callable[[str], int], options: ContextOptions, budget: int | None
) -> Context:
    known = result.graph if any(piece.graph is not None for piece in result.evidence) else None
    whole = options if budget is None else replace(options, budget=budget)
    match options.format:
        case "evidence":
            view = GraphView(entities=known.entities, relations=_telling(known.relations)) if known else None
            return build_evidence(result.evidence, count=count, options=whole, graph=view)
        case "graph":
            limit = min(options.graph_budget, options.budget) if budget is None else budget
            if known is None:
                return build_no_graph(_why_not(result), count=count, budget=limit)
            return _block(known, relations=relations, count=count, per_entity=options.entity_tokens)(limit)
        case "evidence+graph":
            block = _block(known, relations=relations, count=count, per_entity=options.entity_tokens) if known else None
            return build_evidence(result.evidence, count=count, options=whole, block=block)


def _block(
    known: GraphContext, *, relations: Relations, count: Callable[[str], int], per_entity: int
) -> Callable[[int], Context]:
    """Return what makes the graph block of an answer, given the tokens it may take; no entity takes half of them."""
    view = _surroundings(known, relations=relations)
    return lambda budget: build_graph_block(
        view,
        query_entities=known.recognised,
        inverse=inverse,
        count=count,
        budget=budget,
        per_entity=min(per_entity, budget // 2),
    )


def _why_not(result: Result) -> str:
    if result.graph is None:
        return f"the method {result.method!r} does not ask the graph"
    return result.graph.skipped or LED_NOWHERE


def _surroundings(known: GraphContext, *, relations: Relations) -> GraphView:
    """Return the entities of an answer with the relations among them, and of those the question names all others."""
    asked = [entity.id for entity in known.entities if entity.name in known.recognised]
    there = {(r.source_id, r.target_id, r.type) for r in known.relations}
    further = [
        relation
        for relation in relations.of(asked, limit=NEIGHBOURS)
        if (relation.source_id, relation.target_id, relation.type) not in there
    ]
    told = _telling([*known.relations, *relations.graph.describe(further)])
    ids = sorted({id for relation in told for id in (relation.source_id, relation.target_id)})
    names = {entity.id: entity.name for entity in relations.entities(ids)}
    return GraphView(entities=known.entities, relations=told, names=names)


def _telling(relations: Sequence[Relation]) -> tuple[Relation, ...]:
    """Leave out that two entities are linked or named together where more is stated of the two."""
    best: dict[frozenset[str], int] = {}
    for relation in relations:
        ends = frozenset((relation.source_id, relation.target_id))
        best[ends] = min(best.get(ends, len(VAGUE)), _vagueness(relation))
    return tuple(r for r in relations if _vagueness(r) == best[frozenset((r.source_id, r.target_id))])


def _vagueness(relation: Relation) -> int:
    return next((rank for rank, types in enumerate(VAGUE, start=1) if relation.type in types), 0)
