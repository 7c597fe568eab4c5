"""A paper or project to a document, with the names and relations it states."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from weft.extract.mentions import find_sentence
from weft.extract.name_variants import name_variants
from weft.extract.names import MAX_NAME, candidate_keys, match_names, name_key, whole_key, words
from weft.extract.papers.paper_ids import find_ids, id_key
from weft.extract.phrases import is_usable
from weft.extract.statements import FIELD_WEIGHT, LINK_WEIGHT, VERB_WEIGHT, Statement, in_words
from weft.load.line_map import collapse, shorten
from weft.load.metadata import Fields
from weft.load.papers.paper_records import Catalogue, Reference, Work, local_key, work_key
from weft.records import Claim, Document, Extraction, Nomination, NominationKind

MAX_DESCRIPTION = 300
TITLE_AND_ID = "title and id of one paper"
MAX_AUTHORS = 20
"""Authors that stand in the text of a work without an abstract."""
MAX_READ = 20_000
"""Characters of a text in which names and ids are looked for."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\d\"“(])|(?<=[。！？])")
_IMPLEMENTS = re.compile(
    r"\b(?:(?:re-?)?implement\w*|reproduc\w+|replicat\w+|official (?:code|repository)|source code (?:for|of)"
    r"|code (?:for|of) the paper)\b|实现|复现|官方代码",
    re.IGNORECASE,
)


def to_document(work: Work, *, source: str, catalogue: Catalogue) -> Document:
    """Return the document of a work; its first chunk states what is known about it."""
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
    text = work.text or _reference(work)
    return Document(
        source=source,
        title=work.title,
        text=text,
        metadata=metadata,
        lines=[work.line] * (text.count("\n") + 1),
        given=state(work, catalogue=catalogue),
    )


def _reference(work: Work) -> str:
    """Return who wrote a work, where and when it came out: what there is to read of one without an abstract."""
    authors = ", ".join(work.authors[:MAX_AUTHORS])
    if len(work.authors) > MAX_AUTHORS:
        authors += f" and {len(work.authors) - MAX_AUTHORS} more"
    published = ", ".join(filter(None, [work.venue, str(work.year or "")]))
    return " ".join(f"{part}." for part in (authors, published) if part)


def state(work: Work, *, catalogue: Catalogue) -> Extraction:
    """Return the names and relations that a work states."""
    statements = _Statements(work, scope=catalogue.scope)
    statements.nominate_work()
    for author in work.authors:
        statements.relate("written_by", author, type="person")
        for variant, reason in name_variants(author, text=""):
            statements.nominate(variant, name_key(variant), "variant", alias_of=name_key(author), reason=reason)
    for concept in work.concepts:
        statements.relate("introduces" if work.kind == "paper" else "uses", concept, type="concept")
    if work.venue:
        statements.relate("published_in", work.venue, type="venue")
    for reference in work.cites:
        statements.refer("cites", reference, catalogue)
    for reference in work.cited_by:
        statements.refer("cited_by", reference, catalogue)
    for reference in work.implements:
        statements.refer("implements", reference, catalogue)
    _read_text(statements, work, catalogue)
    return statements.close()


