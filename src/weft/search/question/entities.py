"""
Entities of a question: by name, with indexed lookups of its word runs, or by meaning, with vectors.

    "who directed the Clay Oven film?"
        keys looked up      clay, clay oven, oven, oven film, film …
        known names         clay oven, film
        longest match       clay oven       → Seed(entity=Clay Oven, words=2, how="named")
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from weft.extract.names import long_keys, match_names, short_keys, singular
from weft.records import CODE_PREFIX, Entity, Known, Question, Vector, Word
from weft.search.graph.relations import Relations
from weft.search.question.content_terms import QUESTION_WORDS
from weft.store.base import GraphReader
from weft.text.ids import fact_entity_key

MAX_NAME_WORDS = 20
"""Maximum number of words in a looked-up name. A question may contain the whole title of a paper."""

MAX_DIRECT_WORDS = 16
"""Words of a question up to which all its word runs, at most 136, are looked up without asking for beginnings first."""

MAX_COUNTED_CHUNKS = 20
"""Limit for counting the defining chunks of an entity."""

MAX_UNDEFINED_CHUNKS = 3
"""
Number of mentioning chunks up to which an entity without a defining chunk has full weight.

With n chunks it has 3/n.
"""

USER = "user"
"""Key of the fact entity of the user. In a question it is an ordinary word."""

MAX_RARE_SHARE = 0.01
"""A single lower-case word counts as a name if at most this share of chunks mentions it."""

MIN_RARE_CHUNKS = 20
MIN_UNDEFINED_RARE_CHUNKS = 2
"""
In a small namespace: number of mentioning chunks up to which such a word is rare, with and without a defining chunk.
"""

Match: TypeAlias = tuple[str, int, int]
"""Key, first word and number of words of a name in a question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """An entity of the question from which the graph is walked."""

    entity: Entity
    weight: float
    """Inverse chunk frequency: larger if fewer chunks mention the entity."""
    words: int
    """Number of words in the question that name the entity; 0 if it was found by meaning."""
    how: str
    """`named` or `close in meaning (0.81)`."""
    defining_chunks: int = 0
    """Number of defining chunks, up to 20; of neighbours for an entity known only from facts; 0 if found by meaning."""
    key: str = ""
    """Key of the name in the question; empty if found by meaning."""


def recognise_names(
    question: Question, *, graph: GraphReader, relations: Relations | None = None, limit: int = 5
) -> list[Seed]:
    """
    Return the entities named in a question, largest weight first, at most `limit`; ties go to the smaller id.

    With facts in `relations`, entities known only from facts are included if facts link them with others.
    """
    found, content, exact = question.words, question.content_words, question.exact_keys
    keys = _candidates(found, graph=graph) - QUESTION_WORDS.difference(word.text for word in content)
    known = graph.find_known(sorted(keys | exact.keys()), max_defining=MAX_COUNTED_CHUNKS)
    remembered = _find_remembered(known, relations=relations)
    known = {key: name for key, name in known.items() if not _is_fact_only(name)} | remembered
    total = max(1, graph.size())
    named = {known[key].entity_id: (key, size) for key, size in exact.items() if key in known}
    strong = {key: name for key, name in known.items() if name.strong and key not in remembered}
    matches = _match(found, strong, content=content, total=total)
    if remembered:
        others = _match(found, remembered, content=content, total=total)
        matches = _add_remembered(others, to=matches, found=found, content=content, is_only=not named)
    for key, _, size in matches:
        named.setdefault(known[key].entity_id, (key, size))
    weights = {id: _weigh(known[key], total=total) for id, (key, _) in named.items()}
    best = sorted(named, key=lambda id: (-weights[id], id))[:limit]
    entities = graph.find_entities([named[id][0] for id in best])
    alone = [id for id in best if fact_entity_key(id)]
    entities |= {entity.key: entity for entity in (relations.entities(alone) if relations and alone else ())}
    return [
        Seed(
            entity=entities[key],
            weight=weights[id],
            words=size,
            how="named",
            defining_chunks=known[key].defining_chunks or (known[key].chunks if key in remembered else 0),
            key=key.removeprefix(CODE_PREFIX),
        )
        for id, (key, size) in ((id, named[id]) for id in best)
        if key in entities  # another process may have deleted it between two reads
    ]


def _find_remembered(known: Mapping[str, Known], *, relations: Relations | None) -> dict[str, Known]:
    """
    Return the names that facts link with others and that documents do not contain, or only weakly.

    The number of neighbours is used like the number of mentioning chunks: a name with many is vague.
    """
    candidates = {
        key: name
        for key, name in known.items()
        if name.remembered and key != USER and (not name.strong or _is_fact_only(name))
    }
    ids = sorted({name.entity_id for name in candidates.values()})
    near = relations.neighbours(ids, limit=MAX_COUNTED_CHUNKS) if relations and ids else {}
    return {
        key: name._replace(strong=True, chunks=max(name.chunks, len(near[name.entity_id])))
        for key, name in candidates.items()
        if name.entity_id in near
    }


