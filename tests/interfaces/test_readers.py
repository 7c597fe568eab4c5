"""Extractors of a relation in all interfaces; they are shown unless only the rules found the relation."""

import sys
from pathlib import Path

import pytest
from serving import Running

from weft.engine.opening.open_engine import open_engine
from weft.tools.calls import call_tool

sys.path.append(str(Path(__file__).parents[1] / "models"))
from llm_serving import entity, open_asking, relation, serve_model

TEXT = "Zephyr is written in Rust by Ada Lovelace. It relies on Quillbase."
GRAPH = {
    "entities": [entity("Zephyr"), entity("Ada Lovelace"), entity("Quillbase")],
    "relations": [relation("Zephyr", "depends_on", "Quillbase", 9), relation("Ada Lovelace", "admires", "Zephyr", 8)],
    "facts": [],
}
MODEL = "llm-openai/tiny-extract-1"
NEAR = {"Quillbase": [MODEL, "rules"], "Ada Lovelace": [MODEL]}


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A store in which a model read two relations, and the rules one of them and another."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serve_model(lambda text: GRAPH) as endpoint, open_asking(tmp_path, endpoint) as engine:
        engine.add_text(TEXT, source="a", title="Zephyr")
    with open_engine(tmp_path / "weft.db", embedder="none") as engine:
        engine.add_text("---\ndepends_on: [Lantern]\n---\n# Quillbase\n\nIt is old.", source="b", title="Quillbase")
        engine.add_text("# Lantern\n\nIt burns.", source="c", title="Lantern")
    return tmp_path / "weft.db"


def test_the_command_line_has_a_column_for_it(weft, store):
    """The column is shown only if an extractor other than the rules found a relation."""
    asked = ("neighbours", "Zephyr", "--min-weight", "8", "--db", str(store))
    rows = {row["name"]: row.get("extractors") for row in weft(*asked, "--json").json}
    told, plain = weft(*asked).out, weft("neighbours", "Lantern", "--min-weight", "8", "--db", str(store)).out

    assert rows == NEAR
    assert "read by" in told.splitlines()[0]
    assert f"{MODEL}, rules" in told
    assert "Quillbase" in plain
    assert "read by" not in plain
    path = weft("path", "Ada Lovelace", "Lantern", "--json", "--db", str(store)).json
    assert [step.get("extractors") for step in path] == [[MODEL], [MODEL, "rules"], None]


def test_http_knows_what_only_facts_know(store):
    """With its facts as relations; the list has it last."""
    with Running(store) as server, server.client() as client:
        stated = [{"subject": "Kestrel Works", "predicate": "owns", "object": "Zephyr"}]
        client.post("/facts", json={"facts": stated})
        shown = client.get("/graph/entity", params={"name": "kestrel works"}).json()
        near = client.get("/graph/neighbours", params={"name": shown["entity"]["id"]}).json()
        listed = client.get("/graph/entities", params={"limit": 100}).json()["entities"]
        unknown = client.get("/graph/entity", params={"name": "Nobody"})

    assert [(step["type"], step["target"]) for step in shown["relations"]] == [("owns", "Zephyr")]
    assert not shown["mentions"]
    assert [item["entity"]["name"] for item in near["neighbours"]] == ["Zephyr"]
    assert listed[-1]["name"] == "Kestrel Works"
    assert unknown.status_code == 404


def test_http_tells_it_of_relations_and_paths(store):
    with Running(store) as server, server.client() as client:
        shown = client.get("/graph/entity", params={"name": "Zephyr"}).json()
        near = client.get("/graph/neighbours", params={"name": "Zephyr", "min_weight": 8}).json()
        path = client.get("/graph/path", params={"source": "Lantern", "target": "Zephyr"}).json()

    assert {step["target"]: step["extractors"] for step in shown["relations"] if "extractors" in step} == NEAR
    assert {item["entity"]["name"]: item["path"][0].get("extractors") for item in near["neighbours"]} == NEAR
    assert [step.get("extractors") for step in path["path"]] == [None, [MODEL, "rules"]]


def test_mcp_tells_it_too(store):
    with open_engine(store, embedder="none") as engine:
        shown = call_tool(engine, "entity_lookup", {"name": "Zephyr"}).values
        near = call_tool(engine, "graph_neighbours", {"name": "Zephyr", "minWeight": 8}).values
        path = call_tool(engine, "graph_path", {"source": "Lantern", "target": "Zephyr"}).values

    assert {step["target"]: step["extractors"] for step in shown["relations"] if "extractors" in step} == NEAR
    assert {item["name"]: item["path"][0].get("extractors") for item in near["neighbours"]} == NEAR
    assert [step.get("extractors") for step in path["path"]] == [None, [MODEL, "rules"]]
