"""Entities and relations out of documents by rules, without a model: `RuleExtractor`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from weft.extract.attributes import (
    Field,
    Row,
    read_aliases,
    read_lines,
    read_metadata,
    read_row,
    read_type,
)
from weft.extract.chinese.definitions import find_called_at
from weft.extract.chinese.names import find_tagged_names, has_han, is_chinese
from weft.extract.chinese.tagger import Tagger
from weft.extract.definitions import (
    Definition,
    find_abbreviations,
    find_aliases,
    find_defined_name,
    find_definition,
    find_opening,
    may_be_topic,
)
from weft.extract.name_variants import is_person, name_variants, place_head
from weft.extract.names import key_words, name_key
from weft.extract.nominations import Ballot
from weft.extract.phrases import (
    Name,
    count_words,
    find_names,
    find_terms,
    is_generic,
    is_identifier,
    is_label,
    is_proper,
    is_usable,
    parts_of,
)
from weft.extract.sentences import MAX_SENTENCE, Sentence, prose_lines, read_sentences, strip_markup
from weft.extract.statements import (
    FIELD_WEIGHT,
    LINK_WEIGHT,
    STRUCTURE_WEIGHT,
    VERB_WEIGHT,
    Statement,
    canonical,
    find_statements,
    in_words,
)
from weft.extract.subjects import Subject, Topic, bare_name, find_subject
from weft.records import Chunk, Document, Extraction, NominationKind
from weft.text.links import note_name, without_folder
from weft.text.normalise import squeeze

MAX_TITLE_WORDS = 12
MAX_HEADING_WORDS = 8
MAX_ASIDE = 120
"""Characters behind the verb of a first sentence in which other names of its subject are looked for."""
MAX_READ = 20_000
"""Characters of a document in which a surname is looked for."""
MIN_GLOSSARY = 3
"""Bold terms with a colon behind them at the start of list items that make a chunk a glossary."""

_CODE_HEADING = re.compile(
    r"(?:.*\b)?(?:def|class|function|fn|func|interface|struct|impl|trait|enum|type|module|namespace|object|record|table|view"
    r"|procedure|index|trigger)\s+(?:if\s+not\s+exists\s+)?([\w.$]+)",
    re.IGNORECASE,
)
_TITLE_ID = re.compile(r"([A-Z]{2,10}-\d+)\b")
_FILE_NAME = re.compile(r"([\w. -]{1,80})\.[a-z0-9]{1,5}")


class RuleExtractor:
    """
    Reads entities and relations out of text by rules: titles, fields, links, definitions, patterns of verbs.

    It is deterministic, needs time in proportion to the text, and never raises.
    """

    def __init__(self, tagger: Tagger | None = None) -> None:
        self._tagger = tagger

    @property
    def name(self) -> str:
        """What is recorded with the graph; changes whenever the same text would give another one."""
        return f"rules-12+{self._tagger.name}" if self._tagger else "rules-12"

    def extract(self, document: Document, chunks: Sequence[Chunk]) -> list[Extraction]:
        """Return what each chunk says, in their order."""
        reader = _Reader(document, self._tagger)
        return [reader.read(chunk, is_first=index == 0) for index, chunk in enumerate(chunks)]


@dataclass(frozen=True, slots=True)
class _Passage:
    """A sentence and the names in it."""

    sentence: Sentence
    names: Sequence[Name]


@dataclass(slots=True)
class _Reader:
    """Reads the chunks of one document in order and remembers what the text is about."""

    document: Document
    tagger: Tagger | None
    topic: Topic = field(init=False)
    known: frozenset[str] = field(init=False)
    """Keys of what the document links to or names in a field."""
    is_titled: bool = True
    """Whether the topic is the document's title; else it is what the first sentence defines."""
    is_defined: bool = False
    """Whether the text has said what its topic is."""

    def __post_init__(self) -> None:
        title = squeeze(strip_markup(self.document.title[:400]))
        is_id = self.document.source.endswith(f"#{title}")  # a record without a title is called by its id
        is_name = is_usable(title) and len(title.split()) <= MAX_TITLE_WORDS and (not is_id or is_proper(title))
        metadata = self.document.metadata
        self.topic = Topic(title, name_key(title), read_type(metadata)) if is_name else Topic()
        links = metadata.get("links")
        names = [link for link in links if isinstance(link, str)] if isinstance(links, list) else []
        self.known = frozenset(map(name_key, [title, *names, *(entry.value for entry in read_metadata(metadata))]))

    def read(self, chunk: Chunk, *, is_first: bool) -> Extraction:
        """Return what one chunk says."""
        ballot = Ballot()
        form = self.document.form
        rows = self._rows(chunk.text)
        sentences = _cells(rows) if form == "table" else read_sentences(chunk.text, form=form)
        passages = [_Passage(sentence, self._names(sentence)) for sentence in sentences]
        first = next(filter(_is_prose, passages), None) if is_first else None
        if first and not self.document.title.strip():
            self._read_topic(first)
        self._nominate_title(ballot, first, next((row for row in rows if is_first and not row.name), None))
        if is_first:
            self._read_metadata(ballot)
        self._read_headings(ballot, [*chunk.heading, *(s.text for s in sentences if s.role == "heading")])
        for row in rows:
            self._read_row(ballot, row)
        self._read_glossary(ballot, sentences)
        self._read_prose(ballot, passages, first=first)
        return ballot.close()

    def _names(self, sentence: Sentence) -> list[Name]:
        names = find_names(sentence)
        if self.tagger is None or not is_chinese(sentence.text):
            return names
        return find_tagged_names(sentence, self.tagger.tag(sentence.text), names)

    # ── the document itself ─────────────────────────────────────────────────────────────────────

    def _read_topic(self, first: _Passage) -> None:
        """A text without a title is about what its first sentence defines."""
        found = find_definition(first.sentence, find_subject(first.sentence, first.names, self.topic))
        if found and may_be_topic(found, first.sentence.text):
            self.topic = Topic(found.subject.name, found.subject.key, found.type)
        else:
            name, kind = find_defined_name(first.sentence)
            self.topic = Topic(name, name_key(name), kind)
        self.is_titled = not self.topic.key

    def _nominate_title(self, ballot: Ballot, first: _Passage | None, own: Row | None) -> None:
        """Nominate the topic; on the first chunk also say what it is, by its own fields or its first sentence."""
        if not self.topic.key:
            return
        kind = self.topic.type or (own.type if own else "")
        if not kind and first and (opening := self._opening(first)):
            kind = opening.type
        self.topic = replace(self.topic, type=kind)
        description = own.description if own and own.description else first.sentence.text if first else ""
        kind_of_name: NominationKind = "title" if self.is_titled else "definition"
        ballot.nominate(self.topic.name, kind_of_name, type=kind, description=description, about=True)

    def _read_metadata(self, ballot: Ballot) -> None:
        topic = self.topic
        aliases = read_aliases(self.document.metadata) if topic.key else []
        for alias in aliases:
            ballot.nominate(
                alias, "metadata", about=True, alias_of=topic.key, reason="alias in the front matter", type=topic.type
            )
        if topic.key and (id := _title_id(topic.name)) and id not in aliases:
            reason = "identifier at the start of the title"
            ballot.nominate(id, "abbreviation", about=True, alias_of=topic.key, reason=reason, type=topic.type)
        for name in (note_name(self.document.source), without_folder(topic.name)) if topic.key else ():
            ballot.nominate(name, "variant", alias_of=topic.key, reason="what links call it")
        for term in find_terms(topic.name):
            if name_key(term) != topic.key:
                ballot.nominate(term, "term", about=True)
        if is_person(topic.type):
            for name, reason in name_variants(bare_name(topic.name), text=self.document.text[:MAX_READ]):
                ballot.nominate(name, "variant", alias_of=topic.key, reason=reason)
        elif head := place_head(bare_name(topic.name), text=self.document.text[:MAX_READ]):
            reason = "the name without what it lies in"
            ballot.nominate(head, "abbreviation", alias_of=topic.key, reason=reason, type=topic.type)
        self._read_fields(ballot, read_metadata(self.document.metadata))

    def _read_fields(self, ballot: Ballot, fields: Iterable[Field]) -> None:
        for entry in fields:
            ballot.nominate(entry.value, "metadata")
            if source := entry.subject or self.topic.name:
                statement = Statement(source, entry.value, entry.type)
                ballot.claim(canonical(statement), weight=FIELD_WEIGHT, description=in_words(statement))

    def _rows(self, text: str) -> list[Row]:
        form = self.document.form
        if form == "table":
            columns = self.document.metadata.get("columns")
            names = [name for name in columns if isinstance(name, str)] if isinstance(columns, list) else []
            return [row for line in text.split("\n") if (row := read_row(line, names))]
        return [] if form == "code" else read_lines(prose_lines(text, form=form))

    def _read_row(self, ballot: Ballot, row: Row) -> None:
        if row.name:
            ballot.nominate(row.name, "field", type=row.type, description=row.description)
        self._read_fields(ballot, row.fields)

    def _read_headings(self, ballot: Ballot, headings: Sequence[str]) -> None:
        for text in headings:
            heading = squeeze(strip_markup(text))
            kind: NominationKind = "heading"
            if self.document.form == "code":
                match = _CODE_HEADING.match(heading)
                heading, kind = (match[1], "identifier") if match else ("", "heading")
            is_long = len(heading.split()) > MAX_HEADING_WORDS
            if not heading or is_long or is_generic(heading) or name_key(heading) == self.topic.key:
                continue
            ballot.nominate(heading, kind, about=True)
            for term in find_terms(heading):
                ballot.nominate(term, "term", about=True)
            if self.topic.key and (kind == "identifier" or _is_part(heading)):
                statement = Statement(heading, self.topic.name, "part_of")
                ballot.claim(statement, weight=STRUCTURE_WEIGHT, description=in_words(statement))

    # ── what the text says ──────────────────────────────────────────────────────────────────────

    def _read_glossary(self, ballot: Ballot, sentences: Sequence[Sentence]) -> None:
        """In a list of bold terms with a colon behind each, every term is defined."""
        entries = [(term, s) for s in sentences if s.role == "item" and (term := _glossary_term(s))]
        times = Counter(term for term, _ in entries)
        entries = [(term, sentence) for term, sentence in entries if times[term] == 1]  # `Default:` again and again
        for term, sentence in entries if len(entries) >= MIN_GLOSSARY else ():
            ballot.nominate(term, "definition", description=sentence.text)

    def _read_prose(self, ballot: Ballot, passages: Sequence[_Passage], *, first: _Passage | None) -> None:
        in_focus = True  # whether `it` still stands for the topic
        for passage in passages:
            if passage.sentence.role == "heading":
                in_focus = True
                continue
            subject = find_subject(passage.sentence, passage.names, self.topic)
            if passage is first:
                subject = self._read_opening(ballot, passage, subject)
            if subject and subject.kind == "pronoun" and not in_focus:
                subject = None
            elif subject and subject.kind != "word":
                in_focus = subject.is_topic
            self._read_passage(ballot, passage, subject)

    def _read_passage(self, ballot: Ballot, passage: _Passage, subject: Subject | None) -> None:
        sentence, names = passage.sentence, passage.names
        translated = self._read_abbreviations(ballot, passage)
        if found := find_definition(sentence, subject):
            self._nominate_defined(ballot, sentence, found, name=translated.get(found.subject.key, found.subject.name))
            subject = replace(found.subject, kind="name") if found.subject.kind == "word" else found.subject
        if subject and subject.kind != "pronoun" and has_han(sentence.text):
            for called in find_called_at(sentence.text, names, at=subject.end):
                key = ballot.nominate(subject.name, "definition") if subject.kind != "topic" else subject.key
                reason = f"“{called.cue}” in the text"
                ballot.nominate(called.name, "abbreviation", alias_of=key, reason=reason)
        covered = subject.end if subject and subject.kind == "topic" else 0
        for name in names:
            if name.end > covered or name.kind == "link":
                self._nominate_name(ballot, name, sentence)
        for statement in find_statements(sentence, names, subject=subject, topic=self.topic):
            for text in (statement.source, statement.target):
                ballot.nominate_weak(text)
            ballot.claim(statement, weight=VERB_WEIGHT, description=sentence.text)

    def _read_abbreviations(self, ballot: Ballot, passage: _Passage) -> dict[str, str]:
        """
        Nominate names with another name in parentheses, and return those that stand for it.

        The name in parentheses is the alias, unless the document links to it or has it in a field: a name that others
        know is none. Returned is, by the key of each alias before parentheses, the name in them.
        """
        translated: dict[str, str] = {}
        for alias in find_abbreviations(passage.sentence, passage.names):
            name, other = alias.of, alias.name
            if name_key(other) in self.known and name_key(name) not in self.known:
                name, other = other, name
                translated[name_key(other)] = name
            if key := ballot.nominate(name, "abbreviation"):
                ballot.nominate(other, "abbreviation", alias_of=key, reason=alias.reason)
        return translated

    def _nominate_name(self, ballot: Ballot, name: Name, sentence: Sentence) -> None:
        if name_key(name.text) == self.topic.key:
            return
        is_work = sentence.text[name.start : name.start + 1] == "《"
        ballot.nominate(name.text, "name" if is_work else name.kind, type=name.type)
        if name.kind == "link" and self.topic.key:
            statement = Statement(self.topic.name, name.text, "links_to")
            ballot.claim(statement, weight=LINK_WEIGHT, description=sentence.text)
        elif name.kind == "phrase":
            for part in parts_of(name.text):
                ballot.nominate(part, "phrase")

    def _nominate_defined(self, ballot: Ballot, sentence: Sentence, found: Definition, *, name: str) -> None:
        if found.subject.is_topic and self.is_defined:
            return
        self.is_defined |= found.subject.is_topic
        ballot.nominate(name, "definition", type=found.type, description=sentence.text)

    def _opening(self, first: _Passage) -> Definition | None:
        """Return what the first sentence says the topic is; it need not call it by the title's words."""
        found = find_definition(first.sentence, find_subject(first.sentence, first.names, self.topic))
        if found and (found.subject.is_topic or self._is_full_name(found, first.sentence)):
            return found
        if found and found.subject.kind == "name" and not key_words(found.subject.key) & key_words(self.topic.key):
            return None
        return find_opening(first.sentence, self.topic) if self.document.form == "text" else None

    def _is_full_name(self, found: Definition, sentence: Sentence) -> bool:
        """Tell whether a definition calls the topic by a longer name, or names the title before the verb."""
        if has_han(self.topic.name):
            return found.subject.kind == "name" and self._is_full_chinese(found.subject)
        title = name_key(self.topic.name.split(",")[0]).split()
        given = name_key(found.subject.name.split(",")[0]).split()
        if found.subject.kind != "name" or len(given) < 2 or not title:
            return False
        is_like = len(title) > 1 and title[-1] == given[-1] and title[0][0] == given[0][0]
        return (
            is_like
            or key_words(" ".join(title)) <= key_words(" ".join(given))
            or bare_name(self.topic.name) in sentence.text[: found.at]
        )

    def _is_full_chinese(self, subject: Subject) -> bool:
        return has_han(self.topic.name) and 1 < len(self.topic.key) < len(subject.key) and self.topic.key in subject.key

    def _read_short_name(self, ballot: Ballot, name: str) -> None:
        """A Chinese text may call its subject by the end of the title: `莫高窟` in `敦煌莫高窟`."""
        if 1 < len(name_key(name)) < len(self.topic.key) and self.topic.key.endswith(name_key(name)):
            reason = "short name in the first sentence"
            ballot.nominate(name, "abbreviation", alias_of=self.topic.key, reason=reason, about=True)

    def _read_opening(self, ballot: Ballot, first: _Passage, subject: Subject | None) -> Subject | None:
        """Read the aliases out of the first sentence and return what it is about."""
        topic = self.topic
        opening = self._opening(first) if topic.key else None
        if subject and subject.kind == "name" and self._is_full_chinese(subject):
            reason = "full name in the first sentence"
            ballot.nominate(subject.name, "definition", alias_of=topic.key, reason=reason, about=True)
            subject = Subject(topic.name, topic.key, subject.end, "topic")
        if subject and subject.is_topic and has_han(topic.name):
            self._read_short_name(ballot, first.sentence.text[: subject.end])
            for alias in find_aliases(first.sentence, first.names, end=subject.end + MAX_ASIDE) if not opening else ():
                ballot.nominate(alias.name, "abbreviation", alias_of=topic.key, reason=alias.reason, about=True)
        if opening is None:
            return subject if subject is None or subject.kind != "word" else None
        given = opening.subject
        if not given.is_topic:
            reason = "full name in the first sentence"
            ballot.nominate(given.name, "definition", type=opening.type, alias_of=topic.key, reason=reason, about=True)
        for alias in find_aliases(first.sentence, first.names, end=opening.at + MAX_ASIDE, verb=opening.at):
            ballot.nominate(alias.name, "abbreviation", alias_of=topic.key, reason=alias.reason, about=True)
        return Subject(topic.name, topic.key, given.end, "topic")


