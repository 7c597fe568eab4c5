"""Several namespaces and several files in one question: command line, HTTP and MCP."""

import json
from pathlib import Path

import jsonschema
import pytest
from mcp import Client
from mcp_driving import drive, fill, settings_for
from serving import Running, add, refused
from test_mcp_keys import make_key, send

from weft.engine.lazy_engine import LazyEngine
from weft.mcp.server import make_server

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "result.schema.json").read_text("utf-8"))
BOTH = ("-N", "team", "-N", "mine")


@pytest.fixture
def filled(weft, tmp_path):
    """Two namespaces of one file, and a second file."""
    for name, text in (("team", "The Blue Kiln fires bricks."), ("mine", "I repaired the Blue Kiln with Ada.")):
        (tmp_path / f"{name}.md").write_text(f"# Kiln of {name}\n\n{text}\n", "utf-8")
        weft("index", f"{name}.md", "-q", "-N", name)
    weft("index", "mine.md", "-q", "--db", "other.db", "-N", "team")
    weft("fact", "add", "Ada", "likes", "tea", "-N", "mine")
    return weft


def test_a_question_over_two_namespaces(filled):
    found = filled("query", *BOTH, "Blue Kiln", "--json").json
    jsonschema.validate(found, SCHEMA)
    assert found["namespaces"] == ["team", "mine"]
    assert {item["document"]["namespace"] for item in found["results"]} == {"team", "mine"}
    assert "mine.md:3 (mine)" in filled("query", *BOTH, "who repaired the Blue Kiln").out
    assert filled("query", "-N", "team", "Blue Kiln", "--json").json["results"][0]["document"].get("namespace") is None
    assert "tea" in filled("recall", *BOTH, "Ada").out
    assert "mine" in filled("get", *BOTH, "mine.md:3 (mine)").out
    assert "(mine)" in filled("related", *BOTH, "team.md").out
    assert "Source" in filled("query", *BOTH, "Blue Kiln", "--context").out


def test_options_after_the_verb_replace_those_before_it(filled):
    found = filled("-N", "nowhere", "query", *BOTH, "Blue Kiln", "--json").json
    assert found["namespaces"] == ["team", "mine"]


def test_a_question_over_two_files(filled):
    found = filled("query", "--db", "weft.db", "--db", "other.db", "-N", "team", "Blue Kiln", "--json").json
    assert {item["document"]["namespace"] for item in found["results"]} == {"weft.db:team", "other.db:team"}
    assert "'nope.db' does not exist" in filled("query", "--db", "weft.db", "--db", "nope.db", "x", expect=1).err


def test_an_unknown_namespace_is_named(filled):
    assert "'nix'" in filled("query", "-N", "team", "-N", "nix", "Blue Kiln").out


def test_other_verbs_take_one_namespace_of_one_store(filled):
    for arguments in (("index", "team.md"), ("stats",), ("fact", "add", "a", "b", "c"), ("reembed",)):
        assert "--namespace cannot be repeated" in filled(*arguments, *BOTH, expect=2).err
    assert "--db cannot be repeated" in filled("list", "--db", "a.db", "--db", "b.db", expect=2).err


def test_namespaces_with_different_embedders_are_refused(filled):
    filled("index", "team.md", "-q", "-N", "plain", "--embedder", "none")
    error = filled("query", "-N", "team", "-N", "plain", "Blue Kiln", expect=1).err
    assert "cannot be searched together" in error and "weft reembed -N plain" in error


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Running(tmp_path_factory.mktemp("several") / "weft.db") as running:
        yield running


def test_http_answers_for_namespaces_of_the_key_only(server):
    team, mine, both = server.make_key("team"), server.make_key("mine"), server.make_key("team", "mine", access="read")
    with server.client(team) as client:
        add(client, "# Kiln\n\nThe Blue Kiln fires bricks.\n", "kiln")
    with server.client(mine) as client:
        add(client, "# Diary\n\nI repaired the Blue Kiln.\n", "diary")
    question = {"query": "Blue Kiln", "namespaces": ["team", "mine"], "context": "evidence", "facts": True}
    with server.client(both, **{"X-Weft-Namespace": "team"}) as client:
        answer = client.post("/query", json=question)
        assert answer.status_code == 200, answer.text
        assert {item["document"]["namespace"] for item in answer.json()["results"]} == {"team", "mine"}
        assert "(mine)" in answer.json()["context"]["text"]
        outside = client.post("/query", json={**question, "namespaces": ["team", "secret"]})
        assert refused(outside) == (403, "wrong_namespace")
    with server.client(team) as client:
        assert refused(client.post("/query", json=question)) == (403, "wrong_namespace")
        alone = client.post("/query", json={**question, "namespaces": ["team"]}).json()
        assert [item["document"]["source"] for item in alone["results"]] == ["text:kiln"]


def test_scores_over_two_namespaces_do_not_depend_on_a_third(server):
    """Statistics of a namespace that was not asked would tell what it contains."""
    keys = {name: server.make_key(name) for name in ("one", "two", "third")}
    for name in ("one", "two"):
        with server.client(keys[name]) as client:
            add(client, f"# Page {name}\n\nThe lantern of {name} burns oil.\n", name)
    question = {"query": "lantern oil", "namespaces": ["one", "two"]}

    def ask():
        with server.client(server.make_key("one", "two"), **{"X-Weft-Namespace": "one"}) as client:
            return [(r["score"], r["channels"]) for r in client.post("/query", json=question).json()["results"]]

    before = ask()
    with server.client(keys["third"]) as client:
        add(client, "# Lanterns\n\n" + "lantern oil lantern. " * 30, "third")
    assert before and ask() == before


@pytest.fixture
def db(tmp_path):
    fill(tmp_path / "weft.db", {"Blue Kiln": ([], "Fires bricks at noon.")}, namespace="team")
    return fill(tmp_path / "weft.db", {"Diary": ([], "I repaired the Blue Kiln.")}, namespace="mine")


def test_mcp_tools_read_all_namespaces_and_write_to_the_first(db):
    settings = settings_for(db, **{"store.namespace": "team"})

    async def steps():
        with LazyEngine(settings, namespaces=("team", "mine")) as standby:
            async with Client(make_server(standby)) as client:
                found = await client.call_tool("memory_search", {"query": "Blue Kiln"})
                stats = await client.call_tool("memory_stats", {})
                known = await client.call_tool("entity_lookup", {"name": "Blue Kiln"})
                await client.call_tool("memory_add", {"subject": "Ada", "predicate": "likes", "value": "tea"})
                facts = await client.call_tool("entity_lookup", {"name": "Ada"})
                return [item.structured_content for item in (found, stats, known, facts)]

    found, stats, known, facts = drive(steps())
    assert {item["citation"].rpartition(" ")[2] for item in found["results"]} == {"(team)", "(mine)"}
    assert (stats["documents"], stats["namespace"]) == (2, "team, mine")
    assert {item["citation"].rpartition(" ")[2] for item in known["mentions"]} >= {"(team)"}
    assert [fact["value"] for fact in facts["facts"]] == ["tea"]
    from weft.engine.engine import Engine

    with Engine(settings) as engine:
        assert [fact.value for fact in engine.memory.list()] == ["tea"]


def test_an_mcp_key_needs_all_namespaces_of_the_server(db):
    keys = make_key(db, "team"), make_key(db, "team", "mine")
    standby = LazyEngine(settings_for(db, **{"store.namespace": "team"}), namespaces=("team", "mine"))
    assert send(db, *keys, standby=standby) == [403, 200]