class _Statements:
    """Collects what a work states, each thing once."""

    def __init__(self, work: Work, *, scope: str) -> None:
        self._work = work
        self._scope = scope
        self.key = work_key(work, scope=scope)
        self._nominations: dict[tuple[str, str], Nomination] = {}
        self._claims: dict[tuple[str, str, str], Claim] = {}

    def nominate(
        self,
        name: str,
        key: str,
        kind: NominationKind = "metadata",
        *,
        type: str = "",
        alias_of: str = "",
        reason: str = "",
        description: str = "",
        about: bool = False,
    ) -> None:
        """Put a name forward, unless it is the work's own or was put forward already. No name is one of itself."""
        if key and key != alias_of:
            self._nominations.setdefault(
                (key, kind),
                Nomination(
                    key=key, name=name, kind=kind, type=type, alias_of=alias_of, reason=reason,
                    description=description, about=about,
                ),
            )  # fmt: skip

    def nominate_work(self) -> None:
        """
        Put the work itself forward under the key of its id, with its title and other ids as names of it.

        No two papers share an id, so equal titles (`Editorial`) make no two papers one: a title of several papers is
        a name of none. The kinds are such that a paper named elsewhere by one of these names is this one.
        """
        work = self._work
        first = next(iter(_SENTENCE.split(collapse(work.text[:2000]), maxsplit=1)), "")
        self.nominate(
            work.title, self.key, type=work.kind, description=shorten(first, limit=MAX_DESCRIPTION), about=True
        )
        for key in (whole_key(work.title), name_key(work.title)) if work.kind == "paper" else ():
            self.nominate(work.title, key, type="paper", alias_of=self.key, reason=TITLE_AND_ID, about=True)
        for id in work.ids:
            if id_key(id) == self.key:
                self.nominate(id, self.key, "link", type="paper")
            else:
                self.nominate(id, id_key(id), type="paper", alias_of=self.key, reason=TITLE_AND_ID, about=True)
        if work.local and work.ids:
            local = local_key(work.local, scope=self._scope)
            self.nominate(work.local, local, type="paper", alias_of=self.key, reason="id in its file", about=True)
        for alias in work.aliases:
            if is_usable(alias):
                self.nominate(
                    alias, name_key(alias), type=work.kind, alias_of=self.key, reason="short name", about=True
                )

    def relate(self, relation: str, name: str, *, type: str) -> None:
        """State a relation to a person, a concept or a venue."""
        key = name_key(name)
        if key and len(name) <= MAX_NAME and not key.replace(" ", "").isdigit():
            # A concept is a thing in its own right: a project `transformers` is not the Transformer.
            self.nominate(name, key, "field" if type == "concept" else "metadata", type=type)
            self.claim(relation, key, name=name)

    def refer(self, relation: str, reference: Reference, catalogue: Catalogue) -> None:
        """State a relation to another paper; one that is not here is named by its id, or by its title alone."""
        key = self.reference_key(reference, catalogue)
        if not key or key == self.key:
            return
        if key in catalogue.names and catalogue.names[key] == "concept" and not reference.ids:
            self.nominate(reference.name, key, "field", type="concept")
        else:
            self.nominate(reference.name, key, "link", type="paper")
        for id in reference.ids[1:]:
            self.nominate(id, id_key(id), "link", type="paper", alias_of=key, reason=TITLE_AND_ID)
        if reference.title and (reference.ids or reference.local):
            title = whole_key(reference.title)
            self.nominate(reference.title, title, "link", type="paper", alias_of=key, reason=TITLE_AND_ID)
        self.claim(relation, key, name=reference.name)

    def reference_key(self, reference: Reference, catalogue: Catalogue) -> str:
        """Return the key of the paper that is meant."""
        if reference.ids:
            return id_key(reference.ids[0])
        if reference.local:
            return catalogue.keys.get(reference.local) or local_key(reference.local, scope=self._scope)
        return whole_key(reference.title)

    def claim(self, relation: str, key: str, *, name: str, weight: float = FIELD_WEIGHT, description: str = "") -> None:
        """State a relation to the entity with a key; the first statement of one stays."""
        source, target, type = self.key, key, relation
        statement = Statement(self._work.title, name, relation)
        if relation == "cited_by":
            source, target, type = key, self.key, "cites"
            statement = Statement(name, self._work.title, "cites")
        text = shorten(description or in_words(statement), limit=MAX_DESCRIPTION)
        claim = Claim(source=source, target=target, type=type, weight=weight, description=text)
        self._claims.setdefault((source, target, type), claim)

    def is_said(self, key: str) -> bool:
        """Tell whether a relation to a key is stated already."""
        return key == self.key or any(key in (source, target) for source, target, _ in self._claims)

    def close(self) -> Extraction:
        """Return all of it."""
        return Extraction(nominations=tuple(self._nominations.values()), claims=tuple(self._claims.values()))


def _read_text(statements: _Statements, work: Work, catalogue: Catalogue) -> None:
    """State what the text of a work says beside its fields: which papers it names, and of a project which concepts."""
    text = work.text[:MAX_READ]
    for found in find_ids(text):
        key, own = id_key(found.id), {id_key(id) for id in work.ids}
        if key in own or statements.is_said(key):
            continue
        statements.nominate(found.id, key, "link", type="paper")
        sentence = _sentence_at(text, found.start)
        relation = "cites" if work.kind == "paper" else "implements" if _IMPLEMENTS.search(sentence) else "links_to"
        statements.claim(relation, key, name=found.id, weight=LINK_WEIGHT, description=sentence)
    for key, name in _find_named(text, catalogue) if work.kind == "project" else ():
        kind = catalogue.names[key]
        if kind == "project" or statements.is_said(key):
            continue
        sentence = find_sentence(text, [key])
        is_built = bool(_IMPLEMENTS.search(sentence))
        relation = "implements" if is_built else "uses" if kind == "concept" else "links_to"
        statements.nominate(name, key, "link", type=kind)
        statements.claim(relation, key, name=name, weight=VERB_WEIGHT, description=sentence)


def _find_named(text: str, catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Yield the keys of titles and concepts of the catalogue that a text holds, as it writes them, each once."""
    found = words(text)
    known = {key for key in candidate_keys(found) if key in catalogue.names}
    seen: set[str] = set()
    for key, at, size in match_names(found, known):
        if key not in seen:
            seen.add(key)
            yield key, text[found[at].start : found[at + size - 1].end]


def _sentence_at(text: str, at: int) -> str:
    """Return the sentence around a place."""
    start = 0
    for match in _SENTENCE.finditer(text):
        if match.start() > at:
            return text[start : match.start()].strip()
        start = match.end()
    return text[start:].strip()


def catalogue_of(works: Iterable[Work], *, scope: str) -> Catalogue:
    """Return what works that are loaded together call each other."""
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
