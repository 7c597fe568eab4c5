"""
Adds what a spaCy pipeline reads to another extractor: named entities, and who does what to whom.

The pipeline is given plain sentences, without markup; tables and headings are left to the other extractor. A name it
finds is a `phrase`, which needs two documents that agree. A relation comes from the parse: the subject of a verb, the
verb's lemma with its preposition, and the object: `Acme moved to Vienna` gives `move_to`. Verbs that `text.statements`
has a word for get that word and its direction: `Acme founded Globex` is `founded_by`, as it is for the rules.
"""

from __future__ import annotations

import importlib.util
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, NamedTuple, Protocol

from weft.errors import MissingExtra, ModelUnavailable
from weft.extract.names import match_names, name_key, words
from weft.extract.phrases import is_common, is_usable
from weft.extract.sentences import Form, read_sentences, shorten
from weft.extract.statements import VERB_WEIGHT, Statement, canonical
from weft.models.base import Extractor, replace_surrogates
from weft.records import Chunk, Claim, Document, Extraction, Nomination

LIBRARY = "spacy"
DEFAULT_PIPELINE = "en_core_web_sm"

PARSE_WEIGHT = VERB_WEIGHT - 1
"""A parser errs more often than the verb patterns of the rules, so it is trusted a little less."""

MAX_NAMES = 60
"""Names added to one chunk; what comes later is left out."""

MAX_TYPE = 40
"""Characters. A longer verb is none."""

TYPES: Mapping[str, str] = {
    "PERSON": "person", "PER": "person",
    "ORG": "organisation",
    "GPE": "place", "LOC": "place", "FAC": "place",
    "WORK_OF_ART": "work", "LAW": "work",
    "EVENT": "event",
    "PRODUCT": "product",
    "MISC": "",
}  # fmt: skip
"""What spaCy's labels are called here. A label of a pipeline of your own is its own type, in lower case."""

LEFT_OUT = frozenset(
    {"CARDINAL", "DATE", "LANGUAGE", "MONEY", "NORP", "ORDINAL", "PERCENT", "QUANTITY", "TIME"}
)  # `NORP` is `German`, `Buddhist`: hardly ever a thing of its own

KNOWN_VERBS: Mapping[str, str] = {
    "affect": "affects", "apply_to": "applies_to", "base_in": "located_in", "bear_in": "born_in",
    "belong_to": "owned_by", "call": "calls", "cause": "caused", "cite": "cites", "compose": "composed",
    "concern": "concerns", "create": "created", "depend_on": "depends_on", "depend_upon": "depends_on",
    "design": "designed", "develop": "developed", "die_in": "died_in", "direct": "directed", "edit": "edited",
    "found": "founded", "implement": "implements", "link_to": "links_to", "locate_in": "located_in",
    "maintain": "maintains", "marry": "married_to", "marry_to": "married_to", "own": "owns", "perform": "performed",
    "produce": "produced", "publish": "published", "read_from": "reads_from", "rely_on": "depends_on",
    "rely_upon": "depends_on", "replace": "supersedes", "situate_in": "located_in", "star": "stars",
    "star_in": "stars_in", "supersede": "supersedes", "use": "uses", "write": "wrote", "write_to": "writes_to",
}  # fmt: skip
"""Verbs that relations have a name for, by lemma and preposition."""

_SUBJECTS = frozenset({"nsubj", "nsubjpass", "nsubj:pass"})
_OBJECTS = frozenset({"dobj", "obj"})
_AGENTS = frozenset({"agent", "obl:agent"})
_PARTICLES = frozenset({"prt", "compound:prt"})
_RELATIVE_CLAUSES = frozenset({"relcl", "acl:relcl"})
_RELATIVE_WORDS = frozenset({"that", "which", "who"})
_HEDGES = frozenset("could if longer may might n't n’t never not should unless whether would".split())
"""Words at a verb that leave open, or deny, what it says. `longer` is that of `no longer`."""
_EMPTY_VERBS = frozenset({"be", "have"})
_TYPE = re.compile(r"[^\W\d_]+(?:_[^\W\d_]+)*")
_BARE = re.compile(r"(?:the\s+)?(.+?)(?:['’]s)?", re.IGNORECASE)
_QUOTES = " \"'`*_“”‘’«»"


