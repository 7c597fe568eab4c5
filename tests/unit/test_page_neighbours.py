"""Neighbours of found pages in the list `connected`."""

import pytest

from weft.engine.opening.open_engine import open_engine
from weft.records import Document, Filter
from weft.testing import FakeEmbedder

NOTES = {
    "Harbour Crane": "The Harbour Crane lifts timber with a steel hook. Its hook needs care, see [[Rope Store]].",
    "Rope Store": "Ropes for timber lie here in the dark. See [[Salt Barrel]].",
    "Salt Barrel": "Salt keeps herring for a winter.",
    "Night Watch": "The watch walks around at midnight.",
    **{f"Shed {number}": f"Shed number {number} is painted blue." for number in range(12)},
}
QUESTION = "Who lifts timber with a steel hook and ropes that need care, the Night Watch?"


@pytest.fixture
def engine(tmp_path):
    with open_engine(tmp_path / "weft.db", embedder=FakeEmbedder()) as engine:
        engine.add(
            [
                Document(source=f"{title}.md", title=title, text=f"# {title}\n\n{text}\n", form="markdown")
                for title, text in NOTES.items()
            ]
        )
        yield engine


def connected(engine, question, **options):
    """Return the titles of the connected passages with the thing that they are a neighbour of."""
    result = engine.query(question, top_k=2, **options)
    assert "Harbour Crane" in [piece.document.title for piece in result.evidence]
    return {piece.document.title: piece.graph.path[0].source for piece in result.connected}


def test_a_found_page_brings_a_close_neighbour_that_names_its_origin(engine):
    """The watch is named and has no neighbour. The note on salt is a neighbour of a neighbour."""
    assert connected(engine, QUESTION) == {"Rope Store": "Harbour Crane"}


def test_only_the_best_page_brings_neighbours(engine):
    """The best page is that of the watch."""
    assert connected(engine, "Which steel hook lifts timber while the Night Watch sleeps?") == {}


def test_a_question_that_names_nothing_brings_none(engine):
    assert connected(engine, "which steel hook lifts timber") == {}


def test_neighbours_of_found_pages_pass_the_filter(engine):
    crane = next(iter(engine.documents(Filter(source_prefix="Harbour"))))
    assert connected(engine, QUESTION, where=Filter(documents=(crane.id,))) == {}


def test_no_neighbour_without_the_graph(engine):
    assert connected(engine, QUESTION, graph={"enabled": False}) == {}
