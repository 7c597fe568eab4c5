"""Questions that name a paper by its id."""

import pytest

from weft.engine.opening.open_engine import open_engine
from weft.testing import FakeEmbedder

PAPERS = [
    {"arxiv_id": "2512.00001", "title": "Memory of Storks", "abstract": "Storks remember their nests.", "year": 2025},
    {"arxiv_id": "2512.00002", "title": "Pruning Orchards", "abstract": "Trees are cut by saws.", "year": 2025},
    {"arxiv_id": "2512.00003", "title": "Kelp Transformers", "abstract": "Kelp attention over tides.", "year": 2025},
]


@pytest.fixture
def engine(tmp_path):
    with open_engine(tmp_path / "x.db", embedder=FakeEmbedder()) as engine:
        engine.add_research_findings({"academic_papers": PAPERS})
        yield engine


@pytest.mark.parametrize(
    "spelling",
    [
        "2512.00002",
        "arXiv:2512.00002v3",
        "https://arxiv.org/abs/2512.00002v3",
        "https://arxiv.org/pdf/2512.00002v1.pdf",
        "/abs/2512.00002v3",
        "/pdf/2512.00002v1.pdf",
    ],
)
@pytest.mark.parametrize("method", ["auto", "keyword"])
def test_every_spelling_of_an_id_is_the_paper(engine, spelling, method):
    """Address and version occur in no text, so they say nothing about the answer."""
    result = engine.query(spelling, method=method)

    assert result.status == "ok"
    assert result.evidence[0].document.title == "Pruning Orchards"


def test_an_unknown_id_is_no_other_paper(engine):
    """The other words fit the paper on kelp, which has another id."""
    result = engine.query("kelp attention over tides in https://arxiv.org/abs/2512.00009v2")

    assert result.status == "low_confidence"
    assert any("no chunk contains “arXiv:2512.00009”" in note for note in result.notes)
    assert engine.query("kelp attention over tides in https://arxiv.org/abs/2512.00003v2").status == "ok"
