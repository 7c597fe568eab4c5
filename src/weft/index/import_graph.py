"""
Import of a ready-made graph: its statements as new documents or as annotations of stored chunks.

    statement with a passage ── passage has a text ──→ document of the passage
                             └─ passage is stored ───→ annotation of the stored chunk
    statement without passage ───────────────────────→ document of its (source) entity
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from weft.extract.names import match_names, name_key, words
from weft.extract.phrases import is_usable
from weft.records import (
    Candidate,
    CandidateKind,
    Chunk,
    Document,
    Extraction,
    GivenEntity,
    GivenGraph,
    GivenPassage,
    GivenRelation,
    StatedRelation,
)
from weft.text.normalise import squeeze
from weft.text.searchable_metadata import IMPORT

UNUSABLE_NAME = "unusable names: no letters or digits, or only a number in an extraction"
SELF_RELATION = "relations of an entity with itself"
EXTRACTOR = "import"
"""Stored as the extractor of imported candidates and stated relations."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPlan:
    """Documents and annotations made from a graph."""

    documents: tuple[Document, ...]
    """One per passage with text, then one per entity with statements that have no passage."""
    annotations: Mapping[str, Extraction]
    """Statements about stored chunks, by chunk id."""
    entities: int
    relations: int
    skipped: tuple[str, ...]
    """Number of skipped statements, one line per reason."""


def plan_import(
    graph: GivenGraph,
    *,
    name: str,
    kind: CandidateKind,
    stored_ids: Mapping[str, str],
    read_chunks: Callable[[str], tuple[str, Sequence[Chunk]]],
) -> ImportPlan:
    """
    Return the documents and annotations of a graph.

    A statement goes to each passage it names that has a text or is stored. `stored_ids` maps passages to ids of stored
    documents or chunks; `read_chunks` returns title and chunks for such an id. Other statements go to documents made
    for their entities. The source of a document is `name#id`, with the `name` of the import.

    Names are proposed as `kind`. A name equal to its document's title is proposed as `title` and becomes an entity
    without further evidence.
    """
    planner = _ImportPlanner(graph, name=name, kind=kind, stored_ids=stored_ids)
    for entity in graph.entities:
        planner.add_entity(entity)
    for relation in graph.relations:
        planner.add_relation(relation)
    return planner.finish(read_chunks)


@dataclass(slots=True)
class _Statements:
    """Distinct candidates and stated relations of one chunk or document."""

    kind: CandidateKind
    title: str = ""
    """Name key of the document's title."""
    candidates: dict[tuple[str, str], Candidate] = field(default_factory=dict)
    stated_relations: dict[tuple[str, str, str], StatedRelation] = field(default_factory=dict)

    def propose(
        self,
        name: str,
        *,
        type: str = "",
        description: str = "",
        about: bool = False,
        alias_of: str = "",
        reason: str = "",
    ) -> None:
        """Propose a name, or complete its candidate. An alias of two entities becomes a separate name."""
        key = name_key(name)
        is_title = key == self.title and not alias_of
        new = Candidate(
            key=key,
            name=name,
            kind="title" if is_title else self.kind,
            type=type,
            description=description,
            about=about or is_title,
            alias_of=alias_of,
            reason=reason,
            extractor=EXTRACTOR,
        )
        old = self.candidates.get((key, name))
        if old is not None:
            same = old if old.alias_of == alias_of else old._replace(alias_of="", reason="")
            new = same._replace(
                type=old.type or type,
                description=old.description or description,
                about=old.about or new.about,
            )
        self.candidates[key, name] = new

    def state(self, relation: GivenRelation) -> None:
        """State a relation. Of two with the same ends and type, the heavier is kept; ties keep the first."""
        stated = StatedRelation(
            source=name_key(relation.source),
            target=name_key(relation.target),
            type=relation.type,
            weight=relation.weight,
            description=relation.description,
            extractor=EXTRACTOR,
        )
        key = (stated.source, stated.target, stated.type)
        if key not in self.stated_relations or self.stated_relations[key].weight < stated.weight:
            self.stated_relations[key] = stated

    def to_extraction(self) -> Extraction:
        """Return all candidates and stated relations, in order of addition."""
        return Extraction(
            candidates=tuple(self.candidates.values()), stated_relations=tuple(self.stated_relations.values())
        )


