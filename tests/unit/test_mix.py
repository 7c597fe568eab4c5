"""Chunks that graph and text rank first in the mixed result."""

from dataclasses import replace

import pytest
from making import make_draft
from memory_store.store import MemoryDatabase

from weft.config import SearchOptions
from weft.engine.opening.open_engine import open_engine
from weft.rank.gate import UNJUDGED
from weft.records import Document, Hit
from weft.search.draft import Walked
from weft.search.graph import join
from weft.search.graph.channel import GraphFound
from weft.search.graph.trust import MIN_LEADING_TRUST, TRUST_BY_MEANING
from weft.search.question.entities import Seed
from weft.search.search_context import SearchContext
from weft.search.selection import NOT_NAMED, SAME_DOCUMENT, TOO_WEAK, choose_evidence, count_dropped
from weft.testing import FakeEmbedder


def context(**options):
    return SearchContext(store=MemoryDatabase().store("x"), embedder=None, options=SearchOptions(**options))


def hits(*ids):
    return [Hit(id, rank, 1 / rank) for rank, id in enumerate(ids, start=1)]


def judged(*, kept, text=("a",)):
    """Return a verdict that keeps these hits of the union and of the text."""
    return replace(UNJUDGED, kept=tuple(hits(*kept)), text=tuple(hits(*text)))


@pytest.mark.parametrize(("trust", "reason"), [(1.0, SAME_DOCUMENT), (TRUST_BY_MEANING, NOT_NAMED)])
def test_every_chunk_that_is_left_out_has_a_reason(trust, reason):
    """Counted among the first of text and of graph; a chunk both found counts once."""
    walked = Walked(found=GraphFound(hits=tuple(hits("a", "g", "h"))), trust=trust)

    verdict = judged(kept="abg")
    draft = make_draft(verdict=verdict, walked=walked, text=hits("a", "b", "w"), evidence=hits("a", "b"))

    assert count_dropped(draft, context(top_k=3)) == {TOO_WEAK: 2, reason: 1}


def test_what_comes_behind_was_not_asked_for():
    """Only the first `top_k` count."""
    draft = make_draft(verdict=judged(kept="a"), text=hits("a", "w"), evidence=hits("a"))
    assert count_dropped(draft, context(top_k=1)) == {}


@pytest.fixture
def engine(tmp_path):
    documents = [
        Document(source="oven", title="Clay Oven", text="Clay Oven is a stove for bread. It needs dry wood."),
        Document(source="wood", title="Wood Shed", text="Wood Shed is a store behind the Clay Oven."),
    ]
    with open_engine(tmp_path / "x.db", embedder=FakeEmbedder()) as engine:
        engine.add(documents)
        yield engine


def test_an_answer_says_how_its_entities_were_found_and_how_far_the_graph_counts(engine):
    """By name with full trust, or not at all, with the reason."""
    named = engine.query("Clay Oven wood").graph
    assert (named.found_by, named.recognised, named.skipped) == ("name", ("Clay Oven",), "")
    assert named.trust == 1.0

    foreign = engine.query("zebra crossing", gate=False).graph
    assert (foreign.found_by, foreign.trust) == ("", 0.0)
    assert "no entity" in foreign.skipped


def test_names_nothing_is_about_do_not_stand_in_the_way_of_what_is_close_in_meaning(engine, monkeypatch):
    """They lead to wherever they stand; entities close in meaning are looked for beside them, and only then."""
    linked = Document(source="salt", title="Salt", text="Salt comes from the [[Hill Mine]].", form="markdown")
    engine.add([linked])
    oven = engine.store.graph.find_entities(["clay oven"])["clay oven"]
    close = Seed(entity=oven, weight=1.0, words=0, how="close in meaning (0.9)")
    monkeypatch.setattr(join, "recognise_meaning", lambda **_: [close])

    assert engine.query("Hill Mine", method="graph").graph.recognised == ("Hill Mine", "Clay Oven")
    assert engine.query("Wood Shed", method="graph").graph.recognised == ("Wood Shed",)


