"""Best path between two entities."""

from itertools import pairwise, permutations
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.graph.paths import best_path
from weft.records import Relation


def relation(source, target, weight=5, type="uses"):
    return Relation(source_id=source, target_id=target, type=type, weight=weight)


def fetching(relations):
    return lambda ids: [r for r in relations if r.source_id in ids or r.target_id in ids]


def path(source, target, *relations, **options):
    return best_path(source, target, fetch=fetching(relations), inverse=lambda type: f"{type}^-1", **options)


def ids(steps):
    return "".join([steps[0].source_id, *(step.target_id for step in steps)])


def test_steps_say_how_each_relation_was_walked():
    """Steps found from the far end are included."""
    steps = path("a", "d", relation("a", "b", 8), relation("c", "b", 6, "cites"), relation("c", "d", 4))

    assert [(s.source_id, s.type, s.weight, s.target_id, s.direction) for s in steps] == [
        ("a", "uses", 8, "b", "out"),
        ("b", "cites^-1", 6, "c", "in"),
        ("c", "uses", 4, "d", "out"),
    ]


def test_fewer_hops_win_over_weight_and_then_the_larger_product():
    """9·2 is less than 5·5, and one weak relation beats both."""
    detours = [relation("a", "b", 9), relation("b", "d", 2), relation("a", "c", 5), relation("c", "d", 5)]

    assert ids(path("a", "d", *detours)) == "acd"
    assert ids(path("a", "d", *detours, relation("d", "a", 1))) == "ad"


def test_equal_paths_are_decided_by_id():
    """Although 0.3·0.7·0.9 and 0.9·0.7·0.3 differ in the last bit."""
    one = [relation("a", "c", 3), relation("c", "d", 7), relation("d", "z", 9)]
    two = [relation("a", "b", 9), relation("b", "e", 7), relation("e", "z", 3)]

    assert ids(path("a", "z", *one, *two)) == ids(path("a", "z", *two, *one)) == "abez"


def test_an_entity_is_connected_with_itself():
    """By no step at all."""
    assert path("a", "a") == ()


def test_what_is_not_connected_has_no_path():
    """Entities beyond the maximum distance have none either."""
    chain = [relation(*pair) for pair in ("ab", "bc", "cd", "de", "ef")]

    assert path("a", "z", *chain) is None
    assert ids(path("a", "e", *chain)) == "abcde"
    assert path("a", "f", *chain) is None
    assert ids(path("a", "f", *chain, max_hops=5)) == "abcdef"
    assert path("a", "b", *chain, max_hops=0) is None


def test_a_weak_target_is_found_in_a_large_neighbourhood():
    """It is looked for before the frontier is cut."""
    star = [relation("a", f"n{i}", 9) for i in range(500)]

    assert ids(path("a", "z", *star, relation("a", "z", 1), width=3)) == "az"
    assert ids(path("z", "a", *star, relation("a", "z", 1), width=3)) == "za"


def test_the_store_is_asked_for_no_more_than_the_width():
    """However many there are."""
    relations = [relation("a", f"n{i}", 9) for i in range(50)] + [relation("z", f"m{i}", 9) for i in range(50)]
    queried = []

    def fetch(wanted):
        queried.append(len(wanted))
        return fetching(relations)(wanted)

    assert best_path("a", "z", fetch=fetch, inverse=str, width=7) is None
    assert max(queried) == 7
    assert len(queried) <= 4


PAIRS = st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef"), st.integers(1, 10))


def brute_force(source, target, pairs, max_hops):
    """Return hops and product of the best simple path by trying all of them."""
    weights = {}
    for s, t, w in pairs:
        for key in ((s, t), (t, s)):
            weights[key] = max(weights.get(key, 0), w)
    for between in range(max_hops):
        found = [
            prod(weights[pair] / 10 for pair in pairwise(way))
            for middle in permutations(sorted(set("abcdef") - {source, target}), between)
            for way in [(source, *middle, target)]
            if all(pair in weights for pair in pairwise(way))
        ]
        if found:
            return between + 1, max(found)
    return None


@given(st.lists(PAIRS, max_size=12), st.integers(1, 5))
def test_the_best_path_is_found_in_any_small_graph(pairs, max_hops):
    """Compared with trying every path; and it leads from one to the other, step by step."""
    steps = path("a", "f", *(relation(*pair) for pair in pairs), max_hops=max_hops)
    expected = brute_force("a", "f", pairs, max_hops)

    if expected is None:
        assert steps is None
        return
    assert (len(steps), prod(step.weight / 10 for step in steps)) == (expected[0], pytest.approx(expected[1]))
    assert (steps[0].source_id, steps[-1].target_id) == ("a", "f")
    assert all(step.target_id == after.source_id for step, after in pairwise(steps))


@given(st.lists(PAIRS, max_size=12), st.integers(1, 3), st.randoms())
def test_a_narrow_search_gives_a_real_path_without_a_loop(pairs, width, random):
    """The order of relations does not matter."""
    relations = [relation(*pair) for pair in pairs]
    steps = path("a", "f", *relations, width=width)
    shuffled = list(relations)
    random.shuffle(shuffled)

    assert path("a", "f", *shuffled, width=width) == steps
    if steps is not None:
        assert len(set(ids(steps))) == len(ids(steps)) <= 5
        assert all(step.target_id == after.source_id for step, after in pairwise(steps))
