"""
Parses written by hand, and what reads them in place of a trained spaCy pipeline.

Small stand-ins mimic spaCy where it is not installed; where it is, its own objects are built from the same parses.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from weft.records import Candidate, Chunk, Document, Extraction, StatedRelation

# ── a parse written down ────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Parse:
    """
    A sentence with its parse: `Acme/nsubj/1 bought/ROOT/1/buy Globex/dobj/1`, heads from 0.

    A word with a lemma is a verb, one with an empty lemma was not tagged. Entities: `Acme=ORG; Globex Works=FAC`.
    """

    line: str
    entities: str = ""

    @property
    def rows(self) -> list[list[str]]:
        return [token.split("/") for token in self.line.split()]

    @property
    def words(self) -> list[str]:
        return [row[0] for row in self.rows]

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @property
    def heads(self) -> list[int]:
        return [int(row[2]) for row in self.rows]

    @property
    def tags(self) -> list[str]:
        return ["NOUN" if len(row) == 3 else "VERB" if row[3] else "" for row in self.rows]

    @property
    def spans(self) -> Iterator[tuple[int, int, str]]:
        """The entities as (first word, word behind the last, label)."""
        for entry in filter(None, self.entities.split("; ")):
            name, label = entry.split("=")
            size = len(name.split())
            starts = [at for at in range(len(self.words)) if self.words[at : at + size] == name.split()]
            assert starts, f"{name} is not in {self.text!r}"
            yield from ((at, at + size, label) for at in starts)


def organisations(line: str) -> str:
    """The known names in a parse, as entities."""
    return "; ".join(f"{name}=ORG" for name in ("Acme", "Globex", "Globex?", "Initech") if f"{name}/" in line)


def plain(text: str, entities: str = "") -> Parse:
    """A sentence that nobody has parsed."""
    return Parse(" ".join(f"{word}//{at}" for at, word in enumerate(text.split())), entities)


STATEMENTS = {
    "a verb and its object": "Acme/nsubj/1 joined/ROOT/1/join Globex/dobj/1 => acme join globex",
    "a preposition": "Acme/nsubj/1 moved/ROOT/1/move to/prep/1 Globex/pobj/2 => acme move_to globex",
    "a particle": "Acme/nsubj/1 gave/ROOT/1/give up/prt/1 on/prep/1 Globex/pobj/3 => acme give_up_on globex",
    "a passive with its agent":
        "Globex/nsubjpass/2 was/auxpass/2 sued/ROOT/2/sue by/agent/2 Acme/pobj/3 => acme sue globex",
    "a passive with a preposition":
        "Globex/nsubjpass/2 was/auxpass/2 sold/ROOT/2/sell to/prep/2 Acme/pobj/3 => globex sell_to acme",
    "a verb with a name of its own":
        "Acme/nsubj/1 relies/ROOT/1/rely on/prep/1 Globex/pobj/2 => acme depends_on globex",
    "a relation that is kept the other way round":
        "Acme/nsubj/1 founded/ROOT/1/found Globex/dobj/1 => globex founded_by acme",
    "the same in the passive":
        "Globex/nsubjpass/2 was/auxpass/2 founded/ROOT/2/found by/agent/2 Acme/pobj/3 => globex founded_by acme",
    "two subjects":
        "Acme/nsubj/3 and/cc/0 Initech/conj/0 sued/ROOT/3/sue Globex/dobj/3 => acme sue globex; initech sue globex",
    "two objects":
        "Acme/nsubj/1 joined/ROOT/1/join Globex/dobj/1 and/cc/2 Initech/conj/2 => acme join globex; acme join initech",
    "a second verb with the same subject":
        "Acme/nsubj/1 joined/ROOT/1/join Globex/dobj/1 and/cc/1 left/conj/1/leave Initech/dobj/4"
        " => acme join globex; acme leave initech",
    "an active verb after a passive one":
        "Acme/nsubjpass/2 was/auxpass/2 sold/ROOT/2/sell and/cc/2 joined/conj/2/join Globex/dobj/4 => acme join globex",
    "a relative clause": "Acme/ROOT/0 which/nsubj/2 joined/relcl/0/join Globex/dobj/2 => acme join globex",
    "a participle behind its noun": "Globex/ROOT/0 sued/acl/0/sue by/agent/1 Acme/pobj/2 => acme sue globex",
    "universal dependencies":
        "Globex/nsubj:pass/2 was/aux:pass/2 sold/ROOT/2/sell to/case/4 Acme/obl/2 by/case/6 Initech/obl:agent/2"
        " => globex sell_to acme; initech sell globex",
    "universal dependencies with an object": "Acme/nsubj/1 joined/ROOT/1/join Globex/obj/1 => acme join globex",
    "a verb of which nothing but the parse is known": "Acme/nsubj/1 joined/ROOT/1/ Globex/dobj/1 => acme joined globex",
    "a verb with a hyphen": "Acme/nsubj/1 re-joined/ROOT/1/re-join Globex/dobj/1 => acme re_join globex",
}  # fmt: skip
"""Sentences and what they stated relation."""

SILENCE = {
    "a denial": "Acme/nsubj/3 did/aux/3 not/neg/3 join/ROOT/3/join Globex/dobj/3",
    "a denial in other words": "Acme/nsubj/2 nowise/neg/2 joined/ROOT/2/join Globex/dobj/2",
    "never": "Acme/nsubj/2 never/advmod/2 joined/ROOT/2/join Globex/dobj/2",
    "no longer": "Acme/nsubj/3 no/neg/2 longer/advmod/3 joins/ROOT/3/join Globex/dobj/3",
    "a possibility": "Acme/nsubj/2 might/aux/2 join/ROOT/2/join Globex/dobj/2",
    "a condition": "If/mark/2 Acme/nsubj/2 joins/advcl/2/join Globex/dobj/2",
    "a possibility shared by a second verb": (
        "Acme/nsubj/2 may/aux/2 wait/ROOT/2/wait or/cc/2 join/conj/2/join Globex/dobj/4"
    ),
    "a question": "Who/nsubj/1 knows/ROOT/1/know Acme/nsubj/3 joined/ccomp/1/join Globex?/dobj/3",
    "a wish": "Acme/nsubj/1 wants/ROOT/1/want to/aux/3 join/xcomp/1/join Globex/dobj/3",
    "a subject that only belongs to a name": "Acme/poss/1 lawyers/nsubj/2 sued/ROOT/2/sue Globex/dobj/2",
    "a participle that belongs to nobody": "Sued/dep/3/sue by/agent/0 Acme/pobj/1 Globex/ROOT/3",
    "a preposition without a noun": "Acme/nsubj/1 moved/ROOT/1/move out/prep/1 Globex/npadvmod/2",
    "a gift": "Acme/nsubjpass/2 was/auxpass/2 given/ROOT/2/give Globex/dobj/2",
    "being": "Acme/nsubj/1 is/ROOT/1/be in/prep/1 Globex/pobj/2",
    "having": "Acme/nsubj/1 has/ROOT/1/have Globex/dobj/1",
    "no verb": "Acme/nsubj/1 president/ROOT/1 Globex/dobj/1",
    "no word": "Acme/nsubj/1 ==/ROOT/1/== Globex/dobj/1",
    "a word without end": f"Acme/nsubj/1 {'x' * 50}/ROOT/1/{'x' * 50} Globex/dobj/1",
    "itself": "Acme/nsubj/1 joined/ROOT/1/join Acme/dobj/1",
    "a verb that hangs on itself": "Acme/dobj/1 joined/conj/1/join Globex/dobj/1",
}
"""Sentences that stated relation nothing."""


# ── stand-ins for spaCy ─────────────────────────────────────────────────────────────────────────


@dataclass(eq=False)
class Token:
    """spaCy's token, with the attributes that are used."""

    idx: int
    lower_: str
    dep_: str
    lemma_: str
    pos_: str
    children: list[Token] = field(default_factory=list)
    head: Token = None  # type: ignore[assignment]


