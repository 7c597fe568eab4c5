"""Facts stated by documents: properties of notes, statements in conversations, and findings of an extractor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from weft.config import MemoryOptions
from weft.extract.names import predicate_key
from weft.extract.properties import read_properties
from weft.extract.user_statements import SOURCE, has_one_value, read_statements
from weft.facts.validation import refusal
from weft.index.remember import content_of, make_fact
from weft.records import Document, Fact, GivenFact
from weft.text.ids import fact_content, fact_id
from weft.text.statement_forms import same_predicate, statement_form

FactReader = Callable[[Document, Sequence[GivenFact]], tuple[Fact, ...]]
"""Returns the facts that a document states, including those that an extractor found."""


def make_fact_reader(*, namespace: str, options: MemoryOptions, now: datetime) -> FactReader | None:
    """Return the fact reader of a namespace; None if `memory.from_files` is off."""
    if not options.from_files:
        return None
    return lambda document, found: read_facts(document, found, namespace=namespace, options=options, now=now)


def read_facts(
    document: Document,
    extracted: Sequence[GivenFact] = (),
    *,
    namespace: str,
    options: MemoryOptions,
    now: datetime,
) -> tuple[Fact, ...]:
    """
    Return the distinct facts of a document: its properties, then the `extracted` ones. Invalid facts are left out.

    Statements in conversations are read by rules only if an extractor, which reads them better, found no facts.

    Facts are staged, or confirmed if `memory.confirm_sources` names their source. Facts of single-valued predicates
    stay staged, because documents may disagree.
    """
    single = {predicate_key(name) for name in options.single_valued}
    found: dict[str, Fact] = {}
    for given in (*read_properties(document), *(extracted or read_statements(document))):
        fact = make_fact(given, at=now)
        if refusal(fact, allow_secrets=options.allow_secrets):
            continue
        is_confirmed = fact.source in options.confirm_sources and fact.predicate not in single
        made = _identify(fact, namespace=namespace)
        found.setdefault(made.id, replace(made, status="confirmed" if is_confirmed else "staged"))
    return tuple(found.values())


def _identify(fact: Fact, *, namespace: str) -> Fact:
    """Return a fact with its id. A statement of a conversation has the id of its normal form, in whatever words."""
    if fact.source != SOURCE or fact.object:
        return replace(fact, id=fact_id(namespace, content_of(fact), 0))
    predicate = " ".join(statement_form(fact.predicate))
    content = fact_content(fact.subject, f"stated {predicate}", object="", value=" ".join(statement_form(fact.value)))
    if has_one_value(fact.predicate):  # so that a contrary statement in other words ends it
        fact = replace(fact, predicate=predicate_key(same_predicate(fact.predicate)))
    return replace(fact, id=fact_id(namespace, content, 0))
