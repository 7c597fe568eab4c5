"""
Parser of questions. No other module parses the text of a question.

    read_question("Who wrote INC-2041?")
        words           who, wrote, inc, 2041
        terms           who, wrote, inc-2041, inc, 2041
        content_terms   wrote, inc-2041, inc, 2041
        scripts         {"latin": 1.0}
        features.ids    INC-2041
        relation_types  written_by, wrote
        numbered_ids    INC-2041 (also spelled INC2041)
"""

from __future__ import annotations

import re
from itertools import islice

from weft.extract.code.code_keys import code_key, find_code_names
from weft.extract.names import name_key, singular, words
from weft.extract.papers.citation_questions import read_citation
from weft.extract.papers.paper_ids import ARXIV, find_ids, id_key
from weft.extract.phrases import find_names, find_quoted
from weft.extract.questions.relation_cues import relation_types
from weft.extract.questions.relation_questions import read_relation
from weft.extract.relation_types import CODE_TYPES
from weft.extract.sentences import Sentence
from weft.records import (
    CitationQuestion,
    FoundId,
    NumberedId,
    Question,
    QuestionParsers,
    RelationQuestion,
    Word,
    WrittenName,
)
from weft.search.question.content_terms import STOP_WORDS, content_terms, is_question_word
from weft.search.question.features import read_features
from weft.search.question.written_names import find_written_names
from weft.text.analyzer import query_terms
from weft.text.normalise import is_unspaced, scripts, squeeze

MAX_TERMS = 512
"""Maximum number of looked-up terms. The result has a note if a question has more."""

MAX_WORDS = 400
"""Maximum number of words in which entity names are searched."""

MAX_WORD_CHARACTERS = 8000
"""Maximum number of characters in which words, paper ids and quoted names are searched."""

MAX_NAME_CHARACTERS = 2000
"""Maximum number of characters in which rare names and numbered ids are searched."""

MAX_NAMES = 8
"""Maximum number of looked-up names, longest first."""

SUBJECT_FOLLOWERS = frozenset("and or vs versus is was are were has have had can does did uses".split())
"""Words after a subject. A capitalised word at the start is a name before one of them, and a verb before others."""

MAX_CODE_NAMES = 32
"""Names of code entities that are looked up: the first."""

CODE_WORDS = frozenset(
    """
    call calls called caller callers callee callees import imports imported subclass subclasses class classes function
    functions method methods module modules test tests tested cover covers covered break breaks change changes changed
    inherit inherits extend extends override overrides overridden file files code where defined base parent
    """.split()
)
"""Words that ask for relations of source code. In such a question they name nothing, unless written like code."""

MAX_NUMBERED_IDS = 4
"""Maximum number of looked-up numbered ids, in the order of the question."""

MAX_WRITTEN_NAMES = 8
"""Maximum number of names in quotation marks or written like code."""

_NUMBERED_ID = re.compile(r"(?<![A-Za-z0-9_.-])([A-Za-z]{1,10})[-_]?(\d{3,12})(?![A-Za-z0-9_-])")
"""
| matches | does not match | because |
| --- | --- | --- |
| `INC-2041`, `E4711`, `inc_2041` | `1998` | years and amounts may be written in other words |
| | `step-2` | one or two digits may count a series |
"""

_CHINESE_OPENERS = re.compile(r"什么是|是什么|是谁|谁是|什么|请问|介绍|查找|的")
"""Phrases and particles that form a Chinese question."""


def read_question(text: str) -> Question:
    """Return a parsed question."""
    text = squeeze(text)
    terms = tuple(query_terms(_with_plain_ids(text)))
    return Question(
        text=text,
        words=tuple(words(text[:MAX_WORD_CHARACTERS])[:MAX_WORDS]),
        terms=terms,
        content_terms=content_terms(terms[:MAX_TERMS]),
        scripts=scripts(text),
        is_unspaced=is_unspaced(text),
        parsers=_PARSERS,
    )


