"""The read path of facts: the entities a question is about, and what is known around them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Protocol

from weft.config import MemoryOptions
from weft.errors import ModelError
from weft.facts.score import recalled
from weft.models.base import Embedder
from weft.records import Anchor, Fact, FactEntity, Recall, Recalled, RecallStatus, Vector
from weft.search.confidence import least_cosine
from weft.search.prepare import trust
from weft.search.recognise import QUESTION_WORDS
from weft.store.base import Store
from weft.text.analyse import terms
from weft.text.names import Word, candidate_keys, match_names, name_key, singular, words
from weft.text.normalise import squeeze

logger = logging.getLogger(__name__)

USER = "user"
"""Key of the entity that stands for the user: every recall starts there too."""

ANCHORS = 3
"""Entities found by meaning, or by words of their names, that a recall starts from."""

MAX_WORDS = 400
"""Words of a question that are looked at."""

FIRST_PERSON = frozenset({"i", "me", "my", "mine", "myself"})
ASKING = frozenset({"know", "tell", "say", "about", "remember", "recall", "please", "so", "far"}) | FIRST_PERSON
"""Words in which one asks for all that is known, beside those every question is made of."""


class About(Protocol):
    """Gives the surest facts of entities that hold, in the order of their keys."""

    def __call__(self, keys: Sequence[str], /, *, incoming: bool = False) -> list[Fact]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, ready to be answered from what is remembered."""

    text: str
    words: tuple[Word, ...]
    vector: Vector | None = None
    floor: float = 0.0
    """Cosine from which an entity is likely meant."""
    degraded: str = ""
    """Why there is no vector, or why it is not worth much."""


def recall(
    text: str, *, store: Store, embedder: Embedder | None, options: MemoryOptions, at: datetime, problem: str = ""
) -> Recall:
    """
    Return what is known that bears on a question, as of a time.

    `problem` says why there is no embedder. Entities are then found by words of their names, and the status is
    `degraded`. Where the question names nothing that is known, and nothing that is known of the user has to do with
    it, the status is `no_match` and there are no facts.
    """
    question = prepare_question(text, store=store, embedder=embedder, problem=problem)
    with store.reading():
        return answer(question, find_named(question, store=store), store=store, options=options, at=at)


def prepare_question(text: str, *, store: Store, embedder: Embedder | None, problem: str = "") -> Question:
    """Return a question with its words and, where there is an embedder that works, its vector."""
    text = squeeze(text)
    vector, degraded = _embed(text, store=store, embedder=embedder, problem=problem)
    floor = least_cosine(text, store=store, embedder=embedder) if embedder and vector is not None else 0.0
    return Question(text=text, words=tuple(words(text)[:MAX_WORDS]), vector=vector, floor=floor, degraded=degraded)


def answer(
    question: Question,
    named: Sequence[FactEntity],
    *,
    store: Store,
    options: MemoryOptions,
    at: datetime,
    about: About | None = None,
) -> Recall:
    """
    Return what is known that bears on a question that names some entities, read from one state of the store.

    `about` gives the facts of entities in the place of the store.
    """
    found, degraded = question.words, question.degraded
    anchors = _find_anchors(question, named, store=store)
    user = [Anchor(entity=e, how="always") for e in store.facts.find_entities([USER]).values()]
    starts = [*anchors, *(anchor for anchor in user if all(a.entity.key != USER for a in anchors))]
    read = about or partial(store.facts.about, at=at, limit=options.per_entity)
    facts = activate_facts([anchor.entity.key for anchor in starts], about=read, options=options, at=at)
    if not facts or (not anchors and not _concerns_user(found, facts)):
        return Recall(text=question.text, status="no_match", at=at, degraded=degraded)
    status: RecallStatus = "degraded" if degraded else "ok"
    return Recall(
        text=question.text, status=status, facts=tuple(facts), anchors=tuple(starts), at=at, degraded=degraded
    )


def _embed(text: str, *, store: Store, embedder: Embedder | None, problem: str) -> tuple[Vector | None, str]:
    """Return the vector of a question, or why there is none."""
    if embedder is None:
        return None, problem or "there is no embedder, so entities were found by their names only"
    active = next((model for model in store.models() if model.active), None)
    if active is None or active.fingerprint != embedder.card.fingerprint:
        return None, f"the entities have no vectors of {embedder.card.name!r}, so they were found by their names only"
    weight, note = trust(text, card=embedder.card)
    if not weight:
        return None, note
    try:
        return embedder.embed([text], kind="query")[0], embedder.card.degraded
    except ModelError as error:
        logger.warning("embedding the question failed: %s", error)
        return None, f"embedding failed, so entities were found by their names only: {error}"


