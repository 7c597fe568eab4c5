"""Passages of stated neighbours: selection, order, ranks and marks."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from weft.engine.opening.open_engine import open_engine
from weft.records import Document, Filter, GivenFact, Hit
from weft.search.draft import Neighbours
from weft.search.graph.connected import choose_connected
from weft.search.selection import cut_hits
from weft.testing import FakeEmbedder

HUB = "Zorblat Engine"
NAMES = [
    f"{first} {second}" for first in ("Quist", "Marn", "Felb", "Dorv", "Hask") for second in ("Valve", "Pump", "Gear")
]


def pages(count, *, kind):
    names = NAMES[:count]
    texts = {
        "front matter": {"metadata": {"depends_on": names}, "text": f"{HUB} drives the hall."},
        "wikilinks": {"text": f"{HUB} drives the hall.\n\n" + "\n".join(f"- [[{name}]]" for name in names)},
        "prose": {"text": f"{HUB} drives the hall.\n\n" + "\n\n".join(f"{HUB} depends on {name}." for name in names)},
        "facts": {"text": f"{HUB} drives the hall."},
    }
    hub = Document(source="hub.md", title=HUB, form="markdown", **texts[kind])
    others = [
        Document(source=f"{name}.md", title=name, text=f"{name} stands behind the stairs.", form="markdown")
        for name in names
    ]
    return [hub, *others, Document(source="x.md", title="Harbour", text="The harbour freezes in January.")]


@pytest.fixture
def open_on(tmp_path):
    opened = []

    def open_one(count, *, kind="front matter", **settings):
        engine = open_engine(tmp_path / f"{len(opened)}.db", embedder=FakeEmbedder(), **settings)
        opened.append(engine)
        engine.add(pages(count, kind=kind))
        if kind == "facts":
            engine.memory.add_many(
                [GivenFact(subject=HUB, predicate="depends_on", object=name) for name in NAMES[:count]]
            )
        return engine

    yield open_one
    for engine in opened:
        engine.close()


def neighbours(result):
    return {piece.document.title for piece in (*result.evidence, *result.connected)} & set(NAMES)


@pytest.mark.parametrize("kind", ["front matter", "wikilinks", "prose", "facts"])
@pytest.mark.parametrize("algorithm", ["walk", "expand"])
def test_neighbours_come_back_however_many_there_are(open_on, kind, algorithm):
    """At least min(n, 5) of them; and min(n, 9) if the question asks for their relation."""
    for count in (1, 3, 5, 15):
        engine = open_on(count, kind=kind, graph_algorithm=algorithm)
        for question in (HUB, f"What is the {HUB}?"):
            assert len(neighbours(engine.query(question, method="mix"))) >= min(count, 5)
        if kind != "wikilinks":
            asked = engine.query(f"What does the {HUB} depend on?", method="mix")
            assert len(neighbours(asked)) >= min(count, 9)


def test_a_neighbour_is_marked_with_the_relation_and_the_path(open_on):
    """From the named entity over the stated relation to the citation."""
    result = open_on(15).query(HUB, method="mix")
    piece = result.connected[0]

    first, last = piece.graph.path
    assert (first.source, first.type, first.target) == (HUB, "depends_on", piece.document.title)
    assert (last.source, last.target) == (piece.document.title, piece.citation)
    assert piece.graph.hops == 1 and piece.graph.start == HUB


def test_hybrid_hits_keep_their_order_and_none_is_lost(open_on):
    """Each page is one chunk here, so neighbours come after them, in a list of their own."""
    engine = open_on(15)
    hybrid = [piece.chunk.id for piece in engine.query(HUB, method="hybrid").evidence]
    mixed = [piece.chunk.id for piece in engine.query(HUB, method="mix").evidence]

    assert [id for id in mixed if id in hybrid] == hybrid
    result = engine.query(HUB, method="mix")
    for pieces in (result.evidence, result.connected):
        scores = [piece.score for piece in pieces]
        assert scores == sorted(scores, reverse=True)


def test_neighbours_need_an_answer_and_pass_the_filter(open_on):
    """A question without a match gets none, and a filter holds for them too."""
    engine = open_on(5)

    assert engine.query("zebra crossing etiquette", method="mix").evidence == ()
    where = Filter(source_prefix="hub")
    result = engine.query(HUB, method="mix", where=where)
    assert {piece.document.source for piece in (*result.evidence, *result.connected)} == {"hub.md"}


def test_a_higher_minimum_graph_score_never_adds_a_neighbour(open_on):
    """A wikilink weighs 8, a field 10."""
    for kind, limits in (("wikilinks", (0.3, 0.8, 0.9)), ("front matter", (0.3, 1.0))):
        engine = open_on(4, kind=kind)
        found = [
            len(
                [
                    piece
                    for result in [engine.query(HUB, method="mix", graph={"min_graph_score": limit})]
                    for piece in (*result.evidence, *result.connected)
                    if piece.graph and piece.graph.path[0].type in ("links_to", "depends_on")
                ]
            )
            for limit in limits
        ]
        assert found == sorted(found, reverse=True)
        assert found[0] == 4
        assert found[-1] == (0 if kind == "wikilinks" else 4)


def test_memory_search_gives_half_of_its_places_to_hybrid_hits(open_on):
    """At most `maxResults`, and hybrid's best half is among them."""
    engine = open_on(15)
    engine.add([Document(source=f"{n}.md", title=f"Ticket {n}", text=f"{HUB} stopped on day {n}.") for n in range(8)])
    hybrid = [piece.chunk.id for piece in engine.query(HUB, method="hybrid", top_k=6).evidence]
    values = engine.memory_search(HUB, max_results=6)
    results = [*values["results"], *values["connected"]]

    assert len(results) == 6
    assert {*hybrid[:3]} <= {result["chunk"]["id"] for result in results}
    assert 0 < sum(result["document"]["title"] in NAMES for result in results) <= 3


