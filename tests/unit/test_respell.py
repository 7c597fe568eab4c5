"""Names that the namespace spells with other letters."""

import pytest

from weft.engine.opening.open_engine import open_engine
from weft.records import Document
from weft.search.question.read import read_question
from weft.search.question.respell import respell_names
from weft.testing import FakeEmbedder

PAGES = [
    Document(source="1", title="Mette Sørensen", text="Mette Sørensen drew the map of the salt flats."),
    Document(source="2", title="Bells", text="The foundry of Jörg Grünwald cast two bells."),
    Document(source="3", title="Łukasz Wróbel", text="Łukasz Wróbel keeps the ferry log."),
    Document(source="4", title="Kitchen", text="The pot stands on the stove. Groenland is cold."),
    Document(source="5", title="Olsen", text="Jens Olsen mends nets, and Jens Ølsen sells them."),
]


@pytest.fixture
def engine(tmp_path):
    with open_engine(tmp_path / "x.db", embedder=FakeEmbedder()) as engine:
        engine.add(PAGES)
        yield engine


@pytest.mark.parametrize(
    ("question", "respelled"),
    [
        ("What did Sorensen draw?", "What did Sørensen draw?"),
        ("What did Soerensen draw?", "What did Sørensen draw?"),
        ("what did sorensen draw", "what did Sørensen draw"),
        ("What did Joerg Gruenwald cast?", "What did Jörg Grünwald cast?"),
        ("What did Jörg Grunwald cast?", "What did Jörg Grunwald cast?"),
        ("What does Lukasz Wrobel keep?", "What does Łukasz Wrobel keep?"),
        ("Is Grönland cold?", "Is Groenland cold?"),
        ("Where does the Poet stand?", "Where does the Poet stand?"),
        ("Who is Olsen?", "Who is Olsen?"),
        ("Who is Xylander Thorwald?", "Who is Xylander Thorwald?"),
        ("", ""),
    ],
)
def test_a_name_is_read_as_the_namespace_spells_it(engine, question, respelled):
    """Only a word that occurs nowhere is respelled, and only where the other spelling has a special letter."""
    assert respell_names(read_question(question), engine.store).text == respelled


@pytest.mark.parametrize("method", ["auto", "keyword"])
@pytest.mark.parametrize(
    ("question", "source"),
    [("The map of Mette Sorensen", "1"), ("Which bells did Joerg Gruenwald cast?", "2"), ("Soerensen's map", "1")],
)
def test_the_answer_is_found_and_the_question_is_shown_as_asked(engine, method, question, source):
    """The name counts as present."""
    result = engine.query(question, method=method)

    assert (result.query, result.status, result.evidence[0].document.source) == (question, "ok", source)
    assert not any("no chunk contains" in note for note in result.notes)


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("papers by Mette Sorensen", "Salt Maps"),
        ("publications of Soerensen", "Salt Maps"),
        ("papers by Mette", "Salt Maps"),
        ("papers by Liu", "Salt Maps"),
        ("刘的论文", "Salt Maps"),
        ("刘写了哪些论文？", "Salt Maps"),
        ("papers by 王伟", "Tidal Ropes"),
        ("papers by Wang", "Tidal Ropes"),
        ("papers by 洋", None),
        ("papers by Ann", None),
    ],
)
def test_the_papers_of_an_author_are_found(tmp_path, question, title):
    """By a surname in either script or a first name that one author has; 洋 is no surname, and two are Ann."""
    authors = {
        "Salt Maps": ["Mette Sørensen", "Yang Liu (刘洋)"],
        "Tidal Ropes": ["王伟 Wei Wang", "Ann Lee", "Ann Poe"],
    }
    papers = [
        {"arxiv_id": f"2512.0000{number}", "title": title, "abstract": "Salt.", "authors": names}
        for number, (title, names) in enumerate(authors.items())
    ]
    with open_engine(tmp_path / "x.db", embedder=FakeEmbedder()) as engine:
        engine.add_research_findings({"academic_papers": papers})

        result = engine.query(question)

    found = [piece.document.title for piece in result.evidence] if result.method == "graph" else [None]
    assert found == [title]
