"""Fusion of rankings."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.rank import fuse as fusing
from weft.rank.fuse import BACKGROUND_CHUNKS, FULL_KEYWORD_SHARE, FULL_SCORE_DEVIATIONS, coverage, order, round_cosines
from weft.records import Hit, Ranking

BOTH = {"vector": 0.67, "keyword": 0.33}


def ranking(*pairs, mean=0.0, deviation=0.0, count=0):
    hits = tuple(Hit(id, rank, score) for rank, (id, score) in enumerate(pairs, start=1))
    return Ranking(hits=hits, mean=mean, deviation=deviation, count=count, ceiling=10.0)


def fuse_reciprocal(rankings, **options):
    return order(fusing.fuse_reciprocal(rankings, **options))


def fuse_weighted(rankings, *, background=(0.0, 0.1), **options):
    scales = {name: fusing.standard_scale(found, background) for name, found in rankings.items() if name == "vector"}
    return order(fusing.fuse_weighted(rankings, scales=scales, **options))


def ids(hits):
    return [hit.chunk_id for hit in hits]


RANKING = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-100, 100).map(lambda n: n / 100), max_size=8).map(
    lambda scores: ranking(*sorted(scores.items(), key=lambda item: (-item[1], item[0])), deviation=0.1, count=99)
)


def test_reciprocal_ranks_add_up():
    """Rank 1 and rank 3 at weight 0.5 and k = 60 give 0.5/61 + 0.5/63."""
    rankings = {"vector": ranking(("a", 0.9)), "keyword": ranking(("b", 9), ("c", 8), ("a", 7))}
    fused = {hit.chunk_id: hit.score for hit in fuse_reciprocal(rankings, weights={"vector": 0.5, "keyword": 0.5})}

    assert fused["a"] == pytest.approx(0.5 / 61 + 0.5 / 63)
    assert round(fused["a"], 4) == 0.0161
    assert fused["b"] == pytest.approx(0.5 / 61)


@pytest.mark.parametrize("fuse", [lambda r: fuse_reciprocal(r), lambda r: fuse_weighted(r, weights=BOTH)])
def test_a_chunk_found_by_two_channels_beats_one_found_by_one(fuse):
    """Agreement of independent channels is the strongest sign there is."""
    rankings = {
        "vector": ranking(("both", 0.6), ("one", 0.6), deviation=0.1, count=1000),
        "keyword": ranking(("both", 5), ("two", 5)),
    }

    assert ids(fuse(rankings))[0] == "both"


@pytest.mark.parametrize("fuse", [fuse_reciprocal, lambda r: fuse_weighted(r, weights=BOTH)])
def test_equal_scores_are_ordered_by_id(fuse):
    """Two runs and two stores then agree."""
    hits = tuple(Hit(id, 1, 0.5) for id in "dacb")

    assert ids(fuse({"keyword": Ranking(hits=hits)})) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("weights", [{"vector": 0.0, "keyword": 1.0}, {"keyword": 1.0}])
def test_a_channel_of_weight_nothing_adds_nothing(weights):
    """Its chunks are not added with score 0 either."""
    rankings = {"vector": ranking(("a", 0.9)), "keyword": ranking(("b", 3))}

    assert ids(fuse_weighted(rankings, weights=weights)) == ["b"]
    assert ids(fuse_reciprocal(rankings, weights={"vector": 0.0})) == ["b"]


def test_nothing_fused_is_nothing():
    """No channels, no hits, no weights: an empty list."""
    for fuse in (fuse_reciprocal, lambda r: fuse_weighted(r, weights=BOTH)):
        assert fuse({}) == []
        assert fuse({"vector": Ranking(), "keyword": Ranking()}) == []
    assert fuse_weighted({"keyword": ranking(("a", 1))}, weights={}) == []


def test_the_scale_of_the_weights_does_not_matter():
    """They are made to sum to 1 over the channels that answered."""
    rankings = {"vector": ranking(("a", 0.6), ("b", 0.5), deviation=0.1, count=500), "keyword": ranking(("b", 3))}
    small = fuse_weighted(rankings, weights={"vector": 0.2, "keyword": 0.1})
    large = fuse_weighted(rankings, weights={"vector": 20, "keyword": 10})

    assert [(h.chunk_id, pytest.approx(h.score)) for h in small] == [(h.chunk_id, h.score) for h in large]
    assert fuse_weighted({"keyword": ranking(("b", 3))}, weights=BOTH)[0].score == pytest.approx(1.0)


@pytest.mark.parametrize("shift, scale", [(0.0, 1.0), (0.5, 1.0), (0.6, 0.3), (-0.2, 2.0)])
def test_every_embedder_has_the_same_say(shift, scale):
    """Cosines that all lie higher or closer together give the same order and nearly the same scores."""
    cosines = {"a": 0.50, "b": 0.45, "c": 0.30}
    moved = ranking(
        *((id, shift + scale * cosine) for id, cosine in cosines.items()),
        mean=shift + scale * 0.1,
        deviation=scale * 0.1,
        count=1_000_000,
    )
    fused = fuse_weighted(
        {"vector": moved, "keyword": ranking(("c", 9), ("a", 3))}, weights=BOTH, background=(0.1, 0.1)
    )

    assert ids(fused) == ["c", "a", "b"]
    assert fused[1].score == pytest.approx(0.67 * 4 / FULL_SCORE_DEVIATIONS + 0.33 / 3, abs=1e-3)


def test_a_small_namespace_leans_on_the_background_of_the_embedder():
    """One chunk is not enough to estimate a mean."""
    alone = ranking(("a", 0.5), mean=0.5, deviation=0.0, count=1)
    score = fuse_weighted({"vector": alone}, weights=BOTH, background=(0.1, 0.1))[0].score

    centre = (0.5 + BACKGROUND_CHUNKS * 0.1) / (1 + BACKGROUND_CHUNKS)
    deviation = (BACKGROUND_CHUNKS * 0.01 / (1 + BACKGROUND_CHUNKS)) ** 0.5
    assert score == pytest.approx((0.5 - centre) / deviation / FULL_SCORE_DEVIATIONS)


def test_equal_cosines_everywhere_are_no_division_by_zero():
    """A deviation of nothing at all still gives a number."""
    same = ranking(("a", 0.5), ("b", 0.5), mean=0.5, deviation=0.0, count=2)

    assert [h.score for h in fuse_weighted({"vector": same}, weights=BOTH, background=(0.5, 0.0))] == [0.0, 0.0]
    assert fuse_weighted({"keyword": ranking(("a", 0.0))}, weights=BOTH)[0].score == 0.0


def test_a_chunk_the_vector_channel_did_not_return_is_no_better_than_its_worst():
    """Being found near the bottom must not be worse than not being found."""
    far = ranking(("near", 0.4), ("far", 0.0), mean=0.1, deviation=0.1, count=1000)
    fused = fuse_weighted({"vector": far, "keyword": ranking(("far", 2), ("unseen", 2))}, weights=BOTH)

    assert ids(fused) == ["near", "far", "unseen"]
    assert fused[1].score == fused[2].score


@given(RANKING, RANKING)
def test_every_chunk_comes_once_best_first(vector, keyword):
    """Ranks from 1 without gaps, scores falling."""
    rankings = {"vector": vector, "keyword": keyword}
    for fused in (fuse_reciprocal(rankings), fuse_weighted(rankings, weights=BOTH)):
        assert sorted(ids(fused)) == sorted({hit.chunk_id for hit in vector.hits + keyword.hits})
        assert [hit.rank for hit in fused] == list(range(1, len(fused) + 1))
        assert all(first.score >= second.score for first, second in pairwise(fused))


@given(RANKING)
def test_one_channel_keeps_its_order(vector):
    """Fusion with nothing moves nothing."""
    for fused in (fuse_reciprocal({"vector": vector}), fuse_weighted({"vector": vector}, weights=BOTH)):
        assert ids(fused) == ids(vector.hits)


def test_order_is_by_score_then_id():
    """The one place that says so."""
    ordered = [Hit("c", 1, 2.0), Hit("a", 2, 1.0), Hit("b", 3, 1.0)]

    assert order({"b": 1.0, "a": 1.0, "c": 2.0}) == ordered
    assert order({"b": 1.0, "a": 1.0, "c": 2.0}, limit=2) == ordered[:2]


def test_keywords_count_by_how_much_of_the_question_they_cover():
    """Full weight from `FULL_KEYWORD_SHARE` of the ceiling on, proportional below it, none without a hit."""
    assert coverage(ranking(("a", 5.0), ("b", 1.0))) == 1.0
    assert coverage(ranking(("a", FULL_KEYWORD_SHARE * 10.0))) == pytest.approx(1.0)
    assert coverage(ranking(("a", FULL_KEYWORD_SHARE * 2.5))) == pytest.approx(0.25)
    assert coverage(ranking()) == 0.0
    assert coverage(Ranking()) == 1.0


def test_cosines_of_equal_texts_are_equal_in_every_store():
    """One store sums products in another order than the next; the order of hits must not depend on it."""
    one = Ranking(hits=(Hit("b", 1, 0.71234567), Hit("a", 2, 0.71234561), Hit("c", 3, 0.7123)), mean=0.1, count=3)
    other = Ranking(hits=(Hit("a", 1, 0.71234569), Hit("b", 2, 0.71234566), Hit("c", 3, 0.7123)), mean=0.1, count=3)
    assert round_cosines(one) == round_cosines(other)
    assert [(hit.chunk_id, hit.rank) for hit in round_cosines(one).hits] == [("a", 1), ("b", 2), ("c", 3)]
    assert round_cosines(one).mean == 0.1 and round_cosines(one).count == 3
