"""From a document to the facts it states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from weft.config import MemoryOptions
from weft.extract.names import predicate_key
from weft.extract.properties import read_properties
from weft.facts.validation import refusal
from weft.index.remember import content_of, make_fact
from weft.records import Document, Fact, GivenFact
from weft.text.ids import fact_id

FactReader = Callable[[Document, Sequence[GivenFact]], tuple[Fact, ...]]
"""Gives the facts that a document states, with those that an extractor found in it."""


def make_fact_reader(*, namespace: str, options: MemoryOptions, now: datetime) -> FactReader | None:
    """Return what reads facts out of the documents of a namespace; None where the settings want none."""
    if not options.from_files:
        return None
    return lambda document, found: read_facts(document, found, namespace=namespace, options=options, now=now)


def read_facts(
    document: Document,
    read: Sequence[GivenFact] = (),
    *,
    namespace: str,
    options: MemoryOptions,
    now: datetime,
) -> tuple[Fact, ...]:
    """
    Return the facts a document states and those that were `read` in it, each once; what hygiene refuses is left out.

    They are staged, or confirmed where the settings say so of files; those of single-valued predicates stay staged,
    for documents may disagree.
    """
    single = {predicate_key(name) for name in options.single_valued}
    found: dict[str, Fact] = {}
    for given in (*read_properties(document), *read):
        fact = make_fact(given, at=now)
        if refusal(fact, allow_secrets=options.allow_secrets):
            continue
        content = content_of(fact)
        is_sure = fact.source in options.confirm_sources and fact.predicate not in single
        made = replace(fact, id=fact_id(namespace, content, 0), status="confirmed" if is_sure else "staged")
        found.setdefault(content, made)
    return tuple(found.values())
