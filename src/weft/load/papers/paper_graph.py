"""Conversion of a paper or project to a document with a graph of authors, concepts and citations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from weft.extract.mentions import find_sentence
from weft.extract.name_variants import name_variants
from weft.extract.names import MAX_NAME_CHARACTERS, candidate_keys, match_names, name_key, whole_key, words
from weft.extract.papers.paper_ids import find_ids, id_key
from weft.extract.phrases import is_usable
from weft.extract.statements import FIELD_WEIGHT, LINK_WEIGHT, VERB_WEIGHT, Statement, in_words
from weft.load.line_map import collapse, shorten
from weft.load.metadata import Fields
from weft.load.papers.paper_records import Catalogue, Reference, Work, local_key, work_key
from weft.records import Candidate, CandidateKind, Document, Extraction, StatedRelation

MAX_DESCRIPTION_CHARACTERS = 300
TITLE_AND_ID = "title and id of one paper"
MAX_LISTED_AUTHORS = 20
"""Maximum number of authors in the text of a work without abstract."""
MAX_SCANNED_CHARACTERS = 20_000
"""Maximum number of characters searched for names and ids."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\d\"“(])|(?<=[。！？])")
_IMPLEMENTS = re.compile(
    r"\b(?:(?:re-?)?implement\w*|reproduc\w+|replicat\w+|official (?:code|repository)|source code (?:for|of)"
    r"|code (?:for|of) the paper)\b|实现|复现|官方代码",
    re.IGNORECASE,
)


def to_document(work: Work, *, source: str, catalogue: Catalogue) -> Document:
    """Return the document of a work with its graph."""
    metadata: Fields = {**work.metadata, "type": work.kind}
    if work.year is not None:
        metadata["year"] = work.year
    named: dict[str, Sequence[str]] = {
        "authors": work.authors, "concepts": work.concepts, "venue": [work.venue] if work.venue else [],
        "ids": work.ids,
    }  # fmt: skip
    metadata |= {key: list(values) for key, values in named.items() if values and key != "venue"}
    if work.venue:
        metadata["venue"] = work.venue
    text = work.text or _bibliographic_text(work)
    return Document(
        source=source,
        title=work.title,
        text=text,
        metadata=metadata,
        lines=[work.line] * (text.count("\n") + 1),
        given=extract_work(work, catalogue=catalogue),
    )


def _bibliographic_text(work: Work) -> str:
    """Return authors, venue and year as text, for a work without abstract."""
    authors = ", ".join(work.authors[:MAX_LISTED_AUTHORS])
    if len(work.authors) > MAX_LISTED_AUTHORS:
        authors += f" and {len(work.authors) - MAX_LISTED_AUTHORS} more"
    published = ", ".join(filter(None, [work.venue, str(work.year or "")]))
    return " ".join(f"{part}." for part in (authors, published) if part)


def extract_work(work: Work, *, catalogue: Catalogue) -> Extraction:
    """Return the names and relations of a work: from its fields, then from its text."""
    statements = _Statements(work, scope=catalogue.scope)
    statements.propose_work()
    for author in work.authors:
        statements.relate("written_by", author, type="person")
        for variant, reason in name_variants(author, text=""):
            statements.propose(variant, name_key(variant), "variant", alias_of=name_key(author), reason=reason)
    relation = "has_topic" if work.is_sorted else "introduces" if work.kind == "paper" else "uses"
    for concept in work.concepts:
        statements.relate(relation, concept, type="concept")
    if work.venue:
        statements.relate("published_in", work.venue, type="venue")
    for reference in work.cites:
        statements.relate_work("cites", reference, catalogue)
    for reference in work.cited_by:
        statements.relate_work("cited_by", reference, catalogue)
    for reference in work.implements:
        statements.relate_work("implements", reference, catalogue)
    _read_text(statements, work, catalogue)
    return statements.to_extraction()


