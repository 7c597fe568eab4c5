"""Citation search: the papers that cite, are cited by, build on, are by or share something with what is asked about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from weft.extract.names import name_key
from weft.extract.papers.citation_questions import split_names
from weft.rank.fuse import order
from weft.records import CitationQuestion, DocumentInfo, Filter, GraphSource, PathStep, Question
from weft.search.graph.channel import ABOUT_CHUNK, GraphFound, explain_sources
from weft.search.papers.citation_links import INTRODUCES, MAX_LINKS, Reached, find_links, has_links, reach
from weft.search.papers.paper_lookup import CONCEPT, PAPER, Meant, find_author, find_papers
from weft.search.question.entities import Seed
from weft.search.search_context import SearchContext
from weft.store.base import Graph, Store

MAX_HOMES = 5
"""Chunks about a paper among which its first one is looked for."""

MAX_LISTED = 10
"""Papers without a document that a note names."""

NOTHING = {
    "citing": "no paper here cites {}",
    "references": "{} cites no paper that is known here",
    "builds_on": "no paper here builds on {}",
    "written_by": "no paper here is by {}",
    "cocited": "no paper here is cited together with {}",
    "shared": "no other paper here introduces a concept of {}",
    "introduces": "no paper here introduces {}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """The answer to a citation question; without seeds there is none, and the notes may say why."""

    question: CitationQuestion
    seeds: tuple[Seed, ...] = ()
    """What the question is about."""
    found: GraphFound = field(default_factory=GraphFound)
    trust: float = 0.0
    """How surely the question is about these: 1 for an exact name."""
    notes: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    """Ids of the entities that were reached, papers without a document too."""


def search_citations(question: Question, search: SearchContext) -> Cited | None:
    """Return the answer to a citation question; None for other questions."""
    if not question.citations:
        return None
    graph = search.store.graph
    reading, meant = _understand(question.citations, store=search.store)
    if not meant.entities:
        return Cited(question=reading, notes=_unknown(reading, meant))
    reached = reach(reading, meant.entities, graph=graph, options=search.graph)
    if not reached and not has_links(reading, meant.entities, graph=graph):
        return Cited(question=reading, notes=(f"no citations of {meant.entities[0].name!r} are known here",))
    return _answer(reading, meant, reached, search=search)


def search_concepts(seeds: Sequence[Seed], search: SearchContext, *, trust: float) -> Cited | None:
    """Return the papers around the concepts among the seeds; None if a seed is no concept, or no paper is found."""
    concepts = [seed.entity for seed in seeds if seed.entity.type == CONCEPT]
    if not concepts or len(concepts) < len(seeds):
        return None
    reading = CitationQuestion(kind="introduces", names=tuple(entity.name for entity in concepts))
    reached = reach(reading, concepts, graph=search.store.graph, options=search.graph)
    if not reached:
        return None
    meant = Meant(entities=tuple(concepts), score=1.0)
    return replace(_answer(reading, meant, reached, search=search), trust=trust)


def _understand(readings: Sequence[CitationQuestion], *, store: Store) -> tuple[CitationQuestion, Meant]:
    """Return the reading whose name is known best, and what it stands for; of equals the first."""
    best, found = readings[0], Meant()
    for reading in readings:
        for name in reading.names:
            meant = _mean(reading, name, store=store)
            if (bool(meant.entities), meant.score) > (bool(found.entities), found.score) or (
                not found.entities and not found.rivals and meant.rivals
            ):
                best, found = reading, meant
    return best, found


def _mean(question: CitationQuestion, name: str, *, store: Store) -> Meant:
    match question.kind:
        case "written_by":
            return find_author(name, store=store)
        case "introduces":
            return _find_concepts(name, graph=store.graph)
        case _:
            return find_papers(name, store=store)


def _find_concepts(name: str, *, graph: Graph) -> Meant:
    """Return the concept of this name that papers introduce, else those of its parts."""
    for names in ([name], split_names(name)):
        keys = [key for key in map(name_key, names) if key]
        known = graph.find_entities(keys)
        entities = {entity.id: entity for entity in (known[key] for key in keys if key in known)}
        introduced = find_links(graph, list(entities), INTRODUCES, outgoing=False)
        found = tuple(entity for id, entity in entities.items() if introduced.get(id))
        if found:
            return Meant(entities=found, score=len(found) / len(names))
    return Meant()


# ── from papers to chunks ───────────────────────────────────────────────────────────────────────


def _answer(question: CitationQuestion, meant: Meant, reached: Reached, *, search: SearchContext) -> Cited:
    store, where = search.store, search.where
    asked = _quoted(meant)
    homes, documents = _homes(list(reached), store=store, where=where)
    scores: dict[str, float] = {}
    owners: dict[str, str] = {}
    undated = 0
    for id, (score, _) in reached.items():
        for chunk, document in homes.get(id, ()):
            year = documents[document].metadata.get("year")
            undated += _bounded(question) and not isinstance(year, int)
            if _in_years(question, year) and score > scores.get(chunk, 0.0):
                scores[chunk], owners[chunk] = score, id
    passed = dict.fromkeys(id for _, way in reached.values() for step in way for id in (step.source, step.target))
    entities = {e.id: e for e in store.graph.entities([*passed])}
    stubs = [entities[id].name for id in reached if id in entities and not homes.get(id) and not where]
    notes = list(_understood(meant))
    if not reached:
        notes.append(NOTHING[question.kind].format(asked))
    elif not scores and not stubs:
        notes.append(f"{len(reached):,} found, but none that is of the years or passes the filter asked for")
    notes += [f"there may be more than the {len(reached):,} that were looked at"] if len(reached) >= MAX_LINKS else []
    notes += [f"papers without a year, left out: {undated}"] if undated else []
    notes += [f"known by reference only, without a document: {_listed(stubs)}"] if stubs else []
    sources = _explained(owners, reached, names={id: entity.name for id, entity in entities.items()})
    seeds = tuple(Seed(entity=e, weight=1.0, words=len(e.key.split()) or 1, how=_how(meant)) for e in meant.entities)
    hits = tuple(order(scores)[: search.pool_size])
    found = GraphFound(hits=hits, explain=explain_sources(sources))
    return Cited(
        question=question, seeds=seeds, found=found, trust=meant.score, notes=tuple(notes), entities=tuple(reached)
    )


def _homes(
    ids: Sequence[str], *, store: Store, where: Filter
) -> tuple[dict[str, list[tuple[str, str]]], dict[str, DocumentInfo]]:
    """Return, by entity, the first chunk of each document that is the paper, with that document's id."""
    mentions = [m for m in store.graph.mentions_of(ids, limit=MAX_HOMES) if m.about] if ids else []
    chunks = {chunk.id: chunk for chunk in store.chunks(list(dict.fromkeys(m.chunk_id for m in mentions)))}
    wanted = {chunk.document_id for chunk in chunks.values()}
    if where.documents:
        wanted &= set(where.documents)
    only = replace(where, documents=tuple(sorted(wanted)), metadata=(*where.metadata, ("type", PAPER)))
    documents = {d.id: d for d in store.find_documents(only, limit=len(wanted) or 1)} if wanted else {}
    first: dict[tuple[str, str], str] = {}
    for mention in mentions:
        chunk = chunks.get(mention.chunk_id)
        if chunk is None or chunk.document_id not in documents:
            continue
        at = (mention.entity_id, chunk.document_id)
        if at not in first or chunk.ordinal < chunks[first[at]].ordinal:
            first[at] = chunk.id
    homes: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for (id, document), chunk_id in first.items():
        homes[id].append((chunk_id, document))
    return homes, documents


