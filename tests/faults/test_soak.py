"""Four writers, four readers and a switch of the embedder on one store for minutes."""

import json

import pytest
from fault_settings import SOAK_SECONDS, chance
from soak_clients import ROLES
from store_state import path

MIN_SWITCH_SECONDS = 60
"""A shorter soak need not have switched the embedder."""


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_writers_and_readers_agree_in_the_end(fork_server, kind, request, tmp_path):
    """No call fails; documents and facts are exactly those that the writers have left, and `check --deep` is sound."""
    if kind == "sqlite":
        db = str(tmp_path / "weft.db")
    else:
        import postgres

        db = postgres.address(request.getfixturevalue("postgres_dsn"))
    random = chance("soak", kind)
    seeds = [random.randrange(10**9) for _ in ROLES]
    arguments = {"db": db, "seeds": seeds, "seconds": SOAK_SECONDS, "folder": str(tmp_path)}
    ended = fork_server.call("soak_clients:run_roles", timeout=SOAK_SECONDS + 300, **arguments)
    assert ended.value == [0] * len(ROLES), ended.errors
    results = [json.loads((tmp_path / f"{number}.json").read_text()) for number in range(len(ROLES))]
    found = fork_server.value("store_writer:inspect", db=db, deep=True)

    print(f"\n{kind}: calls of {list(zip(ROLES, [result['calls'] for result in results], strict=True))}")
    assert found["problems"] == []
    expected = {
        path("document", "default", source): f"{version}/1"
        for result in results[:4]
        for source, version in result["documents"].items()
    }
    assert {at: value for at, value in found["state"].items() if at.startswith("document")} == expected
    assert sum(at.startswith("fact\t") for at in found["state"]) == sum(len(result["facts"]) for result in results[:4])
    assert all(result["calls"] > 0 for result in results[:8])
    assert SOAK_SECONDS < MIN_SWITCH_SECONDS or results[8]["calls"] > 0
