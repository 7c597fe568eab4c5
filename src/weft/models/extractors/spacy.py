"""
Extractor that adds the named entities and relations of a spaCy pipeline to those of another extractor.

The pipeline reads plain sentences without markup; only the other extractor reads tables and headings. A name becomes
a candidate of kind `phrase`, which needs two documents that agree. A relation consists of the subject of a verb, the
verb's lemma with its preposition, and the object. Verbs known to `extract.statements` get its type and direction.

    sentence                              relation
    Acme moved to Vienna.                 Acme    move_to      Vienna
    Acme founded Globex.                  Globex  founded_by   Acme
    Acme did not move to Vienna.          none: negated
    Acme might buy Globex.                none: hedged
    Did Acme buy Globex?                  none: a question
"""

from __future__ import annotations

import importlib.util
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple, Protocol

from weft.errors import MissingExtra, ModelUnavailable
from weft.extract.names import match_names, name_key, words
from weft.extract.phrases import is_common, is_usable
from weft.extract.relation_types import LEMMAS
from weft.extract.sentences import Form, read_sentences, shorten
from weft.extract.statements import VERB_WEIGHT, Statement, canonical
from weft.models.base import Extractor, replace_surrogates
from weft.models.hub import check_no_folder
from weft.records import Candidate, Chunk, Document, Extraction, StatedRelation

LIBRARY = "spacy"
DEFAULT_PIPELINE = "en_core_web_sm"

PARSE_WEIGHT = VERB_WEIGHT - 1
"""Weight of a stated relation. It is lower than for verb patterns of the rules, because a parser makes more errors."""

MAX_NAMES = 60
"""Maximum number of names added per chunk."""

MAX_TYPE_CHARACTERS = 40
"""Maximum length of a relation type; longer types are dropped."""

TYPES: Mapping[str, str] = {
    "PERSON": "person", "PER": "person",
    "ORG": "organisation",
    "GPE": "place", "LOC": "place", "FAC": "place",
    "WORK_OF_ART": "work", "LAW": "work",
    "EVENT": "event",
    "PRODUCT": "product",
    "MISC": "",
}  # fmt: skip
"""Entity types of Weft by spaCy label. Any other label becomes a type in lower case."""

IGNORED_LABELS = frozenset(
    {"CARDINAL", "DATE", "LANGUAGE", "MONEY", "NORP", "ORDINAL", "PERCENT", "QUANTITY", "TIME"}
)  # `NORP` is `German` or `Buddhist`, which is rarely an entity

_SUBJECTS = frozenset({"nsubj", "nsubjpass", "nsubj:pass"})
_OBJECTS = frozenset({"dobj", "obj"})
_AGENTS = frozenset({"agent", "obl:agent"})
_PARTICLES = frozenset({"prt", "compound:prt"})
_RELATIVE_CLAUSES = frozenset({"relcl", "acl:relcl"})
_RELATIVE_WORDS = frozenset({"that", "which", "who"})
_HEDGES = frozenset("could if longer may might n't n’t never not should unless whether would".split())
"""Words that hedge or negate a verb. `longer` is part of `no longer`."""
_EMPTY_VERBS = frozenset({"be", "have"})
_TYPE = re.compile(r"[^\W\d_]+(?:_[^\W\d_]+)*")
_ARTICLE = re.compile(r"the\s+(?=.)", re.IGNORECASE)
_GENITIVES = ("'s", "’s")
_QUOTES = " \"'`*_“”‘’«»"


class SpacyExtractor:
    """
    Adds the results of a spaCy pipeline to those of `inner`.

    `pipeline` is the name of an installed pipeline or the path of a folder. Without a parser there are no relations,
    without an entity recogniser no names. Nothing is downloaded.
    """

    def __init__(self, inner: Extractor, *, pipeline: str = DEFAULT_PIPELINE) -> None:
        if importlib.util.find_spec(LIBRARY) is None:
            raise MissingExtra(LIBRARY, extra=LIBRARY)
        self._inner = inner
        self._pipeline = pipeline
        self._lock = Lock()
        self._loaded: Any = None

    @property
    def name(self) -> str:
        """Name and version: `rules-22+spacy-en_core_web_sm-3.8.0`. Loads the pipeline to get its version."""
        with self._lock:
            return f"{self._inner.name}+{_label(self._load())}"

    def extract(self, document: Document, chunks: Sequence[Chunk]) -> list[Extraction]:
        """Return the extraction of `inner` and the additions of the pipeline per chunk. Raises `ModelUnavailable`."""
        before = self._inner.extract(document, chunks)
        with self._lock:  # a pipeline's vocabulary grows with every text, so it is not thread-safe
            pipeline = self._load()
            label = _label(pipeline)
            found = [
                _read(pipeline, chunk.text, form=document.form, known={n.key for n in extraction.candidates})
                for chunk, extraction in zip(chunks, before, strict=True)
            ]
        settled = {
            candidate.key
            for extraction in before
            for candidate in extraction.candidates
            # a title or identifier without a type stays untyped: spaCy's guess is wrong more often than right
            if candidate.type or candidate.kind != "phrase"
        }
        types = _agree(entity for reading in found for entity in reading.entities if entity.key not in settled)
        return [_add(extraction, reading, types, by=label) for extraction, reading in zip(before, found, strict=True)]

    def _load(self) -> Any:
        if self._loaded is None:
            check_no_folder(self._pipeline, library=LIBRARY)
            try:
                import spacy

                self._loaded = spacy.load(self._pipeline)
            # a package that is not a pipeline has no `load`, or one with other arguments
            except (OSError, ValueError, ImportError, AttributeError, TypeError) as error:
                raise ModelUnavailable(
                    f"cannot load the spaCy pipeline {self._pipeline!r}: {shorten(str(error), limit=200)}",
                    hint=f"run `python -m spacy download {DEFAULT_PIPELINE}`, or set graph.spacy_pipeline to a folder",
                ) from error
        return self._loaded