def _title_id(title: str) -> str:
    """Return the id at the start of a title: `INC-2041` of `INC-2041 Checkout failures` and of `INC-2041.txt`."""
    match = _TITLE_ID.match(title)
    if not match or match[1] == title:
        return ""
    file = _FILE_NAME.fullmatch(title)
    return match[1] if file is None or file[1] == match[1] or " " in title else ""


def _is_prose(passage: _Passage) -> bool:
    """Tell whether a sentence may describe the document: no heading, no cell, no lone word."""
    return passage.sentence.role in ("prose", "item") and count_words(passage.sentence.text) > 3


def _is_part(heading: str) -> bool:
    return is_identifier(heading) or (len(heading.split()) > 1 and is_proper(heading) and not is_label(heading))


def _glossary_term(sentence: Sentence) -> str:
    mark = next((mark for mark in sentence.marks if mark.kind == "strong" and mark.start == 0), None)
    if mark is None or not (mark.name.endswith((":", "：")) or sentence.text[mark.end : mark.end + 1] in (":", "：")):
        return ""
    term = mark.name.rstrip(":： ")
    return term if len(term.split()) <= 5 and not is_label(term) else ""


def _cells(rows: Sequence[Row]) -> list[Sentence]:
    return [Sentence(text[:MAX_SENTENCE], role="cell") for row in rows for text in row.texts]
