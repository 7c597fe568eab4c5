"""Every context format of a result from a real store."""

import re
from dataclasses import replace

import pytest
from memory_store.store import MemoryDatabase
from test_graph_context import SAMPLE, SAMPLE_TEXT

from weft.config import read_settings
from weft.engine.context_builder import NO_GRAPH_EVIDENCE
from weft.engine.embedder import adopt_embedder
from weft.engine.engine import Engine
from weft.errors import ConfigError
from weft.extract.names import name_key
from weft.index.run import index_documents
from weft.records import Candidate, Document, Extraction, StatedRelation
from weft.testing import FakeEmbedder

ASKED = "Auth Service and OAuth Provider"


class SampleExtractor:
    """Says of each page what the sample of the design says of the entity of that name."""

    name = "sample"

    def extract(self, document, chunks):
        names = SAMPLE.all_names()
        (entity,) = (entity for entity in SAMPLE.entities if entity.name == document.title)
        own = [relation for relation in SAMPLE.relations if relation.source_id == entity.id]
        candidates = [
            Candidate(key=name_key(name), name=name, kind="given") for id, name in names.items() if id != entity.id
        ]
        candidates.append(
            Candidate(
                key=name_key(entity.name),
                name=entity.name,
                kind="given",
                type=entity.type,
                description=entity.description,
                about=True,
            )
        )
        stated_relations = [
            StatedRelation(
                source=name_key(names[relation.source_id]),
                target=name_key(names[relation.target_id]),
                type=relation.type,
                weight=relation.weight,
                description=relation.description,
            )
            for relation in own
        ]
        return [Extraction(candidates=tuple(candidates), stated_relations=tuple(stated_relations))] * len(chunks)


def open_with(**overrides):
    """Return an engine on a new store; its settings as `group_field`."""
    values = {name.replace("_", ".", 1): value for name, value in overrides.items()}
    settings = read_settings({"graph.extractor": "rules", **values}, environment={})
    return Engine(settings, database=MemoryDatabase(), embedder=FakeEmbedder())


@pytest.fixture(scope="module")
def engine():
    """An engine on the graph of the design's sample."""
    engine = open_with()
    adopt_embedder(engine.store, engine.embedder)
    # two pages on the provider, so that the question's rarer entity, which comes first, is the service
    pages = [
        Document(source=f"{name}.md", title=title, text="Signs people in.")
        for name, title in [("auth", "Auth Service"), ("oauth", "OAuth Provider"), ("issuer", "OAuth Provider")]
    ]
    index_documents(
        pages,
        store=engine.store,
        embedder=engine.embedder,
        options=engine.settings.split,
        extractor=SampleExtractor(),
    )
    return engine


@pytest.fixture(scope="module")
def result(engine):
    return engine.query(ASKED)


def test_the_graph_block_is_that_of_the_design(engine, result):
    """From documents to the block: the sample to the character, with neighbours that no result is about."""
    context = engine.context(result, format="graph")

    assert context.text == SAMPLE_TEXT
    assert [source["name"] for source in context.sources] == ["Auth Service", "OAuth Provider"]
    assert context.omitted == 0


def test_the_evidence_is_that_of_the_design(engine, result):
    """Entities, then what relates them, then chunks with score and source."""
    context = engine.context(result)

    assert context == engine.context(result, format="evidence")
    assert re.fullmatch(
        r"## Related Entities\n\n"
        r"\*\*Auth Service\*\* \(concept\)\n\nCore authentication service .*\n\n"
        r"\*\*OAuth Provider\*\* \(tool\)\n\nExternal OAuth2 provider .*\n\n"
        r'### Relationships\n\n- Auth Service -> OAuth Provider: "depends_on"\n\n'
        r"(\n---\n\n\[Score: \d\.\d\d\]\n(Auth Service|OAuth Provider)\nSigns people in\.\nSource: \w+\.md:1\n){3}",
        context.text,
    )
    assert [source["type"] for source in context.sources] == ["entity"] * 2 + ["chunk"] * 3


def test_the_block_can_stand_behind_the_evidence(engine, result):
    """The entities appear once."""
    context = engine.context(result, format="evidence+graph")

    assert context.text.startswith("[Score: ")
    assert context.text.endswith(f".md:1\n\n---\n\n{SAMPLE_TEXT}")
    assert [source["type"] for source in context.sources] == ["chunk"] * 3 + ["entity"] * 2


def test_relationships_and_sources_are_left_out_by_setting(engine, result):
    """The settings apply to the evidence; the graph block consists of relations."""
    options = replace(engine.settings.context, include_relationships=False, include_sources=False)
    other = Engine(replace(engine.settings, context=options), database=engine.database, embedder=engine.embedder)

    assert "Relationships" not in other.context(result).text
    assert "Source:" not in other.context(result).text
    assert "**OAuth Provider**" in other.context(result).text
    assert other.context(result, format="graph").text == SAMPLE_TEXT


