"""
Which method answers a question: rules over what can be measured of the question and of the index.

| rule | holds where | method |
| --- | --- | --- |
| `citation` | it asks for citations, and what it asks about is known | `graph` |
| `exact` | it is nothing but ids or quoted text, of which the graph knows nothing | `hybrid` |
| `comparison`, `overview` | it has such a word | `mix` |
| `default` | otherwise | `mix` |

The first rule that holds decides. `benchmarks/quality/choosing.py` measures them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime

from weft.config import GraphOptions, SearchOptions
from weft.extract.names import singular, words
from weft.extract.papers.citation_questions import read_citation
from weft.records import Choice, Features, Filter
from weft.search.graph.relations import Relations
from weft.search.graph.trust import ENOUGH
from weft.search.papers.citation_search import Cited, search_citations, search_concepts
from weft.search.question.entities import MAX_TEXT, MAX_WORDS, Seed, is_asking, recognise_names
from weft.search.question.features import read_features
from weft.store.base import Store

REASONS = {
    "citation": "it asks for citations ({citation})",
    "exact": "it is nothing but ids or quoted text, and the graph knows none of it",
    "comparison": "it compares, which wants text and graph together",
    "overview": "it asks for an overview, which wants text and graph together",
    "default": "the default: vector, keyword and graph together",
}
NO_GRAPH = "the graph is switched off"
METHODS = {"citation": "graph", "exact": "hybrid", "comparison": "mix", "overview": "mix", "default": "mix"}

_ASKING = re.compile(r"什么是|是什么|是谁|谁是|什么|请问|介绍|查找|的")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The method to run, why, and what was found out on the way."""

    method: str
    reason: str = ""
    choice: Choice | None = None
    """None where the caller chose."""
    cited: Cited | None = None
    """The answer to a citation question."""
    named: tuple[Seed, ...] | None = None
    """The entities the question names, where they were looked up."""

    @property
    def is_cited(self) -> bool:
        """Whether the citations alone answer it."""
        return self.method == "graph" and self.cited is not None and bool(self.cited.seeds)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a citation question found, or why it did not."""
        return self.cited.notes if self.cited is not None else ()


def choose(
    text: str,
    *,
    options: SearchOptions,
    graph: GraphOptions,
    store: Store,
    where: Filter,
    at: datetime | None = None,
) -> Plan:
    """
    Return how a question is answered; where the caller left the method open, by which rule.

    Entities that facts alone know are known by those that hold `at` a time; without one they are not.
    """
    match options.method:
        case "auto" | "agentic":
            with store.reading():
                relations = Relations(graph=store.graph, facts=(store.facts, at) if at and graph.enabled else None)
                return _choose(text, options=options, graph=graph, store=store, where=where, relations=relations)
        case "naive":
            return Plan(method="vector")
        case "graph":
            with store.reading():
                cited = _cite(text, options, graph=graph, store=store, where=where)
                if cited is None and graph.enabled:
                    cited = _cite_concepts(text, options, graph=graph, store=store, where=where)
            return Plan(method="graph", cited=cited)
        case "mix":
            return Plan(method="mix", cited=_cite(text, options, graph=graph, store=store, where=where))
        case _:
            return Plan(method=options.method)


def _choose(
    text: str, *, options: SearchOptions, graph: GraphOptions, store: Store, where: Filter, relations: Relations
) -> Plan:
    rules = options.auto_rules
    seen = read_features(text)
    cited = _cite(text, options, graph=graph, store=store, where=where) if "citation" in rules else None
    if cited is not None and cited.seeds:
        names = tuple(seed.entity.name for seed in cited.seeds)
        degree = max(seed.entity.chunks for seed in cited.seeds)
        return _plan(
            "citation", replace(seen, citation=cited.question.kind, entities=names, degree=degree), cited=cited
        )
    named = tuple(recognise_names(text, graph=store.graph, relations=relations, limit=graph.max_named))
    seen = replace(
        seen,
        entities=tuple(seed.entity.name for seed in named),
        degree=max((seed.entity.chunks for seed in named), default=0),
        named=_named(text, seen, named),
    )
    rule = "default"
    if "exact" in rules and seen.named >= 1 and not named:
        rule = "exact"
    elif "comparison" in rules and seen.comparison:
        rule = "comparison"
    elif "overview" in rules and seen.overview:
        rule = "overview"
    plan = _plan(rule, seen, cited=cited, named=named)
    return plan if graph.enabled or plan.method != "mix" else replace(plan, reason=f"{plan.reason}; but {NO_GRAPH}")


def _plan(rule: str, seen: Features, *, cited: Cited | None, named: tuple[Seed, ...] | None = None) -> Plan:
    reason = REASONS[rule].format(citation=seen.citation.replace("_", " "))
    choice = Choice(rule=rule, features=seen)
    return Plan(method=METHODS[rule], reason=reason, choice=choice, cited=cited, named=named)


def _cite(text: str, options: SearchOptions, *, graph: GraphOptions, store: Store, where: Filter) -> Cited | None:
    if not graph.enabled or not read_citation(text):
        return None
    with store.reading():
        limit = max(options.top_k, options.pool)
        return search_citations(text, store=store, where=where, limit=limit, options=graph)


def _cite_concepts(
    text: str, options: SearchOptions, *, graph: GraphOptions, store: Store, where: Filter
) -> Cited | None:
    """Where the graph alone is asked for a concept, the papers that introduce it answer, not what mentions it."""
    named = tuple(recognise_names(text, graph=store.graph, limit=graph.max_named))
    explained = min(1.0, _named(text, Features(), named) / ENOUGH)
    limit = max(options.top_k, options.pool)
    return search_concepts(named, store=store, where=where, limit=limit, trust=explained, options=graph)


def _named(text: str, seen: Features, named: tuple[Seed, ...]) -> float:
    """Return the share of the words that are no words of every question and that ids, quotes and names explain."""
    rest = _ASKING.sub(" ", text[:MAX_TEXT])
    asked = [singular(word.text) for word in words(rest)[:MAX_WORDS] if not is_asking(word, rest)]
    names = [name for seed in named for name in (seed.entity.name, *seed.entity.aliases)]
    known = {singular(word.text) for name in (*seen.ids, *seen.quoted, *names) for word in words(name)}
    return sum(word in known for word in asked) / len(asked) if asked else 0.0
