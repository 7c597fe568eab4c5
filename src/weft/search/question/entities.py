"""The entities a question names: look-ups of its word runs, no model and no scan in the way."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from weft.extract.names import long_keys, match_names, short_keys, singular
from weft.records import Entity, Known, Question, Vector, Word
from weft.search.graph.relations import Relations
from weft.search.question.content_terms import QUESTION_WORDS
from weft.store.base import Graph
from weft.text.ids import fact_entity_key

MAX_NAME = 20
"""Longest name that is looked up, in words: a question may hold the whole title of a paper."""

MAX_HOMES = 20
"""Chunks about an entity that are counted."""

HOMELESS = 3
"""Chunks up to which an entity that none is about starts a walk as one with a home does; with more, so much less."""

USER = "user"
"""Key of the entity of facts that stands for the one who asks; in a question the word is a word like any other."""

RARE = 0.01
"""A single lower-case word counts as a name if no larger share of chunks mentions it."""

FEW = 20
"""So many chunks may mention one that some chunk is about, however few there are; one that none is about, two."""

Match: TypeAlias = tuple[str, int, int]
"""Key, first word and number of words of a name in a question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """An entity the question is about, and how far it tells this question from others."""

    entity: Entity
    weight: float
    words: int
    """How many words of the question name it; 0 when it was found by meaning."""
    how: str
    """`named` or `close in meaning (0.81)`."""
    homes: int = 0
    """How many chunks are about it, counted to 20, where the question names it; else what its facts lead to."""
    key: str = ""
    """The name by which the question names it, or other words that come to the same."""


def recognise_names(
    question: Question, *, graph: Graph, relations: Relations | None = None, limit: int = 5
) -> list[Seed]:
    """
    Return the entities named in a question, the most telling first, at most `limit`.

    With the facts of `relations`, those are among them that facts alone know and lead on from.
    """
    found, content, exact = question.words, question.content_words, question.exact_keys
    keys = _candidates(found, graph=graph) - QUESTION_WORDS.difference(word.text for word in content)
    known = graph.find_known(sorted(keys | exact.keys()), homes=MAX_HOMES)
    remembered = _find_remembered(known, relations=relations)
    known = {key: name for key, name in known.items() if not _is_alone(name)} | remembered
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
            homes=known[key].homes or (known[key].chunks if key in remembered else 0),
            key=key,
        )
        for id, (key, size) in ((id, named[id]) for id in best)
        if key in entities  # else deleted by another process between two reads
    ]


def _find_remembered(known: Mapping[str, Known], *, relations: Relations | None) -> dict[str, Known]:
    """
    Return the names that facts alone, or documents hardly, know and that facts lead on from: such ones start a walk.

    What facts join one with counts as chunks that mention it do: with one it is a way in, with many it is none.
    """
    asked = {
        key: name
        for key, name in known.items()
        if name.remembered and key != USER and (not name.strong or _is_alone(name))
    }
    ids = sorted({name.entity_id for name in asked.values()})
    near = relations.neighbours(ids, limit=MAX_HOMES) if relations and ids else {}
    return {
        key: name._replace(strong=True, chunks=max(name.chunks, len(near[name.entity_id])))
        for key, name in asked.items()
        if name.entity_id in near
    }


def _is_alone(name: Known) -> bool:
    """Tell whether facts alone know a name."""
    return bool(fact_entity_key(name.entity_id))


def recognise_meaning(
    *,
    graph: Graph,
    vector: Vector | None,
    floor: Callable[[], float] | None,
    near: Callable[[], Sequence[str]],
    limit: int = 3,
) -> list[Seed]:
    """
    Return the entities described by the chunks nearest in meaning, and near themselves, closest first.

    `near` gives the ids of these chunks, so that no question is compared with every entity; `floor` the least cosine of
    an entity's own name and description. Without it, cosines are not to be trusted.
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
    """Return how much an entity tells: the fewer chunks mention it, the more."""
    return math.log(1 + total / max(1, chunks))


def _candidates(found: Sequence[Word], *, graph: Graph) -> set[str]:
    """Return the keys that may be names in a question: of the longer ones, those that begin like a name."""
    keys, pairs = short_keys(found, longest=MAX_NAME)
    return keys | long_keys(found, graph.find_beginnings(pairs), longest=MAX_NAME)


def _match(found: Sequence[Word], known: Mapping[str, Known], *, content: Collection[Word], total: int) -> list[Match]:
    """Return the known names in a question."""
    names = {key: name for key, name in known.items() if not (key.isdigit() and len(key) < 3)}
    typed_low = not any(word.is_name_like for word in found[1:])
    rare = {key for key, name in names.items() if typed_low and name.chunks <= max(_least(name), RARE * total)}
    return [
        (key, at, size)
        for key, at, size in match_names(_as_names(found, rare, content=content), names, longest=MAX_NAME)
        # "place of birth" may be somebody's title, but in a question that writes names large it is not one
        if size == 1 or typed_low or any(word.is_name_like for word in found[at : at + size])
    ]


def _add_remembered(
    others: Sequence[Match], *, to: Sequence[Match], found: Sequence[Word], content: Collection[Word], is_only: bool
) -> list[Match]:
    """
    Return names of documents in a question, and `others` that facts know.

    Anything may be the object of a fact. So such a name takes words from a document's only where it holds the whole of
    it, words that every question has make none, and one typed small is one only where the question names nothing else.
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


def _least(name: Known) -> int:
    return FEW if name.homes else 2


def _weigh(name: Known, *, total: int) -> float:
    """
    Return how much a name tells; where no chunk is about what it names, the less the more chunks name that.

    A name that nothing is about leads to wherever it stands: with one passage that is a way in, with many it is none.
    """
    share = 1.0 if name.homes else min(1.0, HOMELESS / max(1, name.chunks))
    return idf(name.chunks, total) * share


def _as_names(found: Sequence[Word], rare: Collection[str], *, content: Collection[Word]) -> list[Word]:
    """A question may be typed in lower case: a rare single word is taken for a name there."""
    return [
        word._replace(is_name_like=(word.is_name_like or singular(word.text) in rare) and word in content)
        for word in found
    ]