@pytest.mark.parametrize("format", ["evidence", "graph", "evidence+graph"])
@pytest.mark.parametrize("budget", [0, 1, 20, 40, 80, 120, 200, 400])
def test_every_format_keeps_to_the_budget_and_says_what_it_left_out(engine, result, format, budget):
    """In the last line, unless nothing fits."""
    context = engine.context(result, format=format, budget=budget)
    whole = engine.context(result, format=format, budget=4000)

    assert engine._token_counter.get().count(context.text) == context.tokens <= budget
    assert whole.omitted == 0
    assert (context.omitted == 0) == (context.text == whole.text)
    if context.omitted and context.text:
        assert context.text.endswith(f"\n[omitted {context.omitted}]\n")


def test_the_block_has_a_budget_of_its_own(engine, result):
    """In the settings; the budget of a call takes its place where the block stands alone."""
    options = replace(engine.settings.context, format="graph", graph_budget=90)
    other = Engine(replace(engine.settings, context=options), database=engine.database, embedder=engine.embedder)

    assert 45 < other.context(result).tokens <= 90
    assert other.context(result, budget=1000).text == SAMPLE_TEXT
    behind = other.context(result, format="evidence+graph", budget=1000).text
    assert behind.partition("## Knowledge Graph Context")[2].count("### ") < SAMPLE_TEXT.count("### ")


def test_what_is_said_of_an_entity_is_set(engine, result):
    """Its section of the block, and its description before the evidence."""

    def context_text(format, **changes):
        options = replace(engine.settings.context, format=format, **changes)
        other = Engine(replace(engine.settings, context=options), database=engine.database, embedder=engine.embedder)
        return other.context(result).text

    section = re.compile(r"### Auth Service .*?(?=\n\n)", re.DOTALL)
    short = section.search(context_text("graph", entity_tokens=30)).group()
    assert (
        engine._token_counter.get().count(short)
        <= 30
        < engine._token_counter.get().count(section.search(SAMPLE_TEXT).group())
    )
    assert context_text("evidence", entity_tokens=100) == context_text("evidence")
    assert "\n\nCore …\n\n" in context_text("evidence", entity_tokens=3)


@pytest.mark.parametrize("format", ["evidence", "evidence+graph"])
def test_the_graph_is_only_told_of_where_it_contributed(engine, result, format):
    """Otherwise the evidence is the same as without a graph."""
    hybrid = engine.query(ASKED, method="hybrid")
    unled = replace(result, evidence=tuple(replace(piece, graph=None) for piece in result.evidence))

    assert engine.context(hybrid, format=format).text.startswith("[Score: ")
    assert "Knowledge Graph" not in engine.context(hybrid, format=format).text
    assert engine.context(unled, format=format).text.startswith("[Score: ")
    assert engine.context(replace(result, evidence=()), format=format).text == ""


def test_without_a_graph_its_format_says_so_in_a_line(engine, result):
    """With the reason: the method, what the question names, or what the answer holds."""

    def line(other):
        context = engine.context(other, format="graph")
        assert (context.sources, context.omitted, context.text.count("\n")) == ((), 0, 1)
        assert engine.context(other, format="graph", budget=5).text == ""
        return context.text

    unnamed = engine.query("where do people sign in", graph={"confidence": "heuristic"})
    assert line(engine.query(ASKED, method="hybrid")) == (
        "No knowledge graph context: the method 'hybrid' does not use the graph\n"
    )
    assert line(unnamed) == f"No knowledge graph context: {unnamed.graph.skipped}\n"
    assert line(replace(result, evidence=())) == f"No knowledge graph context: {NO_GRAPH_EVIDENCE}\n"


def test_what_is_stated_of_two_hides_that_they_are_named_together():
    """A link or a mention beside it would only cost tokens."""
    engine = open_with()
    pages = {
        "Old Mill": ({}, "Grinds corn by the river."),
        "Water Wheel": ({"depends_on": ["Old Mill"]}, "Turns the stones of the [[Old Mill]]. Old Mill it is."),
        "Picture Book": ({}, "On page nine stands the [[Old Mill]]."),
    }
    engine.add(
        Document(source=f"{title}.md", title=title, text=text, metadata=metadata, form="markdown")
        for title, (metadata, text) in pages.items()
    )
    result = engine.query("who needs the Old Mill")
    text = engine.context(result, format="graph").text

    assert len({relation.type for relation in result.graph.relations}) > 2
    assert "Related: Water Wheel (depended_on_by), Picture Book (linked_from)\n" in text
    assert text.count("-> Old Mill:") == 2


@pytest.mark.parametrize("format", ["narrativ", "", 3])
def test_an_unknown_format_is_refused(engine, result, format):
    """With those there are."""
    with pytest.raises(ConfigError, match=r"invalid context\.format"):
        engine.context(result, format=format)
