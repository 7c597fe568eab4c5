"""
The adapter for spaCy.

A trained pipeline is no part of the tests, so parses are written by hand. What reads sentences is tested with stand-ins
for the library and, where spaCy is installed, a second time with its own objects and a pipeline loaded from disk.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest
from spacy_parses import (
    SILENCE,
    STATEMENTS,
    Inner,
    Parse,
    Pipeline,
    chunks_of,
    document_of,
    named,
    organisations,
    plain,
    said,
    save_pipeline,
    stand_in,
    triples,
)

from weft.errors import MissingExtra, ModelUnavailable
from weft.extract.relation_types import INVERSE, LEMMAS
from weft.extract.statements import VERB_WEIGHT
from weft.models.extractors.spacy import MAX_NAMES, PARSE_WEIGHT, SpacyExtractor
from weft.records import Candidate, Extraction, StatedRelation

Read = Callable[..., list[Extraction]]


@pytest.fixture(params=["stand-in", "spacy"] if find_spec("spacy") else ["stand-in"])
def read(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """A function that reads chunks, each a list of parsed sentences, on top of what an inner extractor said."""

    def read_chunks(*chunks: Sequence[Parse], inner: Sequence[Extraction] = ()) -> list[Extraction]:
        parses = [parse for chunk in chunks for parse in chunk]
        if request.param == "stand-in":
            stand_in(Pipeline(parses), monkeypatch)
            extractor = SpacyExtractor(Inner(*inner))
        else:
            extractor = SpacyExtractor(Inner(*inner), pipeline=save_pipeline(tmp_path / "pipeline", parses))
        texts = ["\n\n".join(parse.text for parse in chunk) for chunk in chunks]
        return extractor.extract(document_of(), chunks_of(*texts))

    return read_chunks


# ── opening ─────────────────────────────────────────────────────────────────────────────────────


def test_an_absent_library_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening fails at once, with the pip command."""
    monkeypatch.setitem(sys.modules, "spacy", None)

    with pytest.raises(MissingExtra) as caught:
        SpacyExtractor(Inner())

    assert caught.value.hint == "run pip install 'weft-search[spacy]'"


def test_the_name_says_which_pipeline_in_which_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is loaded by the first use, and only once."""
    loaded = stand_in(Pipeline(), monkeypatch)
    extractor = SpacyExtractor(Inner(), pipeline="en_core_web_sm")
    assert loaded == []

    assert extractor.name == "inner-1+spacy-en_core_web_sm-3.8.0"
    extractor.extract(document_of(), chunks_of("Acme"))

    assert loaded == ["en_core_web_sm"]


def test_a_pipeline_that_is_not_installed_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hint says how to get one; the pipeline is not fetched."""
    stand_in(Pipeline(), monkeypatch)

    with pytest.raises(ModelUnavailable, match="cannot load the spaCy pipeline 'missing'") as caught:
        SpacyExtractor(Inner(), pipeline="missing").extract(document_of(), chunks_of("Acme"))

    assert "python -m spacy download en_core_web_sm" in caught.value.hint


@pytest.mark.parametrize("pipeline", ["no_such_pipeline", "./no/such/folder", "pytest", ""])
def test_spacy_itself_does_not_know_the_pipeline(pipeline: str) -> None:
    """Another package is not accepted as a pipeline."""
    pytest.importorskip("spacy")

    with pytest.raises(ModelUnavailable):
        _ = SpacyExtractor(Inner(), pipeline=pipeline).name


# ── names ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "label, type",
    [
        ("PERSON", "person"), ("PER", "person"), ("ORG", "organisation"), ("GPE", "place"), ("LOC", "place"),
        ("FAC", "place"), ("WORK_OF_ART", "work"), ("LAW", "work"), ("EVENT", "event"), ("PRODUCT", "product"),
        ("MISC", ""), ("CELL_LINE", "cell line"),
    ],
)  # fmt: skip
def test_a_named_entity_is_a_phrase_with_a_type(read: Read, label: str, type: str) -> None:
    """Labels of other pipelines are their own types, in lower case."""
    (found,) = read([plain("They saw Velmora there", f"Velmora={label}")])

    (candidate,) = found.candidates
    assert candidate._replace(extractor="") == Candidate(key="velmora", name="Velmora", kind="phrase", type=type)
    assert candidate.extractor.startswith("spacy-en_")


