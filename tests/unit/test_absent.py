"""Questions with numbered ids that occur in no chunk."""

import pytest

from weft.engine.engine import open_engine
from weft.rank.gate import MIN_OK_CONFIDENCE
from weft.records import Document
from weft.testing import FakeEmbedder

DECISIONS = [
    Document(source="9", title="ADR-0009 Keep the renderer", text="Decision: the renderer stays as it is, frozen."),
    Document(source="16", title="ADR-0016 Ask for a second look", text="Decision: titles wait for a second look."),
    Document(source="boiler", title="Boiler", text="The boiler shows E4711 when the water is low. See INC2041."),
]


@pytest.fixture
def engine(tmp_path):
    with open_engine(tmp_path / "x.db", embedder=FakeEmbedder()) as engine:
        engine.add(DECISIONS)
        yield engine


@pytest.mark.parametrize("method", ["mix", "hybrid", "keyword", "vector"])
@pytest.mark.parametrize(("number", "status"), [("ADR-0099", "low_confidence"), ("ADR-0009", "ok")])
def test_what_stands_nowhere_is_not_answered_for_sure(engine, method, number, status):
    """The decision of another record is close in words and meaning, and not the one that is asked for."""
    result = engine.query(f"{number} decision: the renderer stays as it is", method=method)

    assert (result.status, bool(result.evidence)) == (status, True)
    assert (result.confidence < MIN_OK_CONFIDENCE) == (status != "ok")
    assert any("“ADR-0099”" in note for note in result.notes) == (status != "ok")


@pytest.mark.parametrize(
    "question",
    [
        "The boiler shows E4711 when the water is low",
        "The boiler shows INC-2041 when the water is low",
        "The boiler shows this since 2031 when the water is low",
        "The boiler shows COVID-19 when the water is low",
    ],
)
def test_other_spellings_and_plain_or_short_numbers_are_not_looked_for(engine, question):
    """A year may be told in other words; `INC-2041` is written without the hyphen here."""
    assert engine.query(question).status == "ok"


def test_another_name_that_was_given_is_no_stranger(engine):
    """No text spells it, and it leads to what it names."""
    question = "Is the boiler of ZX-9981 low on water when it shows that?"
    assert engine.query(question).status == "low_confidence"

    engine.entities.alias("Boiler", "ZX-9981")

    assert engine.query(question).status == "ok"


def test_no_match_keeps_its_reason(engine):
    """A result without hits is not changed."""
    result = engine.query("zebra crossings of QQ-5555")

    assert result.status == "no_match"
    assert not any("QQ-5555" in note for note in result.notes)
