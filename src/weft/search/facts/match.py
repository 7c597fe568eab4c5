"""
Match of facts with the words of a question.

The match is the number of content terms of the question that a fact has in its predicate and value:

    question    When does Ada start her new job?     content terms without the name `Ada`: start, new, job
    fact        Ada · job_start · 1 March            match 2
    fact        Ada · lives_in · London              match 0
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import cache

from weft.extract.lexicon import ZH_STOPS
from weft.records import Fact, Question
from weft.search.question.content_terms import FIRST_PERSON, QUESTION_WORDS, RECALL_WORDS
from weft.text.analyzer import terms

MAX_COMPARED_FACTS = 100
"""Maximum number of facts of an anchor that are compared with the question, highest confidence first."""

INHERITED_MATCH = 0.5
"""Share of a fact's match that is added to the facts of its object entity."""


def fact_terms(question: Question, *, names: Collection[str]) -> frozenset[str]:
    """
    Return the terms of a question without question words and without the names of its entities.

    In a Chinese question in the first person, a bigram with a particle leaves its other character: `住` for `我住`.
    """
    known = {term for name in names for term in terms(name)}
    found = {term for term in question.terms if not _has_particle(term)}
    if is_first_person(question):
        rests = ("".join(c for c in term if c not in ZH_STOPS) for term in question.terms if _has_particle(term))
        found |= {rest for rest in rests if rest and rest not in QUESTION_WORDS}
    return frozenset(found) - known - _plain_terms()


def is_first_person(question: Question) -> bool:
    """Return True if the user asks about themselves."""
    return any(word.text in FIRST_PERSON for word in question.words)


def match(fact: Fact, wanted: frozenset[str]) -> int:
    """Return the number of `wanted` terms in the predicate and value of a fact."""
    return len(wanted.intersection(terms(f"{fact.predicate.replace('_', ' ')} {fact.value}"))) if wanted else 0


def pick(facts: Sequence[Fact], *, wanted: frozenset[str], limit: int) -> list[tuple[Fact, int]]:
    """Return at most `limit` facts of each subject with their match, best match first; ties keep their order."""
    groups: dict[str, list[tuple[Fact, int]]] = defaultdict(list)
    for fact in facts:
        groups[fact.subject].append((fact, match(fact, wanted)))
    return [item for group in groups.values() for item in sorted(group, key=lambda item: -item[1])[:limit]]


@cache
def _plain_terms() -> frozenset[str]:
    return frozenset(term for word in QUESTION_WORDS | RECALL_WORDS for term in terms(word))


def _has_particle(term: str) -> bool:
    return not term.isascii() and any(character in ZH_STOPS for character in term)
