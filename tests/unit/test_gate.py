"""Relevance gate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.rank.gate import (
    KEYWORD_ALONE,
    MIN_CHUNK_PROBABILITY,
    MIN_CONFIDENCE,
    MIN_GRAPH_SUPPORT,
    MIN_OK_CONFIDENCE,
    USUAL_CHUNKS,
    best_scores,
    gate,
    judge,
    probability,
    shipped_calibration,
)
from weft.records import Calibration, Curve, Hit, ModelCard, Ranking

CARD = ModelCard(name="m", fingerprint="f", dimension=3, floor=0.3)
SHIPPED = shipped_calibration(CARD)
FITTED = Calibration(
    cosine=Curve(middle=0.5, slope=50.0),
    beside=Curve(middle=0.2, slope=10.0),
    words=Curve(middle=0.4, slope=20.0),
    pairs=Curve(middle=0.1, slope=60.0),
    origin="fitted",
)


def vector(count=USUAL_CHUNKS, **cosines):
    return Ranking(hits=_hits(cosines), mean=0.0, deviation=0.1, count=count)


def keyword(**shares):
    return Ranking(hits=_hits({id: 10 * share for id, share in shares.items()}), ceiling=10.0)


def _hits(scores):
    return tuple(
        Hit(id, rank, score) for rank, (id, score) in enumerate(sorted(scores.items(), key=lambda p: -p[1]), start=1)
    )


def decide(calibration=SHIPPED, *, trusted=True, **rankings):
    """Judge all hits; where cosines are not trusted the gate does not get to see them, as in `search/run.py`."""
    ids = list(dict.fromkeys(hit.chunk_id for ranking in rankings.values() for hit in ranking.hits))
    seen = {channel: ranking for channel, ranking in rankings.items() if trusted or channel != "vector"}
    return gate([Hit(id, rank, 1.0 / rank) for rank, id in enumerate(ids, start=1)], seen, calibration=calibration)


def test_strong_evidence_is_ok():
    """A high cosine with ordinary word overlap needs no reason."""
    verdict = decide(vector=vector(a=0.6), keyword=keyword(a=0.4))

    assert (verdict.status, verdict.reason) == ("ok", "")
    assert verdict.confidence > 0.99
    assert [hit.chunk_id for hit in verdict.kept] == ["a"]


def test_nothing_that_passes_is_no_match_with_the_best_rejected_and_why():
    """The reason names the best cosine and keyword score."""
    verdict = decide(vector=vector(a=0.1, b=0.05), keyword=keyword(b=0.05))

    assert (verdict.status, verdict.kept) == ("no_match", ())
    assert [hit.chunk_id for hit in verdict.rejected] == ["a", "b"]
    assert verdict.reason == "best cosine 0.10, best keyword score is 5% of the maximum"


def test_the_thresholds_are_where_they_are_said_to_be():
    """At the floor with ordinary overlap the odds are even."""
    even = decide(vector=vector(a=0.3), keyword=keyword(a=0.15))
    below = decide(vector=vector(a=0.29), keyword=keyword(a=0.15))
    weak = decide(vector=vector(a=0.20), keyword=keyword(a=0.15))

    assert (even.confidence, even.status) == (pytest.approx(MIN_OK_CONFIDENCE), "ok")
    assert below.status == "low_confidence"
    assert "cosine 0.29" in below.reason
    assert weak.confidence < MIN_CONFIDENCE
    assert weak.status == "no_match"


def test_a_cosine_counts_more_among_few_chunks():
    """The closest of three unrelated chunks is farther away than the closest of thousands. A fit knows its size."""
    few, many = ({"vector": vector(count, a=0.23), "keyword": keyword(a=0.1)} for count in (3, 100_000))

    assert (decide(**few).status, decide(**many).status) == ("ok", "no_match")
    assert decide(FITTED, **few).confidence == decide(FITTED, **many).confidence


def test_weak_chunks_are_not_shown_beside_strong_ones():
    """Each chunk is judged by its own cosine and words; one the vector channel left out counts as average."""
    verdict = decide(vector=vector(a=0.7, b=0.1), keyword=keyword(a=0.5, c=0.05, d=0.9))

    assert [hit.chunk_id for hit in verdict.kept] == ["a", "d"]
    assert [hit.chunk_id for hit in verdict.rejected] == ["b", "c"]


def test_a_chunk_with_all_words_is_shown_beside_closer_ones():
    """`E4711` may stand in a text about something else. A chunk without the words is not shown."""
    found = {"vector": vector(a=0.7, b=0.0, c=0.0), "keyword": keyword(b=0.4, c=0.1)}
    hits = [Hit(id, rank, 1.0 / rank) for rank, id in enumerate("abc", start=1)]
    verdict = gate(hits, found, calibration=SHIPPED, cover=lambda: {"b": 1.0, "c": 0.5})

    assert [hit.chunk_id for hit in verdict.kept] == ["a", "b"]


def test_a_chunk_close_in_meaning_is_shown_without_shared_words():
    """Vector search alone would show it. Without its cosine it would be too weak."""
    verdict = decide(vector=vector(a=0.6, b=0.2, c=0.1), keyword=keyword(a=0.4))

    assert [hit.chunk_id for hit in verdict.kept] == ["a", "b"]
    assert decide(vector=vector(a=0.6, b=0.2)).kept == verdict.kept


def test_words_alone_are_judged_by_their_share():
    """Without an embedder, or with one that does not know the script."""
    for rankings in ({"keyword": keyword(a=0.5)}, {"keyword": keyword(a=0.5), "vector": vector(b=0.9)}):
        assert decide(trusted=False, **rankings).status == "ok"
    assert decide(keyword=keyword(a=KEYWORD_ALONE.middle)).confidence == pytest.approx(0.5)
    assert decide(trusted=False, keyword=keyword(a=0.05)).status == "no_match"


def test_cosines_alone_are_judged_without_words():
    """A keyword channel that was not searched differs from one that found nothing."""
    assert decide(vector=vector(a=0.3)).confidence == pytest.approx(0.5)
    assert decide(vector=vector(a=0.3), keyword=keyword()).confidence < 0.1


def test_cosines_that_are_not_to_be_trusted_are_shown_as_uncertain_where_there_is_nothing_else():
    """Whoever asks for the vector channel alone gets it, with a warning."""
    verdict = decide(trusted=False, vector=vector(a=0.9))

    assert (verdict.status, len(verdict.kept)) == ("low_confidence", 1)
    assert verdict.confidence < MIN_OK_CONFIDENCE
    assert verdict.reason


def test_where_a_filter_leaves_nothing_we_are_sure_of_nothing():
    """The vector channel still says how close all chunks are, those outside the filter too: no reason to be sure."""
    verdict = decide(vector=Ranking(mean=0.9, deviation=0.01, count=3), keyword=Ranking(ceiling=1.0))

    assert (verdict.status, verdict.confidence) == ("no_match", 0.0)


def test_no_hits_are_no_match():
    """This is true for every set of channels."""
    for rankings in ({}, {"vector": Ranking()}, {"keyword": Ranking()}, {"vector": Ranking(), "keyword": Ranking()}):
        verdict = gate([], rankings, calibration=SHIPPED)
        assert (verdict.status, verdict.kept, verdict.rejected) == ("no_match", (), ())
        assert verdict.reason


SHARES = st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 1), max_size=6)
COSINES = st.dictionaries(st.sampled_from("abcdef"), st.floats(-1, 1), max_size=6)


@given(COSINES, SHARES, st.booleans(), st.booleans())
def test_what_is_not_no_match_shows_something_and_what_is_shows_nothing(cosines, shares, trusted, words):
    """Every hit is either kept or rejected, in order."""
    rankings = {"vector": vector(**cosines)} | ({"keyword": keyword(**shares)} if words else {})
    verdict = decide(trusted=trusted, **rankings)

    assert (verdict.status == "no_match") == (not verdict.kept)
    assert 0.0 <= verdict.confidence <= 1.0
    both = sorted([*verdict.kept, *verdict.rejected], key=lambda hit: hit.rank)
    assert [hit.rank for hit in both] == list(range(1, len(both) + 1))
    for group in (verdict.kept, verdict.rejected):
        assert list(group) == sorted(group, key=lambda hit: hit.rank)


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1))
def test_more_is_never_less_likely(low, high, few, many):
    """The probability grows with the cosine and with the share."""
    (low, high), (few, many) = sorted((low, high)), sorted((few, many))

    assert probability(low, few, calibration=SHIPPED) <= probability(high, few, calibration=SHIPPED)
    assert probability(low, few, calibration=SHIPPED) <= probability(low, many, calibration=SHIPPED)
    assert probability(None, few, calibration=SHIPPED) <= probability(None, many, calibration=SHIPPED)


@given(COSINES.filter(bool), SHARES.filter(bool), st.floats(0, 1))
def test_a_better_best_chunk_never_loses_confidence(cosines, shares, more):
    """Raising one cosine, or one share, cannot make the answer less sure."""
    before = decide(vector=vector(**cosines), keyword=keyword(**shares))
    id = min(cosines)
    after = decide(vector=vector(**{**cosines, id: cosines[id] + more}), keyword=keyword(**shares))

    assert after.confidence >= before.confidence


@given(COSINES, SHARES, st.booleans(), st.booleans())
def test_what_text_may_show_is_what_it_would_keep_alone(cosines, shares, trusted, words):
    """The graph does not change the relevant text hits."""
    rankings = {"vector": vector(**cosines)} | ({"keyword": keyword(**shares)} if words else {})
    text = [Hit(id, rank, 1.0 / rank) for rank, id in enumerate({**cosines, **(shares if words else {})}, start=1)]
    seen = {channel: ranking for channel, ranking in rankings.items() if trusted or channel != "vector"}
    walked = Ranking(hits=(Hit("z", 1, 1.0), Hit("a", 2, 0.9)))
    union = [Hit("z", 0, 2.0), *text]
    verdict = gate(union, {**seen, "graph": walked}, text=text, calibration=SHIPPED)

    assert verdict.text == gate(text, seen, calibration=SHIPPED).kept


def test_extreme_scores_do_not_overflow():
    """A broken card or score gives a probability all the same."""
    assert probability(-1e9, 0.0, calibration=SHIPPED) < 1e-20
    assert probability(1e9, 1.0, calibration=SHIPPED) == pytest.approx(1.0)
    assert MIN_CHUNK_PROBABILITY < MIN_CONFIDENCE < MIN_OK_CONFIDENCE


def test_a_fitted_calibration_is_judged_by_its_own_numbers():
    """The thresholds stay probabilities; what moves is how cosines and words become one."""
    rankings = {"vector": vector(a=0.45), "keyword": keyword(a=0.2)}

    assert decide(SHIPPED, **rankings).status == "ok"
    assert decide(FITTED, **rankings).status == "no_match"
    even = decide(FITTED, vector=vector(a=0.5), keyword=keyword(a=0.2))
    assert (even.status, even.confidence) == ("ok", pytest.approx(0.5))
    assert decide(FITTED, keyword=keyword(a=0.4)).confidence == pytest.approx(0.5)
    assert "cosine 0.45, best keyword score is 20%" in decide(FITTED, **rankings).reason


def test_the_shipped_calibration_is_the_card_with_the_constants_of_the_gate():
    """A namespace without an embedder is judged by its words."""
    assert SHIPPED.cosine == Curve(middle=CARD.floor, slope=CARD.slope)
    assert (SHIPPED.words, SHIPPED.origin, SHIPPED.probes) == (KEYWORD_ALONE, "shipped", 0)
    assert shipped_calibration(None).words == KEYWORD_ALONE


def test_what_was_measured_is_the_best_of_each_channel():
    """A channel that was not searched gives None; a keyword channel without hits gives share 0."""
    assert best_scores({"vector": vector(a=0.4, b=0.6), "keyword": keyword(b=0.3)}) == pytest.approx((0.6, 0.3))
    assert best_scores({"vector": vector(a=0.4)}) == (0.4, None)
    assert best_scores({"keyword": keyword()}) == (None, 0.0)


def test_a_probability_becomes_a_status_at_the_thresholds():
    """They belong to the better side."""
    assert [judge(p) for p in (0.0, MIN_CONFIDENCE, MIN_OK_CONFIDENCE, 1.0)] == [
        "no_match",
        "low_confidence",
        "ok",
        "ok",
    ]


@pytest.mark.parametrize(("trust", "status", "kept"), [(1.0, "low_confidence", ["far"]), (0.55, "no_match", [])])
def test_a_trusted_graph_answers_where_words_and_meaning_find_nothing(trust, status, kept):
    """Text hits are dropped, and the confidence is low."""
    rankings = {"vector": vector(a=0.05), "keyword": keyword(a=0.02), "graph": Ranking(hits=_hits({"far": 0.5}))}
    hits = [Hit("a", 1, 0.5), Hit("far", 2, 0.1)]
    verdict = gate(hits, rankings, calibration=SHIPPED, trust=trust, text=hits[:1])

    assert (verdict.status, [hit.chunk_id for hit in verdict.kept], verdict.text) == (status, kept, ())
    assert (verdict.confidence >= MIN_CONFIDENCE) == bool(kept)
    assert verdict.reason.endswith("found by the graph only") == bool(kept)


@pytest.mark.parametrize(
    ("share", "status", "kept"), [(1.0, "ok", ["b"]), (0.8, "low_confidence", ["b"]), (0.79, "no_match", [])]
)
def test_a_chunk_that_holds_all_telling_words_is_no_stranger(share, status, kept):
    """In a corpus of a few pages a rare word has a low score, but a chunk with all content words answers."""
    rankings = {"vector": vector(a=0.1, b=0.05), "keyword": keyword(b=0.05)}
    hits = [Hit("a", 1, 0.5), Hit("b", 2, 0.4)]
    verdict = gate(hits, rankings, calibration=SHIPPED, text=hits, cover=lambda: {"a": 0.0, "b": share})

    assert (verdict.status, [hit.chunk_id for hit in verdict.kept]) == (status, kept)


def test_how_far_a_question_is_covered_is_asked_where_there_is_doubt():
    """It costs a look at texts, and a sure answer needs none."""
    sure = {"vector": vector(a=0.6), "keyword": keyword(a=0.4)}

    assert gate([Hit("a", 1, 1.0)], sure, calibration=SHIPPED, cover=lambda: pytest.fail("called")).status == "ok"


def test_where_no_vector_counts_the_mean_of_all_stands_for_the_best():
    """Otherwise the question would be judged by its words alone, with a lower threshold."""
    nothing = Ranking(hits=(), mean=0.05, deviation=0.1, count=100)

    assert best_scores({"vector": nothing, "keyword": keyword(a=0.3)}) == (0.05, pytest.approx(0.3))
    assert best_scores({"vector": Ranking(), "keyword": keyword(a=0.3)}) == (None, pytest.approx(0.3))


@pytest.mark.parametrize(("trust", "kept"), [(1.0, ["a", "near", "far"]), (0.4, ["a", "near"]), (0.1, ["a"])])
def test_the_graph_vouches_for_less_the_less_it_is_trusted(trust, kept):
    """The second hop has a tenth of the activation of the first; the curve makes 0.4 of that."""
    seen = {
        "vector": vector(a=0.6),
        "keyword": keyword(a=0.4),
        "graph": Ranking(hits=_hits({"near": 0.5, "far": 0.02})),
    }
    union = [Hit(id, rank, 1.0 / rank) for rank, id in enumerate(("a", "near", "far"), start=1)]
    verdict = gate(union, seen, text=union[:1], calibration=SHIPPED, trust=trust)

    assert [hit.chunk_id for hit in verdict.kept] == kept
    assert MIN_GRAPH_SUPPORT <= (0.02 / 0.5) ** 0.4 < MIN_GRAPH_SUPPORT / 0.4
