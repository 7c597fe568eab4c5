"""Fusion of the graph ranking with the text ranking."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.rank.boost import fuse_boost, fuse_graph_weighted, put_first
from weft.records import Hit

BOTH = pytest.mark.parametrize("fuse", [fuse_boost, fuse_graph_weighted])


def hits(**scores):
    ordered = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return [Hit(id, rank, score) for rank, (id, score) in enumerate(ordered, start=1)]


def scores(fused):
    return {hit.chunk_id: pytest.approx(hit.score) for hit in fused}


def ids(fused):
    return [hit.chunk_id for hit in fused]


def test_boost_is_the_curved_graph_plus_what_the_text_keeps():
    """Each as a share of its best; trusted in full, the graph leaves the text 0.3 of its share, and 1 is the most."""
    fused = fuse_boost(hits(a=0.8, b=0.4), graph=hits(b=4.0, c=1.0))

    whole = 1 + 0.4 * 0.3
    assert scores(fused) == {"b": (1 + 0.4 * 0.3 * 0.5) / whole, "a": 0.4 * 0.3 / whole, "c": 0.25**0.4 / whole}
    assert [(hit.chunk_id, hit.rank) for hit in fused] == [("b", 1), ("c", 2), ("a", 3)]
    half = fuse_boost(hits(a=0.8), graph=hits(c=1.0), share=0.2, trust=0.5)
    scale = (0.5 + 0.5 * 0.8) / (0.5 + 0.2 * 0.65)
    assert scores(half) == {"c": 0.5 * scale, "a": 0.2 * 0.65 * scale}


def test_without_trust_the_scores_are_those_of_the_text():
    """Scores then have the same meaning with and without a graph."""
    text = hits(a=0.8, b=0.4)

    assert scores(fuse_boost(text, graph=hits(c=1.0), trust=0.0)) == {"a": 0.8, "b": 0.4, "c": 0.0}


def test_weighted_is_seven_parts_text_and_three_parts_graph():
    """The shares are settings: alpha and beta."""
    text, graph = hits(a=0.8, b=0.4), hits(b=4.0, c=1.0)

    assert scores(fuse_graph_weighted(text, graph=graph)) == {"a": 0.7, "b": 0.65, "c": 0.075}
    assert scores(fuse_graph_weighted(text, graph=graph, alpha=0.5, beta=0.5)) == {"b": 0.75, "a": 0.5, "c": 0.125}


def test_boost_does_not_bury_the_hidden_hop():
    """A chunk that only the graph can find comes before all that only text finds."""
    text = hits(**{f"t{i}": 1 - i / 100 for i in range(50)})

    assert ids(fuse_boost(text, graph=hits(hidden=0.2)))[0] == "hidden"
    assert ids(fuse_graph_weighted(text, graph=hits(hidden=0.2)))[0] == "t0"


@BOTH
def test_distrust_takes_the_graph_back(fuse):
    """By the heuristic graph scores are multiplied by the confidence; at nothing they only add chunks."""
    text, graph = hits(a=0.8, b=0.4), hits(b=4.0, c=1.0)
    full, half, none = (fuse(text, graph=graph, trust=trust) for trust in (1.0, 0.5, 0.0))

    assert ids(none) == ["a", "b", "c"]
    assert none[2].score == 0
    by_graph = [scores(found)["c"].expected for found in (full, half)]
    assert by_graph[0] > by_graph[1] > 0


@BOTH
def test_without_a_graph_the_text_decides(fuse):
    """The reverse is true too."""
    only = hits(a=3.0, b=-1.0, c=0.0)

    assert ids(fuse(only, graph=[])) == ["a", "c", "b"]
    assert ids(fuse([], graph=only)) == ["a", "c", "b"]
    assert fuse([], graph=[]) == []


@BOTH
def test_equal_scores_are_ordered_by_id(fuse):
    """Two runs and two stores then agree."""
    assert ids(fuse(hits(d=1.0, b=1.0), graph=hits(c=0.0, a=0.0))) == ["b", "d", "a", "c"]


@BOTH
def test_a_chunk_given_twice_counts_once(fuse):
    """With its better score."""
    twice = [Hit("a", 1, 0.5), Hit("b", 2, 1.0), Hit("a", 3, 1.0)]

    assert fuse(twice, graph=[]) == fuse(hits(a=1.0, b=1.0), graph=[])


@BOTH
def test_scores_below_average_do_not_blow_up(fuse):
    """A best score close to 0 beside negative ones would make a divisor that drowns the graph."""
    fused = fuse(hits(a=0.001, b=-0.5), graph=hits(b=1.0, g=0.9))

    assert all(-1 <= hit.score <= 2 for hit in fused)
    assert ids(fuse(hits(a=-0.1, b=-0.2), graph=[])) == ["a", "b"]


RANKING = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-1, 1)).map(lambda found: hits(**found))
GRAPH = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 5)).map(lambda found: hits(**found))


@BOTH
@given(text=RANKING, graph=GRAPH, trust=st.floats(0, 1))
def test_nothing_that_was_found_is_lost(fuse, text, graph, trust):
    """The graph adds and re-scores, it never removes; ranks run from 1 without gaps."""
    fused = fuse(text, graph=graph, trust=trust)

    assert sorted(ids(fused)) == sorted(set(ids(text)) | set(ids(graph)))
    assert [hit.rank for hit in fused] == list(range(1, len(fused) + 1))
    assert fused == sorted(fused, key=lambda hit: (-hit.score, hit.chunk_id))


@BOTH
@given(text=RANKING, factor=st.sampled_from([0.01, 2.0, 100.0]), graph=GRAPH)
def test_the_scale_of_a_channel_makes_no_difference(fuse, text, factor, graph):
    """Only the ratio to the best score counts."""
    larger = [Hit(hit.chunk_id, hit.rank, hit.score * factor) for hit in graph]
    before = {hit.chunk_id: hit.score for hit in fuse(text, graph=graph)}
    after = {hit.chunk_id: hit.score for hit in fuse(text, graph=larger)}

    assert after == pytest.approx(before, abs=1e-6) or max((hit.score for hit in graph), default=0) < 1e-300


def test_one_hit_is_put_before_all_others_and_is_as_good_as_the_best():
    """The others keep their order; what is not there is put nowhere."""
    found = hits(a=0.9, b=0.5, c=0.4)

    assert put_first(found, "c") == [Hit("c", 1, 0.9), Hit("a", 2, 0.9), Hit("b", 3, 0.5)]
    assert put_first(found, "x") == found
    assert put_first([], "x") == []
