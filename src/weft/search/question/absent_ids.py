"""Numbered things that a question names and nothing here does: what is found then is about others."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice

from weft.extract.names import name_key
from weft.rank.gate import MIN_OK_CONFIDENCE, Verdict
from weft.store.base import Store
from weft.text.analyzer import query_terms

MAX_TEXT, MAX_IDS = 2000, 4
"""Characters of a question that are read, and how many things are looked for."""

ABSENT = "nothing here holds {}"

_NUMBERED = re.compile(r"(?<![A-Za-z0-9_.-])([A-Za-z]{1,10})[-_]?(\d{3,12})(?![A-Za-z0-9_-])")
"""`INC-2041`, `E4711`. A year or an amount may be told in other words, a short number may be one of a series."""


def doubt_absent(verdict: Verdict, text: str, *, store: Store) -> Verdict:
    """Return a verdict that is less sure where a question names something by a number that stands nowhere."""
    if not verdict.kept or not (absent := _find_absent(text, store=store)):
        return verdict
    reason = ABSENT.format(" or ".join(f"“{id}”" for id in absent))
    confidence = min(verdict.confidence, MIN_OK_CONFIDENCE - 0.01)
    return replace(verdict, status="low_confidence", confidence=confidence, reason=reason)


def _find_absent(text: str, *, store: Store) -> list[str]:
    absent = []
    for match in islice(_NUMBERED.finditer(text[:MAX_TEXT]), MAX_IDS):
        spellings = [f"{match[1]}-{match[2]}", f"{match[1]}{match[2]}"]
        if any(store.find_holders(query_terms(spelling), limit=1) != [] for spelling in spellings):
            continue
        if not store.graph.find_known(list(map(name_key, spellings)), homes=1):
            absent.append(match[0])
    return list(dict.fromkeys(absent))
