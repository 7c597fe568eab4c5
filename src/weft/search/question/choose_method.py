"""
Choice of the search method by rules over features of the question and of the index.

| rule | condition | method |
| --- | --- | --- |
| `citation` | it asks for citations of a known paper, author or concept | `graph` |
| `exact` | it consists of ids or quoted text, none of which is an entity of the graph | `hybrid` |
| `comparison`, `overview` | it contains such a cue word | `mix` |
| `default` | otherwise | `mix` |

The first matching rule decides. Decision 0011 has figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from weft.choices import VECTOR
from weft.extract.names import singular, words
from weft.records import Choice, Features, Question
from weft.search.channel_table import channels_of
from weft.search.graph.relations import Relations
from weft.search.graph.trust import MIN_EXPLAINED_SHARE
from weft.search.papers.citation_search import Cited, search_citations, search_concepts
from weft.search.question.entities import Seed, recognise_names
from weft.search.search_context import SearchContext

REASONS = {
    "citation": "citation question ({citation})",
    "exact": "exact lookup: only ids or quoted text, none of them an entity",
    "comparison": "comparison: vector, keyword and graph together",
    "overview": "overview: vector, keyword and graph together",
    "default": "the default: vector, keyword and graph together",
}
NO_GRAPH = "the graph is switched off"
METHODS = {"citation": "graph", "exact": "hybrid", "comparison": "mix", "overview": "mix", "default": "mix"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Method to run, with the reason, and the results of lookups that the choice needed."""

    method: str
    reason: str = ""
    choice: Choice | None = None
    """None if the caller chose the method."""
    cited: Cited | None = None
    """The answer to a citation question; None for other questions."""
    named: tuple[Seed, ...] | None = None
    """The entities that the question names; None if they were not looked up."""

    @property
    def channels(self) -> frozenset[str]:
        """The channels of the method."""
        return channels_of(self.method)

    @property
    def is_cited(self) -> bool:
        """True if the citations alone answer the question."""
        return self.method == "graph" and self.cited is not None and bool(self.cited.seeds)

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of the citation search."""
        return self.cited.notes if self.cited is not None else ()


def choose_method(question: Question, search: SearchContext) -> Plan:
    """
    Return the method that answers a question: the caller's, or with `auto` the one that a rule chooses.

    With `search.at`, entities known only from facts valid at that time count as known.
    """
    with search.stopwatch.stage("choose"):
        match search.options.method:
            case "auto" | "agentic":
                with search.store.reading():
                    return _choose(question, search)
            case "naive":
                return Plan(method=VECTOR)
            case "graph":
                with search.store.reading():
                    return Plan(method="graph", cited=_cite(question, search) or _cite_concepts(question, search))
            case "mix" if not search.graph.enabled:
                return Plan(method="hybrid", reason=NO_GRAPH)
            case "mix":
                return Plan(method="mix", cited=_cite(question, search))
            case method:
                return Plan(method=method)


def _choose(question: Question, search: SearchContext) -> Plan:
    rules, features = search.options.auto_rules, question.features
    cited = _cite(question, search) if "citation" in rules else None
    if cited is not None and cited.seeds:
        names = tuple(seed.entity.name for seed in cited.seeds)
        degree = max(seed.entity.chunks for seed in cited.seeds)
        seen = replace(features, citation=cited.question.kind, entities=names, degree=degree)
        return _plan("citation", seen, cited=cited)
    named = _recognise(question, search, with_facts=True)
    seen = replace(
        features,
        entities=tuple(seed.entity.name for seed in named),
        degree=max((seed.entity.chunks for seed in named), default=0),
        named=_explained_share(question, named, exact=(*features.ids, *features.quoted)),
    )
    rule = "default"
    if "exact" in rules and seen.named >= 1 and not named:
        rule = "exact"
    elif "comparison" in rules and seen.comparison:
        rule = "comparison"
    elif "overview" in rules and seen.overview:
        rule = "overview"
    plan = _plan(rule, seen, cited=cited, named=named)
    return _without_graph(plan) if not search.graph.enabled else plan


def _plan(rule: str, seen: Features, *, cited: Cited | None, named: tuple[Seed, ...] | None = None) -> Plan:
    reason = REASONS[rule].format(citation=seen.citation.replace("_", " "))
    choice = Choice(rule=rule, features=seen)
    return Plan(method=METHODS[rule], reason=reason, choice=choice, cited=cited, named=named)


def _without_graph(plan: Plan) -> Plan:
    """Return the plan with `hybrid` in place of `mix`."""
    return replace(plan, method="hybrid", reason=f"{plan.reason}; but {NO_GRAPH}") if plan.method == "mix" else plan


def _cite(question: Question, search: SearchContext) -> Cited | None:
    if not search.graph.enabled or not question.citations:
        return None
    with search.store.reading():
        return search_citations(question, search)


def _cite_concepts(question: Question, search: SearchContext) -> Cited | None:
    """Return the papers that introduce the concepts of a question, for the method `graph`; None for other questions."""
    if not search.graph.enabled:
        return None
    named = _recognise(question, search, with_facts=False)
    trust = min(1.0, _explained_share(question, named) / MIN_EXPLAINED_SHARE)
    return search_concepts(named, search, trust=trust)


def _recognise(question: Question, search: SearchContext, *, with_facts: bool) -> tuple[Seed, ...]:
    graph, relations = search.store.graph, None
    if with_facts:
        facts = (search.store.facts, search.at) if search.at and search.graph.enabled else None
        relations = Relations(graph=graph, facts=facts)
    return tuple(recognise_names(question, graph=graph, relations=relations, limit=search.graph.max_named))


def _explained_share(question: Question, named: Sequence[Seed], *, exact: Sequence[str] = ()) -> float:
    """Return the share of the subject words that occur in `exact` texts or in names of the entities."""
    names = [name for seed in named for name in (seed.entity.name, *seed.entity.aliases)]
    known = {singular(word.text) for name in (*exact, *names) for word in words(name)}
    subject = question.subject_words
    return sum(word in known for word in subject) / len(subject) if subject else 0.0