def hits(ids):
    return tuple(Hit(id, rank, 1 / rank) for rank, id in enumerate(ids, start=1))


@pytest.mark.parametrize(
    ("lists", "shown", "limit", "expected"),
    [
        (["a b c"], "", 2, "a b"),
        (["a b c"], "a", 2, "b c"),
        (["a b c d", "x"], "", 4, "a x b c"),  # one side has one neighbour only
        (["a b c d", "x y z"], "", 4, "a x b y"),
        (["a b", "b c"], "", 4, "b a c"),  # a neighbour of both: once, with its better score
        ([], "", 4, ""),
    ],
)
def test_named_entities_bring_their_neighbours_in_turn(lists, shown, limit, expected):
    """Each entity has its share, and scores fall."""
    neighbours = Neighbours(by_entity=tuple(hits(ids.split()) for ids in lists))
    found = choose_connected(neighbours, shown=set(shown.split()), limit=limit)

    assert {hit.chunk_id for hit in found} == set(expected.split())
    assert [hit.rank for hit in found] == list(range(1, len(found) + 1))
    assert [hit.score for hit in found] == sorted([hit.score for hit in found], reverse=True)


def note(name, *links):
    links = " ".join(f"See [[{link}]]." for link in links)
    return Document(source=f"{name}.md", title=name, text=f"# {name}\n\nAll about {name}. {links}", form="markdown")


def test_what_the_gate_rejects_brings_no_neighbours(tmp_path):
    """Two notes that link to each other have nothing to do with the third."""
    with open_engine(tmp_path / "weft.db", embedder=FakeEmbedder()) as engine:
        engine.add([note("Ochre Ledger"), note("Buffer Stop", "Signal Box"), note("Signal Box", "Buffer Stop")])
        result = engine.query("Ochre Ledger")

    assert [piece.document.title for piece in result.evidence] == ["Ochre Ledger"]
    assert result.connected == ()


class EqualVectors:
    """Gives all texts the same vector, so that every cosine is 1."""

    card = FakeEmbedder().card

    def embed(self, texts, *, kind="document"):
        return np.eye(1, self.card.dimension, dtype=np.float32).repeat(len(texts), axis=0)


@pytest.mark.parametrize("question", ["Ochre Ledger", "What is the Ochre Ledger?"])
def test_a_cosine_alone_does_not_answer_a_question_that_only_names_a_thing(tmp_path, question):
    """Passages about other things share no word with it, and no link leads there."""
    with open_engine(tmp_path / "weft.db", embedder=EqualVectors()) as engine:
        engine.add([note("Ochre Ledger", "Paper Mill"), note("Paper Mill"), note("Buffer Stop"), note("Signal Box")])
        result = engine.query(question)
        wide = engine.query("Who keeps the ochre colours of this ledger?")

    shown = [piece.document.title for piece in (*result.evidence, *result.connected)]
    assert sorted(shown) == ["Ochre Ledger", "Paper Mill"]
    assert {piece.document.title for piece in wide.evidence} >= {"Buffer Stop", "Signal Box"}


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), count=st.integers(3, 12))
def test_every_passage_is_relevant_or_connected_to_what_is_named(tmp_path_factory, data, count):
    """Over random linked notes: only the named note and the notes that links join with it."""
    names = NAMES[:count]
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=30))
    asked = data.draw(st.sampled_from(names))
    links = {name: [other for one, other in pairs if one == name and other != name] for name in names}
    with open_engine(tmp_path_factory.mktemp("notes") / "weft.db", embedder=FakeEmbedder()) as engine:
        engine.add([note(name, *links[name]) for name in names])
        result = engine.query(asked)
        relevant = {piece.document.title for piece in engine.query(asked, method="hybrid").evidence}

    near = {other for one, other in pairs if one == asked} | {one for one, other in pairs if other == asked}
    walked = {piece.document.title for piece in result.evidence if piece.graph is not None}
    linked, ends = {asked}, {asked}
    while ends:
        ends = {end for pair in pairs if ends & set(pair) for end in pair} - linked
        linked |= ends
    texts = {name: {word for title in (name, *links[name]) for word in title.split()} for name in names}
    alike = {name for name in names if texts[name] & set(asked.split())}
    assert {piece.document.title for piece in result.evidence} <= linked | alike
    assert {piece.document.title for piece in result.evidence} - walked <= relevant | {asked}
    assert {piece.document.title for piece in result.connected} <= near - {asked}
    assert {piece.graph.start for piece in result.connected} <= {asked}