def _is_fact_only(name: Known) -> bool:
    """Return True for a name known only from facts."""
    return bool(fact_entity_key(name.entity_id))


def recognise_meaning(
    *,
    graph: GraphReader,
    vector: Vector | None,
    floor: Callable[[], float] | None,
    near: Callable[[], Sequence[str]],
    limit: int = 3,
) -> list[Seed]:
    """
    Return the entities that are close in meaning, closest first, among those of the nearest chunks.

    `near` returns the ids of the nearest chunks; only their entities are compared with the question. `floor` returns
    the minimum cosine of an entity's name and description, or None if cosines cannot be used.
    """
    if vector is None or floor is None:
        return []
    least = floor()
    close = [
        (entity, score)
        for entity, score in graph.search_entities(vector, chunk_ids=near(), limit=limit)
        if score >= least
    ]
    total = max(1, graph.size())
    return [
        Seed(entity=e, weight=idf(e.chunks, total), words=0, how=f"close in meaning ({score:.2f})")
        for e, score in close
    ]


def idf(chunks: int, total: int) -> float:
    """Return the inverse chunk frequency ln(1 + total/chunks)."""
    return math.log(1 + total / max(1, chunks))


def _candidates(found: Sequence[Word], *, graph: GraphReader) -> set[str]:
    """
    Return the keys that may be names: keys of one and two words, and longer ones.

    Of a long question, only longer keys that begin like a known name are returned.
    """
    keys, pairs = short_keys(found, longest=MAX_NAME_WORDS)
    beginnings = pairs if len(found) <= MAX_DIRECT_WORDS else graph.find_key_prefixes(pairs)
    return keys | long_keys(found, beginnings, longest=MAX_NAME_WORDS)


def _match(found: Sequence[Word], known: Mapping[str, Known], *, content: Collection[Word], total: int) -> list[Match]:
    """Return the known names in a question, without overlaps."""
    names = {key: name for key, name in known.items() if not (key.isdigit() and len(key) < 3)}
    is_lower_case = not any(word.is_name_like for word in found[1:])
    rare = {
        key
        for key, name in names.items()
        if is_lower_case and name.chunks <= max(_min_rare_chunks(name), MAX_RARE_SHARE * total)
    }
    return [
        (key, at, size)
        for key, at, size in match_names(_as_names(found, rare, content=content), names, longest=MAX_NAME_WORDS)
        # `place of birth` may be the title of a work, but not in a question that capitalises its names.
        if size == 1 or is_lower_case or any(word.is_name_like for word in found[at : at + size])
    ]


def _add_remembered(
    others: Sequence[Match], *, to: Sequence[Match], found: Sequence[Word], content: Collection[Word], is_only: bool
) -> list[Match]:
    """
    Return the names known from documents, and `others` known from facts.

    Any text may be the object of a fact, so a name from facts must meet three conditions.

    1. It contains every name from documents that it overlaps.
    2. It has a content word.
    3. If it is a single lower-case word, the question names nothing else.
    """
    kept = []
    for key, at, size in others:
        met = [(first, first + count) for _, first, count in to if first < at + size and at < first + count]
        is_whole = all(at <= first and last <= at + size for first, last in met)
        is_small = size == 1 and not found[at].is_name_like and bool(to or not is_only)
        if is_whole and not is_small and any(word in content for word in found[at : at + size]):
            kept.append((key, at, size))
    taken = {place for _, at, size in kept for place in range(at, at + size)}
    return [match for match in to if match[1] not in taken] + kept


def _min_rare_chunks(name: Known) -> int:
    return MIN_RARE_CHUNKS if name.defining_chunks else MIN_UNDEFINED_RARE_CHUNKS


def _weigh(name: Known, *, total: int) -> float:
    """
    Return the weight of a name.

    Without a defining chunk, the weight falls with the number of mentioning chunks, because the walk would reach all of
    them.
    """
    share = 1.0 if name.defining_chunks else min(1.0, MAX_UNDEFINED_CHUNKS / max(1, name.chunks))
    return idf(name.chunks, total) * share


def _as_names(found: Sequence[Word], rare: Collection[str], *, content: Collection[Word]) -> list[Word]:
    """Return the words, with rare words marked as names, because a question may be typed in lower case."""
    return [
        word._replace(is_name_like=(word.is_name_like or singular(word.text) in rare) and word in content)
        for word in found
    ]
