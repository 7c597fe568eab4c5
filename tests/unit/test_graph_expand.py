"""Neighbourhood expansion and the scores of its chunks."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import InputError
from weft.graph.expand import Neighbour, graph_score, neighbourhood
from weft.graph.traversal import Step
from weft.records import Relation


def relation(source, target, weight=5, type="uses"):
    return Relation(source_id=source, target_id=target, type=type, weight=weight)


def inverse(type):
    return {"depends_on": "depended_on_by", "uses": "used_by"}.get(type, f"{type}_of")


def fetching(relations):
    return lambda ids: [r for r in relations if r.source_id in ids or r.target_id in ids]


def around(seeds, *relations, **options):
    found = neighbourhood(list(seeds), fetch=fetching(relations), inverse=inverse, **options)
    return [(n.entity_id, n.hops, n.weight) for n in found]


@pytest.mark.parametrize(
    "weight, hops, mentions, score",
    [
        (8, 1, 3, 0.656),
        (8, 2, 3, 0.328),
        (8, 3, 3, 0.164),
        (10, 1, 31, 1.0),
        (10, 1, 10_000, 1.0),
        (10, 1, 0, 0.7),
        (1, 1, 0, 0.07),
    ],
)
def test_the_score_falls_with_distance_and_grows_with_weight_and_mentions(weight, hops, mentions, score):
    """Half as much per hop; 31 mentions count in full."""
    assert graph_score(weight=weight, hops=hops, mentions=mentions) == pytest.approx(score)


def test_both_directions_are_walked_and_told_apart():
    """Against its direction a relation has its inverse name."""
    relations = [relation("auth", "oauth", 8, "depends_on"), relation("login", "auth", 6, "uses")]
    found = neighbourhood(["auth"], fetch=fetching(relations), inverse=inverse)
    out = Step(source_id="auth", type="depends_on", weight=8, target_id="oauth", direction="out")
    back = Step(source_id="auth", type="used_by", weight=6, target_id="login", direction="in")

    assert found == [
        Neighbour(entity_id="oauth", hops=1, weight=8, path=(out,)),
        Neighbour(entity_id="login", hops=1, weight=6, path=(back,)),
    ]


def test_a_path_is_as_strong_as_its_weakest_relation():
    """Over a stronger detour of the same length, if there is one."""
    relations = [relation("a", "b", 9), relation("b", "d", 4), relation("a", "c", 5), relation("d", "c", 6)]

    assert around("a", *relations, max_hops=2) == [("b", 1, 9), ("c", 1, 5), ("d", 2, 5)]


def test_fewer_hops_count_more_than_weight():
    """A direct relation is the best path even when a detour is stronger."""
    assert around("a", relation("a", "b", 3), relation("a", "c", 9), relation("c", "b", 9), max_hops=2) == [
        ("c", 1, 9),
        ("b", 1, 3),
    ]


def test_of_equal_paths_the_one_with_smaller_ids_is_reported():
    """The order of relations in the store does not matter."""
    relations = [relation(*pair, 5, type) for pair in ("ac", "ab", "cd", "bd") for type in ("uses", "knows")]
    for given_relations in (relations, relations[::-1]):
        found = neighbourhood(["a"], fetch=fetching(given_relations), inverse=inverse, max_hops=2)

        assert [(s.source_id, s.type, s.target_id) for s in found[-1].path] == [
            ("a", "knows", "b"),
            ("b", "knows", "d"),
        ]


def test_the_threshold_is_compared_before_decay():
    """A path of weight 4 over three hops scores far below 0.3 and is still there; weight 2 is not walked."""
    chain = [relation("a", "b", 4), relation("b", "c", 4), relation("c", "d", 4), relation("a", "x", 2)]

    assert around("a", *chain, max_hops=3) == [("b", 1, 4), ("c", 2, 4), ("d", 3, 4)]
    assert around("a", relation("a", "b", 3), relation("a", "c", 2.9)) == [("b", 1, 3)]
    assert around("a", relation("a", "x", 2), min_graph_score=0.2) == [("x", 1, 2)]


def test_one_hop_is_the_default():
    """Entities two hops away are left out."""
    assert around("a", relation("a", "b"), relation("b", "c")) == [("b", 1, 5)]


def test_types_can_be_limited():
    """A stored name stands for both directions, an inverse name for one."""
    relations = [relation("a", "b"), relation("c", "a"), relation("a", "d", type="depends_on")]

    assert [id for id, _, _ in around("a", *relations, rel_types=["uses"])] == ["b", "c"]
    assert [id for id, _, _ in around("a", *relations, rel_types=["used_by"])] == ["c"]
    assert [id for id, _, _ in around("a", *relations, rel_types=["used_by", "depends_on"])] == ["c", "d"]


def test_seeds_are_not_their_own_neighbours():
    """Cycles, self-relations and relations between seeds are checked."""
    relations = [relation("a", "a"), relation("a", "b"), relation("b", "c"), relation("c", "a")]

    assert around("ab", *relations, max_hops=3) == [("c", 1, 5)]
    assert around("ab", relation("a", "a"), relation("a", "b"), max_hops=3) == []


@pytest.mark.parametrize("hops", [0, 4, -1])
def test_only_one_to_three_hops_are_walked(hops):
    """Farther away everything is connected with everything."""
    with pytest.raises(InputError, match="max_hops"):
        around("a", max_hops=hops)


def test_no_seeds_have_no_neighbours():
    """The store is not queried."""
    assert neighbourhood([], fetch=lambda ids: pytest.fail("queried"), inverse=inverse, max_hops=3) == []


def test_no_more_than_the_strongest_are_walked_on_from():
    """A dropped entity does not return over a longer path."""
    star = [relation("a", f"n{i}", 3 + i / 10) for i in range(50)]
    queried = []

    def fetch(ids):
        queried.append(list(ids))
        return fetching([*star, relation("n49", "n0", 9)])(ids)

    found = neighbourhood(["a"], fetch=fetch, inverse=inverse, max_hops=2, width=2)

    assert [n.entity_id for n in found] == ["n49", "n48"]
    assert queried == [["a"], ["n48", "n49"]]


PAIRS = st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef"), st.integers(1, 10))


def brute_force(seed, relations, max_hops):
    """Return the best (hops, weight) of every entity by trying all walks."""
    best = {}
    both = [(s, t, w) for s, t, w in relations] + [(t, s, w) for s, t, w in relations]
    for hops in range(1, max_hops + 1):
        for walk in product(both, repeat=hops):
            ends = [seed, *(t for _, t, _ in walk)]
            if all(step[0] == end for step, end in zip(walk, ends, strict=False)) and ends[-1] != seed:
                weight = min(w for _, _, w in walk)
                best[ends[-1]] = min(best.get(ends[-1], (9, 0)), (hops, -weight))
    return {id: (hops, -weight) for id, (hops, weight) in best.items()}


@given(st.lists(PAIRS, max_size=6), st.integers(1, 3))
def test_the_best_path_is_found_in_any_small_graph(pairs, max_hops):
    """Compared with trying every walk; and each path leads from the seed to the entity, step by step."""
    relations = [relation(*pair) for pair in pairs]
    found = neighbourhood(["a"], fetch=fetching(relations), inverse=inverse, max_hops=max_hops, min_graph_score=0)

    assert {n.entity_id: (n.hops, n.weight) for n in found} == brute_force("a", pairs, max_hops)
    assert found == sorted(found, key=lambda n: (n.hops, -n.weight, n.entity_id))
    for n in found:
        ids = ["a", *(step.target_id for step in n.path)]
        assert [step.source_id for step in n.path] == ids[:-1]
        assert (ids[-1], len(n.path), min(step.weight for step in n.path)) == (n.entity_id, n.hops, n.weight)
