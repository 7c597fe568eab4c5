"""A ready-made graph to what is written: documents of its own, and statements about chunks that are there already."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from weft.extract.names import match_names, name_key, words
from weft.extract.phrases import is_usable
from weft.records import (
    Chunk,
    Claim,
    Document,
    Extraction,
    GivenEntity,
    GivenGraph,
    GivenPassage,
    GivenRelation,
    Nomination,
    NominationKind,
)
from weft.text.normalise import squeeze
from weft.text.searchable_metadata import IMPORT

NO_NAME = "names that cannot be used, without letters or, in extractions, mere numbers"
WITH_ITSELF = "relations of a name with itself"
IMPORTED = "import"
"""Who read what an import says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """What of a ready-made graph goes where."""

    documents: tuple[Document, ...]
    """Its passages, then what it says without one, a document for each entity."""
    annotations: Mapping[str, Extraction]
    """By id of a chunk that is there already, what it says of it."""
    entities: int
    relations: int
    skipped: tuple[str, ...]
    """What was left out, one line for each reason."""


def divide_graph(
    graph: GivenGraph,
    *,
    name: str,
    kind: NominationKind,
    places: Mapping[str, str],
    read_place: Callable[[str], tuple[str, Sequence[Chunk]]],
) -> Division:
    """
    Decide for each statement of a graph where it is said.

    That is in the passages it names, where they come with their text or are stored already: `places` has the ids of
    these, with what `read_place` finds title and chunks by. All else is said in documents made for the purpose, one for
    each entity. `name` is that of the import; its documents have it before a `#` in their sources.

    Names are put forward as `kind`; one that is the title of its document is a title, which makes an entity at once.
    """
    divider = _Divider(graph, name=name, kind=kind, places=places)
    for entity in graph.entities:
        divider.place_entity(entity)
    for relation in graph.relations:
        divider.place_relation(relation)
    return divider.close(read_place)


@dataclass(slots=True)
class _Statements:
    """What is said in one place, each thing once."""

    kind: NominationKind
    title: str = ""
    """Key of the title of the document."""
    nominations: dict[tuple[str, str], Nomination] = field(default_factory=dict)
    claims: dict[tuple[str, str, str], Claim] = field(default_factory=dict)

    def nominate(
        self,
        name: str,
        *,
        type: str = "",
        description: str = "",
        about: bool = False,
        alias_of: str = "",
        reason: str = "",
    ) -> None:
        """Put a name forward, or add what is new about one that was. Another name of two things is its own."""
        key = name_key(name)
        is_title = key == self.title and not alias_of
        new = Nomination(
            key=key,
            name=name,
            kind="title" if is_title else self.kind,
            type=type,
            description=description,
            about=about or is_title,
            alias_of=alias_of,
            reason=reason,
            extractor=IMPORTED,
        )
        old = self.nominations.get((key, name))
        if old is not None:
            same = old if old.alias_of == alias_of else replace(old, alias_of="", reason="")
            new = replace(
                same,
                type=old.type or type,
                description=old.description or description,
                about=old.about or new.about,
            )
        self.nominations[key, name] = new

    def claim(self, relation: GivenRelation) -> None:
        """State a relation; of two with the same ends and type the heavier one counts, or else the first."""
        claim = Claim(
            source=name_key(relation.source),
            target=name_key(relation.target),
            type=relation.type,
            weight=relation.weight,
            description=relation.description,
            extractor=IMPORTED,
        )
        at = (claim.source, claim.target, claim.type)
        if at not in self.claims or self.claims[at].weight < claim.weight:
            self.claims[at] = claim

    def close(self) -> Extraction:
        """Return all of it."""
        return Extraction(nominations=tuple(self.nominations.values()), claims=tuple(self.claims.values()))


@dataclass(slots=True)
class _Page:
    """The document of an entity in the making."""

    title: str
    statements: _Statements
    lines: dict[str, None] = field(default_factory=dict)

    def write(self, *texts: str) -> None:
        """Add what is not there yet."""
        self.lines |= dict.fromkeys(filter(None, texts))


@dataclass(slots=True)
class _Passage:
    """What is said about one passage."""

    entities: list[GivenEntity] = field(default_factory=list)
    relations: list[GivenRelation] = field(default_factory=list)