class Span:
    """spaCy's span, with the attributes that are used."""

    def __init__(self, text: str, start: int, end: int, label: str) -> None:
        self.text, self.start_char, self.end_char, self.label_ = text[start:end], start, end, label


class Doc(list[Token]):
    """spaCy's document: its tokens, its entities, its text."""

    def __init__(self, parse: Parse) -> None:
        starts = [len(" ".join(parse.words[:at])) + (at > 0) for at in range(len(parse.words))]
        for (word, dep, _, *lemma), tag, start in zip(parse.rows, parse.tags, starts, strict=True):
            super().append(Token(start, word.lower(), dep, (lemma or [word])[0], tag))
        for token, head in zip(self, parse.heads, strict=True):
            token.head = self[head]
            if token.head is not token:
                token.head.children.append(token)
        self.text = parse.text
        ends = [start + len(word) for start, word in zip(starts, parse.words, strict=True)]
        self.ents = [Span(self.text, starts[first], ends[behind - 1], label) for first, behind, label in parse.spans]


class Pipeline:
    """spaCy's `Language`: knows the parses it was given, and finds nothing in any other text."""

    def __init__(self, parses: Sequence[Parse] = (), *, max_length: int = 1_000_000) -> None:
        self.meta = {"lang": "en", "name": "core_web_sm", "version": "3.8.0"}
        self.max_length = max_length
        self.parses = {parse.text: parse for parse in parses}
        self.seen: list[str] = []

    def pipe(self, texts: Sequence[str]) -> Iterator[Doc]:
        self.seen += texts
        return (Doc(self.parses.get(text) or plain(text)) for text in texts)