class _Token(Protocol):
    """The attributes of spaCy's `Token` that are used here."""

    idx: int
    dep_: str
    lemma_: str
    lower_: str
    pos_: str
    head: _Token
    children: Iterable[_Token]


class _Entity(NamedTuple):
    name: str
    key: str
    type: str
    start: int
    end: int


class _Named(NamedTuple):
    key: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Reading:
    """Results of a pipeline for one chunk. Stated relations refer to names by key."""

    entities: Sequence[_Entity]
    stated_relations: Sequence[StatedRelation]


def _label(pipeline: Any) -> str:
    """Return the name of a pipeline in the graph."""
    return f"spacy-{pipeline.meta['lang']}_{pipeline.meta['name']}-{pipeline.meta['version']}"


def _read(pipeline: Any, text: str, *, form: Form, known: Collection[str]) -> _Reading:
    """Return the results of a pipeline for a chunk; `known` are the keys of the other extractor's names."""
    entities: list[_Entity] = []
    stated_relations: list[StatedRelation] = []
    for doc in pipeline.pipe(_sentences(replace_surrogates(text)[: pipeline.max_length], form=form)):
        inside = list(_find_entities(doc))
        entities += inside
        names = _find_names(doc.text, inside, known)
        stated_relations += (
            StatedRelation(
                source=statement.source,
                target=statement.target,
                type=statement.type,
                weight=PARSE_WEIGHT,
                description=shorten(doc.text),
            )
            for statement in _find_statements(doc, names)
        )
    return _Reading(entities, stated_relations)


def _sentences(text: str, *, form: Form) -> list[str]:
    if form == "table":
        return []
    return [sentence.text for sentence in read_sentences(text, form=form) if sentence.role in ("prose", "item")]


# ── names ───────────────────────────────────────────────────────────────────────────────────────


def _bare_name(text: str) -> str:
    """Return a name without article and genitive: `Louvre` for `the Louvre's`."""
    if match := _ARTICLE.match(text):
        text = text[match.end() :]
    genitive = next((ending for ending in _GENITIVES if text.lower().endswith(ending)), "")
    return text.removesuffix(text[len(text) - len(genitive) :]) if genitive and len(text) > len(genitive) else text


def _find_entities(doc: Any) -> Iterator[_Entity]:
    """Yield the named entities with a supported label and a usable name."""
    for span in doc.ents:
        label = span.label_.upper()
        name = _bare_name(" ".join(span.text.split()).strip(_QUOTES))
        if label not in IGNORED_LABELS and is_usable(name) and not is_common(name):
            type = TYPES.get(label, label.lower().replace("_", " "))
            yield _Entity(name, name_key(name), type, span.start_char, span.end_char)


def _find_names(text: str, entities: Iterable[_Entity], known: Collection[str]) -> list[_Named]:
    """Return the positions of entities and known names in a sentence. Of two that overlap, the longer one is kept."""
    found = words(text)
    places = [_Named(key, found[at].start, found[at + size - 1].end) for key, at, size in match_names(found, known)]
    places += (_Named(entity.key, entity.start, entity.end) for entity in entities)
    kept: list[_Named] = []
    for place in sorted(places, key=lambda place: (place.start - place.end, place.start)):
        if all(place.end <= other.start or other.end <= place.start for other in kept):
            kept.append(place)
    return kept


