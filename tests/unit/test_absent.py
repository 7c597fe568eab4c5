"""Questions with names and numbered ids that occur in no chunk."""

import pytest

from weft.engine.opening.open_engine import open_engine
from weft.rank.gate import MIN_OK_CONFIDENCE
from weft.records import Document
from weft.testing import FakeEmbedder

DECISIONS = [
    Document(source="9", title="ADR-0009 Keep the renderer", text="Decision: the renderer stays as it is, frozen."),
    Document(source="16", title="ADR-0016 Ask for a second look", text="Decision: titles wait for a second look."),
    Document(source="boiler", title="Boiler", text="The boiler shows E4711 when the water is low. See INC2041."),
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    with open_engine(tmp_path_factory.mktemp("shared") / "x.db", embedder=FakeEmbedder()) as engine:
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
        "The boiler shows step-2 when the water is low",
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


@pytest.mark.parametrize("method", ["mix", "hybrid", "keyword", "vector"])
@pytest.mark.parametrize(
    ("question", "absent"),
    [
        ("When does the boiler of Kafka show that the water is low?", "“Kafka”"),
        ("Which boiler water does the Nintendo Boiler show low?", "“Nintendo Boiler”"),
        ("Kafka and the boiler that shows when the water is low", "“Kafka”"),
        ("The boiler shows COVID-19 when the water is low", "“COVID-19”"),
        ("Boiler 显示 water low 时 Kafka 怎么办", "“Kafka”"),
    ],
)
def test_a_name_that_occurs_in_no_chunk_is_low_confidence(engine, method, question, absent):
    """The rest of the question is close in words and meaning, and the corpus does not connect it with the name."""
    result = engine.query(question, method=method)

    assert result.status == "low_confidence"
    assert result.confidence < MIN_OK_CONFIDENCE
    assert any(absent in note for note in result.notes)


@pytest.mark.parametrize(
    "question",
    [
        "When does the Boiler show that the water is low?",
        "Does the BoilerWater of the boiler show low?",
        "Where does the boiler show that the Low Water is there?",
        "Explain when the boiler shows that the water is low",
    ],
)
def test_names_that_are_spelled_otherwise_and_verbs_are_known(engine, question):
    """Words in another case, an identifier whose parts one chunk contains, and a verb at the start."""
    result = engine.query(question)

    assert result.evidence
    assert not any("no chunk contains" in note for note in result.notes)


def test_an_alias_that_no_text_contains_is_known(tmp_path):
    """The graph knows what it names."""
    question = "When does the Thermotron show that the water is low?"
    with open_engine(tmp_path / "x.db", embedder=FakeEmbedder()) as engine:
        engine.add(DECISIONS)
        assert engine.query(question).status == "low_confidence"

        engine.entities.alias("Boiler", "Thermotron")

        assert engine.query(question).status == "ok"


def test_a_name_in_another_script_may_be_spelled_there(tmp_path):
    """No Chinese text spells `Beijing`, so that its absence says nothing."""
    with open_engine(tmp_path / "x.db", embedder=FakeEmbedder(scripts=frozenset({"latin", "han"}))) as engine:
        engine.add([Document(source="zh", title="", text="北京大学的图书馆在晚上十点关门。")])

        result = engine.query("北京大学 Beijing 图书馆几点关门", method="keyword")

    assert not any("Beijing" in note for note in result.notes)