FAIR = [
    Document(source="oven", title="Clay Oven", text="Clay Oven is a stove that bakes loaves of bread in March."),
    Document(source="fair", title="Fair", text="In March forty loaves of bread came out of the Clay Oven."),
    Document(source="wood", title="Wood Shed", text="Wood Shed is a store behind the mill."),
]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("stove bakes forty loaves of bread in March came out Clay Oven", ["fair", "oven"]),
        ("In March Clay Oven forty loaves of bread stove", ["oven", "fair"]),
    ],
)
def test_the_best_of_the_text_stays_first_where_the_graph_explains_little(tmp_path, question, expected):
    """The walk starts at the page of what the question names, which need not be what it asks for."""
    with open_engine(tmp_path / "x.db", embedder=FakeEmbedder()) as engine:
        engine.add(FAIR)
        text, both = (engine.query(question, method=method) for method in ("hybrid", "mix"))

    assert [piece.document.source for piece in text.evidence] == ["fair", "oven"]
    assert [piece.document.source for piece in both.evidence] == expected
    assert (0 < both.graph.trust < MIN_LEADING_TRUST) == (expected[0] == "fair")
    assert both.evidence[0].score >= both.evidence[1].score


@pytest.mark.parametrize(
    ("leads", "kept", "expected"),
    [(False, "tg", "tg"), (False, "g", "gt"), (True, "tg", "gt")],
)
def test_a_passage_that_the_gate_turned_down_or_the_graph_overrules_is_not_put_first(leads, kept, expected):
    """It is in the answer all the same."""
    walked = Walked(found=GraphFound(hits=tuple(hits("g"))), leads=leads)
    draft = make_draft(hits=hits("g", "t"), verdict=judged(kept=kept, text="t"), walked=walked)
    chosen = choose_evidence(draft, context(top_k=2)).evidence

    assert [hit.chunk_id for hit in chosen] == list(expected)
    assert [hit.score for hit in chosen] == sorted([hit.score for hit in chosen], reverse=True)


OTHERS = [
    Document(source=f"ticket{n}", title=f"Ticket {n}", text=f"Mercury Router lost packets in hall {n}. Who owns that?")
    for n in range(9)
]


def owned(name, owner):
    """Return a page that says who owns it beside its text, and the page of the owner."""
    return [
        Document(source="page", title=name, text="Forwards what arrives.", metadata={"owner": owner}),
        Document(source="owner", title=owner, text="They work after ten."),
    ]


def test_a_relation_that_is_asked_for_is_shown_though_the_best_texts_lie_elsewhere(tmp_path):
    """Nine tickets speak of the router in the words of the question; its own page says who owns it."""
    with open_engine(tmp_path / "x.db", embedder=FakeEmbedder()) as engine:
        engine.add([*OTHERS, *owned("Mercury Router", "Night Shift")])
        result = engine.query("Who owns Mercury Router?", method="mix", gate=False)

    assert result.graph.trust >= 0.5
    assert result.evidence[0].document.source == "page"
    assert {"page", "owner"} <= {piece.document.source for piece in result.evidence}


def test_a_name_that_no_text_spells_leads_to_what_it_names(tmp_path):
    """Words and meaning find nothing of it, so they have no say, and the answer says that the graph alone led there."""
    with open_engine(tmp_path / "x.db", embedder=FakeEmbedder()) as engine:
        engine.add([*OTHERS, *owned("Auth Service", "Night Shift")])
        engine.entities.alias("Auth Service", "Nightingale")
        result = engine.query("Nightingale", method="mix")

    assert (result.status, result.graph.trust) == ("low_confidence", 1.0)
    assert [piece.document.source for piece in result.evidence] == ["page", "owner"]
    assert "found by the graph only" in result.notes[0]