def _find_anchors(question: Question, named: Sequence[FactEntity], *, store: Store) -> list[Anchor]:
    """Return the entities a question names, then those close to it: by meaning, or by words where it has no vector."""
    anchors = {entity.key: Anchor(entity=entity, how="named") for entity in named}
    if question.vector is not None:
        for entity, score in store.facts.search_vector(question.vector, limit=ANCHORS):
            if score >= question.floor:
                anchors.setdefault(entity.key, Anchor(entity=entity, how=f"close in meaning ({score:.2f})"))
    else:
        telling = [singular(word.text) for word in question.words if word.text not in QUESTION_WORDS | ASKING]
        for entity, shared in store.facts.search_names(telling, limit=ANCHORS):
            how = f"shares {shared} word{'s' if shared > 1 else ''}"
            anchors.setdefault(entity.key, Anchor(entity=entity, how=how))
    return list(anchors.values())


def find_named(question: Question, *, store: Store) -> list[FactEntity]:
    """Return the entities whose name, or another name that the graph knows, stands in the question, in its order."""
    found = question.words
    keys = sorted(candidate_keys(found) - QUESTION_WORDS - FIRST_PERSON)
    owners = {key: [key] for key in keys}
    for key, entity in store.graph.find_entities(keys).items():
        owners[key] += [entity.key, *(name_key(alias) for alias in entity.aliases)]
    wanted = sorted({owner for mine in owners.values() for owner in mine})
    known = store.facts.find_entities(wanted)
    named = {key: [known[owner] for owner in mine if owner in known] for key, mine in owners.items()}
    named = {key: entities for key, entities in named.items() if entities}
    # whatever facts are about is worth a name, also where it is written small
    as_names = [replace(word, is_name_like=word.text not in QUESTION_WORDS) for word in found]
    matches = {key: None for key, _, _ in match_names(as_names, named)}
    return list({entity.key: entity for key in matches for entity in named[key]}.values())


def activate_facts(keys: Sequence[str], *, about: About, options: MemoryOptions, at: datetime) -> list[Recalled]:
    """
    Return facts breadth-first from some entities, by the place of their subject, then by score.

    Nearer ones come before farther ones; of a hop that does not fit whole, the best stay. Equal ones: the older first.
    """
    places: dict[str, int] = {}
    kept: dict[str, Recalled] = {}
    frontier = list(keys)
    for hop in range(1, options.max_hops + 1):
        fresh = [key for key in dict.fromkeys(frontier) if key not in places]
        room = options.max_facts - len(kept)
        if not fresh or room < 1:
            break
        places |= {key: len(places) + place for place, key in enumerate(fresh)}
        read = [*about(fresh), *(about(fresh, incoming=True) if options.incoming else ())]
        scored = {fact.id: recalled(fact, hop=hop, at=at) for fact in read if fact.id not in kept}
        best = sorted(scored.values(), key=_by_score)[:room]
        kept |= {piece.fact.id: piece for piece in best}
        ordered = sorted(best, key=lambda piece: (places.get(piece.fact.subject, len(places)), *_by_score(piece)))
        frontier = [key for piece in ordered for key in (piece.fact.object, piece.fact.subject) if key]
    last = len(places)
    return sorted(kept.values(), key=lambda piece: (places.get(piece.fact.subject, last), *_by_score(piece)))


def _by_score(piece: Recalled) -> tuple[float, datetime, str]:
    return -piece.score, piece.fact.created, piece.fact.id


def _concerns_user(found: Sequence[Word], facts: Sequence[Recalled]) -> bool:
    """Return whether a question that names nothing else asks for something that is known of the user."""
    asked = {word.text for word in found} - QUESTION_WORDS | ({word.text for word in found} & FIRST_PERSON)
    telling = asked - ASKING
    if not telling:
        return bool(asked & FIRST_PERSON)
    known = {term for piece in facts if piece.hop == 1 for term in _terms(piece)}
    return bool(known & {term for word in telling for term in terms(word)})


def _terms(piece: Recalled) -> list[str]:
    return terms(f"{piece.fact.predicate.replace('_', ' ')} {piece.fact.value}")
