"""
Rule-based extraction of entities and relations from documents (`RuleExtractor`).

    document ─title, front matter──────────→ topic, aliases, relations of fields
    chunk ───rows, `Key: value` lines──────→ entities and relations of records
          ───headings──────────────────────→ parts of the topic
          ───sentences ─names───────────────→ candidates
                       ─subject─────────────→ definitions, types, aliases
                       ─verbs between names─→ relations

A candidate proposes a name as an entity; `weft.graph.entity_resolution` decides. A stated relation proposes a relation.
"""

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
    record_name,
)
from weft.extract.candidates import Candidates
from weft.extract.chinese.definitions import find_other_names_at
from weft.extract.chinese.names import find_tagged_names, has_han, is_chinese, is_clear_name, shown_type
from weft.extract.chinese.tagger import Tagger
from weft.extract.code.code_keys import code_key
from weft.extract.code.reader import read_code
from weft.extract.code.written_names import REFERENCE_REASON, written_code
from weft.extract.definitions import (
    Definition,
    find_abbreviations,
    find_aliases,
    find_defined_name,
    find_definition,
    find_opening,
    may_be_topic,
)
from weft.extract.entity_types import PERSON, entity_type
from weft.extract.exclusions import (
    common_words,
    declared_keys,
    heading_keys,
    is_common_word,
    is_example,
    is_excluded,
    is_licence,
    is_parameter,
    is_plain_code,
    marked_text,
    without_opener,
)
from weft.extract.links.anchor_text import linked_keys
from weft.extract.links.page_keys import file_name, is_index, page_parts
from weft.extract.links.page_reader import read_page
from weft.extract.name_variants import is_person, name_variants, place_head
from weft.extract.names import key_words, name_key
from weft.extract.phrases import (
    Name,
    count_words,
    find_names,
    find_terms,
    inner_names,
    is_generic,
    is_identifier,
    is_label,
    is_proper,
    is_usable,
)
from weft.extract.sentences import (
    MAX_SENTENCE_CHARACTERS,
    Sentence,
    prose_lines,
    read_page_sentences,
    read_sentences,
    strip_markup,
)
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
from weft.extract.subjects import Subject, Topic, bare_name, find_subject, is_part_of_title
from weft.records import CandidateKind, Chunk, Document, Extraction
from weft.text.links import note_name, without_folder
from weft.text.markdown.blocks import Page, parse
from weft.text.markdown.chunk_parts import chunk_parts
from weft.text.normalise import squeeze

MAX_TITLE_WORDS = 12
MAX_HEADING_WORDS = 8
MAX_ALIAS_DISTANCE = 120
"""Maximum distance of an alias from the verb of a first sentence, in characters."""
MAX_VARIANT_CHARACTERS = 20_000
"""Maximum number of characters of a document in which a surname is searched."""
MAX_GLOSSED_CHARACTERS = 3
"""Maximum number of characters of a Chinese word with its English equivalent in brackets that is no name."""
MIN_GLOSSED_TIMES = 2
MIN_GLOSSARY_TERMS = 3
"""Minimum number of list items with a bold term and a colon in a glossary."""

_CODE_HEADING = re.compile(
    r"(?:.*\b)?(?:def|class|function|fn|func|interface|struct|impl|trait|enum|type|module|namespace|object|record|table|view"
    r"|procedure|index|trigger)\s+(?:if\s+not\s+exists\s+)?([\w.$]+)",
    re.IGNORECASE,
)
_TITLE_ID = re.compile(r"([A-Z]{2,10}-\d+)\b|([A-Z]{2,10} \d{1,6})(?=:| ?[–—]| - |\. )")
"""`INC-2041 Checkout failures`, `PEP 302 – New Import Hooks`; not `HTTP 2 in practice`."""
_ITEM_FIELD = re.compile(r"[A-Z][\w-]{1,30}(?: [A-Z][\w-]{1,30}){0,3}: ")
"""Beginning of an item that is a field: `Status: Final`, `Review Manager: …`."""
_SYSTEM = re.compile(r"[a-z][A-Z]+$")
"""End of a name that is written like an identifier but is none: `macOS`."""
_PERSONAL = ("He ", "She ", "他", "她")
_LINE_TITLE = re.compile(r"\.\w{2,6}#L?\d+$")
"""Title of a record that is only its file and line: `questions.jsonl#L12`."""
_GLOSSARY = re.compile(
    r"\b(?:glossar|terms?\b|terminolog|definitions\b|vocabular|acronym|abbreviation)|术语|词汇|名词",
    re.IGNORECASE,
)
"""Titles and headings of a glossary."""
_FILE_NAME = re.compile(r"([\w. -]{1,80})\.[a-z0-9]{1,5}")


