"""Content words and content terms of a question."""

import pytest

from weft.engine.opening.open_engine import open_engine
from weft.records import Document, Hit, Ranking
from weft.search.chunks import Chunks
from weft.search.confidence import find_calibration, measure_coverage
from weft.search.question.read import read_question
from weft.testing import FakeEmbedder

PAGES = [
    Document(
        source="turbine", title="Turbine", text="Grease the main bearing every 1,200 hours. ERR_PITCH_07 means ice."
    ),
    Document(source="garden", title="Garden", text="Water the tomatoes in the morning, and the onions once a week."),
]


@pytest.fixture
def engine(tmp_path):
    with open_engine(tmp_path / "x.db", embedder=FakeEmbedder()) as engine:
        engine.add(PAGES)
        yield engine


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How often should I grease the main bearing?", ["greas", "main", "bear"]),
        ("what is it?", []),
        ("The", []),
        ("C++", ["c++", "c"]),
        ("x", []),
        ("what is y or z", []),
        ("12", []),
        ("404", ["404"]),
        ("vitamin B", ["vitamin", "b"]),
        ("是什么", []),
        ("什么是蓍", ["蓍"]),
        ("🔥", ["🔥"]),
        ("", []),
    ],
)
def test_small_words_tell_nothing(question, expected):
    """They stand in questions and texts of any kind."""
    assert list(read_question(question).content_terms) == expected


@pytest.mark.parametrize(
    ("question", "share"),
    [
        ("How often should I grease the main bearing?", 1.0),
        ("grease the onions", 0.5),
        ("ERR_PITCH_07 of the turbine", 1.0),
    ],
)
def test_the_best_chunk_by_words_covers_a_share_of_them(engine, question, share):
    """Its title counts too."""
    keyword = engine.query(question, method="keyword", gate=False)
    found = measure_coverage(read_question(question), ranking(keyword), chunks=Chunks(engine.store))

    assert max(found.values()) == share


def test_words_of_the_front_matter_are_held_by_the_first_chunk(engine):
    """They are searched with it, so what stands there alone is found and not refused."""
    engine.add_text("---\nstatus: decommissioned\n---\n# Pump\n\nIt moves water.", source="pump.md")
    keyword = engine.query("decommissioned pump", method="keyword", gate=False)

    found = measure_coverage(read_question("decommissioned pump"), ranking(keyword), chunks=Chunks(engine.store))

    assert max(found.values()) == 1.0
    assert engine.query("decommissioned", method="hybrid").status == "ok"


def test_without_words_nothing_is_covered(engine):
    """The same is true without a searched channel."""
    assert measure_coverage(read_question("what is it"), Ranking(), chunks=Chunks(engine.store)) == {}
    assert measure_coverage(read_question("grease"), None, chunks=Chunks(engine.store)) == {}


@pytest.mark.parametrize("method", ["mix", "hybrid", "vector", "keyword"])
def test_a_question_of_small_words_is_never_sure_of_its_answer(engine, method):
    """Each of them stands in every text."""
    result = engine.query("what is it in the", method=method)

    assert result.status in ("low_confidence", "no_match")
    assert result.confidence <= 0.1


@pytest.mark.parametrize("least", [0.9, 1.0])
def test_a_higher_least_cosine_makes_no_answer_surer(engine, least):
    """Chunks below the minimum cosine still count for the confidence."""
    for question in ("grease", "hours of onions and hail"):
        assert engine.query(question, min_score=least).confidence <= engine.query(question).confidence


def ranking(result):
    """Return what the channel of words found."""
    return Ranking(hits=tuple(Hit(piece.chunk.id, n, piece.score) for n, piece in enumerate(result.evidence, start=1)))


@pytest.mark.parametrize("method", ["mix", "hybrid", "keyword"])
@pytest.mark.parametrize("question", ["w", "the", "c"])
def test_single_letters_and_stop_words_are_not_sure_of_their_answer(engine, method, question):
    """A letter matches anywhere; the page with that title comes first."""
    engine.add(
        [
            Document(source="c", title="C", text="A language with pointers."),
            Document(source="matrix", title="Matrix", text="The product of w and w is w, and w is c. " * 3),
        ]
    )

    result = engine.query(question, method=method)

    assert result.status == "low_confidence" and result.evidence
    assert question != "c" or result.evidence[0].document.source == "c"


@pytest.mark.parametrize(
    ("question", "status"),
    [
        ("Where were they when he painted the harbour?", "no_match"),
        ("Where do I water the onions and the tomatoes?", "ok"),
    ],
)
def test_stop_words_are_no_evidence_for_keywords_alone(engine, question, status):
    """The first question shares seven small words with a text and none of its content words."""
    engine.add(
        [Document(source="diary", title="Diary", text="He asked them where they were, and when the others left.")]
    )

    assert engine.query(question, method="keyword").status == status


def test_a_short_question_needs_a_larger_share(engine):
    """One word of two is half of a question, and as likely a coincidence as one of twelve."""
    calibration = find_calibration(read_question("grease bearing"), store=engine.store, embedder=None)
    longer = "grease bearing turbine tower harbour crane winch cable anchor"

    assert (
        calibration.words.middle
        > find_calibration(read_question(longer), store=engine.store, embedder=None).words.middle
    )
