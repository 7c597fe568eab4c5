"""Rules of `auto`: matching, nearly matching, and disabled."""

import json
from pathlib import Path

import jsonschema
import pytest
from making import adopt, ask
from papers import FINDINGS, MAGMA

from weft.cli.results import choice_text
from weft.config import GraphOptions, SearchOptions, SplitOptions
from weft.context.serialise import result_to_dict
from weft.engine.opening.open_engine import open_engine
from weft.engine.uploads import read_findings
from weft.errors import ConfigError
from weft.extract.rules import RuleExtractor
from weft.index.run import index_documents
from weft.records import Document
from weft.search.run import find
from weft.search.search_context import SearchContext
from weft.testing import FakeEmbedder

PAGES = [
    Document(
        source="oauth.md", title="OAuth Provider", text="Issues identity tokens for SR-052, after ERR_CONN_RESET."
    ),
    Document(source="auth.md", title="Auth Service", text="Checks tokens. Relies on the OAuth Provider."),
    Document(source="vsync.md", title="Display", text="The vsync rate excited everybody; a reference for later."),
]


@pytest.fixture(scope="module")
def store(shared_database):
    embedder = FakeEmbedder()
    store = adopt(shared_database.store("default"), embedder)
    documents = [*read_findings(FINDINGS), *PAGES]
    index_documents(documents, store=store, embedder=embedder, options=SplitOptions(), extractor=RuleExtractor())
    return store


@pytest.mark.parametrize(
    "text, rule, method",
    [
        (f"who cites {MAGMA}?", "citation", "graph"),
        (f"{MAGMA}的参考文献", "citation", "graph"),
        ("SR-052", "exact", "hybrid"),
        ("what is ERR_CONN_RESET?", "exact", "hybrid"),
        ('"identity tokens"', "exact", "hybrid"),
        ("Auth Service vs OAuth Provider", "comparison", "mix"),
        ("Auth Service和OAuth Provider的区别", "comparison", "mix"),
        ("overview of tokens", "overview", "mix"),
        ("令牌综述", "overview", "mix"),
        ("who relies on the OAuth Provider?", "default", "mix"),
        ("which page has SR-052 in it", "default", "mix"),
        ("OAuth Provider", "default", "mix"),
        ("what is the Auth Service?", "default", "mix"),
        ('"OAuth Provider"', "default", "mix"),
        ("the vsync rate", "default", "mix"),
        ("what excited everybody", "default", "mix"),
        ("a reference for later", "default", "mix"),
        ("arXiv:2501.03236", "default", "mix"),
        ("who cites the Display", "default", "mix"),
    ],
)
def test_the_first_rule_that_holds_decides(store, embedder, text, rule, method):
    """A name that the graph knows is left to `mix`, which has what hybrid finds and what it is related to."""
    result = ask(store, embedder, text, gate=False)

    assert (result.choice.rule, result.method) == (rule, method)
    assert result.reason


@pytest.mark.parametrize(
    "text, rule",
    [
        (f"who cites {MAGMA}?", "citation"),
        ("SR-052", "exact"),
        ("Auth Service vs OAuth Provider", "comparison"),
        ("overview of tokens", "overview"),
    ],
)
def test_each_rule_can_be_switched_off(store, embedder, text, rule):
    """The default method runs, and the features stay the same."""
    others = tuple(name for name in ("citation", "exact", "comparison", "overview") if name != rule)
    result = ask(store, embedder, text, auto_rules=others, gate=False)

    assert (result.choice.rule, result.method) == ("default", "mix")
    seen = result.choice.features
    assert {"citation": seen.citation, "exact": seen.ids, "comparison": seen.comparison, "overview": seen.overview}[
        rule
    ]


def test_what_the_index_knows_is_among_the_features(store, embedder):
    """The features have the named entities, their chunk counts and their share of the question."""
    seen = ask(store, embedder, "who relies on the OAuth Provider?").choice.features

    assert (seen.language, seen.entities, seen.degree) == ("en", ("OAuth Provider",), 2)
    assert 0 < seen.named < 1
    assert ask(store, embedder, "OAuth Provider").choice.features.named == 1.0


def test_a_method_that_was_asked_for_is_not_chosen(store, embedder):
    """The result has no choice."""
    result = ask(store, embedder, "OAuth Provider", method="mix")

    assert (result.method, result.reason, result.choice) == ("mix", "", None)


def test_without_a_graph_nothing_is_cited(store, embedder):
    """The graph is switched off, and with it the rule."""
    off, options = GraphOptions(enabled=False), SearchOptions(gate=False)
    search = SearchContext(store=store, embedder=embedder, options=options, graph=off)
    result = find(f"who cites {MAGMA}", search)

    assert (result.method, result.choice.rule) == ("hybrid", "default")
    assert result.reason.endswith("; but the graph is switched off")


@pytest.mark.parametrize("text", [f"who cites {MAGMA}", "SR-052", "令牌综述", "", "🙂"])
def test_the_choice_is_part_of_the_json(store, embedder, text):
    """The JSON matches the schema for any question."""
    schema = json.loads((Path(__file__).parents[2] / "docs" / "result.schema.json").read_text("utf-8"))
    shown = result_to_dict(ask(store, embedder, text))

    jsonschema.validate(shown, schema)
    assert shown["choice"]["rule"] in ("citation", "exact", "overview", "default")


def test_the_choice_is_told_in_one_line(store, embedder):
    """The rule, and of the features those that are there."""
    result = ask(store, embedder, "overview of SR-052")

    assert choice_text(result.choice) == "overview (language: en; ids: SR-052; overview: yes; named: 0.6667)"


def test_an_unknown_rule_is_refused(tmp_path):
    """With the names of those there are."""
    with open_engine(tmp_path / "weft.db", embedder="none") as engine, pytest.raises(ConfigError) as raised:
        engine.query("anything", auto_rules=["guess"])
    assert "citation" in raised.value.hint


def test_retrieve_gives_evidence_and_all_else(tmp_path):
    """The two parts of an answer; the method may be left open."""
    with open_engine(tmp_path / "weft.db", embedder="hash", graph_extractor="rules") as engine:
        engine.add_research_findings(FINDINGS)
        results, metadata = engine.retrieve(f"who cites {MAGMA}", method="agentic")

    assert {piece.document.title for piece in results} == {"Forgetting on Purpose", "Long Conversations without Loss"}
    assert (metadata["method"], metadata["choice"]["rule"], metadata["status"]) == ("graph", "citation", "ok")
    assert "results" not in metadata
