"""Lookup of the papers and authors in a question: by id, title, or part of a title or name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.extract.names import name_key, words
from weft.extract.papers.paper_ids import find_ids, id_key
from weft.extract.papers.titles import title_similarity, title_words
from weft.records import Entity, Filter, to_values
from weft.store.base import StoreReader
from weft.text.analyzer import query_terms
from weft.text.normalise import is_unspaced

PAPER = "paper"
PERSON = "person"
CONCEPT = "concept"

MAX_CANDIDATE_CHUNKS = 100
"""Maximum number of chunks with words of a name that are searched for the name."""

MIN_SIMILARITY = 0.6
"""Minimum similarity of titles for a match."""

MIN_MARGIN = 0.03
"""Minimum difference between the best and the second-best title; with less, the name is ambiguous."""

PARTIAL_NAME_SCORE = 0.9
"""Score of an author found by a part of the name that no other author has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NameMatch:
    """Entities that a name in a question refers to."""

    entities: tuple[Entity, ...] = ()
    """Matching entities; several if they share this name."""
    score: float = 0.0
    """1 for an exact name, else the similarity."""
    candidates: tuple[str, ...] = ()
    """Names that match equally well; `entities` is then empty."""


def find_papers(name: str, *, store: StoreReader) -> NameMatch:
    """Return the papers with this id or title; several if they share the title."""
    wanted = title_words(name)
    if ids := find_ids(name):
        known = store.graph.find_entities([id_key(found.id) for found in ids])
        papers = {entity.id: entity for entity in known.values() if entity.type == PAPER}
        return NameMatch(entities=tuple(papers.values()), score=1.0) if papers else NameMatch()
    known = store.graph.find_entities([key for key in (name_key(name),) if key])
    exact = [entity for entity in known.values() if entity.type == PAPER and wanted in _names(entity)]
    near = _papers_near(name, store=store)
    scores = {entity.id: (_similarity(wanted, entity), entity) for entity in (*exact, *near)}
    ranked = sorted(scores.values(), key=lambda item: (-item[0], item[1].id))
    if not ranked or ranked[0][0] < MIN_SIMILARITY:
        return NameMatch()
    best, first = ranked[0]
    matching = [
        entity for score, entity in ranked if score == best and title_words(entity.name) == title_words(first.name)
    ]
    others = [(score, entity) for score, entity in ranked if entity not in matching]
    if best < 1 and others and others[0][0] > best - MIN_MARGIN:
        return NameMatch(
            score=best, candidates=(first.name, *(e.name for score, e in others if score > best - MIN_MARGIN))
        )
    return NameMatch(entities=tuple(matching), score=best)


def find_author(name: str, *, store: StoreReader) -> NameMatch:
    """Return the person of this name: as written, surname first, with initials, or by a unique part (`_find_part`)."""
    parts = [part for part in name.replace(",", " , ").split() if part]
    keys = list(dict.fromkeys(filter(None, map(name_key, _spellings(parts)))))
    known = store.graph.find_entities(keys)
    found = [known[key] for key in keys if key in known and known[key].type == PERSON]
    if found:
        return NameMatch(entities=(found[0],), score=1.0)
    people = _people_near(name, store=store)
    if len(people) == 1:
        return NameMatch(entities=tuple(people), score=PARTIAL_NAME_SCORE)
    return NameMatch(candidates=tuple(entity.name for entity in people))


def _papers_near(name: str, *, store: StoreReader) -> list[Entity]:
    """Return the papers whose chunks share words with a name."""
    where = Filter(metadata=(("type", PAPER),))
    hits = store.search_keyword(query_terms(name), limit=MAX_CANDIDATE_CHUNKS, where=where).hits
    mentions = store.graph.mentions_in([hit.chunk_id for hit in hits], about=True)
    ids = dict.fromkeys(mention.entity_id for mention in mentions)
    return [entity for entity in store.graph.entities(list(ids)) if entity.type == PAPER]


def _people_near(name: str, *, store: StoreReader) -> list[Entity]:
    """Return the authors of papers with this name as their surname; without one, those with this first name."""
    wanted = [word.text for word in words(name)]
    where = Filter(metadata=(("type", PAPER),))
    hits = store.search_keyword(query_terms(name), limit=MAX_CANDIDATE_CHUNKS, where=where).hits
    chunks = store.chunks([hit.chunk_id for hit in hits])
    documents = store.documents(list(dict.fromkeys(chunk.document_id for chunk in chunks)))
    authors = [author for document in documents for author in to_values(document.metadata.get("authors"))]
    parts = {author: _find_part(wanted, author) for author in authors if isinstance(author, str)}
    best = next((part for part in ("surname", "first name") if part in parts.values()), "")
    keys = dict.fromkeys(name_key(author) for author, part in parts.items() if part and part == best)
    known = store.graph.find_entities([key for key in keys if key])
    return sorted({e.id: e for e in known.values() if e.type == PERSON}.values(), key=lambda entity: entity.id)


def _find_part(wanted: Sequence[str], author: str) -> str:
    """
    Return the part of an author's name that `wanted` is; empty if it is none.

    | wanted | author | part |
    | --- | --- | --- |
    | `Liu`, `Y. Liu`, `刘`, `刘洋` | `Yang Liu (刘洋)` | surname |
    | `Joerg`, read as `Jörg` | `Jörg Grünwald` | first name |
    | `洋`, `J.` | the same two | none |
    """
    own = [word.text for word in words(author)]
    latin, han = [word for word in own if not is_unspaced(word)], "".join(filter(is_unspaced, own))
    asked, characters = [word for word in wanted if not is_unspaced(word)], "".join(filter(is_unspaced, wanted))
    fits = all(any(word == other or word[:1] == other or word == other[:1] for other in latin) for word in asked)
    if not wanted or not fits or not han.startswith(characters):
        return ""
    if not asked or latin[-1] in asked:
        return "surname"
    return "first name" if all(len(word) > 1 and word in latin for word in asked) else ""


def _names(entity: Entity) -> list[tuple[str, ...]]:
    return [title_words(name) for name in (entity.name, *entity.aliases)]


def _similarity(wanted: Sequence[str], entity: Entity) -> float:
    return max(title_similarity(wanted, name) for name in _names(entity))


def _spellings(parts: Sequence[str]) -> list[str]:
    """Return the spellings of a person's name: `Peter Naur`, `Naur, Peter`, `P. Naur`, `Naur, P.`"""
    if "," in parts:
        comma = list(parts).index(",")
        last, first_names = list(parts[:comma]), [part for part in parts[comma + 1 :] if part != ","]
    else:
        last, first_names = list(parts[-1:]), list(parts[:-1])
    initials = [part[0] for part in first_names]
    return [
        " ".join(parts),
        " ".join([*first_names, *last]),
        " ".join([*last, *first_names]),
        " ".join([*initials, *last]),
        " ".join([*last, *initials]),
    ]