class _Divider:
    """Collects what is said where."""

    def __init__(self, graph: GivenGraph, *, name: str, kind: NominationKind, places: Mapping[str, str]) -> None:
        self._name = name
        self._kind: NominationKind = kind
        self._places = places
        self._texts = {passage.id: passage for passage in graph.passages}
        self._types = {name_key(entity.name): entity.type for entity in reversed(graph.entities) if entity.type}
        without = [
            relation for relation in graph.relations if not self._found(relation) and not self._objection(relation)
        ]
        self._named = {name_key(relation.target) for relation in without}
        """Keys that the documents of other entities name."""
        self._passages: dict[str, _Passage] = defaultdict(_Passage)
        self._pages: dict[str, _Page] = {}
        self._entities: set[str] = set()
        self._relations = 0
        self._skipped: Counter[str] = Counter()

    def place_entity(self, entity: GivenEntity) -> None:
        """Put an entity to its passages; to a document of its own if there are none, or for what has no place there."""
        key = name_key(entity.name)
        if not self._is_usable(entity.name):
            self._skipped[NO_NAME] += 1
            return
        self._entities.add(key)
        found = self._found(entity)
        for id, mine in zip(found, _describe_once(entity, len(found)), strict=True):
            self._passages[id].entities.append(mine)
        is_told = bool(entity.description or entity.notes or entity.aliases)
        if entity.notes or (not found and (is_told or key not in self._named)):
            page = self._page(entity.name)
            page.write(entity.description, *entity.notes)
            self._nominate(page.statements, entity, about=True)

    def place_relation(self, relation: GivenRelation) -> None:
        """Put a relation to its passages, or to the document of what it goes out from."""
        if objection := self._objection(relation):
            self._skipped[objection] += 1
            return
        self._entities.update(map(name_key, (relation.source, relation.target)))
        self._relations += 1
        found = self._found(relation)
        for id in found:
            self._passages[id].relations.append(relation)
        if not found:
            page = self._page(relation.source)
            page.write(in_words(relation))
            page.statements.nominate(relation.source, about=True)
            self._claim(page.statements, relation)

    def close(self, read_place: Callable[[str], tuple[str, Sequence[Chunk]]]) -> Division:
        """Return what was collected, passage by passage."""
        annotations: dict[str, _Statements] = {}
        for id, passage in self._passages.items():
            if id not in self._texts:
                self._annotate(passage, *read_place(self._places[id]), into=annotations)
        documents = [self._to_document(passage) for passage in self._texts.values()]
        taken = {document.source for document in documents}
        documents += [self._to_page(page, taken=taken) for page in self._pages.values()]
        return Division(
            documents=tuple(documents),
            annotations={id: statements.close() for id, statements in annotations.items() if statements.nominations},
            entities=len(self._entities),
            relations=self._relations,
            skipped=tuple(f"{count:,} {reason}" for reason, count in self._skipped.items()),
        )

    def _found(self, statement: GivenEntity | GivenRelation) -> list[str]:
        """Return the passages of a statement that are given or stored."""
        return [id for id in statement.passages if id in self._texts or id in self._places]

    def _objection(self, relation: GivenRelation) -> str:
        """Return why a relation cannot be used, or nothing."""
        if not self._is_usable(relation.source) or not self._is_usable(relation.target):
            return NO_NAME
        return WITH_ITSELF if name_key(relation.source) == name_key(relation.target) else ""

    def _is_usable(self, name: str) -> bool:
        # What a person gives is a name whatever it looks like; a model's guesses are held to the rules of our own.
        return is_usable(name) if self._kind == "phrase" else bool(name_key(name))

    def _page(self, name: str) -> _Page:
        return self._pages.setdefault(name_key(name), _Page(name, _Statements(self._kind)))

    def _nominate(self, statements: _Statements, entity: GivenEntity, *, about: bool = False) -> None:
        statements.nominate(entity.name, type=entity.type, description=entity.description, about=about)
        key = name_key(entity.name)
        for alias in entity.aliases:
            if name_key(alias) not in ("", key):
                reason = f"alias in {self._name}"
                statements.nominate(alias, type=entity.type, about=about, alias_of=key, reason=reason)

    def _claim(self, statements: _Statements, relation: GivenRelation) -> None:
        for end in (relation.source, relation.target):
            statements.nominate(end, type=self._types.get(name_key(end), ""))
        statements.claim(relation)

    def _annotate(
        self, passage: _Passage, title: str, chunks: Sequence[Chunk], *, into: dict[str, _Statements]
    ) -> None:
        """
        Divide what is said about a stored document among its chunks.

        An entity is put forward in each chunk that mentions it, a relation in the first that mentions both ends. What
        is mentioned nowhere goes to the first chunk.
        """
        if not chunks:  # deleted since it was found
            return
        names = [name for entity in passage.entities for name in (entity.name, *entity.aliases)]
        names += [end for relation in passage.relations for end in (relation.source, relation.target)]
        keys = set(map(name_key, names)) - {""}
        for chunk in chunks:
            into.setdefault(chunk.id, _Statements(self._kind, title=name_key(title)))
        held = {chunk.id: {key for key, _, _ in match_names(words(chunk.text), keys)} for chunk in chunks}
        for entity in passage.entities:
            mine = {name_key(name) for name in (entity.name, *entity.aliases)}
            ids = [id for id in held if held[id] & mine] or [chunks[0].id]
            for id, described in zip(ids, _describe_once(entity, len(ids)), strict=True):
                self._nominate(into[id], described)
        for relation in passage.relations:
            ends = {name_key(relation.source), name_key(relation.target)}
            id = next((id for id in held if ends <= held[id]), chunks[0].id)
            self._claim(into[id], relation)

    def _to_document(self, passage: GivenPassage) -> Document:
        said = self._passages.get(passage.id, _Passage())
        statements = _Statements(self._kind, title=name_key(passage.title))
        for entity in said.entities:
            self._nominate(statements, entity)
        for relation in said.relations:
            self._claim(statements, relation)
        return Document(
            source=f"{self._name}#{passage.id}",
            title=passage.title,
            text=passage.text,
            metadata={"_id": passage.id, IMPORT: self._name},
            given=statements.close(),
        )

    def _to_page(self, page: _Page, *, taken: set[str]) -> Document:
        source = f"{self._name}#{page.title}"
        while source in taken:  # a passage has the entity's name for an id
            source += "'"
        taken.add(source)
        return Document(
            source=source,
            title=page.title,
            text="\n".join(page.lines),
            metadata={IMPORT: self._name},
            given=page.statements.close(),
        )


def _describe_once(entity: GivenEntity, count: int) -> list[GivenEntity]:
    """Return an entity for each of several places, with its description at the first: each would be embedded."""
    return [entity, *([replace(entity, description="")] * (count - 1))] if count else []


def in_words(relation: GivenRelation) -> str:
    """Return a relation as a line of text: `Auth Service depends on Session Store: it keeps the tokens there`."""
    sentence = f"{relation.source} {relation.type.replace('_', ' ')} {relation.target}"
    description = squeeze(relation.description)
    return f"{sentence}: {description}" if description else sentence