@pytest.mark.parametrize(
    "label", ["DATE", "TIME", "CARDINAL", "ORDINAL", "MONEY", "PERCENT", "QUANTITY", "NORP", "LANGUAGE"]
)
def test_dates_numbers_and_nationalities_are_no_names(read: Read, label: str) -> None:
    """However much they look like one."""
    assert read([plain("They saw Velmora there", f"Velmora={label}")]) == [said()]


@pytest.mark.parametrize("name", ["However", "3.2", "v2", "!?", "the"])
def test_what_cannot_be_an_entity_is_not_proposed(read: Read, name: str) -> None:
    """A recogniser also marks words, versions and punctuation."""
    assert read([plain(f"so {name} it is", f"{name}=ORG")]) == [said()]


@pytest.mark.parametrize("written", ["the Velmora", "Velmora's", "The Velmora’s", '"Velmora"'])
def test_article_possessive_and_quotes_are_no_part_of_a_name(read: Read, written: str) -> None:
    """The rule is the same as for other candidates."""
    (found,) = read([plain(f"near {written} gate", f"{written}=GPE")])

    assert [(n.key, n.name) for n in found.candidates] == [("velmora", "Velmora")]


def test_what_the_inner_extractor_proposed_comes_first_and_once(read: Read) -> None:
    """A heading alone has no vote, so beside it the name is proposed anew."""
    inner = said(named("Acme"), named("Globex", "link"), named("Initech", "heading"))

    (found,) = read([plain("Acme Globex Initech", "Acme=ORG; Globex=ORG; Initech=ORG")], inner=[inner])

    assert [(n.name, n.kind) for n in found.candidates] == [
        ("Acme", "phrase"), ("Globex", "link"), ("Initech", "heading"), ("Initech", "phrase"),
    ]  # fmt: skip


def test_a_phrase_without_a_type_gets_one(read: Read) -> None:
    """The inner extractor only saw that it is capitalised."""
    (found,) = read([plain("near Velmora", "Velmora=GPE")], inner=[said(named("Velmora"))])

    (candidate,) = found.candidates
    assert candidate._replace(extractor="") == named("Velmora", type="place")
    assert candidate.extractor.startswith("+spacy-en_")


@pytest.mark.parametrize("known", [named("Velmora", type="service"), named("Velmora", "title")])
def test_what_the_inner_extractor_knows_better_keeps_its_type(read: Read, known: Candidate) -> None:
    """In the whole document: it has a type, or is more than a phrase and has none on purpose."""
    sentence = plain("near Velmora", "Velmora=GPE")

    first, second = read([sentence], [sentence], inner=[said(), said(known)])

    assert [candidate._replace(extractor="") for candidate in first.candidates] == [named("Velmora")]
    assert second == said(known)


def test_a_type_needs_more_than_half_of_the_places(read: Read) -> None:
    """All chunks of the document are counted."""
    place, person = plain("near Velmora", "Velmora=GPE"), plain("with Velmora", "Velmora=PERSON")

    assert {n.type for found in read([place], [person], [place]) for n in found.candidates} == {"place"}
    assert {n.type for found in read([place], [person]) for n in found.candidates} == {""}


def test_the_first_spelling_stays(read: Read) -> None:
    """A name is proposed once in a chunk."""
    (found,) = read([plain("near Velmora", "Velmora=GPE"), plain("near VELMORA", "VELMORA=GPE")])

    assert [n.name for n in found.candidates] == ["Velmora"]