def _explained(owners: Mapping[str, str], reached: Reached, *, names: Mapping[str, str]) -> dict[str, GraphSource]:
    sources = {}
    for chunk, id in owners.items():
        way = reached[id][1]
        steps = [
            PathStep(source=names.get(s.source, ""), type=s.type, weight=s.weight, target=names.get(s.target, ""))
            for s in way
        ]
        steps.append(PathStep(source=names.get(id, ""), type=ABOUT_CHUNK, weight=0.0, target=chunk))
        sources[chunk] = GraphSource(entity=names.get(id, ""), hops=len(way), path=tuple(steps))
    return sources


def _bounded(question: CitationQuestion) -> bool:
    return question.since is not None or question.until is not None


def _in_years(question: CitationQuestion, year: object) -> bool:
    if not _bounded(question):
        return True
    if not isinstance(year, int):
        return False
    return (question.since is None or year >= question.since) and (question.until is None or year <= question.until)


# ── words ───────────────────────────────────────────────────────────────────────────────────────


def _quoted(meant: Meant) -> str:
    return " and ".join(dict.fromkeys(repr(entity.name) for entity in meant.entities))


def _how(meant: Meant) -> str:
    return "named" if meant.score == 1 else f"alike ({meant.score:.2f})"


def _understood(meant: Meant) -> list[str]:
    notes = []
    if meant.score < 1:
        notes.append(f"taken to be about {_quoted(meant)}")
    # beside papers that share a title there is what others call by the title alone
    same = [entity for entity in meant.entities if entity.key != name_key(entity.name)]
    if len(same) > 1 and len({entity.name for entity in same}) == 1:
        notes.append(f"{len(same)} papers are called {same[0].name!r}; all of them are meant")
    return notes


def _unknown(question: CitationQuestion, meant: Meant) -> tuple[str, ...]:
    if meant.rivals:
        return (f"it is unclear which one is meant by {question.names[0]!r}: {_listed(meant.rivals)}",)
    if not question.explicit:
        return ()
    kind = {"written_by": "author", "introduces": "introduced concept"}.get(question.kind, "paper")
    return (f"no {kind} {question.names[0]!r} is known here",)


def _listed(names: Sequence[str]) -> str:
    shown = sorted(dict.fromkeys(names))
    more = len(shown) - MAX_LISTED
    return "; ".join(shown[:MAX_LISTED]) + (f" and {more} more" if more > 0 else "")
