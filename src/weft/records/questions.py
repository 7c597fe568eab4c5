"""Questions: the parsed text, its reading as a citation question, and the embedded query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

from weft.records.documents import Vector
from weft.records.results import Features

CitationKind: TypeAlias = Literal["citing", "references", "builds_on", "written_by", "cocited", "shared", "introduces"]


class Word(NamedTuple):
    """A word of running text: its folded form, its position, and a mark if it is written like a name."""

    text: str
    is_name_like: int
    """
    1 if capitalised, with a digit or sign, or CJK; 2 (`OPENING`) for a capitalised small word such as `It`; else 0.
    """
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationQuestion:
    """One reading of a citation question."""

    kind: CitationKind
    names: tuple[str, ...]
    """Name of the paper, author or concept: as written, then without words such as `the paper`. Never empty."""
    since: int | None = None
    """First year of publication."""
    until: int | None = None
    """Last year of publication."""
    explicit: bool = True
    """False if other questions can have the same form. An unknown name is then not reported."""


class RelationQuestion(NamedTuple):
    """One reading of a question about relations."""

    types: tuple[str, ...] = ()
    """Relation types in the direction from the named thing, the likeliest first; empty for any connection."""
    names: tuple[tuple[str, ...], ...] = ()
    """The named thing, or two things whose connection is asked for; each with its possible spellings."""
    indirect: bool = False
    """True if relations of relations are asked for as well."""


class FoundId(NamedTuple):
    """The canonical id of a paper, with its position in a text."""

    id: str
    start: int
    end: int


class NumberedId(NamedTuple):
    """An id of letters and a number, such as `INC-2041`."""

    text: str
    """Text as written."""
    spellings: tuple[str, ...]
    """Spellings with and without a hyphen."""


class WrittenName(NamedTuple):
    """A name that a question marks as such, in quotation marks or like code."""

    text: str
    kind: Literal["quoted", "code", "command", "option"]
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionParsers:
    """Parsers for parts of a question that only some methods need."""

    content_words: Callable[[Question], frozenset[Word]]
    subject_words: Callable[[Question], tuple[str, ...]]
    features: Callable[[Question], Features]
    citations: Callable[[Question], tuple[CitationQuestion, ...]]
    relations: Callable[[Question], tuple[RelationQuestion, ...]]
    relation_types: Callable[[Question], frozenset[str]]
    paper_ids: Callable[[Question], tuple[FoundId, ...]]
    exact_keys: Callable[[Question], Mapping[str, int]]
    names: Callable[[Question], tuple[str, ...]]
    all_names: Callable[[Question], tuple[str, ...]]
    numbered_ids: Callable[[Question], tuple[NumberedId, ...]]
    written_names: Callable[[Question], tuple[WrittenName, ...]]


@dataclass(frozen=True, kw_only=True)
class Question:
    """
    A question, parsed once.

    The fields are always parsed. Each property is parsed once, on first use, because many methods need none of them.
    `cached_property` needs a `__dict__`, so the class has no slots.
    """

    text: str
    """Text as typed, with each run of white space replaced by one space."""
    words: tuple[Word, ...]
    """The first 400 words of the first 8,000 characters."""
    terms: tuple[str, ...]
    """Distinct index terms, in order."""
    content_terms: tuple[str, ...]
    """The first 512 terms without those of stop words."""
    scripts: Mapping[str, float]
    """Share of each script among the letters, such as `{"latin": 1.0}`; empty without letters."""
    is_unspaced: bool
    """True if most of the text is in scripts without spaces between words, such as Chinese."""
    parsers: QuestionParsers

    @cached_property
    def content_words(self) -> frozenset[Word]:
        """The words without question words such as `who`. `WHO` is a name, unless the whole text is in capitals."""
        return self.parsers.content_words(self)

    @cached_property
    def subject_words(self) -> tuple[str, ...]:
        """Content words in the singular, without the phrases that open a Chinese question."""
        return self.parsers.subject_words(self)

    @cached_property
    def features(self) -> Features:
        """Language, identifiers, quoted parts and cue words; the fields that need an index are empty."""
        return self.parsers.features(self)

    @cached_property
    def citations(self) -> tuple[CitationQuestion, ...]:
        """The readings as a citation question; empty for other questions."""
        return self.parsers.citations(self)

    @cached_property
    def relations(self) -> tuple[RelationQuestion, ...]:
        """The readings as a question about relations, the likeliest first; empty for other questions."""
        return self.parsers.relations(self)

    @cached_property
    def relation_types(self) -> frozenset[str]:
        """Relation types that the question asks for: `who directed` asks for `directed_by` and `directed`."""
        return self.parsers.relation_types(self)

    @cached_property
    def paper_ids(self) -> tuple[FoundId, ...]:
        """Paper ids in the text, in order."""
        return self.parsers.paper_ids(self)

    @cached_property
    def exact_keys(self) -> Mapping[str, int]:
        """Keys of paper ids and quoted names, each with its number of words."""
        return self.parsers.exact_keys(self)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Quoted texts, identifiers and capitalised phrases as written, longest first."""
        return self.parsers.names(self)

    @cached_property
    def all_names(self) -> tuple[str, ...]:
        """The first eight of `names`, Latin words of a question in another script, and a capitalised subject."""
        return self.parsers.all_names(self)

    @cached_property
    def numbered_ids(self) -> tuple[NumberedId, ...]:
        """The first four numbered ids."""
        return self.parsers.numbered_ids(self)

    @cached_property
    def written_names(self) -> tuple[WrittenName, ...]:
        """The first eight names in quotation marks or written like code."""
        return self.parsers.written_names(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question with its vector, ready for the channels."""

    question: Question
    terms: tuple[str, ...]
    """The terms to look up, at most 512."""
    vector: Vector | None
    vector_weight: float
    """0 if the embedder does not support the question's script, else the weight on its card."""
    notes: tuple[str, ...] = ()
    """Reasons why a channel is missing or has weight 0; shown to the user."""
    degraded: str = ""
    """Reason why the vector is missing or of poor quality; empty if neither."""
