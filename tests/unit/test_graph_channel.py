"""Graph channel end to end: connected chunks with the paths to them."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from weft.engine.opening.open_engine import open_engine
from weft.errors import ConfigError, ModelUnavailable
from weft.records import Document, Filter
from weft.search.question.entities import recognise_names
from weft.search.question.read import read_question
from weft.testing import FakeEmbedder

PAGES = {
    "oauth": ("OAuth Provider", {"type": "service"}, "Issues identity tokens for sign-in."),
    "auth": ("Auth Service", {"depends_on": ["OAuth Provider"]}, "Checks signatures. Relies on [[OAuth Provider]]."),
    "login": ("Login Flow", {"depends_on": ["Auth Service"]}, "The pages where people sign in, by [[Auth Service]]."),
    "checkout": ("Checkout", {"depends_on": ["Login Flow"]}, "Turns a cart into an order. Needs [[Login Flow]]."),
    "menu": ("Canteen Menu", {}, "Soup on Mondays, pasta on Tuesdays."),
}


def pages():
    return [
        Document(source=f"docs/{name}.md", title=title, text=text, metadata=metadata, form="markdown")
        for name, (title, metadata, text) in PAGES.items()
    ]


@pytest.fixture
def engine(tmp_path):
    with open_engine(tmp_path / "weft.db", embedder=FakeEmbedder(), graph_extractor="rules") as engine:
        engine.add(pages())
        yield engine


def sources(result):
    return [piece.document.source for piece in result.evidence]


def test_the_walk_reaches_what_words_do_not(engine):
    """The page two relations away shares no word with the question, and the path that led there is told."""
    asked = "what if OAuth Provider changes"
    result = engine.query(asked, method="mix", top_k=3, gate=False, graph={"prune": 0.0})

    assert "docs/login.md" in sources(result)
    piece = next(piece for piece in result.evidence if piece.document.source == "docs/login.md")
    assert "OAuth" not in piece.chunk.text
    assert piece.graph.hops >= 1
    assert piece.graph.path[0].source == "OAuth Provider"
    assert piece.graph.path[-1].target == piece.citation
    assert result.graph.recognised == ("OAuth Provider",)
    assert {entity.name for entity in result.graph.entities} >= {"OAuth Provider", "Auth Service"}
    assert any(relation.type == "depends_on" and relation.weight == 10 for relation in result.graph.relations)


def test_the_graph_alone_answers_by_method_graph(engine):
    """Only the graph channel is searched; unconnected chunks are not returned."""
    result = engine.query("OAuth Provider", method="graph")

    assert result.status == "ok"
    assert set(result.counts) == {"graph"}
    assert "docs/menu.md" not in sources(result)


@pytest.mark.parametrize(
    ("asked", "recognised"),
    [
        ("Who leads the WHO?", ["WHO"]),
        ("Where does IT sit, and who leads IT?", ["IT"]),
        ("who leads it?", []),
        ("Who is it, and Where?", []),
        ("WHO LEADS IT?", []),
    ],
)
def test_a_small_word_in_capitals_is_a_name_unless_all_is(engine, asked, recognised):
    """`WHO` asks in `WHO LEADS IT?`, and is asked about in `Who leads the WHO?`."""
    engine.add(
        [
            Document(source="who.md", title="WHO", text="Looks after the health of the world.", form="markdown"),
            Document(source="it.md", title="IT", text="Looks after computers, on the second floor.", form="markdown"),
        ]
    )

    assert [seed.entity.name for seed in recognise_names(read_question(asked), graph=engine.store.graph)] == recognised


@pytest.mark.parametrize(
    "asked",
    [
        'Where does "login flow" stand at Lanternworks?',
        "where does checkout stand?",
        "where do checkouts stand?",
    ],
)
def test_a_name_is_recognised_in_quotes_in_small_letters_and_in_the_plural(engine, asked):
    """A question may be typed in haste, and what it quotes is meant."""
    mentions = [
        Document(source=f"note{n}", title=f"Note {n}", text=f"Checkout, again: case {n}. A [[Checkout]] failed.")
        for n in range(8)
    ]
    engine.add(mentions)

    assert len(recognise_names(read_question(asked), graph=engine.store.graph)) == 1


def test_a_question_without_entities_is_plain_hybrid(engine):
    """The reason is in the result, and so is exactly the hybrid answer."""
    asked = "which checks are needed where"
    mixed, hybrid = engine.query(asked, method="mix", gate=False), engine.query(asked, method="hybrid", gate=False)

    assert "no entity" in mixed.graph.skipped
    assert sources(mixed) == sources(hybrid)
    assert [piece.score for piece in mixed.evidence] == [piece.score for piece in hybrid.evidence]


def test_the_heuristic_skips_short_questions_and_says_why(engine):
    """The rule by name: below 0.5, or without an entity, the graph is not walked."""
    result = engine.query("checks", method="mix", gate=False, graph={"confidence": "heuristic"})

    assert result.graph.skipped
    assert "graph" not in {name for piece in result.evidence for name in piece.channels}


def test_the_graph_can_be_switched_off(engine):
    """Per call, merged field by field."""
    result = engine.query("OAuth Provider", method="mix", graph={"enabled": False})

    assert (result.method, result.reason, result.graph) == ("hybrid", "the graph is switched off", None)
    with pytest.raises(ConfigError, match="unknown graph option 'hopps'"):
        engine.query("x", method="mix", graph={"hopps": 2})


def test_the_graph_alone_says_why_it_was_not_asked(engine):
    """The reason is in the notes."""
    off = engine.query("OAuth Provider", method="graph", graph={"enabled": False})
    unknown = engine.query("nothing of the kind", method="graph", graph={"min_similarity": 1.0})

    assert off.status == unknown.status == "no_match"
    assert off.notes == ("no channel found a chunk: the graph is switched off",)
    assert unknown.graph.skipped in unknown.notes[0] and unknown.graph.skipped
    assert "graph" not in str(engine.query("zzz", method="keyword").notes)


def test_expand_adds_at_most_so_many_chunks_of_neighbours(engine):
    """Each hop adds its neighbours; each chunk has its relation and weight."""
    one = engine.query("OAuth Provider", method="graph", graph={"algorithm": "expand", "min_graph_score": 0.7})
    two = engine.query(
        "OAuth Provider", method="graph", graph={"algorithm": "expand", "max_hops": 2, "min_graph_score": 0.7}
    )

    assert set(sources(one)) == {"docs/auth.md", "docs/login.md"}  # what is about Auth Service, and what mentions it
    assert {piece.graph.entity for piece in one.evidence} == {"Auth Service"}
    assert one.evidence[0].graph.path[0].type == "depended_on_by"
    assert sources(two)[-1] == "docs/checkout.md"
    assert (two.evidence[-1].graph.entity, two.evidence[-1].graph.hops) == ("Login Flow", 2)
    only = engine.query(
        "OAuth Provider",
        method="graph",
        graph={"algorithm": "expand", "max_hops": 3, "max_chunks": 1, "min_graph_score": 0.7},
    )
    assert len(only.evidence) == 1


@pytest.mark.parametrize("asked", [{"algorithm": "expand", "max_chunks": 1, "max_hops": 2}, {"prune": 0.2}])
def test_only_what_the_graph_channel_found_says_that_the_graph_led_there(engine, asked):
    """A chunk that text found, and the graph beyond its limits, has no path to show."""
    result = engine.query("OAuth Provider", method="mix", gate=False, graph=asked)

    led = {piece.citation for piece in result.evidence if piece.graph is not None}
    assert {piece.citation for piece in result.evidence if "graph" in piece.channels} <= led
    assert 0 < len(led) < len(result.evidence)


def test_guided_searches_for_pairs_and_tags_what_they_found(engine):
    """The expansion query is told with each result, and the way to the neighbour that it names."""
    result = engine.query("OAuth Provider", method="graph", gate=False, graph={"algorithm": "guided", "per_query": 1})
    found = {piece.graph.expansion: (piece.graph, piece.citation) for piece in result.evidence}

    own, citation = found["OAuth Provider"]
    assert (own.entity, own.hops) == ("OAuth Provider", 0)
    assert [(s.source, s.type, s.target) for s in own.path] == [("OAuth Provider", "searched for in", citation)]
    pair, citation = found["OAuth Provider Auth Service"]
    assert (pair.entity, pair.hops) == ("Auth Service", 1)
    assert [(s.source, s.type, s.weight, s.target) for s in pair.path] == [
        ("OAuth Provider", "depended_on_by", 10.0, "Auth Service"),
        ("Auth Service", "searched for in", 0.0, citation),
    ]


@pytest.mark.parametrize("algorithm", ["walk", "expand", "guided"])
@pytest.mark.parametrize("method", ["graph", "mix"])
def test_an_embedder_that_fails_leaves_the_graph(engine, algorithm, method):
    """No algorithm raises; the answer says what was searched, and why no more."""
    engine.embedder.failing = "the endpoint is down"
    result = engine.query("OAuth Provider", method=method, graph={"algorithm": algorithm})

    assert result.status == "degraded"
    assert result.counts["graph"]
    assert result.degraded == "only keywords and the graph were searched: embedding failed: the endpoint is down"


def test_a_graph_that_was_not_walked_is_not_said_to_be_searched(engine):
    """Keywords alone are named where the question names no entity."""
    engine.embedder.failing = "the endpoint is down"
    result = engine.query("soup", method="mix")

    assert result.degraded == "only keywords were searched: embedding failed: the endpoint is down"


def test_guided_without_its_pairs_takes_neighbours(engine, monkeypatch):
    """If the expansion queries cannot be embedded, the result is degraded and has one note."""
    embed = engine.embedder.embed

    def only_once(texts, *, kind="document"):
        if len(texts) > 1:
            raise ModelUnavailable("the endpoint is down")
        return embed(texts, kind=kind)

    monkeypatch.setattr(engine.embedder, "embed", only_once)
    result = engine.query("OAuth Provider", method="mix", graph={"algorithm": "guided"})

    assert result.status == "degraded"
    assert "docs/auth.md" in sources(result)
    assert result.degraded == "the graph was searched without an embedder: embedding failed: the endpoint is down"
    assert not any("down" in note for note in result.notes)


def test_a_filter_holds_for_the_graph_too(engine):
    """The walk may pass anywhere, but only chunks that pass the filter come back."""
    result = engine.query("OAuth Provider", method="mix", where=Filter(source_prefix="docs/login"))

    assert set(sources(result)) <= {"docs/login.md"}


def many_pages():
    """Return more pages that name Auth Service, in one folder and then in another."""
    places = [f"many/{number:02}" for number in range(30)] + ["few/one", "few/two"]
    return [
        Document(source=f"{place}.md", title=place, text=f"Note on [[Auth Service]], {place}.", form="markdown")
        for place in places
    ]


@pytest.mark.parametrize("algorithm", ["expand", "walk"])
def test_chunks_are_filtered_before_they_are_cut(engine, algorithm):
    """However many others come before them, those that pass the filter are found."""
    engine.add(many_pages())
    asked = {"algorithm": algorithm, "max_chunks": 1, "max_edges": 50, "prune": 0.0}
    where = Filter(source_prefix="few/")
    result = engine.query("OAuth Provider", method="graph", where=where, top_k=1, pool=1, gate=False, graph=asked)

    assert len(result.evidence) == 1
    assert result.evidence[0].document.source.startswith("few/")
    assert result.evidence[0].channels["graph"].rank == 1


@pytest.mark.parametrize(
    ("types", "found"),
    [
        (["depended_on_by"], {"docs/login.md", "docs/checkout.md"}),
        (["depends_on"], {"docs/auth.md", "docs/login.md", "docs/oauth.md", "docs/checkout.md"}),
        (["owned_by"], set()),
    ],
)
def test_relations_are_chosen_by_the_name_that_answers_give_them(engine, types, found):
    """An inverse name is followed against the relation, and only so."""
    asked = {"algorithm": "expand", "rel_types": types, "max_chunks": 9}
    result = engine.query("Auth Service", method="graph", gate=False, graph=asked)

    assert set(sources(result)) == found
    if types == ["depended_on_by"]:
        assert {step.type for piece in result.evidence for step in piece.graph.path[:-1]} == {"depended_on_by"}


WORDS = ["OAuth Provider", "Auth Service", "Login Flow", "Checkout", "Canteen Menu", "tokens", "order", "soup", "sign"]


@settings(max_examples=settings.default.max_examples // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    asked=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join),
    top_k=st.integers(1, 4),
    fusion=st.sampled_from(["boost", "weighted", "rrf"]),
    algorithm=st.sampled_from(["walk", "expand", "guided"]),
)
def test_the_graph_keeps_the_number_of_results(tmp_path_factory, asked, top_k, fusion, algorithm):
    """At most `top_k` passages are evidence; each of them once, and none is connected as well."""
    with open_engine(
        tmp_path_factory.mktemp("additive") / "weft.db", embedder=FakeEmbedder(), graph_extractor="rules"
    ) as engine:
        engine.add(pages())
        hybrid = engine.query(asked, method="hybrid", top_k=top_k, gate=False)
        mixed = engine.query(
            asked, method="mix", top_k=top_k, gate=False, graph={"fusion": fusion, "algorithm": algorithm}
        )

    evidence = [piece.chunk.id for piece in mixed.evidence]
    found = [*evidence, *(piece.chunk.id for piece in mixed.connected)]
    assert len(evidence) <= top_k
    assert len(evidence) >= len(hybrid.evidence)
    assert len(found) == len(set(found))


def test_odd_graphs_and_questions_are_answered(tmp_path):
    """A hub, a cycle, a self-relation, an empty and a huge name, a question of 2,000 words."""
    documents = [
        Document(source=f"text:{n}", title=f"Spoke {n}", text="Goes to [[Hub]].", form="markdown", metadata={})
        for n in range(300)
    ]
    documents += [
        Document(source="text:hub", title="Hub", text="[[Hub]] meets [[Ring]].", form="markdown", metadata={}),
        Document(source="text:ring", title="Ring", text="Back to [[Hub]].", form="markdown", metadata={}),
        Document(source="text:none", title="", text="Nameless text.", form="markdown", metadata={}),
        Document(source="text:long", title="Very " * 2500, text="A long name.", form="markdown", metadata={}),
    ]
    with open_engine(tmp_path / "weft.db", embedder=FakeEmbedder(), graph_extractor="rules") as engine:
        engine.add(documents)
        hub = engine.entities.get("hub")
        result = engine.query("Hub", method="mix")
        long = engine.query("where is the Hub " * 500, method="mix", gate=False)

        assert hub.chunks >= 301
        assert result.evidence
        assert long.evidence
        assert engine.entities.path("Spoke 7", "Ring")
        assert engine.database.check() == []


def test_names_are_embedded_again_with_another_embedder(engine):
    """`reembed` covers entities too, and the fallback by meaning works under the new one."""
    other = FakeEmbedder(name="fake/other", dimension=32)
    with open_engine(engine.settings.store.db, embedder=other, graph_extractor="rules") as again:
        assert again.reembed().chunks == again.stats().chunks

        assert again.store.graph.find_unembedded(other.card.fingerprint, limit=9) == {}
        chunks = [chunk.id for document in again.documents() for chunk in again.get(document.id)[1]]
        vector = other.embed(["soup and pasta"])[0]
        (close, _), *_ = again.store.graph.search_entities(vector, chunk_ids=chunks, limit=1)
        assert close.name == "Canteen Menu"
