"""Names that a question spells and few chunks hold: what it is about, whether or not the graph knows them."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice

from weft.extract.names import iter_words, words
from weft.extract.phrases import find_names
from weft.extract.sentences import Sentence
from weft.records import Filter
from weft.store.base import Store
from weft.text.analyzer import query_terms

HOLDERS = 3
"""Chunks that may hold a name for it to tell anything; one that more of them hold is a common one."""

LOOK = 8
"""Chunks that are read in search of a name, those that hold its words; where more do, it is taken for a common one."""

MAX_NAMES = 4
"""Names of a question that are looked for, the longest."""

MAX_TEXT = 2000
"""Characters of a question that are read for names."""


def find_spelled(text: str, *, store: Store, where: Filter) -> dict[str, tuple[str, ...]]:
    """
    Return, by id, the chunks that hold a name of the question which hardly any other chunk holds.

    Names are quoted texts, identifiers and capitalised phrases. They must stand in a chunk word by word; case, accents
    and punctuation do not count.
    """
    holders: dict[str, list[str]] = defaultdict(list)
    for name in _names(text):
        for id in _find_holders(name, store=store, where=where):
            holders[id].append(name)
    return {id: tuple(names) for id, names in sorted(holders.items())}


def add_spelled(
    scores: Mapping[str, float], spelled: Mapping[str, tuple[str, ...]], *, bonus: float
) -> Mapping[str, float]:
    """
    Return scores with chunks that hold names of the question moved up, and put in where they were missing.

    One that alone holds a name gains `bonus` times the best score; one of n gains that divided by the root of n. Of
    several names the rarest counts.
    """
    if not spelled or not bonus:
        return scores
    count = Counter(name for names in spelled.values() for name in names)
    best, worst = max(map(abs, scores.values()), default=1.0) or 1.0, min((0.0, *scores.values()))
    added = {}
    for id, names in spelled.items():
        gain = max(1 / math.sqrt(count[name]) for name in names)
        added[id] = scores.get(id, worst) + bonus * best * gain
    return {**scores, **added}


def _names(text: str) -> list[str]:
    """Return the names a question spells, the longest first, none inside another."""
    found = [name.text for name in find_names(Sentence(text[:MAX_TEXT]))]
    return sorted(dict.fromkeys(found), key=lambda name: (-len(name), name))[:MAX_NAMES]


def _find_holders(name: str, *, store: Store, where: Filter) -> list[str]:
    """Return the chunks a name stands in; none where it is common, or in no chunk."""
    wanted = [word.text for word in words(name)]
    terms = query_terms(name)
    if not wanted or not terms:
        return []
    if where:  # among what passes, it may be rare
        ids = [hit.chunk_id for hit in store.search_keyword(terms, limit=LOOK, where=where).hits]
    else:
        ids = store.find_holders(terms, limit=LOOK) or []
    chunks = store.chunks(ids) if ids else []
    found = {chunk.id for chunk in chunks if any(_holds(part, wanted) for part in (*chunk.heading, chunk.text))}
    others = {chunk.id: chunk.document_id for chunk in chunks if chunk.id not in found}
    if others:
        titled = {d.id for d in store.documents(list(others.values())) if _holds(d.title, wanted)}
        found |= {id for id, document in others.items() if document in titled}
    return sorted(found) if len(found) <= HOLDERS else []


def _holds(text: str, wanted: Sequence[str]) -> bool:
    if text.isascii():  # a look that costs little, and mostly says no
        plain = text.lower()
        if not all(word in plain.replace("'", "") for word in wanted):
            return False
        if "'" not in text and "_" not in text:  # what lies around the first word is enough
            starts = (match.start() for match in re.finditer(re.escape(wanted[0]), plain))
            return any(_begins(text, at, wanted) for at in starts if not text[at - 1 : at].isalnum())
    return any(word.text == wanted[0] and _begins(text, word.start, wanted) for word in iter_words(text))


def _begins(text: str, at: int, wanted: Sequence[str]) -> bool:
    return [word.text for word in islice(iter_words(text, at), len(wanted))] == wanted
