"""Numbered ids of a question that occur in no chunk. The results then concern other ids."""

from __future__ import annotations

from dataclasses import replace

from weft.extract.names import name_key
from weft.rank.gate import MIN_OK_CONFIDENCE, Verdict
from weft.records import Question
from weft.store.base import StoreReader
from weft.text.analyzer import query_terms

ABSENT = "no chunk contains {}"


def doubt_absent_ids(verdict: Verdict, question: Question, *, store: StoreReader) -> Verdict:
    """Return the verdict with low confidence if the question has a numbered id that occurs nowhere."""
    if not verdict.kept or not (absent := _find_absent(question, store=store)):
        return verdict
    reason = ABSENT.format(" or ".join(f"“{id}”" for id in absent))
    return replace(
        verdict, status="low_confidence", confidence=min(verdict.confidence, MIN_OK_CONFIDENCE - 0.01), reason=reason
    )


def _find_absent(question: Question, *, store: StoreReader) -> list[str]:
    absent = []
    for numbered in question.numbered_ids:
        if any(store.find_chunks_with_terms(query_terms(spelling), limit=1) != [] for spelling in numbered.spellings):
            continue
        if not store.graph.find_known(list(map(name_key, numbered.spellings)), max_defining=1):
            absent.append(numbered.text)
    return list(dict.fromkeys(absent))
