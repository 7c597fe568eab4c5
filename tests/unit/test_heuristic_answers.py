"""With `graph.confidence = "heuristic"` an answer has the confidence of the formula, and the status of the gate."""

import numpy as np
import pytest
from papers import FINDINGS, MAGMA

from weft.engine.opening.open_engine import open_engine
from weft.records import Document
from weft.testing import FakeEmbedder

NAMING = "what becomes of sign-in when OAuth Provider moves?"
NAMELESS = "which soup do the people like who never go to town"
HEURISTIC = {"confidence": "heuristic"}


class EightTenths(FakeEmbedder):
    """Every question has the cosine 0.8 with every text."""

    def embed(self, texts, *, kind="document"):
        vector = np.zeros(self.card.dimension, np.float32)
        vector[:2] = (1.0, 0.0) if kind == "query" else (0.8, 0.6)
        return np.stack([vector] * len(texts)) if texts else np.zeros((0, self.card.dimension), np.float32)


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    path = tmp_path_factory.mktemp("heuristic") / "weft.db"
    with open_engine(path, embedder=EightTenths(), graph_extractor="rules") as engine:
        engine.add(
            [
                Document(source="oauth", title="OAuth Provider", text="Issues identity tokens for sign-in."),
                Document(source="menu", title="Canteen Menu", text="Pasta on Tuesdays."),
            ]
        )
        yield engine


def test_an_entity_and_a_close_text_make_the_first_worked_example(engine):
    """Fifty characters, an entity, cosine 0.8."""
    assert len(NAMING) == 50
    result = engine.query(NAMING, method="mix", graph=HEURISTIC)

    assert result.graph.recognised == ("OAuth Provider",)
    assert result.confidence == pytest.approx(0.77, abs=1e-4)
    assert result.graph.trust == pytest.approx(0.77, abs=1e-4)


def test_no_entity_and_no_text_make_the_second(engine):
    """Fifty characters, and vectors find nothing."""
    assert len(NAMELESS) == 50
    result = engine.query(NAMELESS, method="mix", min_score=1.0, graph={**HEURISTIC, "min_similarity": 1.0})

    assert result.graph.recognised == ()
    assert "no entity" in result.graph.skipped
    assert result.confidence == pytest.approx(0.30)


@pytest.mark.parametrize("method", ["mix", "graph", "hybrid", "vector", "keyword", "auto"])
def test_with_the_graph_switched_off_it_is_one_half(engine, method):
    """This is true for any question."""
    assert engine.query(NAMING, method=method, graph={**HEURISTIC, "enabled": False}).confidence == 0.5


def test_a_method_that_does_not_ask_the_graph_goes_without_it(engine):
    """The tool behaves the same without `useGraph`."""
    assert engine.query(NAMING, method="hybrid", graph=HEURISTIC).confidence == 0.5


@pytest.mark.parametrize("asked", [NAMING, NAMELESS, "zebra crossing etiquette"])
@pytest.mark.parametrize("gate", [True, False])
def test_the_status_stays_that_of_the_gate(engine, asked, gate):
    """The shown results stay the same too if the graph is not searched."""
    usual = engine.query(asked, method="hybrid", gate=gate)
    found = engine.query(asked, method="hybrid", gate=gate, graph=HEURISTIC)

    assert (found.status, found.notes) == (usual.status, usual.notes)
    assert [piece.chunk.id for piece in found.evidence] == [piece.chunk.id for piece in usual.evidence]
    assert engine.query(asked, method="mix", gate=gate, graph=HEURISTIC).status == usual.status


def test_without_it_the_confidence_is_the_calibrated_one(engine):
    """The two have nothing to do with each other."""
    asked, alone = "zebra crossing", {"min_similarity": 1.0}
    usual, found = (engine.query(asked, method="mix", graph=graph) for graph in (alone, {**alone, **HEURISTIC}))

    assert found.confidence == pytest.approx(0.3 * len(asked) / 100 + 0.15 + 0.4 * 0.8, abs=1e-4)
    assert usual.confidence != found.confidence


def test_a_question_for_citations_has_it_too(tmp_path):
    """It names a paper, and no vector is asked for."""
    asked = f"papers that cite {MAGMA}"
    with open_engine(tmp_path / "weft.db", embedder=FakeEmbedder()) as engine:
        engine.add_research_findings(FINDINGS)
        usual, found = (engine.query(asked, graph=graph) for graph in ({}, HEURISTIC))

    assert found.confidence == pytest.approx(0.3 * len(asked) / 100 + 0.3)
    assert found.status == usual.status == "ok"
    assert [piece.chunk.id for piece in found.evidence] == [piece.chunk.id for piece in usual.evidence]
