"""What a question asks for by its own words, and which facts of an entity say it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import cache

from weft.extract.lexicon import ZH_STOPS
from weft.records import Fact
from weft.search.question.entities import QUESTION_WORDS
from weft.text.analyzer import query_terms, terms

LOOKS = 100
"""Surest facts of an entity the question is about that are compared with its words, of which the best are kept."""

SPREAD = 0.5
"""What is left of a fact's match for the facts of the entity that it leads to."""

FIRST_PERSON = frozenset({"i", "me", "my", "mine", "myself"})
ASKING = frozenset({"know", "tell", "say", "about", "remember", "recall", "please", "so", "far"}) | FIRST_PERSON
"""Words in which one asks for all that is known, beside those every question is made of."""


def asked_terms(text: str, *, names: Collection[str]) -> frozenset[str]:
    """Return the terms that tell what is asked: not those every question has, nor the names it is about."""
    known = {term for name in names for term in terms(name)}
    return frozenset(term for term in query_terms(text) if not _says_nothing(term)) - known - _plain_terms()


def match(fact: Fact, asked: frozenset[str]) -> int:
    """Return how many of the terms that are asked for a fact has in its predicate and value."""
    return len(asked.intersection(terms(f"{fact.predicate.replace('_', ' ')} {fact.value}"))) if asked else 0


def pick(facts: Sequence[Fact], *, asked: frozenset[str], limit: int) -> list[tuple[Fact, int]]:
    """Return at most `limit` facts of each subject with their match: those that match best, among equals the first."""
    groups: dict[str, list[tuple[Fact, int]]] = defaultdict(list)
    for fact in facts:
        groups[fact.subject].append((fact, match(fact, asked)))
    return [item for group in groups.values() for item in sorted(group, key=lambda item: -item[1])[:limit]]


@cache
def _plain_terms() -> frozenset[str]:
    return frozenset(term for word in QUESTION_WORDS | ASKING for term in terms(word))


def _says_nothing(term: str) -> bool:
    return not term.isascii() and any(character in ZH_STOPS for character in term)
