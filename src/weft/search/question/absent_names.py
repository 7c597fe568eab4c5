"""
Names and numbered ids of a question that occur in no chunk. The results then concern other things.

| question | namespace | absent |
| --- | --- | --- |
| `Why does kube-scheduler use the Raft leader election of Kafka?` | Kubernetes documentation | `Kafka`, `Raft` |
| `Does it run on the Nintendo Switch?` | a text with `switch` | `Nintendo Switch`: one of its words is missing |
| `What is ADR-0099?` | records up to `ADR-0016` | `ADR-0099` |
| `Where is the PodSecurityPolicy set?` | a chunk with `pod security policy` | none |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from weft.extract.names import name_key
from weft.rank.gate import MIN_OK_CONFIDENCE, Verdict
from weft.records import Question
from weft.search.question.content_terms import STOP_WORDS
from weft.search.search_context import SearchContext
from weft.store.base import StoreReader
from weft.text.analyzer import query_terms
from weft.text.normalise import is_unspaced, scripts

ABSENT = "no chunk contains {}"

MAX_SHOWN_NAMES = 3
"""Maximum number of absent names in a note."""

MIN_SCRIPT_SHARE = 0.1
"""Share of the best chunk's letters in the script of a name. Below it the name may be written in another script."""


def doubt_absent_names(verdict: Verdict, question: Question, search: SearchContext) -> Verdict:
    """Return the verdict with low confidence if the question names something that occurs nowhere."""
    if not verdict.kept:
        return verdict
    absent = [*_find_absent_ids(question, store=search.store), *_find_absent_names(verdict, question, search)]
    if not absent:
        return verdict
    shown = " or ".join(f"“{name}”" for name in list(dict.fromkeys(absent))[:MAX_SHOWN_NAMES])
    return replace(
        verdict,
        status="low_confidence",
        confidence=min(verdict.confidence, MIN_OK_CONFIDENCE - 0.01),
        reason=ABSENT.format(shown),
    )


def _find_absent_ids(question: Question, *, store: StoreReader) -> list[str]:
    return [
        numbered.text
        for numbered in question.numbered_ids
        if all(_is_missing(query_terms(spelling), store=store) for spelling in numbered.spellings)
        and not _is_known(numbered.spellings, store=store)
    ]


def _find_absent_names(verdict: Verdict, question: Question, search: SearchContext) -> Iterator[str]:
    """Yield names with a word that occurs nowhere; names in a script that the best chunk does not use are left out."""
    ids = {numbered.text for numbered in question.numbered_ids}
    chunk = next(iter(search.chunks.read([verdict.kept[0].chunk_id]).values()), None)
    written = scripts(chunk.text) if chunk else {}
    for name in question.all_names:
        if name in ids or any(written.get(script, 0.0) < MIN_SCRIPT_SHARE for script in scripts(name)):
            continue
        absent = [word for word in name.split() if _is_absent(word, store=search.store)]
        if absent and not _is_known([name, *absent], store=search.store):
            yield name


def _is_absent(word: str, *, store: StoreReader) -> bool:
    """Return True if no chunk contains a word of a name, neither as one term nor as its parts."""
    found = query_terms(word)
    if not found or word.lower() in STOP_WORDS or not any(map(str.isalpha, word)):
        return False
    if is_unspaced(word):
        return all(_is_missing([term], store=store) for term in found)
    whole = {found[0], *(query_terms(word.lower()) if word.isalpha() else ())}  # `CamelCase`, and its stem
    parts = [term for term in found if term not in whole]
    is_unwritten = all(_is_missing([term], store=store) for term in whole)
    return is_unwritten and (len(parts) < 2 or _is_missing(parts, store=store))


def _is_missing(terms: list[str], *, store: StoreReader) -> bool:
    """Return True if no chunk contains all of these terms."""
    return store.find_chunks_with_terms(terms, limit=1) == []


def _is_known(names: Iterable[str], *, store: StoreReader) -> bool:
    """Return True if an entity has one of these names, such as an alias that no text contains."""
    return bool(store.graph.find_known(list(map(name_key, names)), max_defining=1))