class _Statements:
    """Distinct candidates and stated relations of one work."""

    def __init__(self, work: Work, *, scope: str) -> None:
        self._work = work
        self._scope = scope
        self.key = work_key(work, scope=scope)
        self._candidates: dict[tuple[str, str], Candidate] = {}
        self._stated_relations: dict[tuple[str, str, str], StatedRelation] = {}

    def propose(
        self,
        name: str,
        key: str,
        kind: CandidateKind = "metadata",
        *,
        type: str = "",
        alias_of: str = "",
        reason: str = "",
        description: str = "",
        about: bool = False,
    ) -> None:
        """Propose a name unless it is empty, an alias of itself, or proposed already."""
        if key and key != alias_of:
            self._candidates.setdefault(
                (key, kind),
                Candidate(
                    key=key, name=name, kind=kind, type=type, alias_of=alias_of, reason=reason,
                    description=description, about=about,
                ),
            )  # fmt: skip

    def propose_work(self) -> None:
        """
        Propose the work under the key of its id, with its title and other ids as aliases.

        Papers with the same title (`Editorial`) stay separate because their ids differ; an alias of several papers
        refers to none of them. With the chosen kinds, other documents can refer to this work by any of the names.
        """
        work = self._work
        first = next(iter(_SENTENCE.split(collapse(work.text[:2000]), maxsplit=1)), "")
        self.propose(
            work.title,
            self.key,
            type=work.kind,
            description=shorten(first, limit=MAX_DESCRIPTION_CHARACTERS),
            about=True,
        )
        for key in (whole_key(work.title), name_key(work.title)) if work.kind == "paper" else ():
            self.propose(work.title, key, type="paper", alias_of=self.key, reason=TITLE_AND_ID, about=True)
        for id in work.ids:
            if id_key(id) == self.key:
                self.propose(id, self.key, "link", type="paper")
            else:
                self.propose(id, id_key(id), type="paper", alias_of=self.key, reason=TITLE_AND_ID, about=True)
        if work.local and work.ids:
            local = local_key(work.local, scope=self._scope)
            self.propose(work.local, local, type="paper", alias_of=self.key, reason="id in its file", about=True)
        for alias in work.aliases:
            if is_usable(alias):
                self.propose(alias, name_key(alias), type=work.kind, alias_of=self.key, reason="short name", about=True)

    def relate(self, relation: str, name: str, *, type: str) -> None:
        """State a relation to a person, a concept or a venue."""
        key = name_key(name)
        if key and len(name) <= MAX_NAME_CHARACTERS and not key.replace(" ", "").isdigit():
            # A concept is a separate entity: the project `transformers` is not the Transformer.
            self.propose(name, key, "field" if type == "concept" else "metadata", type=type)
            self.state(relation, key, name=name)

    def relate_work(self, relation: str, reference: Reference, catalogue: Catalogue) -> None:
        """State a relation to another paper. A paper that is not loaded is named by its id, else by its title."""
        key = self.reference_key(reference, catalogue)
        if not key or key == self.key:
            return
        if key in catalogue.names and catalogue.names[key] == "concept" and not reference.ids:
            self.propose(reference.name, key, "field", type="concept")
        else:
            self.propose(reference.name, key, "link", type="paper")
        for id in reference.ids[1:]:
            self.propose(id, id_key(id), "link", type="paper", alias_of=key, reason=TITLE_AND_ID)
        if reference.title and (reference.ids or reference.local):
            title = whole_key(reference.title)
            self.propose(reference.title, title, "link", type="paper", alias_of=key, reason=TITLE_AND_ID)
        self.state(relation, key, name=reference.name)

    def reference_key(self, reference: Reference, catalogue: Catalogue) -> str:
        """Return the entity key of a referenced paper."""
        if reference.ids:
            return id_key(reference.ids[0])
        if reference.local:
            return catalogue.keys.get(reference.local) or local_key(reference.local, scope=self._scope)
        return whole_key(reference.title)

    def state(self, relation: str, key: str, *, name: str, weight: float = FIELD_WEIGHT, description: str = "") -> None:
        """State a relation to the entity with this key; the first stated relation of a relation is kept."""
        source, target, type = self.key, key, relation
        statement = Statement(self._work.title, name, relation)
        if relation == "cited_by":
            source, target, type = key, self.key, "cites"
            statement = Statement(name, self._work.title, "cites")
        text = shorten(description or in_words(statement), limit=MAX_DESCRIPTION_CHARACTERS)
        stated = StatedRelation(source=source, target=target, type=type, weight=weight, description=text)
        self._stated_relations.setdefault((source, target, type), stated)

    def has_stated_relation_about(self, key: str) -> bool:
        """Return True if a key is the work itself or has a relation to it."""
        return key == self.key or any(key in (source, target) for source, target, _ in self._stated_relations)

    def to_extraction(self) -> Extraction:
        """Return all candidates and stated relations, in order of addition."""
        return Extraction(
            candidates=tuple(self._candidates.values()), stated_relations=tuple(self._stated_relations.values())
        )


def _read_text(statements: _Statements, work: Work, catalogue: Catalogue) -> None:
    """State relations to papers named in the text, and for a project also to concepts and titles."""
    text = work.text[:MAX_SCANNED_CHARACTERS]
    for found in find_ids(text):
        key, own = id_key(found.id), {id_key(id) for id in work.ids}
        if key in own or statements.has_stated_relation_about(key):
            continue
        statements.propose(found.id, key, "link", type="paper")
        sentence = _sentence_at(text, found.start)
        relation = "cites" if work.kind == "paper" else "implements" if _IMPLEMENTS.search(sentence) else "links_to"
        statements.state(relation, key, name=found.id, weight=LINK_WEIGHT, description=sentence)
    for key, name in _find_named(text, catalogue) if work.kind == "project" else ():
        kind = catalogue.names[key]
        if kind == "project" or statements.has_stated_relation_about(key):
            continue
        sentence = find_sentence(text, [key])
        is_implementation = bool(_IMPLEMENTS.search(sentence))
        relation = "implements" if is_implementation else "uses" if kind == "concept" else "links_to"
        statements.propose(name, key, "link", type=kind)
        statements.state(relation, key, name=name, weight=VERB_WEIGHT, description=sentence)


def _find_named(text: str, catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Yield the titles and concepts of the catalogue that occur in a text: key and spelling, each key once."""
    found = words(text)
    known = {key for key in candidate_keys(found) if key in catalogue.names}
    seen: set[str] = set()
    for key, at, size in match_names(found, known):
        if key not in seen:
            seen.add(key)
            yield key, text[found[at].start : found[at + size - 1].end]


def _sentence_at(text: str, at: int) -> str:
    """Return the sentence at an offset."""
    start = 0
    for match in _SENTENCE.finditer(text):
        if match.start() > at:
            return text[start : match.start()].strip()
        start = match.end()
    return text[start:].strip()


def make_catalogue(works: Iterable[Work], *, scope: str) -> Catalogue:
    """Return the catalogue of works that are loaded together."""
    keys: dict[str, str] = {}
    names: dict[str, str] = {}
    for work in works:
        if work.local:
            keys.setdefault(work.local, work_key(work, scope=scope))
        for concept in work.concepts:
            names.setdefault(name_key(concept), "concept")
    for work in works:
        names[whole_key(work.title)] = work.kind
    return Catalogue(scope=scope, keys=keys, names=names)