def _agree(entities: Iterable[_Entity]) -> dict[str, str]:
    """Return the majority type of each key in a document. A key without a majority is omitted."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for entity in entities:
        counts[entity.key][entity.type] += 1
    best = {key: max(counter, key=lambda type: counter[type]) for key, counter in counts.items()}
    return {key: type for key, type in best.items() if counts[key][type] * 2 > counts[key].total()}


# ── relations ───────────────────────────────────────────────────────────────────────────────────


def _find_statements(doc: Any, names: Sequence[_Named]) -> Iterator[Statement]:
    """Yield the statements of a sentence's verbs about its names, by key. A question has none."""
    if len(names) < 2 or doc.text.endswith(("?", "？")):
        return
    for verb in doc:
        is_in_name = any(name.start <= verb.idx < name.end for name in names)
        if is_in_name or verb.pos_ not in ("VERB", "") or verb.lemma_ in _EMPTY_VERBS:
            continue
        subjects, is_passive = _find_subjects(verb)
        sources = _keys(subjects, names)
        for preposition, token in _find_objects(verb) if sources else ():
            if preposition == "" and is_passive:
                continue  # in `Acme was given Globex`, Acme is not the subject of `give`
            is_agent = token.dep_ in _AGENTS or token.head.dep_ in _AGENTS
            type = _relation_type(verb, "" if is_agent else preposition)
            targets = _keys([token], names)
            pairs = [(source, target) for source in sources for target in targets if source != target]
            for source, target in pairs if type else ():
                ends = (target, source) if is_agent else (source, target)
                yield canonical(Statement(*ends, type))


def _find_subjects(verb: _Token) -> tuple[list[_Token], bool]:
    """
    Return the subjects of a verb, and True if the verb is passive; none if the verb is negated or hedged.

    A verb joined to another one by `and` shares its subject. The subject of a relative clause is its head noun.
    """
    start = verb.idx
    while True:
        children = list(verb.children)
        if any(child.dep_ == "neg" or child.lower_ in _HEDGES for child in children):
            return [], False
        own = [child for child in children if child.dep_ in _SUBJECTS]
        if own or verb.dep_ != "conj" or verb.head.idx == verb.idx:
            break
        verb = verb.head
    if own:
        is_relative = verb.dep_ in _RELATIVE_CLAUSES and own[0].lower_ in _RELATIVE_WORDS
        # `Globex was founded by Acme and bought Initech`: the second verb is not passive
        return [verb.head] if is_relative else own, own[0].dep_.endswith("pass") and verb.idx == start
    if verb.dep_ == "acl" and any(child.dep_ in _AGENTS for child in children):
        return [verb.head], True
    return [], False


def _find_objects(verb: _Token) -> Iterator[tuple[str, _Token]]:
    """Yield the objects of a verb with their prepositions; a direct object has an empty one."""
    for child in verb.children:
        if child.dep_ in _OBJECTS:
            yield "", child
        elif child.dep_ in ("prep", "agent"):
            yield from ((child.lower_, token) for token in child.children if token.dep_ == "pobj")
        elif child.dep_.partition(":")[0] == "obl":  # Universal Dependencies: the preposition is a child of the noun
            case = next((token.lower_ for token in child.children if token.dep_ == "case"), "")
            yield from [(case, child)] if case else []


def _relation_type(verb: _Token, preposition: str) -> str:
    """Return the relation type of a verb; empty if the type is too long or has non-letters."""
    particles = [child.lower_ for child in verb.children if child.dep_ in _PARTICLES]
    parts = [(verb.lemma_ or verb.lower_).lower(), *particles, *([preposition] if preposition else [])]
    type = re.sub(r"\W+", "_", "_".join(parts))
    return LEMMAS.get(type, type) if len(type) <= MAX_TYPE_CHARACTERS and _TYPE.fullmatch(type) else ""


def _keys(tokens: Iterable[_Token], names: Sequence[_Named]) -> list[str]:
    """Return the keys of the names that contain the tokens, or tokens joined to them by `and`."""
    waiting = list(tokens)
    found: dict[str, None] = {}
    while waiting:
        token = waiting.pop(0)
        found |= {name.key: None for name in names if name.start <= token.idx < name.end}
        waiting += (child for child in token.children if child.dep_ == "conj")
    return list(found)


# ── merging ─────────────────────────────────────────────────────────────────────────────────────


def _add(extraction: Extraction, reading: _Reading, types: Mapping[str, str], *, by: str) -> Extraction:
    """Return an extraction merged with a reading. `types` contains only keys without a type in the extraction."""
    candidates = [
        candidate._replace(type=types[candidate.key], extractor=f"+{by}") if candidate.key in types else candidate
        for candidate in extraction.candidates
    ]
    # a heading does not count as a candidate, so its name is proposed as well; any other kind outranks a phrase
    known = {candidate.key for candidate in candidates if candidate.kind != "heading"}
    added: dict[str, Candidate] = {}
    for entity in reading.entities:
        if entity.key not in known and entity.key not in added and len(added) < MAX_NAMES:
            type = types.get(entity.key, "")
            added[entity.key] = Candidate(key=entity.key, name=entity.name, kind="phrase", type=type, extractor=by)
    candidates += added.values()
    known = {candidate.key for candidate in candidates}
    taken = {(stated.source, stated.target, stated.type) for stated in extraction.stated_relations}
    stated_relations = list(extraction.stated_relations)
    for stated in reading.stated_relations:
        triple = (stated.source, stated.target, stated.type)
        if stated.source in known and stated.target in known and triple not in taken:
            taken.add(triple)
            stated_relations.append(stated._replace(extractor=by))
    return Extraction(candidates=tuple(candidates), stated_relations=tuple(stated_relations))
