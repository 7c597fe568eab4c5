"""Context of a result: text for a model, with or without the graph, in the format of the settings `[context]`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from weft.config import ContextOptions
from weft.context.blend import build_blend
from weft.context.build import GraphView, build_evidence
from weft.context.graph_block import build_graph_block, build_no_graph
from weft.context.relation_block import add_relations
from weft.extract.mentions import DERIVED_TYPES
from weft.extract.statements import inverse
from weft.records import Context, GraphContext, Recalled, Relation, Result
from weft.search.graph.relations import Relations

MAX_NEIGHBOURS = 10
"""Maximum number of relations per direction and entity of the question."""

VAGUE_TYPES = (("links_to",), DERIVED_TYPES)
"""Relation types with little meaning, the vaguest last."""

NO_GRAPH_EVIDENCE = "no evidence was found through the graph"


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
    Return a result as text for a model, of at most `budget` tokens by `count`. The settings have the default budget.

    The graph is included only if it contributed evidence. The format `graph` has a separate default budget. The
    narrative of `facts` comes first, within the same budget.


    """
    if not facts:
        return _build(result, relations=relations, count=count, options=options, budget=budget)
    limit = options.budget if budget is None else budget
    own = min(options.graph_budget, limit) if options.format == "graph" and budget is None else limit

    def rest(tokens: int) -> Context:
        return _build(result, relations=relations, count=count, options=options, budget=min(tokens, own))

    return build_blend(facts, rest=rest, count=count, budget=limit)


def _build(
    result: Result, *, relations: Relations, count: Callable[[str], int], options: ContextOptions, budget: int | None
) -> Context:
    """Return the answer of the graph, if there is one, then the evidence."""
    answer = result.relations
    if answer is None or not answer.items or options.format == "graph":
        return _build_passages(result, relations=relations, count=count, options=options, budget=budget)

    def rest(tokens: int) -> Context:
        return _build_passages(result, relations=relations, count=count, options=options, budget=tokens)

    return add_relations(answer, rest=rest, count=count, budget=options.budget if budget is None else budget)


def _build_passages(
    result: Result, *, relations: Relations, count: Callable[[str], int], options: ContextOptions, budget: int | None
) -> Context:
    pieces = (*result.evidence, *result.connected)
    known = result.graph if any(piece.graph is not None for piece in pieces) else None
    whole = options if budget is None else replace(options, budget=budget)
    match options.format:
        case "evidence":
            view = GraphView(entities=known.entities, relations=_without_vague(known.relations)) if known else None
            return build_evidence(result.evidence, connected=result.connected, count=count, options=whole, graph=view)
        case "graph":
            limit = min(options.graph_budget, options.budget) if budget is None else budget
            if known is None:
                return build_no_graph(_why_not(result), count=count, budget=limit)
            return _block(known, relations=relations, count=count, per_entity=options.entity_tokens)(limit)
        case "evidence+graph":
            block = _block(known, relations=relations, count=count, per_entity=options.entity_tokens) if known else None
            return build_evidence(result.evidence, connected=result.connected, count=count, options=whole, block=block)


def _block(
    known: GraphContext, *, relations: Relations, count: Callable[[str], int], per_entity: int
) -> Callable[[int], Context]:
    """Return a function that builds the graph block within a budget. An entity gets at most half of the budget."""
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
        return f"the method {result.method!r} does not use the graph"
    return result.graph.skipped or NO_GRAPH_EVIDENCE


def _surroundings(known: GraphContext, *, relations: Relations) -> GraphView:
    """Return the entities of a result with the relations among them, and all relations of entities in the question."""
    named = [entity.id for entity in known.entities if entity.name in known.recognised]
    known_ends = {(r.source_id, r.target_id, r.type) for r in known.relations}
    further = [
        relation
        for relation in relations.with_derived(named, limit=MAX_NEIGHBOURS)
        if (relation.source_id, relation.target_id, relation.type) not in known_ends
    ]
    stated = [relation for relation in known.relations if relation.type not in DERIVED_TYPES]
    derived = [relation for relation in known.relations if relation.type in DERIVED_TYPES]
    found = relations.graph.describe([*derived, *further])
    between = sorted([*stated, *found[: len(derived)]], key=lambda relation: -relation.weight)
    shown = _without_vague([*between, *found[len(derived) :]])
    ids = sorted({id for relation in shown for id in (relation.source_id, relation.target_id)})
    names = {entity.id: entity.name for entity in relations.entities(ids)}
    return GraphView(entities=known.entities, relations=shown, names=names)


def _without_vague(relations: Sequence[Relation]) -> tuple[Relation, ...]:
    """Drop vague relations between two entities that have a more specific one."""
    best: dict[frozenset[str], int] = {}
    for relation in relations:
        ends = frozenset((relation.source_id, relation.target_id))
        best[ends] = min(best.get(ends, len(VAGUE_TYPES)), _vagueness(relation))
    return tuple(r for r in relations if _vagueness(r) == best[frozenset((r.source_id, r.target_id))])


def _vagueness(relation: Relation) -> int:
    return next((rank for rank, types in enumerate(VAGUE_TYPES, start=1) if relation.type in types), 0)