@pytest.mark.parametrize("algorithm", ["walk", "expand"])
def test_max_chunks_limits_what_the_graph_adds(open_on, algorithm):
    """And at least min(n, 5, max_chunks) neighbours come back."""
    engine = open_on(12)
    for limit in (1, 2, 4, 10):
        result = engine.query(HUB, graph={"algorithm": algorithm, "max_chunks": limit})
        assert len(result.connected) <= limit
        assert len(neighbours(result)) >= min(5, limit)


PLACES = [
    Document(
        source="env.md", title="Environments", text="Environments isolate tools. See [[Lock Files]].", form="markdown"
    ),
    Document(source="lock.md", title="Lock Files", text="Exact versions are kept here.", form="markdown"),
    Document(
        source="mono.md", title="Monorepo", text="A monorepo has several packages, built as one.", form="markdown"
    ),
]


@pytest.mark.parametrize(
    ("question", "is_named"),
    [
        ("monorepo with several packages built as one environment", False),  # a word in passing
        ("which Environments has a monorepo with several packages built as one", True),
        ("environments", True),
        ("what are environments?", True),
        ("which environments isolate tools", True),  # its page is the best one
        ("what do environments link to?", True),
    ],
)
def test_one_lower_case_word_in_passing_names_nothing(tmp_path, question, is_named):
    with open_engine(tmp_path / "weft.db", embedder=FakeEmbedder()) as engine:
        engine.add(PLACES)
        engine.add([Document(source=f"{n}.md", title=f"Shed {n}", text=f"Shed {n} is blue.") for n in range(9)])
        result = engine.query(question, top_k=1)
    assert ("Lock Files" in {p.document.title for p in (*result.evidence, *result.connected)}) is is_named


def test_two_named_things_share_the_places(open_on):
    """Six neighbours each: five of each at least."""
    engine = open_on(0)
    sides = {"Aster Mill": NAMES[:6], "Borage Press": NAMES[6:12]}
    engine.add([note(name, *others) for name, others in sides.items()])
    engine.add([note(name) for name in NAMES[:12]])
    for question in ("Aster Mill and Borage Press", "compare Aster Mill vs Borage Press"):
        result = engine.query(question)
        found = neighbours(result)
        assert all(len(found & set(others)) >= 5 for others in sides.values())
        assert {"Aster Mill", "Borage Press"} <= {piece.document.title for piece in result.evidence}


@pytest.mark.parametrize("algorithm", ["walk", "expand", "guided"])
def test_a_weak_link_takes_no_place_of_a_text_passage(tmp_path, algorithm):
    """`Quist Gear` and `Quist Valve` share one sentence."""
    with open_engine(tmp_path / "weft.db", embedder=FakeEmbedder()) as engine:
        texts = {name: f"{name} is old." for name in NAMES[:10]} | {"Quist Valve": "It met Quist Gear."}
        engine.add([Document(source=f"{n}.md", title=n, text=text, form="markdown") for n, text in texts.items()])
        found = []
        for limit in (0.0, 0.1, 0.3):
            options = {"min_graph_score": limit, "algorithm": algorithm}
            result = engine.query("Quist Valve", method="mix", top_k=3, graph=options)
            found.append({piece.chunk.id for piece in (*result.evidence, *result.connected)})
    assert found[2] <= found[1] <= found[0]


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_stricter_minimum_graph_score_returns_a_subset(tmp_path_factory, data):
    """Over random notes with links, fields and mentions, by each method and algorithm."""
    names = NAMES[:10]
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=20))
    kinds = data.draw(st.lists(st.sampled_from(["link", "field", "mention"]), min_size=20, max_size=20))
    texts = {name: [] for name in names}
    fields = {name: [] for name in names}
    for (one, other), kind in zip(pairs, kinds, strict=False):
        if one != other:
            (fields if kind == "field" else texts)[one].append(f"[[{other}]]" if kind == "link" else other)
    documents = [
        Document(
            source=f"{name}.md",
            title=name,
            text=f"{name} is old. " + " ".join(f"It met {other}." for other in texts[name]),
            form="markdown",
            metadata={"depends_on": fields[name]} if fields[name] else {},
        )
        for name in names
    ]
    with open_engine(tmp_path_factory.mktemp("strict") / "weft.db", embedder=FakeEmbedder()) as engine:
        engine.add(documents)
        top_k, max_chunks = data.draw(st.sampled_from([(3, 10), (10, 2)]))
        for method, algorithm in product(["graph", "mix", "auto"], ["walk", "expand", "guided"]):
            found = []
            for limit in (0.0, 0.3, 0.7, 0.9, 1.0):
                options = {"min_graph_score": limit, "algorithm": algorithm, "max_chunks": max_chunks}
                result = engine.query(names[0], method=method, top_k=top_k, graph=options)
                found.append({piece.chunk.id for piece in (*result.evidence, *result.connected)})

            assert all(stricter <= looser for looser, stricter in pairwise(found)), (method, algorithm)


