"""Costs of language models in all stores."""

from dataclasses import replace

import pytest
from opening import EACH, open_empty

from weft.records import LlmRun, Usage

FIRST = LlmRun(
    id="a",
    at=1.5,
    model="openai/tiny",
    usage=Usage(calls=2, cached=1, tokens_in=10, tokens_out=5, cost=0.25, seconds=1.5, failures={"server": 1}),
)
SECOND = LlmRun(id="b", at=1.25, model="anthropic/small", usage=Usage(calls=1, unpriced=1, stopped="$1"))


@pytest.fixture(params=EACH)
def database(request):
    made = open_empty(request.param, request)
    yield made
    assert made.check() == []
    made.close()


def test_runs_are_kept_for_their_namespace_oldest_first(database):
    """A later record of a run replaces the earlier one."""
    store, other = database.store("one"), database.store("other")
    store.spending.write(FIRST, SECOND)
    later = replace(FIRST, at=2.5, usage=FIRST.usage + Usage(calls=1))
    store.spending.write(later)

    assert store.spending.runs() == [SECOND, later]
    assert other.spending.runs() == []
    assert store.spending.forget(["a", "none"]) == 1
    assert other.spending.forget(["b"]) == 0
    assert store.spending.runs() == [SECOND]


def test_they_are_no_content(database):
    """A namespace with nothing else holds nothing, its generation stays, and they go when it is dropped."""
    store = database.store("one")
    before = store.facts.generation()
    store.spending.write(FIRST)

    assert database.namespaces() == []
    assert store.facts.generation() == before
    database.drop("one")
    assert database.store("one").spending.runs() == []