class RuleExtractor:
    """
    Extracts entities and relations by rules: titles, fields, links, definitions, verb patterns.

    It is deterministic, takes linear time and never raises.
    """

    def __init__(self, tagger: Tagger | None = None) -> None:
        self._tagger = tagger

    @property
    def name(self) -> str:
        """
        Version of the rules, recorded with the graph.

        It changes whenever the rules extract another graph from a text.
        """
        return f"rules-22+{self._tagger.name}" if self._tagger else "rules-22"

    def extract(self, document: Document, chunks: Sequence[Chunk]) -> list[Extraction]:
        """Return one extraction per chunk, in the same order. Source code with a grammar is parsed instead."""
        parsed = read_code(document, chunks)
        if parsed is not None:
            return parsed
        if is_licence(document.source):  # a page that others link to, without names of its own
            found, topic = [Extraction() for _ in chunks], Topic()
        else:
            reader = _Reader(document, self._tagger)
            parts = chunk_parts(document, chunks)
            found = [reader.read(chunk, parts[at], is_first=at == 0) for at, chunk in enumerate(chunks)]
            topic = replace(reader.topic, type=entity_type(reader.topic.type))
        pages = read_page(document, chunks, topic=topic)
        return [
            Extraction(
                candidates=(*extraction.candidates, *page.candidates.values()),
                stated_relations=(*extraction.stated_relations, *page.stated_relations.values()),
            )
            for extraction, page in zip(found, pages, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class _Passage:
    """A sentence with its names."""

    sentence: Sentence
    names: Sequence[Name]


@dataclass(slots=True)
class _Reader:
    """State of the extraction of one document, whose chunks are read in order."""

    document: Document
    tagger: Tagger | None
    topic: Topic = field(init=False)
    known: frozenset[str] = field(init=False)
    """Keys of the title, the link targets and the field values of the document."""
    declared: frozenset[str] = field(init=False)
    """Keys of the variables that the code blocks of the document declare."""
    words: frozenset[str] = field(init=False)
    """Words of a Markdown document in lower case."""
    headings: frozenset[str] = field(init=False)
    """Keys of the headings of a Markdown document; of those in Latin script, with at least two words."""
    has_code: bool = field(init=False)
    """True if the text has code."""
    marked: str = field(init=False)
    """Headings, bold texts and link labels of a Markdown document."""
    is_titled: bool = True
    """True if the topic is the title of the document; False if the first sentence defines the topic."""
    is_defined: bool = False
    """True if a sentence has defined the topic."""
    is_page: bool = field(init=False)
    """True if links are read as links between pages."""

    def __post_init__(self) -> None:
        title = squeeze(strip_markup(self.document.title[:400]))
        if "#" in self.document.source and self.document.form in ("text", "table"):
            title = record_name(self.document.text, title=title) or title
        self.is_page = self.document.form in ("markdown", "text") and bool(page_parts(self.document.source))
        is_id = self.document.source.endswith(f"#{title}")  # a record without a title has its id as title
        is_line = _LINE_TITLE.search(title) is not None
        is_short = is_usable(title) and len(title.split()) <= MAX_TITLE_WORDS
        is_name = is_short and not is_line and (not is_id or is_proper(title))
        metadata = self.document.metadata
        self.topic = Topic(title, name_key(title), read_type(metadata)) if is_name else Topic()
        self.has_code = "`" in self.document.text
        is_markdown = self.document.form == "markdown"
        self.declared = declared_keys(parse(self.document.text)) if is_markdown else frozenset()
        self.words = common_words(parse(self.document.text)) if is_markdown else frozenset()
        self.headings = heading_keys(parse(self.document.text)) if is_markdown else frozenset()
        is_chinese_page = is_markdown and has_han(self.document.text[:2000])
        self.marked = marked_text(parse(self.document.text)) if is_chinese_page else ""
        links = metadata.get("links")
        names = [link for link in links if isinstance(link, str)] if isinstance(links, list) else []
        self.known = frozenset(map(name_key, [title, *names, *(entry.value for entry in read_metadata(metadata))]))

    def read(self, chunk: Chunk, part: Page | None, *, is_first: bool) -> Extraction:
        """Return the extraction of one chunk; `part` is its part of a Markdown page."""
        candidates = Candidates()
        form = self.document.form
        rows = self._rows(chunk.text) if part is None else read_lines(part.prose_lines())
        if part is not None:
            sentences = read_page_sentences(part)
        else:
            cells = [Sentence(text[:MAX_SENTENCE_CHARACTERS], role="cell") for row in rows for text in row.texts]
            sentences = cells if form == "table" else read_sentences(chunk.text, form=form)
        passages = [_Passage(sentence, self._names(sentence)) for sentence in sentences]
        first = next(filter(_is_prose, passages), None) if is_first else None
        if first and not self.document.title.strip():
            self._read_topic(first)
        self._propose_title(candidates, first, next((row for row in rows if is_first and not row.name), None))
        if form != "conversation":  # headings of answers (`Summary`) and the properties of an export name no things
            if is_first:
                self._read_metadata(candidates)
            self._read_headings(candidates, [*chunk.heading, *(s.text for s in sentences if s.role == "heading")])
        for row in rows:
            self._read_row(candidates, row)
        if any(map(_GLOSSARY.search, (self.document.title[:200], *chunk.heading))):
            self._read_glossary(candidates, sentences)
        self._read_prose(candidates, passages, first=first)
        return candidates.to_extraction()

    def _names(self, sentence: Sentence) -> list[Name]:
        names = find_names(sentence)
        if self.tagger is None or not is_chinese(sentence.text):
            return names
        return find_tagged_names(sentence, self.tagger.tag(sentence.text), names)

    def _as_term(self, name: Name, sentence: Sentence) -> Name | None:
        """
        Return a tagged name of a document with code as it may be proposed; None if it may not.

        The tagger was trained on news: in technical text it takes `小节` for an organisation.
        There a name with untypical characters is only a term, and code is only an identifier.
        """
        if name.kind != "name" or not self.has_code:
            return name
        if not has_han(name.text):
            is_code = any(mark.kind == "code" and mark.start == name.start for mark in sentence.marks)
            return replace(name, kind="identifier" if is_code else "phrase")
        if is_clear_name(name.text, name.type):
            return name
        return None if name.type == "person" else replace(name, kind="term", type="")

    # ── topic, metadata, headings ───────────────────────────────────────────────────────────────

    def _read_topic(self, first: _Passage) -> None:
        """Set the topic of a document without a title from the definition in its first sentence."""
        found = find_definition(first.sentence, find_subject(first.sentence, first.names, self.topic))
        if found and may_be_topic(found, first.sentence.text):
            self.topic = Topic(found.subject.name, found.subject.key, found.type)
        else:
            name, kind = find_defined_name(first.sentence)
            self.topic = Topic(name, name_key(name), kind)
        self.is_titled = not self.topic.key

    def _propose_title(self, candidates: Candidates, first: _Passage | None, own: Row | None) -> None:
        """Propose the topic. The first chunk adds type and description from its fields or first sentence."""
        if not self.topic.key:
            return
        kind = self.topic.type or (own.type if own else "")
        if not kind and first and (opening := self._opening(first)):
            kind = opening.type
        self.topic = replace(self.topic, type=kind)
        description = own.description if own and own.description else first.sentence.text if first else ""
        kind_of_name: CandidateKind = "title" if self.is_titled else "definition"
        candidates.propose(self.topic.name, kind_of_name, type=kind, description=description, about=True)

    def _read_metadata(self, candidates: Candidates) -> None:
        topic = self.topic
        aliases = read_aliases(self.document.metadata) if topic.key else []
        for alias in aliases:
            candidates.propose(
                alias, "metadata", about=True, alias_of=topic.key, reason="alias in the front matter", type=topic.type
            )
        if topic.key and (id := _title_id(topic.name)) and id not in aliases:
            reason = "identifier at the start of the title"
            candidates.propose(id, "abbreviation", about=True, alias_of=topic.key, reason=reason, type=topic.type)
        for name in (note_name(self.document.source), without_folder(topic.name)) if topic.key else ():
            candidates.propose(name, "variant", alias_of=topic.key, reason="name of the page in links")
        if topic.key and topic.bare_key != topic.key:
            reason = "name without its qualifier"
            candidates.propose(bare_name(topic.name), "abbreviation", about=True, alias_of=topic.key, reason=reason)
        for term in find_terms(topic.name):
            if name_key(term) not in (topic.key, topic.bare_key):
                candidates.propose(term, "term", about=True)
        if is_person(topic.type):
            for name, reason in name_variants(bare_name(topic.name), text=self.document.text[:MAX_VARIANT_CHARACTERS]):
                candidates.propose(name, "variant", alias_of=topic.key, reason=reason)
        elif head := place_head(bare_name(topic.name), text=self.document.text[:MAX_VARIANT_CHARACTERS]):
            reason = "place name without its region"
            candidates.propose(head, "abbreviation", alias_of=topic.key, reason=reason, type=topic.type)
        self._read_fields(candidates, read_metadata(self.document.metadata))

    def _read_fields(self, candidates: Candidates, fields: Iterable[Field]) -> None:
        for entry in fields:
            candidates.propose(entry.value, "metadata")
            if source := entry.subject or self.topic.name:
                statement = Statement(source, entry.value, entry.type)
                candidates.state(canonical(statement), weight=FIELD_WEIGHT, description=in_words(statement))

    def _rows(self, text: str) -> list[Row]:
        form = self.document.form
        if form == "table":
            columns = self.document.metadata.get("columns")
            names = [name for name in columns if isinstance(name, str)] if isinstance(columns, list) else []
            return [row for line in text.split("\n") if (row := read_row(line, names))]
        return [] if form in ("code", "conversation") else read_lines(prose_lines(text, form=form))

    def _read_row(self, candidates: Candidates, row: Row) -> None:
        if row.name:
            candidates.propose(row.name, "field", type=row.type, description=row.description)
        self._read_fields(candidates, row.fields)

    def _read_headings(self, candidates: Candidates, headings: Sequence[str]) -> None:
        for text in headings:
            heading = squeeze(strip_markup(text))
            kind: CandidateKind = "heading"
            if self.document.form == "code":
                match = _CODE_HEADING.match(heading)
                heading, kind = (match[1], "identifier") if match else ("", "heading")
            is_long = len(heading.split()) > MAX_HEADING_WORDS
            if not heading or is_long or is_generic(heading) or name_key(heading) == self.topic.key:
                continue
            candidates.propose(heading, kind, about=True)
            for term in find_terms(heading):
                candidates.propose(term, "heading", about=True)
            if self.topic.key and (kind == "identifier" or self._is_part(text, heading)):
                type = "part_of" if kind == "identifier" else "section_of"
                statement = Statement(heading, self.topic.name, type)
                candidates.state(statement, weight=STRUCTURE_WEIGHT, description=in_words(statement))

    def _is_part(self, text: str, heading: str) -> bool:
        """
        Return True if a heading is that of a thing which is a section of the topic.

        An identifier is. Another name is if the heading links to its page, or if an index of a folder does: a heading
        may equal the title of an unrelated page.
        """
        if is_identifier(heading) and not _SYSTEM.search(heading):
            return True
        is_name = len(heading.split()) > 1 and is_proper(heading) and not is_label(heading)
        if not is_name or "](" in text or "[[" in text:
            return is_name
        return is_index(file_name(self.document.source)) and name_key(heading) in linked_keys(self.document)

    # ── sentences ───────────────────────────────────────────────────────────────────────────────

    def _read_glossary(self, candidates: Candidates, sentences: Sequence[Sentence]) -> None:
        """Propose the terms of a glossary: list items that begin with a bold term and a colon."""
        entries = [(term, s) for s in sentences if s.role == "item" and (term := _glossary_term(s))]
        times = Counter(term for term, _ in entries)
        # a repeated term is a label such as `Default:`
        entries = [(term, sentence) for term, sentence in entries if times[term] == 1]
        for term, sentence in entries if len(entries) >= MIN_GLOSSARY_TERMS else ():
            candidates.propose(term, "definition", description=sentence.text)

    def _read_prose(self, candidates: Candidates, passages: Sequence[_Passage], *, first: _Passage | None) -> None:
        in_focus = True  # True while `he` refers to the topic
        is_next = True  # True if the sentence before is about the topic, so that `it` refers to it
        for passage in passages:
            if passage.sentence.role == "heading":
                in_focus = True
                is_next = name_key(passage.sentence.text) == self.topic.key
                continue
            subject = find_subject(passage.sentence, passage.names, self.topic)
            if passage is first:
                subject = self._read_opening(candidates, passage, subject)
            is_person = subject is not None and passage.sentence.text.startswith(_PERSONAL)
            if subject and subject.kind == "pronoun" and not (in_focus if is_person else is_next):
                subject = None
            elif subject and subject.kind != "word":
                in_focus = subject.is_topic
            is_next = subject is not None and subject.is_topic
            self._read_passage(candidates, passage, subject)

    def _read_passage(self, candidates: Candidates, passage: _Passage, subject: Subject | None) -> None:
        sentence, names = passage.sentence, passage.names
        translated = self._read_abbreviations(candidates, passage)
        if found := find_definition(sentence, subject):
            name = translated.get(found.subject.key, found.subject.name)
            self._propose_defined(candidates, passage, found, name=name)
            subject = replace(found.subject, kind="name") if found.subject.kind == "word" else found.subject
        if subject and subject.kind != "pronoun" and has_han(sentence.text):
            for other in find_other_names_at(sentence.text, names, at=subject.end):
                key = candidates.propose(subject.name, "definition") if subject.kind != "topic" else subject.key
                reason = f"“{other.cue}” in the text"
                candidates.propose(other.name, "abbreviation", alias_of=key, reason=reason)
        covered = subject.end if subject and subject.kind == "topic" else 0
        for found_name in names:
            if found_name.end > covered or found_name.kind == "link":
                self._propose_name(candidates, found_name, sentence)
        for statement in find_statements(sentence, names, subject=subject, topic=self.topic):
            for text in (statement.source, statement.target):
                candidates.propose_weak(text)
            candidates.state(statement, weight=VERB_WEIGHT, description=sentence.text)

    def _read_abbreviations(self, candidates: Candidates, passage: _Passage) -> dict[str, str]:
        """
        Propose a name and the name in parentheses after it; return the swapped pairs as alias key → name.

        The name in parentheses is usually the alias. The pair is swapped if only the name in parentheses is a link
        target or field value of the document.
        """
        translated: dict[str, str] = {}
        for alias in find_abbreviations(passage.sentence, passage.names):
            name, other = alias.of, alias.name
            if (is_plain_code(name) and name.islower()) or self._is_gloss(name, other):  # `capitalize` (首字母大写)
                continue
            if name_key(other) in self.known and name_key(name) not in self.known:
                name, other = other, name
                translated[name_key(other)] = name
            if key := candidates.propose(name, "abbreviation"):
                candidates.propose(other, "abbreviation", alias_of=key, reason=alias.reason)
        return translated

    def _is_gloss(self, name: str, other: str) -> bool:
        """
        Return True if brackets in a Chinese text with code only explain a word: `模板 (template)`.

        A name is longer, or an acronym stands for it, and the text uses it more than once or with a capitalised name.
        """
        if not self.has_code or not has_han(name) or (" " in other and other.istitle()):
            return False
        is_word = len(name) <= MAX_GLOSSED_CHARACTERS and other.isalpha() and not other.isupper()
        return is_word or (name not in self.marked and self.document.text.count(name) < MIN_GLOSSED_TIMES)

    def _propose_name(self, candidates: Candidates, name: Name, sentence: Sentence) -> None:
        if (found := self._as_term(name, sentence)) is None:
            return
        code = written_code(name, sentence)
        if code:
            candidates.refer(code)
        name = without_opener(found, self.words, sentence)
        key = name_key(name.text)
        is_variable = name.kind == "identifier" and (key in self.declared or key.partition(" ")[0] in self.declared)
        is_passing = name.kind == "term" and self.marked != "" and has_han(name.text) and name.text not in self.marked
        is_passing = is_passing or (name.kind in ("phrase", "term", "quoted") and key in self.headings)
        is_passing = is_passing or is_common_word(name, self.words, self.document.text)
        is_passing = is_passing or (self.has_code and is_example(name))
        if key in (self.topic.key, self.topic.bare_key) or is_variable or is_passing or is_excluded(name, sentence):
            return
        is_work = sentence.text[name.start : name.start + 1] == "《"
        is_linked = any(mark.kind == "term" and mark.start == name.start for mark in sentence.marks)
        kind: CandidateKind = "name" if is_work or is_linked else name.kind
        if code and name.kind == "identifier":
            candidates.propose(name.text, kind, alias_of=code_key(code), reason=REFERENCE_REASON)
        else:
            candidates.propose(name.text, kind, type=shown_type(name, sentence.text, self.document.text))
        if name.kind == "link" and self.topic.key and not self.is_page:  # links between pages: `links.page_reader`
            statement = Statement(self.topic.name, name.text, "links_to")
            candidates.state(statement, weight=LINK_WEIGHT, description=sentence.text)
        elif name.kind == "phrase":
            for part in inner_names(name.text):
                candidates.propose(part, "phrase")

    def _propose_defined(self, candidates: Candidates, passage: _Passage, found: Definition, *, name: str) -> None:
        if found.subject.is_topic and (self.is_defined or self._is_partial(found, passage.sentence)):
            return
        self.is_defined |= found.subject.is_topic
        if not found.subject.is_topic and (is_parameter(name, found.type) or name_key(name) in self.declared):
            return
        sentence, end = passage.sentence, found.subject.end
        own = [item for item in passage.names if item.end == end and item.kind == "identifier"]
        code = next((code for item in own if (code := written_code(item, sentence))), "")
        code = "" if found.subject.is_topic else code
        candidates.propose(
            name,
            "definition",
            type=found.type,
            description=sentence.text,
            alias_of=code_key(code) if code else "",
            reason=REFERENCE_REASON if code else "",
        )

    def _is_partial(self, found: Definition, sentence: Sentence) -> bool:
        """Return True if a sentence of a page defines a part of its title, no person: `Async` in `Async Support`."""
        if self.document.form != "markdown":  # `Mutiny is a film` in an article on `Mutiny on the Bounty`
            return False
        subject = sentence.text[: found.subject.end]
        return not is_person(found.type) and found.type != PERSON and is_part_of_title(subject, self.topic)

    def _opening(self, first: _Passage) -> Definition | None:
        """Return the definition of the topic in the first sentence, which may use another name than the title."""
        found = find_definition(first.sentence, find_subject(first.sentence, first.names, self.topic))
        if found and found.subject.is_topic and self._is_partial(found, first.sentence):
            return None
        if found and (found.subject.is_topic or self._is_full_name(found, first.sentence)):
            return found
        if found and found.subject.kind == "name" and not key_words(found.subject.key) & key_words(self.topic.bare_key):
            return None
        return find_opening(first.sentence, self.topic) if self.document.form == "text" else None

    def _is_full_name(self, found: Definition, sentence: Sentence) -> bool:
        """Return True if a definition uses a longer name of the topic, or has the title before its verb."""
        if has_han(self.topic.name):
            return found.subject.kind == "name" and self._is_full_chinese(found.subject)
        title = name_key(bare_name(self.topic.name).split(",")[0]).split()
        defined = name_key(found.subject.name.split(",")[0]).split()
        if found.subject.kind != "name" or len(defined) < 2 or not title:
            return False
        is_like = len(title) > 1 and title[-1] == defined[-1] and title[0][0] == defined[0][0]
        is_like = is_like or key_words(" ".join(title)) <= key_words(" ".join(defined))
        return is_like or bare_name(self.topic.name) in sentence.text[: found.at]

    def _is_full_chinese(self, subject: Subject) -> bool:
        key = self.topic.bare_key
        return has_han(self.topic.name) and 1 < len(key) < len(subject.key) and key in subject.key

    def _read_short_name(self, candidates: Candidates, name: str) -> None:
        """Propose the end of a Chinese title as an alias, if the text uses it: `莫高窟` of `敦煌莫高窟`."""
        if 1 < len(name_key(name)) < len(self.topic.bare_key) and self.topic.bare_key.endswith(name_key(name)):
            reason = "short name in the first sentence"
            candidates.propose(name, "abbreviation", alias_of=self.topic.key, reason=reason, about=True)

    def _read_opening(self, candidates: Candidates, first: _Passage, subject: Subject | None) -> Subject | None:
        """Propose the aliases in the first sentence and return its subject."""
        topic = self.topic
        opening = self._opening(first) if topic.key else None
        if subject and subject.kind == "name" and self._is_full_chinese(subject):
            reason = "full name in the first sentence"
            candidates.propose(subject.name, "definition", alias_of=topic.key, reason=reason, about=True)
            subject = Subject(topic.name, topic.key, subject.end, "topic")
        if subject and subject.is_topic and has_han(topic.name):
            self._read_short_name(candidates, first.sentence.text[: subject.end])
            end = subject.end + MAX_ALIAS_DISTANCE
            for alias in find_aliases(first.sentence, first.names, end=end) if not opening else ():
                candidates.propose(alias.name, "abbreviation", alias_of=topic.key, reason=alias.reason, about=True)
        if opening is None:
            return subject if subject is None or subject.kind != "word" else None
        named = opening.subject
        if not named.is_topic:
            reason = "full name in the first sentence"
            candidates.propose(
                named.name, "definition", type=opening.type, alias_of=topic.key, reason=reason, about=True
            )
        for alias in find_aliases(first.sentence, first.names, end=opening.at + MAX_ALIAS_DISTANCE, verb=opening.at):
            candidates.propose(alias.name, "abbreviation", alias_of=topic.key, reason=alias.reason, about=True)
        return Subject(topic.name, topic.key, named.end, "topic")


def _title_id(title: str) -> str:
    """Return the id at the start of a title: `INC-2041` of `INC-2041 Checkout failures` and of `INC-2041.txt`."""
    match = _TITLE_ID.match(title)
    if not match or match[0] == title:
        return ""
    file = _FILE_NAME.fullmatch(title)
    return match[0] if file is None or file[1] == match[0] or " " in title else ""


def _is_prose(passage: _Passage) -> bool:
    """Return True if a sentence may describe the document: prose or list item of more than three words, no fields."""
    sentence = passage.sentence
    is_field = sentence.role == "item" and _ITEM_FIELD.match(sentence.text) is not None
    return sentence.role in ("prose", "item") and count_words(sentence.text) > 3 and not is_field


def _glossary_term(sentence: Sentence) -> str:
    mark = next((mark for mark in sentence.marks if mark.kind == "strong" and mark.start == 0), None)
    if mark is None or not (mark.name.endswith((":", "：")) or sentence.text[mark.end : mark.end + 1] in (":", "：")):
        return ""
    term = mark.name.rstrip(":： ")
    return term if len(term.split()) <= 5 and not is_label(term) else ""
