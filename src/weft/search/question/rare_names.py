"""Rare names of a question: names that at most three chunks contain word by word. No graph is needed."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice

from weft.extract.names import iter_words, words
from weft.records import Filter, Question
from weft.search.chunks import Chunks
from weft.search.draft import Draft
from weft.search.search_context import SearchContext
from weft.store.base import StoreReader
from weft.text.analyzer import query_terms

MAX_NAMES = 4
"""Maximum number of looked-up names, longest first."""

MAX_HOLDERS = 3
"""Maximum number of chunks that contain a rare name; a name in more chunks is common."""

MAX_CANDIDATE_CHUNKS = 8
"""Maximum number of chunks with all terms of a name that are read; with more chunks the name counts as common."""


def find_candidates(question: Question, *, store: StoreReader, where: Filter) -> dict[str, list[str]]:
    """Return the chunks with all terms of each name of the question, by name; none for a common name."""
    names = question.names[:MAX_NAMES]
    wanted = [query_terms(name) for name in names]
    if where:  # a common name may be rare among the documents that pass the filter
        rankings = (store.search_keyword(terms, limit=MAX_CANDIDATE_CHUNKS, where=where) for terms in wanted)
        found = [[hit.chunk_id for hit in ranking.hits] for ranking in rankings]
    else:
        found = (
            [ids or [] for ids in store.find_chunks_with_terms(wanted, limit=MAX_CANDIDATE_CHUNKS)] if wanted else []
        )
    return {name: ids for name, ids in zip(names, found, strict=True) if ids}


def find_rare_names(candidates: Mapping[str, Sequence[str]], *, chunks: Chunks) -> dict[str, tuple[str, ...]]:
    """
    Return the rare names in each chunk, by chunk id.

    A chunk must contain the words of a name in sequence. Case, accents and punctuation are ignored.
    """
    holders: dict[str, list[str]] = defaultdict(list)
    for name, ids in candidates.items():
        for id in _find_holders(name, ids, known=chunks):
            holders[id].append(name)
    return {id: tuple(names) for id, names in sorted(holders.items())}


def add_name_bonus(draft: Draft, search: SearchContext) -> Draft:
    """
    Return the draft with rare names, and with a bonus for the chunks that contain them; missing chunks are added.

    One of n chunks with a name gains `search.name_bonus · best score / √n`. Of several names the rarest counts.
    """
    found = find_rare_names(draft.name_candidates, chunks=search.chunks)
    return draft._replace(rare_names=found, scores=weigh_names(draft.scores, found, bonus=search.options.name_bonus))


def weigh_names(
    scores: Mapping[str, float], rare_names: Mapping[str, tuple[str, ...]], *, bonus: float
) -> Mapping[str, float]:
    """Return scores with the bonus of `add_name_bonus`."""
    if not rare_names or not bonus:
        return scores
    count = Counter(name for names in rare_names.values() for name in names)
    best, worst = max(map(abs, scores.values()), default=1.0) or 1.0, min((0.0, *scores.values()))
    added = {}
    for id, names in rare_names.items():
        gain = max(1 / math.sqrt(count[name]) for name in names)
        added[id] = scores.get(id, worst) + bonus * best * gain
    return {**scores, **added}


def _find_holders(name: str, ids: Sequence[str], *, known: Chunks) -> list[str]:
    """Return which of these chunks contain a name; empty for a common name."""
    wanted = [word.text for word in words(name)]
    if not wanted:
        return []
    chunks = known.read(ids).values()
    found = {chunk.id for chunk in chunks if any(_holds(part, wanted) for part in (*chunk.heading, chunk.text))}
    others = [chunk for chunk in chunks if chunk.id not in found]
    if others:
        titled = {id for id, document in known.documents(others).items() if _holds(document.title, wanted)}
        found |= {chunk.id for chunk in others if chunk.document_id in titled}
    return sorted(found) if len(found) <= MAX_HOLDERS else []


def _holds(text: str, wanted: Sequence[str]) -> bool:
    """Return True if a text contains the words `wanted` in sequence."""
    if text.isascii():  # substring tests are cheap and exclude most texts
        plain = text.lower()
        joined = plain.replace("'", "") if "'" in plain else plain
        if not all(word in joined for word in wanted):
            return False
        if "'" not in text and "_" not in text:  # split only the text after each occurrence of the first word
            starts = (match.start() for match in re.finditer(re.escape(wanted[0]), plain))
            return any(_begins(text, at, wanted) for at in starts if not text[at - 1 : at].isalnum())
    return any(word.text == wanted[0] and _begins(text, word.start, wanted) for word in iter_words(text))


def _begins(text: str, at: int, wanted: Sequence[str]) -> bool:
    return [word.text for word in islice(iter_words(text, at), len(wanted))] == wanted