def test_a_chunk_gets_only_so_many_names(read: Read) -> None:
    """No stated relation refers to an omitted name."""
    crowd = [f"Velmora{at}x" for at in range(MAX_NAMES)]
    late = Parse("Acme/nsubj/1 joined/ROOT/1/join Globex/dobj/1", "Acme=ORG; Globex=ORG")

    (found,) = read([*(plain(f"near {name}", f"{name}=GPE") for name in crowd), late])

    assert [n.name for n in found.candidates] == crowd
    assert found.stated_relations == ()


# ── relations ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("case", STATEMENTS)
def test_a_verb_relates_its_names(read: Read, case: str) -> None:
    """Subject, object and prepositional object are related in the stored direction."""
    line, _, expected = STATEMENTS[case].partition(" => ")

    (found,) = read([Parse(line, organisations(line))])

    assert triples(found) == expected.split("; ")


@pytest.mark.parametrize("case", SILENCE)
def test_what_is_not_plainly_said_is_no_relation(read: Read, case: str) -> None:
    """Denied, left open, asked, or said of somebody else."""
    (found,) = read([Parse(SILENCE[case], organisations(SILENCE[case]))])

    assert found.stated_relations == ()
    assert found.candidates != ()


def test_a_verb_inside_a_name_says_nothing(read: Read) -> None:
    """`Mama Told Globex` is a song."""
    line = "Mama/nsubj/1 Told/ROOT/1/tell Globex/dobj/1 by/prep/1 Acme/pobj/3"

    (found,) = read([Parse(line, "Mama Told Globex=WORK_OF_ART; Acme=ORG")])

    assert found.stated_relations == ()


def test_names_the_inner_extractor_knows_can_be_related(read: Read) -> None:
    """The pipeline need not recognise them as named entities; other words are not related."""
    line = "The/det/2 retry/compound/2 queue/nsubj/3 feeds/ROOT/3/feed Ledger/dobj/3 and/cc/4 boats/conj/4"

    (found,) = read([Parse(line)], inner=[said(named("retry queue", "definition"), named("Ledger"))])

    assert triples(found) == ["retry queue feed ledger"]


def test_of_two_names_at_one_place_the_longer_one_counts(read: Read) -> None:
    """`Session Store Failover` is not the session store."""
    line = "Acme/nsubj/1 runs/ROOT/1/run Session/compound/4 Store/compound/4 Failover/dobj/1"
    inner = said(named("Acme"), named("Session Store Failover", "title"))

    (found,) = read([Parse(line, "Store Failover=FAC")], inner=[inner])

    assert triples(found) == ["acme run session store failover"]


def test_a_parse_is_trusted_less_than_a_pattern(read: Read) -> None:
    """The description is the sentence, cut where it is long."""
    line = "Acme/nsubj/1 joined/ROOT/1/join Globex/dobj/1" + " again/advmod/1" * 100

    (found,) = read([Parse(line, organisations(line))])

    assert PARSE_WEIGHT == VERB_WEIGHT - 1 == 6
    (stated,) = found.stated_relations
    assert stated.weight == PARSE_WEIGHT
    assert stated.description.startswith("Acme joined Globex again")
    assert 250 < len(stated.description) <= 300


def test_what_the_inner_extractor_stated_stays_as_it_is(read: Read) -> None:
    """The same relation is not stated twice, and a sentence that is repeated stated relations once."""
    known = StatedRelation(source="globex", target="acme", type="founded_by", weight=10.0, description="founder: Acme")
    inner = said(named("Acme"), named("Globex"), stated_relations=[known])
    founded = Parse("Acme/nsubj/1 founded/ROOT/1/found Globex/dobj/1")
    sued = Parse("Acme/nsubj/1 sued/ROOT/1/sue Globex/dobj/1")

    (found,) = read([founded, sued, founded, sued], inner=[inner])

    assert found.stated_relations[0] == known
    assert triples(found) == ["globex founded_by acme", "acme sue globex"]


def test_every_known_verb_is_a_relation_with_an_inverse() -> None:
    """A misspelt one would be a relation of its own."""
    assert set(LEMMAS.values()) <= set(INVERSE)


# ── text ────────────────────────────────────────────────────────────────────────────────────────


