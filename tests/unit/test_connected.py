"""Passages of stated neighbours: selection, order, ranks and marks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.engine.opening.open_engine import open_engine
from weft.records import Document, Filter, GivenFact, Hit
from weft.search.graph.connected import Connected
from weft.search.selection import add_connected, cut_hits
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
    return {piece.document.title for piece in result.evidence} & set(NAMES)


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
    piece = next(piece for piece in result.evidence if piece.document.title in NAMES)

    first, last = piece.graph.path
    assert (first.source, first.type, first.target) == (HUB, "depends_on", piece.document.title)
    assert (last.source, last.target) == (piece.document.title, piece.citation)
    assert "graph" in piece.channels and piece.graph.hops == 1


def test_hybrid_hits_keep_their_order_and_none_is_lost(open_on):
    """Each page is one chunk here, so neighbours come behind them."""
    engine = open_on(15)
    hybrid = [piece.chunk.id for piece in engine.query(HUB, method="hybrid").evidence]
    mixed = [piece.chunk.id for piece in engine.query(HUB, method="mix").evidence]

    assert [id for id in mixed if id in hybrid] == hybrid
    scores = [piece.score for piece in engine.query(HUB, method="mix").evidence]
    assert scores == sorted(scores, reverse=True)


def test_neighbours_need_an_answer_and_pass_the_filter(open_on):
    """A question without a match gets none, and a filter holds for them too."""
    engine = open_on(5)

    assert engine.query("zebra crossing etiquette", method="mix").evidence == ()
    where = Filter(source_prefix="hub")
    assert {piece.document.source for piece in engine.query(HUB, method="mix", where=where).evidence} == {"hub.md"}


def test_a_higher_minimum_graph_score_never_adds_a_neighbour(open_on):
    """A wikilink weighs 8, a field 10."""
    for kind, limits in (("wikilinks", (0.3, 0.8, 0.9)), ("front matter", (0.3, 1.0))):
        engine = open_on(4, kind=kind)
        found = [
            len(
                [
                    piece
                    for piece in engine.query(HUB, method="mix", graph={"min_graph_score": limit}).evidence
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
    results = engine.memory_search(HUB, max_results=6)["results"]

    assert len(results) == 6
    assert {*hybrid[:3]} <= {result["chunk"]["id"] for result in results}
    assert 0 < sum(result["document"]["title"] in NAMES for result in results) <= 3


def hits(ids):
    return [Hit(id, rank, 1 / rank) for rank, id in enumerate(ids, start=1)]


@pytest.mark.parametrize(
    ("answer", "connected", "asked", "expected"),
    [
        ("A1 B1 C1 D1", "", 0, "A1 B1 C1 D1"),
        ("", "x y z", 0, ""),
        ("A1 B1 C1 D1", "x y z", 0, "A1 B1 C1 D1 x y"),  # no document is displaced
        ("A1 B1 A2 C1", "x y z", 0, "A1 B1 x C1 A2 y"),
        ("A1 A2 B1 B2", "x y z", 0, "A1 A2 B1 x B2 y"),  # the first half keeps two chunks of a document
        ("A1 B1 A2 C1", "X y Z", 0, "A1 B1 X C1 A2 y"),  # neighbours of pages (X, Z) do not follow behind
        ("A1 B1 A2 B2 E1", "x y", 0, "A1 B1 x y A2 B2 E1"),
        ("A1 B1 A2 B2", "x", 0, "A1 B1 A2 x B2"),
        ("A1", "x y z", 0, "A1 x y"),
        ("A1 B1 C1 D1", "C1 x y", 0, "A1 B1 C1 D1 x y"),  # C1 was found anyway
        ("A1 B1 C1 D1", "x y z w", 4, "A1 x B1 y C1 z D1"),
    ],
)
def test_neighbours_take_the_places_of_further_chunks(answer, connected, asked, expected):
    """With four places; no document and no neighbour that is in the answer loses its rank to another."""
    found = add_connected(
        hits(answer.split()),
        Connected(
            hits=tuple(hits(connected.split())), asked=asked, due=asked, named=frozenset(connected.lower().split())
        ),
        owners={id: id[0] for id in answer.split()},
        top_k=4,
    )

    assert " ".join(hit.chunk_id for hit in found) == expected
    assert [hit.rank for hit in found] == list(range(1, len(found) + 1))
    assert [hit.score for hit in found] == sorted([hit.score for hit in found], reverse=True)


def test_a_third_chunk_of_a_document_leaves_the_first_half():
    """The best two chunks of a document stay where they are."""
    found = add_connected(
        hits("A1 A2 A3 B1 C1 D1".split()),
        Connected(hits=tuple(hits(["x"]))),
        owners={"A1": "A", "A2": "A", "A3": "A"},
        top_k=6,
    )

    assert [hit.chunk_id for hit in found] == "A1 A2 x B1 C1 D1 A3".split()


def test_a_page_linked_with_a_found_page_comes_back_if_several_pages_have_its_title(tmp_path):
    """A glossary entry has the title of the page it sums up, so both pages are entities of their own."""
    filler = [
        Document(
            source=f"tasks/{n}.md", title=f"Task {n}", form="markdown", text=f"Task {n} paints wall {n} for a job."
        )
        for n in range(12)
    ]
    section = "A finished job is removed after its time to live. " * 40
    sections = "".join(f"## Part {n}\n\n{section}\n\n" for n in range(3))
    pages = [
        Document(source="ttl.md", title="Cleanup", form="markdown", text=f"# Cleanup\n\n{sections}"),
        Document(
            source="finalizers.md",
            title="Finalizers",
            form="markdown",
            text="Objects wait for their controllers. See [cleanup](ttl.md).",
        ),
        Document(
            source="glossary/finalizer.md", title="Finalizer", form="markdown", text="A key that delays deletion."
        ),
    ]
    with open_engine(tmp_path / "weft.db", embedder=FakeEmbedder()) as engine:
        engine.add([*pages, *filler])
        question = "What holds a finished job back after its time to live?"
        found, hybrid = (engine.query(question, method=method, top_k=4) for method in ("mix", "hybrid"))

    sources = [piece.document.source for piece in found.evidence]
    assert "finalizers.md" not in [piece.document.source for piece in hybrid.evidence]
    assert "finalizers.md" in sources
    piece = found.evidence[sources.index("finalizers.md")]
    assert (piece.graph.path[0].source, piece.graph.path[0].type) == ("Cleanup", "linked_from")


@given(st.lists(st.sampled_from("abcdefgh"), unique=True), st.lists(st.sampled_from("abcdexyz"), unique=True))
def test_a_cut_keeps_the_best_half_of_the_text(text, answer):
    """In the order of the answer, and no more than requested."""
    found = [hit.chunk_id for hit in cut_hits(hits(answer), text=hits(text), top_k=4)]

    assert found == [id for id in answer if id in found]
    assert len(found) == min(4, len(answer))
    assert {*text[:2]} & {*answer} <= {*found}