@dataclass(slots=True)
class _EntityPage:
    """Document made for one entity: one line per description, note or relation."""

    title: str
    statements: _Statements
    lines: dict[str, None] = field(default_factory=dict)

    def write(self, *texts: str) -> None:
        """Add the lines that are new and not empty."""
        self.lines |= dict.fromkeys(filter(None, texts))


@dataclass(slots=True)
class _Passage:
    """Statements about one passage."""

    entities: list[GivenEntity] = field(default_factory=list)
    relations: list[GivenRelation] = field(default_factory=list)


class _ImportPlanner:
    """Collects the statements of each passage and of each entity page."""

    def __init__(self, graph: GivenGraph, *, name: str, kind: CandidateKind, stored_ids: Mapping[str, str]) -> None:
        self._name = name
        self._kind: CandidateKind = kind
        self._stored_ids = stored_ids
        self._texts = {passage.id: passage for passage in graph.passages}
        self._types = {name_key(entity.name): entity.type for entity in reversed(graph.entities) if entity.type}
        self._targets = {
            name_key(relation.target)
            for relation in graph.relations
            if not self._find_passages(relation) and not self._find_fault(relation)
        }
        """Entities that occur on the page of another entity and therefore need no page."""
        self._passages: dict[str, _Passage] = defaultdict(_Passage)
        self._pages: dict[str, _EntityPage] = {}
        self._entities: set[str] = set()
        self._relations = 0
        self._skipped: Counter[str] = Counter()

    def add_entity(self, entity: GivenEntity) -> None:
        """Add an entity to its passages. An entity with notes or without a passage also gets a page."""
        key = name_key(entity.name)
        if not self._is_usable(entity.name):
            self._skipped[UNUSABLE_NAME] += 1
            return
        self._entities.add(key)
        found = self._find_passages(entity)
        for id, copy in zip(found, _describe_once(entity, len(found)), strict=True):
            self._passages[id].entities.append(copy)
        has_details = bool(entity.description or entity.notes or entity.aliases)
        if entity.notes or (not found and (has_details or key not in self._targets)):
            page = self._page(entity.name)
            page.write(entity.description, *entity.notes)
            self._propose(page.statements, entity, about=True)

    def add_relation(self, relation: GivenRelation) -> None:
        """Add a relation to its passages, or to the page of its source entity."""
        if fault := self._find_fault(relation):
            self._skipped[fault] += 1
            return
        self._entities.update(map(name_key, (relation.source, relation.target)))
        self._relations += 1
        found = self._find_passages(relation)
        for id in found:
            self._passages[id].relations.append(relation)
        if not found:
            page = self._page(relation.source)
            page.write(relation_sentence(relation))
            page.statements.propose(relation.source, about=True)
            self._stated_relation(page.statements, relation)

    def finish(self, read_chunks: Callable[[str], tuple[str, Sequence[Chunk]]]) -> ImportPlan:
        """Return the documents and annotations of all statements."""
        annotations: dict[str, _Statements] = {}
        for id, passage in self._passages.items():
            if id not in self._texts:
                self._annotate(passage, *read_chunks(self._stored_ids[id]), into=annotations)
        documents = [self._passage_document(passage) for passage in self._texts.values()]
        sources = {document.source for document in documents}
        documents += [self._page_document(page, sources=sources) for page in self._pages.values()]
        return ImportPlan(
            documents=tuple(documents),
            annotations={
                id: statements.to_extraction() for id, statements in annotations.items() if statements.candidates
            },
            entities=len(self._entities),
            relations=self._relations,
            skipped=tuple(f"{count:,} {reason}" for reason, count in self._skipped.items()),
        )

    def _find_passages(self, statement: GivenEntity | GivenRelation) -> list[str]:
        """Return the passages of a statement that have a text or are stored."""
        return [id for id in statement.passages if id in self._texts or id in self._stored_ids]

    def _find_fault(self, relation: GivenRelation) -> str:
        """Return the reason to skip a relation, or an empty text."""
        if not self._is_usable(relation.source) or not self._is_usable(relation.target):
            return UNUSABLE_NAME
        return SELF_RELATION if name_key(relation.source) == name_key(relation.target) else ""

    def _is_usable(self, name: str) -> bool:
        # Names from a person are accepted unchanged; names from a model must pass the rules for extracted names.
        return is_usable(name) if self._kind == "phrase" else bool(name_key(name))

    def _page(self, name: str) -> _EntityPage:
        return self._pages.setdefault(name_key(name), _EntityPage(name, _Statements(self._kind)))

    def _propose(self, statements: _Statements, entity: GivenEntity, *, about: bool = False) -> None:
        statements.propose(entity.name, type=entity.type, description=entity.description, about=about)
        key = name_key(entity.name)
        for alias in entity.aliases:
            if name_key(alias) not in ("", key):
                reason = f"alias in {self._name}"
                statements.propose(alias, type=entity.type, about=about, alias_of=key, reason=reason)

    def _stated_relation(self, statements: _Statements, relation: GivenRelation) -> None:
        for end in (relation.source, relation.target):
            statements.propose(end, type=self._types.get(name_key(end), ""))
        statements.state(relation)

    def _annotate(
        self, passage: _Passage, title: str, chunks: Sequence[Chunk], *, into: dict[str, _Statements]
    ) -> None:
        """
        Distribute the statements about a stored document among its chunks.

        An entity is proposed in each chunk that mentions it, a relation is stated in the first chunk that mentions
        both ends. Without such a chunk the first chunk is used.
        """
        if not chunks:  # another process deleted the document
            return
        names = [name for entity in passage.entities for name in (entity.name, *entity.aliases)]
        names += [end for relation in passage.relations for end in (relation.source, relation.target)]
        keys = set(map(name_key, names)) - {""}
        for chunk in chunks:
            into.setdefault(chunk.id, _Statements(self._kind, title=name_key(title)))
        mentioned = {chunk.id: {key for key, _, _ in match_names(words(chunk.text), keys)} for chunk in chunks}
        for entity in passage.entities:
            entity_keys = {name_key(name) for name in (entity.name, *entity.aliases)}
            ids = [id for id in mentioned if mentioned[id] & entity_keys] or [chunks[0].id]
            for id, copy in zip(ids, _describe_once(entity, len(ids)), strict=True):
                self._propose(into[id], copy)
        for relation in passage.relations:
            ends = {name_key(relation.source), name_key(relation.target)}
            id = next((id for id in mentioned if ends <= mentioned[id]), chunks[0].id)
            self._stated_relation(into[id], relation)

    def _passage_document(self, passage: GivenPassage) -> Document:
        content = self._passages.get(passage.id, _Passage())
        statements = _Statements(self._kind, title=name_key(passage.title))
        for entity in content.entities:
            self._propose(statements, entity)
        for relation in content.relations:
            self._stated_relation(statements, relation)
        return Document(
            source=f"{self._name}#{passage.id}",
            title=passage.title,
            text=passage.text,
            metadata={"_id": passage.id, IMPORT: self._name},
            given=statements.to_extraction(),
        )

    def _page_document(self, page: _EntityPage, *, sources: set[str]) -> Document:
        source = f"{self._name}#{page.title}"
        while source in sources:  # the entity's name is also the id of a passage
            source += "'"
        sources.add(source)
        return Document(
            source=source,
            title=page.title,
            text="\n".join(page.lines),
            metadata={IMPORT: self._name},
            given=page.statements.to_extraction(),
        )


def _describe_once(entity: GivenEntity, count: int) -> list[GivenEntity]:
    """Return `count` copies of an entity. Only the first has the description, which is then embedded once."""
    return [entity, *([replace(entity, description="")] * (count - 1))] if count else []


def relation_sentence(relation: GivenRelation) -> str:
    """Return a relation as a line of text: `Auth Service depends on Session Store: it keeps the tokens there`."""
    sentence = f"{relation.source} {relation.type.replace('_', ' ')} {relation.target}"
    description = squeeze(relation.description)
    return f"{sentence}: {description}" if description else sentence