def _with_plain_ids(text: str) -> str:
    """Return `text` with the number of a paper in place of its arXiv id: no text contains its address and version."""
    rest = text
    for found in reversed(find_ids(text[:MAX_WORD_CHARACTERS])):
        if found.id.startswith(ARXIV):
            rest = f"{rest[: found.start]} {found.id.removeprefix(ARXIV)} {rest[found.end :]}"
    return rest


def _content_words(question: Question) -> frozenset[Word]:
    return frozenset(word for word in question.words if not is_question_word(word, question.text))


def _subject_words(question: Question) -> tuple[str, ...]:
    text = question.text[:MAX_WORD_CHARACTERS]
    rest = _CHINESE_OPENERS.sub(" ", text)
    if rest == text:
        return tuple(singular(word.text) for word in question.words if word in question.content_words)
    return tuple(singular(word.text) for word in words(rest)[:MAX_WORDS] if not is_question_word(word, rest))


def _citations(question: Question) -> tuple[CitationQuestion, ...]:
    return read_citation(question.text)


def _relations(question: Question) -> tuple[RelationQuestion, ...]:
    return read_relation(question.text)


def _relation_types(question: Question) -> frozenset[str]:
    return relation_types(question.text)


def _paper_ids(question: Question) -> tuple[FoundId, ...]:
    return tuple(find_ids(question.text[:MAX_WORD_CHARACTERS]))


def _exact_keys(question: Question) -> dict[str, int]:
    keys = {id_key(paper.id): len(words(paper.id)) for paper in question.paper_ids}
    quoted = find_quoted(question.text[:MAX_WORD_CHARACTERS])
    keys |= {name_key(name.text): len(words(name.text)) for name in quoted}
    return keys | {code_key(name): len(words(name)) for name in _code_names(question)}


def _code_names(question: Question) -> list[str]:
    found = find_code_names(
        question.text[:MAX_NAME_CHARACTERS],
        is_code_question=not question.relation_types.isdisjoint(CODE_TYPES),
        ignored=STOP_WORDS | CODE_WORDS,
    )
    return list(dict.fromkeys(islice(found, MAX_CODE_NAMES)))


def _names(question: Question) -> tuple[str, ...]:
    text = question.text[:MAX_NAME_CHARACTERS]
    found = dict.fromkeys(name.text for name in find_names(Sentence(text)))
    return tuple(sorted(found, key=lambda name: (-len(name), name)))


def _all_names(question: Question) -> tuple[str, ...]:
    text = question.text[:MAX_NAME_CHARACTERS]
    written = [text[word.start : word.end] for word in question.words if word.end <= len(text)]
    names = [*question.names]
    if 0.0 < question.scripts.get("latin", 0.0) < 1.0:
        names += [word for word in written if len(word) > 1 and word.isascii() and word.isalpha()]
    if len(written) > 1 and written[0][0].isupper() and written[1] in SUBJECT_FOLLOWERS:
        names.append(written[0])
    return tuple(name for name in dict.fromkeys(names) if name.lower() not in STOP_WORDS)[:MAX_NAMES]


def _numbered_ids(question: Question) -> tuple[NumberedId, ...]:
    found = islice(_NUMBERED_ID.finditer(question.text[:MAX_NAME_CHARACTERS]), MAX_NUMBERED_IDS)
    return tuple(NumberedId(match[0], (f"{match[1]}-{match[2]}", f"{match[1]}{match[2]}")) for match in found)


def _written_names(question: Question) -> tuple[WrittenName, ...]:
    return tuple(islice(find_written_names(question.text[:MAX_NAME_CHARACTERS]), MAX_WRITTEN_NAMES))


_PARSERS = QuestionParsers(
    content_words=_content_words,
    subject_words=_subject_words,
    features=read_features,
    citations=_citations,
    relations=_relations,
    relation_types=_relation_types,
    paper_ids=_paper_ids,
    exact_keys=_exact_keys,
    names=_names,
    all_names=_all_names,
    numbered_ids=_numbered_ids,
    written_names=_written_names,
)
