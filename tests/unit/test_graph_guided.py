"""Expansion queries after KG2RAG."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.graph.guided_expansion import Expansion, expansion_queries

FASTAPI = [("1", "FastAPI")]


def queries(seeds, neighbours, **options):
    return [(e.query, round(e.score, 2)) for e in expansion_queries(seeds, neighbours, **options)]


def test_the_pairs_of_the_design_come_in_its_order():
    """FastAPI with Pydantic and SQLAlchemy at one hop and uvicorn at two, in whichever order the graph gives them."""
    neighbours = [("4", "uvicorn", 2), ("2", "Pydantic", 1), ("3", "SQLAlchemy", 1)]

    assert queries(FASTAPI, {"1": neighbours}) == [
        ("FastAPI Pydantic", 0.5),
        ("FastAPI SQLAlchemy", 0.5),
        ("FastAPI uvicorn", 0.33),
    ]


def test_an_expansion_knows_where_it_comes_from():
    """Its results can then be explained."""
    assert expansion_queries(FASTAPI, {"1": [("4", "uvicorn", 2)]}) == [
        Expansion(query="FastAPI uvicorn", score=pytest.approx(1 / 3), seed_id="1", neighbour_id="4", hops=2)
    ]


def test_a_pair_is_asked_for_once_whichever_is_the_seed():
    """At its smallest distance."""
    seeds = [("1", "FastAPI"), ("2", "Pydantic")]
    neighbours = {"1": [("2", "Pydantic", 2), ("3", "Starlette", 2)], "2": [("1", "FastAPI", 1)]}

    assert queries(seeds, neighbours) == [("Pydantic FastAPI", 0.5), ("FastAPI Starlette", 0.33)]


def test_entities_of_one_name_make_one_query():
    """The same text would find the same chunks again, and the seed's own name is searched anyway."""
    neighbours = {"1": [("2", "Mercury", 1), ("3", "mercury", 1), ("4", "fastapi", 1), ("1", "FastAPI", 1)]}

    assert queries(FASTAPI, neighbours) == [("FastAPI Mercury", 0.5)]


def test_there_are_at_most_so_many_and_the_closest_stay():
    """Ten by default."""
    neighbours = {"1": [(str(i), f"N{i}", 3) for i in range(2, 30)] + [("99", "near", 1)]}

    assert len(queries(FASTAPI, neighbours)) == 10
    assert queries(FASTAPI, neighbours, max_expansions=1) == [("FastAPI near", 0.5)]
    assert queries(FASTAPI, neighbours, max_expansions=0) == []


@pytest.mark.parametrize("seeds, neighbours", [([], {}), (FASTAPI, {}), (FASTAPI, {"1": []}), ([], {"1": []})])
def test_an_empty_graph_expands_nothing(seeds, neighbours):
    """An empty list, not an error."""
    assert expansion_queries(seeds, neighbours) == []


NAMED = st.integers(0, 6).map(lambda i: (str(i), f"name {i}"))


@given(
    st.lists(NAMED, unique=True),
    st.dictionaries(st.integers(0, 6).map(str), st.lists(st.tuples(NAMED, st.integers(1, 3)))),
)
def test_no_pair_occurs_twice_and_proximity_falls(seeds, neighbours):
    """This is true for any graph."""
    flat = {id: [(*entity, hops) for entity, hops in found] for id, found in neighbours.items()}
    found = expansion_queries(seeds, flat, max_expansions=100)
    pairs = [frozenset({e.seed_id, e.neighbour_id}) for e in found]
    possible = {frozenset({id, other}) for id, _ in seeds for other, _, _ in flat.get(id, ()) if id != other}

    assert len(pairs) == len(set(pairs))
    assert set(pairs) == possible
    assert [e.score for e in found] == sorted((e.score for e in found), reverse=True)