def stand_in(pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Put a stand-in for the library where Python looks for modules; the list takes down what is loaded."""
    loaded: list[str] = []

    def load(name: str) -> Pipeline:
        loaded.append(name)
        if name == "missing":
            raise OSError("[E050] Can't find model 'missing'. It doesn't seem to be a Python package.")
        return pipeline

    module = ModuleType("spacy")
    module.__spec__ = ModuleSpec("spacy", None)
    module.load = load  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spacy", module)
    return loaded


# ── spaCy itself ────────────────────────────────────────────────────────────────────────────────

PARSES: dict[str, Parse] = {}
"""What the component below finds, by text."""


def read_by_heart(doc: Any) -> Any:
    """A component that replaces a document by the parse that was written down for its text."""
    import spacy.tokens

    parse = PARSES.get(doc.text)
    if parse is None:
        return doc
    rows = parse.rows
    made = spacy.tokens.Doc(
        doc.vocab,
        words=parse.words,
        spaces=[True] * (len(rows) - 1) + [False],
        heads=parse.heads,
        deps=[row[1] or "dep" for row in rows],
        lemmas=[(row[3:] or row)[0] for row in rows],
        pos=parse.tags,
    )
    made.ents = [spacy.tokens.Span(made, start, end, label=label) for start, end, label in parse.spans]
    return made


def save_pipeline(folder: Path, parses: Sequence[Parse]) -> str:
    """Write a real pipeline to disk that reads the given sentences by heart."""
    spacy = pytest.importorskip("spacy")
    from spacy.language import Language

    Language.component("weft_read_by_heart", func=read_by_heart)
    PARSES.clear()
    PARSES.update({parse.text: parse for parse in parses})
    pipeline = spacy.blank("en")
    pipeline.add_pipe("weft_read_by_heart")
    pipeline.to_disk(folder)
    return str(folder)


# ── what stands around the extractor ────────────────────────────────────────────────────────────


class Inner:
    """The inner extractor: returns the scripted extractions, one per chunk, and empty ones after them."""

    name = "inner-1"

    def __init__(self, *given: Extraction) -> None:
        self.given = given

    def extract(self, document: Document, chunks: Sequence[Chunk]) -> list[Extraction]:
        return [*self.given, *[Extraction()] * len(chunks)][: len(chunks)]


def chunks_of(*texts: str) -> list[Chunk]:
    return [
        Chunk(id=f"c{at}", document_id="d", ordinal=at, heading=(), start_line=1, end_line=1, text=text)
        for at, text in enumerate(texts)
    ]


def document_of(form: Any = "text") -> Document:
    return Document(source="notes.txt", title="Notes", text="", form=form)


def said(*candidates: Candidate, stated_relations: Sequence[StatedRelation] = ()) -> Extraction:
    return Extraction(candidates=candidates, stated_relations=tuple(stated_relations))


def named(name: str, kind: Any = "phrase", type: str = "") -> Candidate:
    return Candidate(key=name.lower(), name=name, kind=kind, type=type)


def triples(extraction: Extraction) -> list[str]:
    """Return the stated relations of an extraction as `source type target`."""
    return [f"{stated.source} {stated.type} {stated.target}" for stated in extraction.stated_relations]