def test_the_design_with_weighted_scores_keeps_its_arithmetic(tmp_path):
    """`0.7 · text + 0.3 · trust · graph`, each relative to its best score; 0 for a channel that did not find it."""
    with open_engine(tmp_path / "weft.db", embedder=FakeEmbedder()) as engine:
        engine.add(pages(15, kind="front matter"))
        asked = {"algorithm": "expand", "fusion": "weighted", "max_chunks": 4}
        hybrid = {p.chunk.id: p.score for p in engine.query(HUB, method="hybrid", top_k=40, gate=False).evidence}
        result = engine.query(HUB, method="mix", gate=False, graph=asked)

    best = max(
        piece.channels["graph"].score for piece in result.evidence + result.connected if "graph" in piece.channels
    )
    for piece in (*result.evidence, *result.connected):
        text = hybrid.get(piece.chunk.id, 0.0) / max(hybrid.values())
        graph = piece.channels["graph"].score / best if "graph" in piece.channels else 0.0
        assert piece.score == pytest.approx(0.7 * text + 0.3 * result.graph.trust * graph, abs=1e-9)
    assert sum("graph" in piece.channels for piece in (*result.evidence, *result.connected)) == 4


@given(st.lists(st.sampled_from("abcdefgh"), unique=True), st.lists(st.sampled_from("abcdexyz"), unique=True))
def test_a_cut_keeps_what_is_reserved(reserved, answer):
    """In the order of the answer, and no more than requested."""
    kept = [id for id in reserved if id in answer]
    found = [hit.chunk_id for hit in cut_hits(hits(answer), reserved=kept, top_k=4)]

    assert found == [id for id in answer if id in found]
    assert len(found) == min(4, len(answer))
    assert {*kept[:4]} <= {*found}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Signal Box", "Signal Box, Signals"),
        ("What is the Signal Box about?", "Signal Box, Signals"),
        ("Tell me about the Signal Box", "Signal Box, Signals"),
        ("Signal Box and Post Box", "Post Box, Signal Box, Signals"),
        ("Hop Tower", "Hop Tower, Tool Box"),  # the graph connects them
    ],
)
def test_a_common_word_of_a_name_alone_is_another_thing(tmp_path, question, expected):
    """`signal` tells more than `box`, which seven notes contain."""
    boxes = [note("Post Box"), note("Tool Box"), *(note(f"Box {n}") for n in range(3))]
    with open_engine(tmp_path / "weft.db", embedder=EqualVectors()) as engine:
        engine.add([note("Signal Box"), note("Signals"), note("Hop Tower", "Tool Box"), *boxes])
        result = engine.query(question)

        wide = engine.query("Does a box of posts stand at the Signal Box?")

    assert ", ".join(sorted({p.document.title for p in (*result.evidence, *result.connected)})) == expected
    assert {piece.document.title for piece in wide.evidence} >= {"Post Box", "Tool Box", "Box 0"}


def test_a_common_word_of_a_name_is_no_word_of_a_longer_question(tmp_path):
    """A distant passage needs another word of the question, if one passage has them all."""
    told = Document(source="signal-box.md", title="Signal Box", text="# Signal Box\n\nThe lamps are lit before dusk.")
    with open_engine(tmp_path / "weft.db", embedder=FakeEmbedder()) as engine:
        engine.add([told, *(note(f"{word} Box") for word in ("Post", "Tool", "Hat", "Salt", "Pill", "Ice"))])
        result = engine.query("Where does the Signal Box say that lamps are lit before dusk?")

    assert [piece.document.title for piece in result.evidence] == ["Signal Box"]
