"""Settings of the graph: the effect of each, and its default."""

import pytest
from making import adopt
from papers import FINDINGS, MAGMA

from weft.config import GraphOptions, SplitOptions
from weft.engine.opening.open_engine import open_engine
from weft.engine.uploads import read_findings
from weft.index.run import index_documents
from weft.records import Document
from weft.search.run import find
from weft.search.search_context import SearchContext
from weft.testing import FakeEmbedder

PAGES = {
    "OAuth Provider": ([], "Issues identity tokens for sign-in."),
    "Auth Service": (["OAuth Provider"], "Checks signatures. Relies on [[OAuth Provider]]."),
    "Login Flow": (["Auth Service"], "The pages where people sign in, by [[Auth Service]]."),
    "Canteen Menu": ([], "Soup on Mondays, pasta on Tuesdays."),
}
ASKED = "which tokens for sign-in does the OAuth Provider issue"


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    path = tmp_path_factory.mktemp("settings") / "weft.db"
    with open_engine(path, embedder=FakeEmbedder(), graph_extractor="rules") as engine:
        engine.add(
            Document(source=title, title=title, text=text, metadata={"depends_on": needs}, form="markdown")
            for title, (needs, text) in PAGES.items()
        )
        yield engine


def scores(engine, **graph):
    result = engine.query(ASKED, method="mix", gate=False, graph=graph)
    return {piece.document.source: piece.score for piece in result.evidence}


@pytest.mark.parametrize(
    ("set_to", "score"),
    [
        ({}, 0.5 / 61 + 0.5 / 61),
        ({"text_weight": 0.2}, 0.2 / 61 + 0.5 / 61),
        ({"text_weight": 0.8, "graph_weight": 0.1}, 0.8 / 61 + 0.1 / 61),
    ],
)
def test_ranks_of_text_and_graph_count_by_their_weights(engine, set_to, score):
    """Both have weight 0.5 by default; the page itself is first in both."""
    assert scores(engine, fusion="rrf", **set_to)["OAuth Provider"] == pytest.approx(score)


def test_scores_of_text_and_graph_are_summed_by_their_weights(engine):
    """0.7 and 0.3 where nothing is set; without a weight the graph adds nothing."""
    usual = scores(engine, fusion="weighted")
    alone = scores(engine, fusion="weighted", graph_weight=0.0)

    assert scores(engine, fusion="weighted", text_weight=0.7, graph_weight=0.3) == usual
    assert alone["OAuth Provider"] == pytest.approx(0.7)
    assert usual["OAuth Provider"] > alone["OAuth Provider"]
    assert scores(engine, fusion="weighted", text_weight=0.0)["Canteen Menu"] <= 0


def test_boost_has_no_weights(engine):
    """It has its share."""
    assert scores(engine, text_weight=0.1, graph_weight=0.9) == scores(engine)
    assert scores(engine, share=0.9) != scores(engine)


def test_the_number_of_names_a_question_starts_from_is_set(engine):
    """The most telling first, as before."""
    asked = "Login Flow, Auth Service, OAuth Provider and Canteen Menu"
    named = {
        count: engine.query(asked, method=method, graph={"max_named": count}).graph.recognised
        for count, method in ((1, "mix"), (2, "graph"), (3, "auto"), (5, "mix"))
    }

    assert {count: len(names) for count, names in named.items()} == {1: 1, 2: 2, 3: 3, 5: 4}
    assert all(names == named[5][:count] for count, names in named.items())


def test_what_is_close_in_meaning_is_set_by_number_and_cosine(engine):
    """This applies if nothing is named; the calibration sets the default cosine."""

    def close(**graph):
        return engine.query("identity tokens, signatures, pages", method="mix", gate=False, graph=graph)

    assert len(close(min_similarity=-1.0).graph.recognised) == 3
    assert len(close(min_similarity=-1.0, max_close=1).graph.recognised) == 1
    assert len(close(min_similarity=-1.0, max_close=4).graph.recognised) == 4
    assert "no entity" in close(min_similarity=1.0).graph.skipped


def test_guided_takes_so_many_chunks_for_each_pair(engine):
    """Three where nothing is set."""

    def counted(**graph):
        asked = {"algorithm": "guided", "max_expansions": 1, **graph}
        return engine.query("OAuth Provider", method="graph", gate=False, graph=asked).counts["graph"]

    assert counted(per_query=1) < counted() == counted(per_query=3)


# ── citations ───────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def library(database, embedder):
    store = adopt(database.store("default"), embedder)
    index_documents(read_findings(FINDINGS), store=store, embedder=embedder, options=SplitOptions())
    return store


FORGETTING, LONG, SURVEY = "Forgetting on Purpose", "Long Conversations without Loss", "A Survey of Agent Memory"
PAGING, ATTENTION = "Paging in Small Memories", "Attention and Its Costs"


@pytest.mark.parametrize(
    ("asked", "options", "expected"),
    [
        (f"what builds on {MAGMA}", {}, {FORGETTING: 1.0, LONG: 1.0, SURVEY: 0.5}),
        (f"what builds on {MAGMA}", {"citation_share": 0.2}, {FORGETTING: 1.0, LONG: 1.0, SURVEY: 0.2}),
        (f"what builds on {MAGMA}", {"citation_depth": 1}, {FORGETTING: 1.0, LONG: 1.0}),
        (
            f"what builds on {PAGING}",
            {"citation_depth": 3},
            {LONG: 1.0, MAGMA: 1.0, FORGETTING: 0.5, SURVEY: 0.25},
        ),
        ("papers that introduce paging", {"citation_depth": 1}, {PAGING: 1.0}),
        ("papers that introduce paging", {"citation_share": 0.1}, {PAGING: 1.0, LONG: 0.1, MAGMA: 0.1}),
        (
            "papers that introduce paging",
            {"citation_depth": 3},
            {PAGING: 1.0, LONG: 0.5, MAGMA: 0.5, FORGETTING: 0.25, ATTENTION: 0.25},
        ),
    ],
)
def test_how_far_citations_are_followed_is_set_and_what_each_costs(library, embedder, asked, options, expected):
    """Two steps, and one half for the second, where nothing is set."""
    result = find(asked, SearchContext(store=library, embedder=embedder, graph=GraphOptions(**options)))

    assert {piece.document.title: piece.score for piece in result.evidence} == pytest.approx(expected)


def test_a_query_accepts_the_names_of_the_weights_that_files_accept(engine):
    """`alpha` is `text_weight`, `beta` is `graph_weight`."""
    ranked = [
        [
            (piece.chunk.id, piece.score)
            for piece in engine.query(ASKED, graph={"fusion": "weighted", **weights}).evidence
        ]
        for weights in ({"alpha": 0.2, "beta": 0.9}, {"text_weight": 0.2, "graph_weight": 0.9}, {})
    ]

    assert ranked[0] == ranked[1] != ranked[2]
