"""Which papers, authors and concepts a question means: by id, by title, by what somebody remembers of a title."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.extract.attributes import to_values
from weft.extract.names import name_key, words
from weft.extract.papers.paper_ids import find_ids, id_key
from weft.extract.papers.titles import title_similarity, title_words
from weft.records import Entity, Filter
from weft.store.base import Store
from weft.text.analyzer import query_terms

PAPER = "paper"
PERSON = "person"
CONCEPT = "concept"

CANDIDATES = 100
"""Chunks looked at for a title that is not known as it is written."""

LIKE = 0.6
"""Likeness below which a paper is not the one that is meant."""

MARGIN = 0.03
"""How much more alike the best title must be than the next one; less, and the question is unclear."""

BY_PART = 0.9
"""How surely a part of a name means the only author who has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """What a name in a question stands for."""

    entities: tuple[Entity, ...] = ()
    """Several where all of them have this name."""
    score: float = 0.0
    """1 for an exact name, else how alike it is."""
    rivals: tuple[str, ...] = ()
    """Names it may stand for just as well; then it stands for none."""


def find_papers(name: str, *, store: Store) -> Meant:
    """Return the papers that an id or title means; papers that share a title are all meant."""
    asked = title_words(name)
    if ids := find_ids(name):
        known = store.graph.find_entities([id_key(found.id) for found in ids])
        papers = {entity.id: entity for entity in known.values() if entity.type == PAPER}
        return Meant(entities=tuple(papers.values()), score=1.0) if papers else Meant()
    known = store.graph.find_entities([key for key in (name_key(name),) if key])
    exact = [entity for entity in known.values() if entity.type == PAPER and asked in _names(entity)]
    near = _papers_near(name, store=store)
    scores = {entity.id: (_likeness(asked, entity), entity) for entity in (*exact, *near)}
    ranked = sorted(scores.values(), key=lambda item: (-item[0], item[1].id))
    if not ranked or ranked[0][0] < LIKE:
        return Meant()
    best, first = ranked[0]
    meant = [
        entity for score, entity in ranked if score == best and title_words(entity.name) == title_words(first.name)
    ]
    others = [(score, entity) for score, entity in ranked if entity not in meant]
    if best < 1 and others and others[0][0] > best - MARGIN:
        return Meant(score=best, rivals=(first.name, *(e.name for score, e in others if score > best - MARGIN)))
    return Meant(entities=tuple(meant), score=best)


def find_author(name: str, *, store: Store) -> Meant:
    """Return the person a name means: as written, turned round, with initials, or by a surname that only one has."""
    parts = [part for part in name.replace(",", " , ").split() if part]
    keys = list(dict.fromkeys(filter(None, map(name_key, _turned(parts)))))
    known = store.graph.find_entities(keys)
    found = [known[key] for key in keys if key in known and known[key].type == PERSON]
    if found:
        return Meant(entities=(found[0],), score=1.0)
    people = _people_near(name, store=store)
    if len(people) == 1:
        return Meant(entities=tuple(people), score=BY_PART)
    return Meant(rivals=tuple(entity.name for entity in people))


def _papers_near(name: str, *, store: Store) -> list[Entity]:
    """Return the papers whose chunks share words with a name."""
    where = Filter(metadata=(("type", PAPER),))
    hits = store.search_keyword(query_terms(name), limit=CANDIDATES, where=where).hits
    mentions = store.graph.mentions_in([hit.chunk_id for hit in hits], about=True)
    ids = dict.fromkeys(mention.entity_id for mention in mentions)
    return [entity for entity in store.graph.entities(list(ids)) if entity.type == PAPER]


def _people_near(name: str, *, store: Store) -> list[Entity]:
    """Return the authors, of papers whose words or fields hold this name, that have all parts of it."""
    asked = [word.text for word in words(name)]
    where = Filter(metadata=(("type", PAPER),))
    hits = store.search_keyword(query_terms(name), limit=CANDIDATES, where=where).hits
    chunks = store.chunks([hit.chunk_id for hit in hits])
    documents = store.documents(list(dict.fromkeys(chunk.document_id for chunk in chunks)))
    authors = (author for document in documents for author in to_values(document.metadata.get("authors")))
    keys = dict.fromkeys(name_key(name) for name in authors if isinstance(name, str) and _is_part(asked, name))
    known = store.graph.find_entities([key for key in keys if key])
    return sorted({e.id: e for e in known.values() if e.type == PERSON}.values(), key=lambda entity: entity.id)


def _is_part(asked: Sequence[str], author: str) -> bool:
    """Tell whether every word of `asked` is one of the author's, or the initial of one, and the surname is there."""
    own = [word.text for word in words(author)]
    fits = all(any(word == other or word[:1] == other or word == other[:1] for other in own) for word in asked)
    return bool(own) and own[-1] in asked and fits


def _names(entity: Entity) -> list[tuple[str, ...]]:
    return [title_words(name) for name in (entity.name, *entity.aliases)]


def _likeness(asked: Sequence[str], entity: Entity) -> float:
    return max(title_similarity(asked, name) for name in _names(entity))


def _turned(parts: Sequence[str]) -> list[str]:
    """Return the ways to write a person's name: `Peter Naur`, `Naur, Peter`, `P. Naur`, `Naur, P.`"""
    if "," in parts:
        comma = list(parts).index(",")
        last, given = list(parts[:comma]), [part for part in parts[comma + 1 :] if part != ","]
    else:
        last, given = list(parts[-1:]), list(parts[:-1])
    initials = [part[0] for part in given]
    return [
        " ".join(parts),
        " ".join([*given, *last]),
        " ".join([*last, *given]),
        " ".join([*initials, *last]),
        " ".join([*last, *initials]),
    ]