class SpacyExtractor:
    """
    Reads with `inner` first, then with a spaCy pipeline, and adds what is new.

    `pipeline` is the name of an installed one or the path of a folder. What it lacks is not read: without a parser
    there are no relations, without named entities no names. Nothing is ever fetched.
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
        """`rules-12+spacy-en_core_web_sm-3.8.0`. Loads the pipeline, which alone knows its version."""
        with self._lock:
            return f"{self._inner.name}+{_label(self._load())}"

    def extract(self, document: Document, chunks: Sequence[Chunk]) -> list[Extraction]:
        """Return what `inner` read in each chunk and, behind it, what the pipeline adds. Raises `ModelUnavailable`."""
        before = self._inner.extract(document, chunks)
        with self._lock:  # a pipeline's vocabulary grows with every text, so two threads must not share it
            pipeline = self._load()
            label = _label(pipeline)
            found = [
                _read(pipeline, chunk.text, form=document.form, known={n.key for n in extraction.nominations})
                for chunk, extraction in zip(chunks, before, strict=True)
            ]
        settled = {
            nomination.key
            for extraction in before
            for nomination in extraction.nominations
            # whoever knows a title or an identifier and gives it no type is right more often than spaCy's guess at it
            if nomination.type or nomination.kind != "phrase"
        }
        types = _agree(entity for reading in found for entity in reading.entities if entity.key not in settled)
        return [_add(extraction, reading, types, by=label) for extraction, reading in zip(before, found, strict=True)]

    def _load(self) -> Any:
        if self._loaded is None:
            try:
                import spacy

                self._loaded = spacy.load(self._pipeline)
            # a package that is no pipeline has no `load`, or one that takes other arguments
            except (OSError, ValueError, ImportError, AttributeError, TypeError) as error:
                raise ModelUnavailable(
                    f"cannot load the spaCy pipeline {self._pipeline!r}: {shorten(str(error), limit=200)}",
                    hint=f"`python -m spacy download {DEFAULT_PIPELINE}` installs one; or give the path of its folder",
                ) from error
        return self._loaded


class _Token(Protocol):
    """A word of spaCy's, as far as we look at it."""

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
    """What a pipeline found in one chunk. The names in claims are keys."""

    entities: Sequence[_Entity]
    claims: Sequence[Claim]


def _label(pipeline: Any) -> str:
    """Return what a pipeline is called in the graph."""
    return f"spacy-{pipeline.meta['lang']}_{pipeline.meta['name']}-{pipeline.meta['version']}"


def _read(pipeline: Any, text: str, *, form: Form, known: Collection[str]) -> _Reading:
    """Return what a pipeline finds in a chunk of which the other extractor knows some names."""
    entities: list[_Entity] = []
    claims: list[Claim] = []
    for doc in pipeline.pipe(_sentences(replace_surrogates(text)[: pipeline.max_length], form=form)):
        inside = list(_find_entities(doc))
        entities += inside
        names = _find_names(doc.text, inside, known)
        claims += (
            Claim(
                source=statement.source,
                target=statement.target,
                type=statement.type,
                weight=PARSE_WEIGHT,
                description=shorten(doc.text),
            )
            for statement in _find_statements(doc, names)
        )
    return _Reading(entities, claims)


def _sentences(text: str, *, form: Form) -> list[str]:
    if form == "table":
        return []
    return [sentence.text for sentence in read_sentences(text, form=form) if sentence.role in ("prose", "item")]


# ── names ───────────────────────────────────────────────────────────────────────────────────────


def _find_entities(doc: Any) -> Iterator[_Entity]:
    """Yield the named entities that can be ours."""
    for span in doc.ents:
        label = span.label_.upper()
        match = _BARE.fullmatch(" ".join(span.text.split()).strip(_QUOTES))
        name = match[1] if match else ""
        if label not in LEFT_OUT and is_usable(name) and not is_common(name):
            type = TYPES.get(label, label.lower().replace("_", " "))
            yield _Entity(name, name_key(name), type, span.start_char, span.end_char)


def _find_names(text: str, entities: Iterable[_Entity], known: Collection[str]) -> list[_Named]:
    """Return where entities and known names stand in a sentence. Of two that overlap the longer one stays."""
    found = words(text)
    places = [_Named(key, found[at].start, found[at + size - 1].end) for key, at, size in match_names(found, known)]
    places += (_Named(entity.key, entity.start, entity.end) for entity in entities)
    kept: list[_Named] = []
    for place in sorted(places, key=lambda place: (place.start - place.end, place.start)):
        if all(place.end <= other.start or other.end <= place.start for other in kept):
            kept.append(place)
    return kept


