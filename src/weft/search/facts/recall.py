"""Read path of facts: finds the anchor entities of a question, then traverses the facts around them."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Protocol

from weft.config import MemoryOptions
from weft.errors import ModelError
from weft.extract.names import candidate_keys, match_names, name_key, singular, words
from weft.extract.user_rules import rule_topic
from weft.facts.score import by_score, score_fact
from weft.models.base import Embedder
from weft.records import Anchor, Curve, Fact, FactEntity, Question, Recall, Recalled, RecallStatus, Vector
from weft.search.confidence import find_calibration
from weft.search.facts.match import INHERITED_MATCH, MAX_COMPARED_FACTS, fact_terms, is_first_person, match, pick
from weft.search.facts.priority import set_priority
from weft.search.facts.relevance import RelevantFacts, rank_by_relevance
from weft.search.question.content_terms import FIRST_PERSON, QUESTION_WORDS, RECALL_WORDS
from weft.search.question.entities import USER
from weft.search.question.read import read_question
from weft.search.writing_systems import embedder_weight
from weft.store.base import StoreReader
from weft.text.analyzer import terms
from weft.text.plurals import counted

logger = logging.getLogger(__name__)

MIN_OWN_ODDS = 0.1
"""Odds at which the closest fact answers a question in the first person, which is likely about the user."""

NO_CURVE = Curve(middle=0.0, slope=0.0)
"""Odds 1 for every cosine, for questions without a vector."""


class About(Protocol):
    """Returns the `limit` valid facts of highest confidence of each entity, in the order of the keys."""

    def __call__(self, keys: Sequence[str], /, *, limit: int, incoming: bool = False) -> list[Fact]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FactQuery:
    """A question with its vector, ready for the recall of facts."""

    question: Question
    vector: Vector | None = None
    cosine: Curve = NO_CURVE
    """Log-odds that a fact or entity with a cosine is relevant."""
    degraded: str = ""
    """Reason why the vector is missing or of poor quality; empty if neither."""


def recall(
    text: str, *, store: StoreReader, embedder: Embedder | None, options: MemoryOptions, at: datetime, problem: str = ""
) -> Recall:
    """
    Return the facts relevant to a question that are valid at a time.

    | status | condition |
    | --- | --- |
    | `ok` | the question names a known entity, or matches a fact about the user or the topic of a close rule |
    | `degraded` | the same without an embedder; entities are found by their names. `problem` is the reason |
    | `no_match` | neither; there are no facts |

    """
    query = prepare_fact_query(read_question(text), store=store, embedder=embedder, problem=problem)
    with store.reading():
        return answer(query, find_named(query.question, store=store), store=store, options=options, at=at)


def prepare_fact_query(
    question: Question, *, store: StoreReader, embedder: Embedder | None, problem: str = ""
) -> FactQuery:
    """Return a question with its vector, or with the reason why there is no vector."""
    vector, degraded = _embed(question, store=store, embedder=embedder, problem=problem)
    if vector is None:
        return FactQuery(question=question, degraded=degraded)
    curve = find_calibration(question, store=store, embedder=embedder).cosine
    return FactQuery(question=question, vector=vector, cosine=curve, degraded=degraded)


def answer(
    query: FactQuery,
    named: Sequence[FactEntity],
    *,
    store: StoreReader,
    options: MemoryOptions,
    at: datetime,
    about: About | None = None,
    given: Sequence[str] = (),
) -> Recall:
    """
    Return the facts relevant to a question, read from one state of the store.

    `named` are the entities that the question names, `given` the keys of others that it may be about, such as the
    project of the caller. `about` reads facts in place of the store.
    """
    question, degraded = query.question, query.degraded
    anchors = _find_anchors(query, named, store=store, limit=options.anchors)
    known = {anchor.entity.key for anchor in anchors}
    always = [Anchor(entity=e, how="always") for e in store.facts.find_entities([USER, *given]).values()]
    starts = [*anchors, *(anchor for anchor in always if anchor.entity.key not in known)]
    wanted = fact_terms(question, names=[a.entity.name for a in starts if a.entity.key not in given])
    keys = [anchor.entity.key for anchor in starts]
    read = about or partial(store.facts.about, at=at)
    by_relevance = options.rank == "relevance"
    facts = activate_facts(keys, about=read, options=options, at=at, wanted=wanted if by_relevance else frozenset())
    found = RelevantFacts(facts=facts)
    if by_relevance:
        found = rank_by_relevance(
            facts,
            vector=None if degraded else query.vector,  # its cosines mean nothing
            curve=query.cosine,
            wanted=wanted,
            anchors=[key for key in keys if key not in given],
            store=store,
            options=options,
            at=at,
        )
    concerns_user = _concerns_user(question, facts, wanted) or _is_near(query, found.near.values())
    # Facts of the anchors may be outscored by others, so they are looked up before the answer is "no match".
    is_known = _is_known(anchors, facts) or bool(read([anchor.entity.key for anchor in anchors], limit=1))
    if not is_known and not concerns_user and not _touches_rule(found.facts, wanted):
        return Recall(text=question.text, status="no_match", at=at, degraded=degraded)
    status: RecallStatus = "degraded" if degraded else "ok"
    close = {id for id, cosine in found.near.items() if cosine >= query.cosine.middle}
    topics = _topics(anchors, named, concerns_user=concerns_user)
    facts = set_priority(found.facts, topics=topics, close=close)
    return Recall(
        text=question.text, status=status, facts=tuple(facts), anchors=tuple(starts), at=at, degraded=degraded
    )


def _embed(
    question: Question, *, store: StoreReader, embedder: Embedder | None, problem: str
) -> tuple[Vector | None, str]:
    """Return the vector of a question, or the reason why there is none."""
    if embedder is None:
        return None, problem or "no embedder: entities were found by name only"
    active = next((model for model in store.models() if model.active), None)
    if active is None or active.fingerprint != embedder.card.fingerprint:
        return None, f"the entities have no vectors of {embedder.card.name!r}: they were found by name only"
    weight, note = embedder_weight(question.scripts, card=embedder.card)
    if not weight:
        return None, note
    try:
        return embedder.embed([question.text], kind="query")[0], embedder.card.degraded
    except ModelError as error:
        logger.warning("embedding the question failed: %s", error)
        return None, f"embedding failed, entities were found by name only: {error}"


def _find_anchors(query: FactQuery, named: Sequence[FactEntity], *, store: StoreReader, limit: int) -> list[Anchor]:
    """
    Return the entities that a question names, then at most `limit` others.

    The others are close in meaning, or share words with the question if there is no vector. Words of an entity that the
    question names do not count: `Gas Kiln` is not meant by `Where is Kiln Log?`.
    """
    anchors = {entity.key: Anchor(entity=entity, how="named") for entity in named}
    if query.vector is not None:
        for entity, score in store.facts.search_vector(query.vector, limit=limit):
            if score >= query.cosine.middle:
                anchors.setdefault(entity.key, Anchor(entity=entity, how=f"close in meaning ({score:.2f})"))
    else:
        known = QUESTION_WORDS | RECALL_WORDS | {word.text for entity in named for word in words(entity.name)}
        content = [singular(word.text) for word in query.question.words if word.text not in known]
        for entity, shared in store.facts.search_names(content, limit=limit):
            how = f"shares {counted(shared, 'word')}"
            anchors.setdefault(entity.key, Anchor(entity=entity, how=how))
    return list(anchors.values())


def find_named(question: Question, *, store: StoreReader) -> list[FactEntity]:
    """Return the entities that the question names by any known name, in the order of the question."""
    found = question.words
    keys = sorted(candidate_keys(found) - QUESTION_WORDS - FIRST_PERSON)
    owners = {key: [key] for key in keys}
    for key, entity in store.graph.find_entities(keys).items():
        owners[key] += [entity.key, *(name_key(alias) for alias in entity.aliases)]
    wanted = sorted({owner for mine in owners.values() for owner in mine})
    known = store.facts.find_entities(wanted)
    named = {key: [known[owner] for owner in mine if owner in known] for key, mine in owners.items()}
    named = {key: entities for key, entities in named.items() if entities}
    # The subject of a fact counts as a name even in lower case.
    as_names = [word._replace(is_name_like=word.text not in QUESTION_WORDS) for word in found]
    matches = {key: None for key, _, _ in match_names(as_names, named)}
    return list({entity.key: entity for key in matches for entity in named[key]}.values())


def activate_facts(
    keys: Sequence[str], *, about: About, options: MemoryOptions, at: datetime, wanted: frozenset[str] = frozenset()
) -> list[Recalled]:
    """
    Return facts breadth-first from some entities, in the order of `options.rank`. Ties go to the newer fact.

    `score` orders by score; `relevance` by match, hop, rank of the subject, and score, as candidates.
    The match of a fact is the number of `wanted` terms in it, plus half the match of the preceding fact on the path.
    """
    places: dict[str, int] = {}
    kept: dict[str, Recalled] = {}
    reached = dict.fromkeys(keys, 0.0)
    paths: dict[str, tuple[Fact, ...]] = dict.fromkeys(keys, ())
    for hop in range(1, options.max_hops + 1):
        fresh = [key for key in reached if key not in places]
        if not fresh or (not wanted and len(kept) >= options.max_facts):
            break
        places |= {key: len(places) + place for place, key in enumerate(fresh)}
        compared = max(options.per_entity, MAX_COMPARED_FACTS) if hop == 1 and wanted else options.per_entity
        read = pick(about(fresh, limit=compared), wanted=wanted, limit=options.per_entity)
        if options.incoming:
            leading = about(fresh, limit=options.per_entity, incoming=True)
            read += [(fact, match(fact, wanted)) for fact in leading]
        for fact, shared in read:
            led = max(reached.get(fact.subject, 0.0), reached.get(fact.object, 0.0))
            scored = score_fact(fact, hop=hop, at=at, options=options)
            path = paths.get(fact.subject, paths.get(fact.object, ()))
            kept.setdefault(fact.id, replace(scored, match=shared + INHERITED_MATCH * led, path=path))
        for piece in _first(kept.values(), places, options=options):
            for key in filter(None, (piece.fact.object, piece.fact.subject)):
                reached[key] = max(reached.get(key, 0.0), piece.match if key not in places else 0.0)
                paths.setdefault(key, (*piece.path, piece.fact))
    return _first(kept.values(), places, options=options)


def _first(facts: Iterable[Recalled], places: Mapping[str, int], *, options: MemoryOptions) -> list[Recalled]:
    """Return the first `max_facts` facts in the order of `options.rank`. `places` are the ranks of the subjects."""
    is_plain = options.rank == "score"
    return sorted(facts, key=lambda piece: by_score(piece) if is_plain else _order(piece, places))[: options.max_facts]


def _order(piece: Recalled, places: Mapping[str, int]) -> tuple[float, int, int, float, int, datetime, str]:
    return -piece.match, piece.hop, places.get(piece.fact.subject, len(places)), *by_score(piece)


def _is_known(anchors: Sequence[Anchor], facts: Sequence[Recalled]) -> bool:
    """Return True if a fact is about an anchor of the question."""
    about = {anchor.entity.key for anchor in anchors}
    return any(piece.fact.subject in about or piece.fact.object in about for piece in facts)


def _topics(anchors: Sequence[Anchor], named: Sequence[FactEntity], *, concerns_user: bool) -> set[str]:
    """Return the entities that a question is about: those it names, else the user or the close ones."""
    if named or not concerns_user:
        return {entity.key for entity in named} or {anchor.entity.key for anchor in anchors}
    return {USER}


def _is_near(query: FactQuery, cosines: Iterable[float]) -> bool:
    """Return True if a fact is close to a question in the first person."""
    if query.vector is None or not is_first_person(query.question):
        return False
    odds = (query.cosine.slope * (cosine - query.cosine.middle) for cosine in cosines)
    return any(found >= math.log(MIN_OWN_ODDS) for found in odds)


def _touches_rule(facts: Iterable[Recalled], wanted: frozenset[str]) -> bool:
    """Return True if a question says a word of the topic of a rule, which may be about any project."""
    return any(wanted.intersection(terms(rule_topic(piece.fact.predicate))) for piece in facts)


def _concerns_user(question: Question, facts: Sequence[Recalled], wanted: frozenset[str]) -> bool:
    """Return True if a question without anchors asks for a known fact about the user."""
    if not wanted:
        return bool(facts) and is_first_person(question)
    return any(match(p.fact, wanted) for p in facts if p.hop == 1 and not rule_topic(p.fact.predicate))
