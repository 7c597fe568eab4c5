"""The confidence of a namespace, fitted to its own chunks."""

from dataclasses import replace

import pytest
from making import ask

from weft.admin.calibrate import MIN_PROBES, calibrate
from weft.admin.calibration_state import MAX_GROWTH, describe
from weft.engine.opening.open_engine import open_engine
from weft.errors import InputError, ModelUnavailable, SchemaMismatch
from weft.rank.gate import KEYWORD_ALONE, shipped_calibration
from weft.records import Curve, Document, Filter
from weft.testing import FakeEmbedder

THINGS = "lighthouse granary viaduct foundry cannery observatory tannery aqueduct smithy brewery mill quarry".split()
PLACES = "Brenholm Catterby Dunmere Eskdale Farnworth Glenrothes Hexley Inverlock Jarford Kelvinside".split()
PARTS = "girders pulleys sluices rafters cisterns lanterns gantries flues turnstiles parapets".split()


def documents(count=120):
    """Yield small texts, each about a place and a thing of its own."""
    for number in range(count):
        thing, place = THINGS[number % 12], PLACES[number // 12 % 10]
        part, other = PARTS[number % 10], PARTS[(number * 7 + 3) % 10]
        text = (
            f"The {thing} at {place} was rebuilt after the flood, and masons replaced its {part} with oak from the "
            f"{place} estate. Keepers inspected the {other} twice a year and wrote the result into a ledger. "
            f"Visitors climb {number + 20} steps to see the {part} of the {thing}."
        )
        yield Document(source=f"text:{number}", title=f"{place} {thing}", text=text)


def filled(embedder=None, *, count=120, **settings):
    engine = open_engine(":memory:", embedder=embedder or FakeEmbedder(), **settings)
    engine.add(documents(count))
    return engine


@pytest.fixture(scope="module")
def engine():
    with filled() as engine:
        yield engine


def test_probes_are_told_apart_and_every_curve_they_reach_is_fitted(engine):
    """Cosine and words from English probes; pairs of characters stay, for there is no Chinese text."""
    found = calibrate(engine, probes=80)
    before, after = found.shipped.calibration, found.fitted.calibration

    assert (found.own, found.foreign, found.left_out) == (80, 143, 16)
    assert after.cosine != before.cosine
    assert after.words != before.words
    assert (after.pairs, after.beside) == (before.pairs, before.beside)
    assert (after.origin, after.probes, after.chunks) == ("fitted", 223, 120)
    assert found.fitted.area == pytest.approx(after.area, abs=1e-4)
    assert found.fitted.area > 0.95
    assert sum(found.fitted.own.values()) == 80
    assert sum(found.fitted.foreign.values()) == 143
    assert found.fitted.own["no_match"] <= 4
    assert engine.store.calibration() is None


def test_the_same_namespace_gives_the_same_numbers(engine):
    """Twice in one process, and in another engine on the same texts."""
    found = calibrate(engine, probes=30)

    assert calibrate(engine, probes=30) == found
    with filled() as other:
        assert calibrate(other, probes=30) == found


def test_numbers_that_were_wrong_do_not_matter(engine):
    """The floor on the card of an embedder nobody measured is not where the fit starts from."""
    wrong = FakeEmbedder()
    wrong._card = replace(wrong.card, floor=0.9, slope=3.0)
    with filled(wrong) as other:
        found, right = calibrate(other), calibrate(engine)

    assert found.fitted.calibration == right.fitted.calibration
    assert found.shipped.own["no_match"] + found.shipped.own["low_confidence"] > 60
    assert found.fitted.own["ok"] > 100


def test_questions_are_judged_by_the_fitted_numbers(engine):
    """From the next question on, until they are forgotten."""
    store, embedder = engine.store, engine.embedder
    before = ask(store, embedder, "which girders were replaced with old paint?").confidence
    strict = replace(shipped_calibration(embedder.card), cosine=Curve(middle=0.99, slope=90.0), origin="fitted")
    store.write_calibration(strict)

    assert ask(store, embedder, "which girders were replaced with old paint?").confidence < before
    assert ask(store, embedder, "which girders were replaced with old paint?").status == "no_match"
    store.write_calibration(None)
    assert ask(store, embedder, "which girders were replaced with old paint?").confidence == before


def test_chinese_questions_are_judged_by_pairs_of_characters(engine):
    """If the embedder does not support the script, the curve of character bigrams is used."""
    embedder = FakeEmbedder(scripts=frozenset({"latin"}))
    with open_engine(":memory:", embedder=embedder) as other:
        other.add_text("丹顶鹤每年十月飞到盐城湿地过冬，次年三月返回扎龙繁殖。", source="crane")
        store = other.store
        even = replace(shipped_calibration(embedder.card), words=Curve(middle=0.0, slope=0.0))
        store.write_calibration(even)
        assert ask(store, embedder, "丹顶鹤去哪里过冬").confidence != 0.5
        store.write_calibration(replace(even, pairs=Curve(middle=0.0, slope=0.0)))
        assert ask(store, embedder, "丹顶鹤去哪里过冬").confidence == 0.5


def test_chinese_text_is_asked_in_chinese():
    """Its foreign questions are Chinese too."""
    things, places = "灯塔 粮仓 水车 渡口 磨坊 古桥".split(), "江岸 盐城 扎龙 青田 泸沽 平遥 乌镇 凤凰".split()
    texts = [
        f"{place}{thing}建于明代，石匠用当地的青石修补了地基，村民每年检查两次并记入账册第{number}卷。游客从东门进入参观。"
        for number, (place, thing) in enumerate((place, thing) for place in places for thing in things)
    ]
    with open_engine(":memory:", embedder="none") as engine:
        engine.add(
            Document(source=f"text:{number}", title=text.split("建于")[0], text=text)
            for number, text in enumerate(texts)
        )
        found = calibrate(engine)

    assert (found.model, found.own, found.foreign) == ("none", 48, 56)
    assert found.fitted.calibration.words == KEYWORD_ALONE
    assert found.fitted.calibration.pairs != found.shipped.calibration.pairs
    assert found.fitted.foreign["ok"] == 0


def test_a_small_namespace_is_refused():
    """Too few chunks say nothing about questions."""
    with filled(count=MIN_PROBES - 1) as engine, pytest.raises(InputError, match="29 probes, but 30 are needed"):
        calibrate(engine)


def test_probes_that_cannot_be_told_apart_are_refused():
    """If every text consists of everyday words, all probes score high."""
    from weft.admin.calibration_probes import foreign_questions

    words = " ".join(foreign_questions("en"))
    with open_engine(":memory:", embedder=FakeEmbedder()) as engine:
        engine.add(
            Document(source=f"text:{n}", title="", text=f"{words[n * 40 : n * 40 + 1000]} {n}") for n in range(40)
        )
        with pytest.raises(InputError, match="are indistinguishable"):
            calibrate(engine)
        assert engine.store.calibration() is None


def test_switching_the_embedder_forgets_what_was_fitted():
    """The new one has other cosines."""
    with filled() as engine:
        store = engine.store
        store.write_calibration(calibrate(engine, probes=40).fitted.calibration)
        engine._custom_embedder = FakeEmbedder(name="fake/other", dimension=32)
        engine.reembed()

        assert store.calibration() is None
        assert store.find_documents(Filter(), limit=1)


def test_an_embedder_that_fails_is_an_error_and_another_one_is_refused(engine):
    """A calibration without cosines would be wrong as soon as the embedder is back."""
    engine.embedder.failing = "no network"
    with pytest.raises(ModelUnavailable):
        calibrate(engine)
    engine.embedder.failing = ""
    other = open_engine(":memory:", embedder=FakeEmbedder(name="fake/other"))
    other.database = engine.database
    with pytest.raises(SchemaMismatch):
        calibrate(other)


def test_progress_is_told_to_the_end(engine):
    """In groups, with the number of all."""
    steps = []
    calibrate(engine, probes=40, on_step=lambda count, total: steps.append((count, total)))

    assert sum(count for count, _ in steps) == steps[-1][1] == 40 + 159
    assert len(steps) > 3


def test_where_the_confidence_comes_from_is_said_in_words():
    """A namespace that has grown since is told so."""
    fitted = replace(shipped_calibration(None), origin="fitted", probes=343, area=0.9876, chunks=100)

    assert describe(None, chunks=5) == ("shipped with the embedder", False)
    assert describe(fitted, chunks=MAX_GROWTH * 100) == ("fitted to 343 probes, area 0.988", False)
    said, outgrown = describe(fitted, chunks=MAX_GROWTH * 100 + 1)
    assert (outgrown, said.endswith("with 100 chunks at that time")) == (True, True)
