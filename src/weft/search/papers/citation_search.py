"""Citation search: papers related to the paper, author or concept in a question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from weft.extract.names import name_key
from weft.extract.papers.citation_questions import first_author, split_names
from weft.rank.fuse import order
from weft.records import CitationQuestion, DocumentInfo, Filter, GraphSource, PathStep, Question
from weft.search.graph.channel import ABOUT_CHUNK, GraphFound, explain_sources
from weft.search.papers.citation_links import INTRODUCES, MAX_LINKS, WRITTEN_BY, Reached, find_links, has_links, reach
from weft.search.papers.paper_lookup import CONCEPT, PAPER, PARTIAL_NAME_SCORE, NameMatch, find_author, find_papers
from weft.search.question.entities import Seed
from weft.search.search_context import SearchContext
from weft.store.base import GraphReader, StoreReader

MAX_DEFINING_CHUNKS = 5
"""Maximum number of defining chunks that are read to find the first chunk of a paper."""

MAX_LISTED_NAMES = 10
"""Maximum number of names in a note."""

NOTHING = {
    "citing": "no indexed paper cites {}",
    "references": "{} cites no known paper",
    "builds_on": "no indexed paper builds on {}",
    "written_by": "no indexed paper is by {}",
    "cocited": "no paper is cited together with {}",
    "shared": "no other indexed paper introduces a concept of {}",
    "introduces": "no indexed paper introduces {}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """Answer to a citation question. It is empty without seeds; the notes may then contain the reason."""

    question: CitationQuestion
    seeds: tuple[Seed, ...] = ()
    """The entities that the question names."""
    found: GraphFound = field(default_factory=GraphFound)
    trust: float = 0.0
    """Score of the name match: 1 for an exact name."""
    notes: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    """Ids of the entities that were reached, including papers that are not indexed."""


def search_citations(question: Question, search: SearchContext) -> Cited | None:
    """Return the answer to a citation question; None for other questions."""
    if not question.citations:
        return None
    graph = search.store.graph
    reading, match = _best_reading(question.citations, store=search.store)
    if not match.entities:
        return Cited(question=reading, notes=_unknown_notes(reading, match))
    reached = reach(reading, match.entities, graph=graph, options=search.graph)
    if not reached and not has_links(reading, match.entities, graph=graph):
        return Cited(question=reading, notes=(f"no citations of {match.entities[0].name!r} are indexed",))
    return _answer(reading, match, reached, search=search)


def search_concepts(seeds: Sequence[Seed], search: SearchContext, *, trust: float) -> Cited | None:
    """Return the papers around the concepts among the seeds; None if a seed is no concept, or no paper is found."""
    concepts = [seed.entity for seed in seeds if seed.entity.type == CONCEPT]
    if not concepts or len(concepts) < len(seeds):
        return None
    reading = CitationQuestion(kind="introduces", names=tuple(entity.name for entity in concepts))
    reached = reach(reading, concepts, graph=search.store.graph, options=search.graph)
    if not reached:
        return None
    match = NameMatch(entities=tuple(concepts), score=1.0)
    return replace(_answer(reading, match, reached, search=search), trust=trust)


def _best_reading(readings: Sequence[CitationQuestion], *, store: StoreReader) -> tuple[CitationQuestion, NameMatch]:
    """Return the reading whose name matches best, with the match; ties go to the first."""
    best, found = readings[0], NameMatch()
    for reading in readings:
        for name in reading.names:
            match = _match_name(reading, name, store=store)
            if (bool(match.entities), match.score) > (bool(found.entities), found.score) or (
                not found.entities and not found.candidates and match.candidates
            ):
                best, found = reading, match
    return best, found


def _match_name(question: CitationQuestion, name: str, *, store: StoreReader) -> NameMatch:
    match question.kind:
        case "written_by":
            return find_author(name, store=store)
        case "introduces":
            return _find_concepts(name, graph=store.graph)
        case _:
            match = find_papers(name, store=store)
            author = first_author(name)
            return match if match.entities or not author else _find_papers_by(author, store=store)


def _find_papers_by(name: str, *, store: StoreReader) -> NameMatch:
    """Return the papers of an author, as for `Devlin et al.`; the score marks them as not named."""
    author = find_author(name, store=store)
    links = find_links(store.graph, [entity.id for entity in author.entities], WRITTEN_BY, outgoing=False)
    ids = dict.fromkeys(paper for found in links.values() for paper, _ in found)
    papers = tuple(entity for entity in store.graph.entities(list(ids)) if entity.type == PAPER)
    return NameMatch(entities=papers, score=PARTIAL_NAME_SCORE if papers else 0.0, candidates=author.candidates)


def _find_concepts(name: str, *, graph: GraphReader) -> NameMatch:
    """Return the concept of this name that papers introduce, else the concepts named by its parts."""
    for names in ([name], split_names(name)):
        keys = [key for key in map(name_key, names) if key]
        known = graph.find_entities(keys)
        entities = {entity.id: entity for entity in (known[key] for key in keys if key in known)}
        introduced = find_links(graph, list(entities), INTRODUCES, outgoing=False)
        found = tuple(entity for id, entity in entities.items() if introduced.get(id))
        if found:
            return NameMatch(entities=found, score=len(found) / len(names))
    return NameMatch()


# ── from papers to chunks ───────────────────────────────────────────────────────────────────────


def _answer(question: CitationQuestion, match: NameMatch, reached: Reached, *, search: SearchContext) -> Cited:
    store, where = search.store, search.where
    chunks, documents = _first_chunks(list(reached), store=store, where=where)
    scores: dict[str, float] = {}
    owners: dict[str, str] = {}
    undated = 0
    for id, (score, _) in reached.items():
        for chunk, document in chunks.get(id, ()):
            year = documents[document].metadata.get("year")
            undated += _bounded(question) and not isinstance(year, int)
            if _in_years(question, year) and score > scores.get(chunk, 0.0):
                scores[chunk], owners[chunk] = score, id
    passed = dict.fromkeys(id for found in reached.values() for step in found.path for id in (step.source, step.target))
    entities = {e.id: e for e in store.graph.entities([*passed])}
    stubs = [entities[id].name for id in reached if id in entities and not chunks.get(id) and not where]
    notes = list(_match_notes(match))
    if not reached:
        notes.append(NOTHING[question.kind].format(_quoted(match)))
    elif not scores and not stubs:
        notes.append(f"{len(reached):,} found, but none matches the years and the filter")
    notes += [f"only the first {len(reached):,} were read; there may be more"] if len(reached) >= MAX_LINKS else []
    notes += [f"papers left out because they have no year: {undated}"] if undated else []
    notes += [f"cited but not indexed: {_listed(stubs)}"] if stubs else []
    sources = _sources(owners, reached, names={id: entity.name for id, entity in entities.items()})
    seeds = tuple(Seed(entity=e, weight=1.0, words=len(e.key.split()) or 1, how=_how(match)) for e in match.entities)
    hits = tuple(order(scores)[: search.pool_size])
    found = GraphFound(hits=hits, explain=explain_sources(sources))
    return Cited(
        question=question, seeds=seeds, found=found, trust=match.score, notes=tuple(notes), entities=tuple(reached)
    )


def _first_chunks(
    ids: Sequence[str], *, store: StoreReader, where: Filter
) -> tuple[dict[str, list[tuple[str, str]]], dict[str, DocumentInfo]]:
    """Return the first chunk and the document id of each document of a paper, by entity."""
    mentions = [m for m in store.graph.mentions_of(ids, limit=MAX_DEFINING_CHUNKS) if m.about] if ids else []
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
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for (id, document), chunk_id in first.items():
        found[id].append((chunk_id, document))
    return found, documents


def _sources(owners: Mapping[str, str], reached: Reached, *, names: Mapping[str, str]) -> dict[str, GraphSource]:
    sources = {}
    for chunk, id in owners.items():
        path = reached[id].path
        steps = [
            PathStep(source=names.get(s.source, ""), type=s.type, weight=s.weight, target=names.get(s.target, ""))
            for s in path
        ]
        steps.append(PathStep(source=names.get(id, ""), type=ABOUT_CHUNK, weight=0.0, target=chunk))
        sources[chunk] = GraphSource(entity=names.get(id, ""), hops=len(path), path=tuple(steps))
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


def _quoted(match: NameMatch) -> str:
    return " and ".join(dict.fromkeys(repr(entity.name) for entity in match.entities))


def _how(match: NameMatch) -> str:
    return "named" if match.score == 1 else f"alike ({match.score:.2f})"


def _match_notes(match: NameMatch) -> list[str]:
    notes = []
    if match.score < 1:
        notes.append(f"interpreted as a question about {_quoted(match)}")
    # An entity without an id may have the same title as papers with an id.
    same = [entity for entity in match.entities if entity.key != name_key(entity.name)]
    if len(same) > 1 and len({entity.name for entity in same}) == 1:
        notes.append(f"{len(same)} papers have the title {same[0].name!r}; all of them are used")
    return notes


def _unknown_notes(question: CitationQuestion, match: NameMatch) -> tuple[str, ...]:
    if match.candidates:
        return (f"ambiguous name {question.names[0]!r}: {_listed(match.candidates)}",)
    if not question.explicit:
        return ()
    kind = {"written_by": "author", "introduces": "introduced concept"}.get(question.kind, "paper")
    return (f"unknown {kind} {question.names[0]!r}",)


def _listed(names: Sequence[str]) -> str:
    shown = sorted(dict.fromkeys(names))
    more = len(shown) - MAX_LISTED_NAMES
    return "; ".join(shown[:MAX_LISTED_NAMES]) + (f" and {more} more" if more > 0 else "")
