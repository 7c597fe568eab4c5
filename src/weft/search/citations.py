"""Citation search: the papers that cite, are cited by, build on, are by or share something with what is asked about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from weft.rank.fuse import order
from weft.records import DocumentInfo, Entity, Filter, GraphSource, PathStep
from weft.search.graph import ABOUT_CHUNK, GraphFound
from weft.search.papers import PAPER, Meant, find_author, find_papers
from weft.search.recognise import Seed
from weft.store.base import Graph, Store
from weft.text.citing import CitationQuestion, read_citation, split_names
from weft.text.names import name_key
from weft.text.statements import inverse

CITES, INTRODUCES, WRITTEN_BY = "cites", "introduces", "written_by"

DIRECT, INDIRECT = 1.0, 0.5
"""What a paper counts that is reached at once, and one that is a citation further away."""

MAX_LINKS = 200
"""Relations of one type and direction that are read of one entity."""

MAX_EXPANDED = 50
"""Papers whose own citations are read for the second step."""

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


@dataclass(frozen=True, slots=True)
class _Step:
    source: str
    type: str
    weight: float
    target: str


_Way = tuple[_Step, ...]
_Reached = dict[str, tuple[float, _Way]]
"""By entity id: what it counts, and the best way to it."""


def search_citations(text: str, *, store: Store, where: Filter, limit: int) -> Cited | None:
    """Answer a citation question; None for another question."""
    readings = read_citation(text)
    if not readings:
        return None
    question, meant = _understand(readings, store=store)
    if not meant.entities:
        return Cited(question=question, notes=_unknown(question, meant))
    reached = _reach(question, meant.entities, graph=store.graph)
    if not reached and not _has_links(question, meant.entities, graph=store.graph):
        return Cited(question=question, notes=(f"no citations of {meant.entities[0].name!r} are known here",))
    return _answer(question, meant, reached, store=store, where=where, limit=limit)


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
        introduced = _links(graph, list(entities), INTRODUCES, outgoing=False)
        found = tuple(entity for id, entity in entities.items() if introduced.get(id))
        if found:
            return Meant(entities=found, score=len(found) / len(names))
    return Meant()


# ── following the links ─────────────────────────────────────────────────────────────────────────


def _links(graph: Graph, ids: Sequence[str], type: str, *, outgoing: bool) -> dict[str, list[tuple[str, float]]]:
    """Return, by entity, what relations of one type and direction lead to, with their weights."""
    wanted = set(ids)
    found: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for relation in graph.relations_of(list(ids), limit=MAX_LINKS, types=(type,)) if wanted else ():
        source, target = relation.source_id, relation.target_id
        if not outgoing:
            source, target = target, source
        if source in wanted:
            found[source].append((target, relation.weight))
    return found


def _follow(graph: Graph, ways: Mapping[str, _Way], type: str, *, outgoing: bool) -> dict[str, list[_Way]]:
    """Return, by entity, the ways to it that are one relation longer than those given."""
    longer: dict[str, list[_Way]] = defaultdict(list)
    name = type if outgoing else inverse(type)
    for source, links in _links(graph, list(ways)[:MAX_EXPANDED], type, outgoing=outgoing).items():
        for target, weight in links:
            longer[target].append((*ways[source], _Step(source, name, weight, target)))
    return longer


def _reach(question: CitationQuestion, starts: Sequence[Entity], *, graph: Graph) -> _Reached:
    """Return what the question asks for."""
    origin: dict[str, _Way] = {entity.id: () for entity in starts}
    match question.kind:
        case "citing":
            reached = _direct(_follow(graph, origin, CITES, outgoing=False))
        case "references":
            reached = _direct(_follow(graph, origin, CITES, outgoing=True))
        case "written_by":
            reached = _direct(_follow(graph, origin, WRITTEN_BY, outgoing=False))
        case "builds_on":
            first = _first(_follow(graph, origin, CITES, outgoing=False))
            second = _follow(graph, first, CITES, outgoing=False)
            reached = {id: (INDIRECT, ways[0]) for id, ways in second.items()} | _direct(
                {i: [w] for i, w in first.items()}
            )
        case "cocited":
            citing = _first(_follow(graph, origin, CITES, outgoing=False))
            reached = _shared(_follow(graph, citing, CITES, outgoing=True), count=len(citing))
        case "shared":
            concepts = _first(_follow(graph, origin, INTRODUCES, outgoing=True))
            reached = _shared(_follow(graph, concepts, INTRODUCES, outgoing=False), count=len(concepts))
        case "introduces":
            return _introducing(starts, graph=graph)
    return {id: found for id, found in reached.items() if id not in origin}


def _introducing(concepts: Sequence[Entity], *, graph: Graph) -> _Reached:
    """Sum over the concepts: 1 for a paper that introduces one, 0.5 for a paper one citation away from such a paper."""
    sums: dict[str, float] = defaultdict(float)
    best: _Reached = {}
    for concept in concepts:
        first = _first(_follow(graph, {concept.id: ()}, INTRODUCES, outgoing=False))
        near: _Reached = {}
        for outgoing in (True, False):
            for id, ways in _follow(graph, first, CITES, outgoing=outgoing).items():
                near.setdefault(id, (INDIRECT, ways[0]))
        for id, (score, way) in (near | {id: (DIRECT, way) for id, way in first.items()}).items():
            sums[id] += score
            if id not in best or score > best[id][0]:
                best[id] = (score, way)
    return {id: (sums[id], way) for id, (_, way) in best.items()}


def _direct(found: Mapping[str, Sequence[_Way]]) -> _Reached:
    return {id: (DIRECT, ways[0]) for id, ways in found.items()}


def _first(found: Mapping[str, Sequence[_Way]]) -> dict[str, _Way]:
    return {id: ways[0] for id, ways in found.items()}


def _shared(found: Mapping[str, Sequence[_Way]], *, count: int) -> _Reached:
    """A paper counts the share of what lies between that it is linked with."""
    return {id: (len({way[-1].source for way in ways}) / max(1, count), ways[0]) for id, ways in found.items()}


def _has_links(question: CitationQuestion, starts: Sequence[Entity], *, graph: Graph) -> bool:
    """Tell whether anything is known that a question of this kind asks for, in either direction."""
    type = {"written_by": WRITTEN_BY, "shared": INTRODUCES, "introduces": INTRODUCES}.get(question.kind, CITES)
    ids = [entity.id for entity in starts]
    return bool(graph.relations_of(ids, limit=1, types=(type,)))


# ── from papers to chunks ───────────────────────────────────────────────────────────────────────


def _answer(
    question: CitationQuestion, meant: Meant, reached: _Reached, *, store: Store, where: Filter, limit: int
) -> Cited:
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
    notes += [NOTHING[question.kind].format(asked)] if not scores and not stubs else []
    notes += [f"papers without a year, left out: {undated}"] if undated else []
    notes += [f"known by reference only, without a document: {_listed(stubs)}"] if stubs else []
    sources = _explained(owners, reached, names={id: entity.name for id, entity in entities.items()})
    seeds = tuple(Seed(entity=e, weight=1.0, words=len(e.key.split()) or 1, how=_how(meant)) for e in meant.entities)
    hits = tuple(order(scores)[:limit])
    found = GraphFound(hits=hits, explain=lambda ids: {id: sources[id] for id in ids if id in sources})
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


def _explained(owners: Mapping[str, str], reached: _Reached, *, names: Mapping[str, str]) -> dict[str, GraphSource]:
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
    if len(meant.entities) > 1 and len({entity.name for entity in meant.entities}) == 1:
        notes.append(f"{len(meant.entities)} papers are called {meant.entities[0].name!r}; all of them are meant")
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
