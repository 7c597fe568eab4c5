"""The read path of facts: the entities a question is about, and what is known around them."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Protocol

from weft.config import MemoryOptions
from weft.errors import ModelError
from weft.extract.names import Word, candidate_keys, match_names, name_key, singular, words
from weft.facts.score import recalled
from weft.models.base import Embedder
from weft.records import Anchor, Fact, FactEntity, Recall, Recalled, RecallStatus, Vector
from weft.search.confidence import least_cosine
from weft.search.facts.match import ASKING, FIRST_PERSON, LOOKS, SPREAD, asked_terms, match, pick
from weft.search.question.entities import QUESTION_WORDS, USER
from weft.search.question.prepare import trust
from weft.store.base import Store
from weft.text.normalise import squeeze

logger = logging.getLogger(__name__)


MAX_WORDS = 400
"""Words of a question that are looked at."""


class About(Protocol):
    """Gives the surest `limit` facts of each entity that hold, in the order of their keys."""

    def __call__(self, keys: Sequence[str], /, *, limit: int, incoming: bool = False) -> list[Fact]: ...


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
    anchors = _find_anchors(question, named, store=store, limit=options.anchors)
    user = [Anchor(entity=e, how="always") for e in store.facts.find_entities([USER]).values()]
    starts = [*anchors, *(anchor for anchor in user if all(a.entity.key != USER for a in anchors))]
    asked = asked_terms(question.text, names=[anchor.entity.name for anchor in starts])
    keys = [anchor.entity.key for anchor in starts]
    read = about or partial(store.facts.about, at=at)
    wanted = asked if options.by_words else frozenset()
    facts = activate_facts(keys, about=read, options=options, at=at, asked=wanted)
    if not _is_known(anchors, facts) and not _concerns_user(found, facts, asked):
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


def _find_anchors(question: Question, named: Sequence[FactEntity], *, store: Store, limit: int) -> list[Anchor]:
    """
    Return the entities a question names, then those close to it: by meaning, or by words where it has no vector.

    At most `limit` are close.
    """
    anchors = {entity.key: Anchor(entity=entity, how="named") for entity in named}
    if question.vector is not None:
        for entity, score in store.facts.search_vector(question.vector, limit=limit):
            if score >= question.floor:
                anchors.setdefault(entity.key, Anchor(entity=entity, how=f"close in meaning ({score:.2f})"))
    else:
        telling = [singular(word.text) for word in question.words if word.text not in QUESTION_WORDS | ASKING]
        for entity, shared in store.facts.search_names(telling, limit=limit):
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
    as_names = [word._replace(is_name_like=word.text not in QUESTION_WORDS) for word in found]
    matches = {key: None for key, _, _ in match_names(as_names, named)}
    return list({entity.key: entity for key in matches for entity in named[key]}.values())


def activate_facts(
    keys: Sequence[str], *, about: About, options: MemoryOptions, at: datetime, asked: frozenset[str] = frozenset()
) -> list[Recalled]:
    """
    Return facts breadth-first from some entities: by match, by hop, by the place of their subject, then by score.

    A fact matches by the words it shares with what is asked, and by half of the match of the fact that led to it.
    Where nothing is asked for, nearer facts come before farther ones. Equal ones: the older first.
    """
    places: dict[str, int] = {}
    kept: dict[str, Recalled] = {}
    reached = dict.fromkeys(keys, 0.0)
    for hop in range(1, options.max_hops + 1):
        fresh = [key for key in reached if key not in places]
        if not fresh or (not asked and len(kept) >= options.max_facts):
            break
        places |= {key: len(places) + place for place, key in enumerate(fresh)}
        looks = max(options.per_entity, LOOKS) if hop == 1 and asked else options.per_entity
        read = pick(about(fresh, limit=looks), asked=asked, limit=options.per_entity)
        if options.incoming:
            leading = about(fresh, limit=options.per_entity, incoming=True)
            read += [(fact, match(fact, asked)) for fact in leading]
        for fact, shared in read:
            led = max(reached.get(fact.subject, 0.0), reached.get(fact.object, 0.0))
            kept.setdefault(
                fact.id, replace(recalled(fact, hop=hop, at=at, options=options), match=shared + SPREAD * led)
            )
        ordered = sorted(kept.values(), key=lambda piece: _order(piece, places))
        for piece in ordered[: options.max_facts]:
            for key in filter(None, (piece.fact.object, piece.fact.subject)):
                reached[key] = max(reached.get(key, 0.0), piece.match if key not in places else 0.0)
    return sorted(kept.values(), key=lambda piece: _order(piece, places))[: options.max_facts]


def _order(piece: Recalled, places: Mapping[str, int]) -> tuple[float, int, int, float, datetime, str]:
    return -piece.match, piece.hop, places.get(piece.fact.subject, len(places)), *_by_score(piece)


def _by_score(piece: Recalled) -> tuple[float, datetime, str]:
    return -piece.score, piece.fact.created, piece.fact.id


def _is_known(anchors: Sequence[Anchor], facts: Sequence[Recalled]) -> bool:
    """Return whether anything is known, at the time, of an entity that the question is about."""
    about = {anchor.entity.key for anchor in anchors}
    return any(piece.fact.subject in about or piece.fact.object in about for piece in facts)


def _concerns_user(found: Sequence[Word], facts: Sequence[Recalled], asked: frozenset[str]) -> bool:
    """Return whether a question that names nothing else asks for something that is known of the user."""
    if not asked:
        return bool(facts) and any(word.text in FIRST_PERSON for word in found)
    return any(match(piece.fact, asked) for piece in facts if piece.hop == 1)