def _agree(entities: Iterable[_Entity]) -> dict[str, str]:
    """Return by key the type that more than half of its places in a document have; none where they differ."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for entity in entities:
        counts[entity.key][entity.type] += 1
    best = {key: max(counter, key=lambda type: counter[type]) for key, counter in counts.items()}
    return {key: type for key, type in best.items() if counts[key][type] * 2 > counts[key].total()}


# ── relations ───────────────────────────────────────────────────────────────────────────────────


def _find_statements(doc: Any, names: Sequence[_Named]) -> Iterator[Statement]:
    """Yield what the verbs of a sentence say about its names, by their keys. A question says nothing."""
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
                continue  # `Acme was given Globex` says what Acme got, not what it gave
            is_agent = token.dep_ in _AGENTS or token.head.dep_ in _AGENTS
            type = _relation_type(verb, "" if is_agent else preposition)
            targets = _keys([token], names)
            pairs = [(source, target) for source in sources for target in targets if source != target]
            for source, target in pairs if type else ():
                ends = (target, source) if is_agent else (source, target)
                yield canonical(Statement(*ends, type))


def _find_subjects(verb: _Token) -> tuple[list[_Token], bool]:
    """
    Return who does what a verb says, and whether it is done to them; nobody where it is denied or left open.

    A verb joined to another one by `and` has its subject, and a relative clause that of the noun it belongs to.
    """
    place = verb.idx
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
        # `Globex was founded by Acme and bought Initech`: the second verb has an object, so it is not passive
        return [verb.head] if is_relative else own, own[0].dep_.endswith("pass") and verb.idx == place
    if verb.dep_ == "acl" and any(child.dep_ in _AGENTS for child in children):
        return [verb.head], True
    return [], False


def _find_objects(verb: _Token) -> Iterator[tuple[str, _Token]]:
    """Yield what a verb is done to, each with its preposition; a direct object has none."""
    for child in verb.children:
        if child.dep_ in _OBJECTS:
            yield "", child
        elif child.dep_ in ("prep", "agent"):
            yield from ((child.lower_, token) for token in child.children if token.dep_ == "pobj")
        elif child.dep_.partition(":")[0] == "obl":  # Universal Dependencies: the preposition hangs below the noun
            case = next((token.lower_ for token in child.children if token.dep_ == "case"), "")
            yield from [(case, child)] if case else []


def _relation_type(verb: _Token, preposition: str) -> str:
    """Return what a verb is called as a relation; empty if it is no word."""
    particles = [child.lower_ for child in verb.children if child.dep_ in _PARTICLES]
    parts = [(verb.lemma_ or verb.lower_).lower(), *particles, *([preposition] if preposition else [])]
    type = re.sub(r"\W+", "_", "_".join(parts))
    return KNOWN_VERBS.get(type, type) if len(type) <= MAX_TYPE and _TYPE.fullmatch(type) else ""


def _keys(tokens: Iterable[_Token], names: Sequence[_Named]) -> list[str]:
    """Return the keys of the names that tokens, and those joined to them by `and`, belong to."""
    waiting = list(tokens)
    found: dict[str, None] = {}
    while waiting:
        token = waiting.pop(0)
        found |= {name.key: None for name in names if name.start <= token.idx < name.end}
        waiting += (child for child in token.children if child.dep_ == "conj")
    return list(found)


# ── together ────────────────────────────────────────────────────────────────────────────────────


def _add(extraction: Extraction, reading: _Reading, types: Mapping[str, str], *, by: str) -> Extraction:
    """Return an extraction with what a reading adds to it. `types` has only keys that have none yet."""
    nominations = [
        replace(nomination, type=types[nomination.key], extractor=f"+{by}") if nomination.key in types else nomination
        for nomination in extraction.nominations
    ]
    # a heading has no vote, so it is nominated beside it; to any other kind a phrase would add nothing
    known = {nomination.key for nomination in nominations if nomination.kind != "heading"}
    added: dict[str, Nomination] = {}
    for entity in reading.entities:
        if entity.key not in known and entity.key not in added and len(added) < MAX_NAMES:
            type = types.get(entity.key, "")
            added[entity.key] = Nomination(key=entity.key, name=entity.name, kind="phrase", type=type, extractor=by)
    nominations += added.values()
    known = {nomination.key for nomination in nominations}
    taken = {(claim.source, claim.target, claim.type) for claim in extraction.claims}
    claims = list(extraction.claims)
    for claim in reading.claims:
        place = (claim.source, claim.target, claim.type)
        if claim.source in known and claim.target in known and place not in taken:
            taken.add(place)
            claims.append(replace(claim, extractor=by))
    return Extraction(nominations=tuple(nominations), claims=tuple(claims))