def test_each_chunk_gets_its_own(read: Read) -> None:
    """In their order, and the same every time."""
    chunks = [[plain("near Velmora", "Velmora=GPE")], [plain("nothing here")], [plain("with Acme", "Acme=ORG")]]

    found = read(*chunks, inner=[said(), said(named("Globex"))])

    assert [[n.name for n in each.candidates] for each in found] == [["Velmora"], ["Globex"], ["Acme"]]
    assert read(*chunks, inner=[said(), said(named("Globex"))]) == found


def test_the_pipeline_is_given_plain_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    """No markup, no headings, no code, and of a table nothing at all."""
    pipeline = Pipeline()
    stand_in(pipeline, monkeypatch)
    text = "# Velmora\n\nThe **Auth Service** uses [[Ledger|it]]. It waits.\n\n- item\n\n```\ncode\n```\n\n| a | cell |"

    SpacyExtractor(Inner()).extract(document_of("markdown"), chunks_of(text))
    SpacyExtractor(Inner()).extract(document_of("table"), chunks_of("name: Ledger"))

    assert pipeline.seen == ["The Auth Service uses it.", "It waits.", "item"]


def test_a_chunk_is_cut_at_the_longest_text_a_pipeline_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lone surrogates, which the library refuses, are replaced."""
    pipeline = Pipeline(max_length=10)
    stand_in(pipeline, monkeypatch)

    SpacyExtractor(Inner()).extract(document_of(), chunks_of("\ud800bc efgh jklm"))

    assert pipeline.seen == ["\ufffdbc efgh j"]


ODD = {
    "empty": "",
    "blank": " \n\t\n ",
    "a lone surrogate": "Acme \ud800 and \udfff",
    "CJK": "认证服务依赖会话存储。 認証サービス",
    "emoji": "👩‍👩‍👧 joined 🏢 🇫🇷.",
    "zero bytes": "\x00Acme\x00joined\x00",
    "a megabyte": "Acme joined Globex today. " * 40_000,
    "a megabyte without a space": "x" * 1_000_000,
}  # fmt: skip


@pytest.mark.parametrize("case", ODD)
def test_odd_text_is_no_trouble_for_spacy(case: str, tmp_path: Path) -> None:
    """A blank pipeline adds nothing, whatever it reads."""
    spacy = pytest.importorskip("spacy")
    spacy.blank("en").to_disk(tmp_path)
    extractor = SpacyExtractor(Inner(said(named("Acme"), named("Globex"))), pipeline=str(tmp_path))

    assert extractor.extract(document_of(), chunks_of(ODD[case])) == [said(named("Acme"), named("Globex"))]


@pytest.mark.parametrize("case", [case for case in ODD if "megabyte" not in case])
def test_odd_text_is_no_trouble(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same without the library."""
    stand_in(Pipeline(), monkeypatch)

    assert SpacyExtractor(Inner()).extract(document_of(), chunks_of(ODD[case])) == [said()]


def test_no_chunks_give_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document may be empty."""
    stand_in(Pipeline(), monkeypatch)

    assert SpacyExtractor(Inner()).extract(document_of(), []) == []


def test_an_entity_ruler_is_a_pipeline_too(tmp_path: Path) -> None:
    """spaCy's own tokenizer and rules, from a folder; without a parser there are names, but no relations."""
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    pipeline.add_pipe("entity_ruler").add_patterns(
        [{"label": "ORG", "pattern": "Globex Works"}, {"label": "DATE", "pattern": "1931"}]
    )
    pipeline.to_disk(tmp_path)
    extractor = SpacyExtractor(Inner(), pipeline=str(tmp_path))

    found = extractor.extract(document_of(), chunks_of("In 1931 the bridge was built by Globex Works, near Velmora."))

    assert [(n.name, n.kind, n.type) for n in found[0].candidates] == [("Globex Works", "phrase", "organisation")]
    assert found[0].stated_relations == ()
    assert extractor.name == "inner-1+spacy-en_pipeline-0.0.0"
