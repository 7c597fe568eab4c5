"""`--compat memory` in detail; test_mcp_reference.py compares it with the reference memory server."""

import asyncio
import json

import jsonschema
import pytest
from mcp_driving import connect, drive, settings_for
from memory_scenario import ACME, ALICE, BOB, COMPETES, KNOWS, TOGETHER, WORKS

from weft.engine.engine import Engine
from weft.tools import reference_memory
from weft.tools.reference_memory_definitions import MEMORY_TOOLS

SCHEMAS = {tool.name: tool.output_schema for tool in MEMORY_TOOLS}


class Driver:
    """Calls tools of a server in this process and checks that text and values agree as they do in the reference."""

    def __init__(self, settings):
        self.settings = settings

    def ask(self, name, **arguments):
        async def steps():
            async with connect(self.settings, compat="memory") as client:
                return await client.call_tool(name, arguments)

        return drive(steps())

    def __call__(self, name, **arguments):
        answer = self.ask(name, **arguments)
        assert not answer.is_error, answer.content[0].text
        values, text = answer.structured_content, answer.content[0].text
        jsonschema.validate(values, SCHEMAS[name])
        if name.startswith("delete_"):
            assert (set(values), values["success"], values["message"]) == ({"success", "message"}, True, text)
            return text
        shown = json.loads(text)
        if name in ("read_graph", "search_nodes", "open_nodes"):
            assert values == shown
            return [entity["name"] for entity in shown["entities"]], shown["relations"]
        ((_, inner),) = values.items()
        assert inner == shown
        return shown


@pytest.fixture
def memory(tmp_path):
    return Driver(settings_for(tmp_path / "weft.db"))


@pytest.fixture
def company(memory):
    """Two people and a company."""
    memory("create_entities", entities=[ALICE, BOB, ACME])
    memory("create_relations", relations=[WORKS, COMPETES])
    return memory


def observations(memory, name):
    answer = memory.ask("open_nodes", names=[name])
    return answer.structured_content["entities"][0]["observations"]


def test_the_nine_tools_are_there_and_no_others(memory):
    """Under the names, titles and hints of the reference."""

    async def steps():
        async with connect(memory.settings, compat="memory") as client:
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in drive(steps())}

    assert list(tools) == [
        "create_entities",
        "create_relations",
        "add_observations",
        "delete_entities",
        "delete_observations",
        "delete_relations",
        "read_graph",
        "search_nodes",
        "open_nodes",
    ]
    assert {name for name, tool in tools.items() if tool.annotations.read_only_hint} == {*list(tools)[6:]}
    assert {name for name, tool in tools.items() if tool.annotations.destructive_hint} == {*list(tools)[3:6]}
    assert tools["create_entities"].title == "Create Entities"
    assert tools["add_observations"].input_schema["required"] == ["observations"]


def test_entities_are_created_once(memory):
    """The answer contains the new entities as they were passed."""
    assert memory("create_entities", entities=[ALICE, BOB]) == [ALICE, BOB]
    assert memory("create_entities", entities=[ALICE, {**ALICE, "entityType": "robot"}]) == []
    assert memory("create_entities", entities=[]) == []
    assert memory("read_graph") == (["Alice", "Bob"], [])
    assert sorted(observations(memory, "Alice")) == sorted(ALICE["observations"])


def test_an_entity_twice_in_one_call_is_one(memory):
    """The first counts."""
    assert memory("create_entities", entities=[BOB, {**BOB, "observations": ["else"]}]) == [BOB]
    assert observations(memory, "Bob") == BOB["observations"]


def test_what_is_said_under_another_spelling_is_not_lost_unnoticed(memory):
    """The reference has two entities where there is one here: the model hears where to say it."""
    memory("create_entities", entities=[{**BOB, "name": "Box"}])
    made = [{**BOB, "name": "The Boxes"}, {**BOB, "name": "Crate"}, {**BOB, "name": "crates"}, {**BOB, "name": "Box"}]
    answer = memory.ask("create_entities", entities=made)

    assert [entity["name"] for entity in answer.structured_content["entities"]] == ["Crate"]
    assert [part.text for part in answer.content[1:]] == [
        "'The Boxes' is the existing entity 'Box', which is unchanged: use add_observations",
        "'crates' is the existing entity 'Crate', which is unchanged: use add_observations",
    ]


def test_names_that_differ_in_a_sign_are_apart(memory):
    """Observations of C++ are not stored under C, and the reverse."""
    made = [{"name": name, "entityType": "language", "observations": [f"is {name}"]} for name in ("C", "C++", "C#")]
    assert memory("create_entities", entities=made[:1]) == made[:1]
    assert memory("create_entities", entities=made) == made[1:]
    assert [observations(memory, item["name"]) for item in made] == [item["observations"] for item in made]


def test_relations_are_created_once(company):
    """A known or repeated relation is not new."""
    assert company("create_relations", relations=[KNOWS, KNOWS, WORKS]) == [KNOWS]
    assert company("create_relations", relations=[]) == []
    assert company("read_graph")[1] == [WORKS, COMPETES, KNOWS]


def test_the_end_of_a_relation_can_be_created_afterwards(company):
    """As in the reference server, entities can be created after their relations."""
    haunts = {"from": "Ghost", "to": "Bob", "relationType": "haunts"}
    ghost = {"name": "Ghost", "entityType": "spirit", "observations": ["pale"]}

    assert company("create_relations", relations=[haunts]) == [haunts]
    assert company("open_nodes", names=["Ghost"]) == (["Ghost"], [haunts])
    assert company("create_entities", entities=[ghost]) == [ghost]
    assert company("create_entities", entities=[ghost]) == []
    assert company.ask("open_nodes", names=["Ghost"]).structured_content == {"entities": [ghost], "relations": [haunts]}


def test_a_relation_may_lead_back(memory):
    """From an entity to itself."""
    memory("create_entities", entities=[ALICE])
    own = {"from": "Alice", "to": "Alice", "relationType": "self"}

    assert memory("create_relations", relations=[own]) == [own]
    assert memory("read_graph") == (["Alice"], [own])


def test_observations_are_added_once(company):
    """The answer contains the new observations of each entity."""
    more = {"entityName": "Bob", "contents": ["likes coffee", "works at TechCo", "has a dog", "has a dog"]}

    assert company("add_observations", observations=[more]) == [
        {"entityName": "Bob", "addedObservations": ["likes coffee", "has a dog"]}
    ]
    assert company("add_observations", observations=[more]) == [{"entityName": "Bob", "addedObservations": []}]
    assert sorted(observations(company, "Bob")) == ["has a dog", "likes coffee", "works at TechCo"]


def test_observations_of_nobody_are_refused(memory):
    """With the words of the reference, and what to do."""
    answer = memory.ask("add_observations", observations=[{"entityName": "NonExistent", "contents": ["x"]}])

    assert answer.is_error
    assert answer.structured_content is None
    assert answer.content[0].text == "Entity with name NonExistent not found"
    assert "create_entities" in answer.content[1].text


def test_deleting_an_entity_takes_its_relations(company):
    """Outgoing and incoming relations are deleted."""
    assert company("delete_entities", entityNames=["Acme Corp"]) == "Entities deleted successfully"
    assert company("read_graph") == (["Alice", "Bob"], [])
    answer = company.ask("delete_entities", entityNames=["Alice", "NonExistent"])
    assert [part.text for part in answer.content] == [
        "Entities deleted successfully",
        "unknown entity: NonExistent",
    ]
    assert company("read_graph") == (["Bob"], [])


def test_deleting_what_was_created_leaves_nothing(memory):
    """`delete(add(x))` is the identity here too."""
    before = memory("create_entities", entities=[]), memory("read_graph")
    memory("create_entities", entities=[ALICE, BOB])
    memory("create_relations", relations=[KNOWS])
    memory("delete_entities", entityNames=["Alice", "Bob"])

    assert (memory("create_entities", entities=[]), memory("read_graph")) == before
    with Engine(memory.settings) as engine:
        assert engine.memory.stats()["facts"] == engine.memory.stats()["entities"] == 0


def test_deleting_observations(company):
    """Matching observations are deleted; the others are counted."""
    one = {"entityName": "Alice", "observations": ["likes programming"]}
    none = {"entityName": "NonExistent", "observations": ["some observation"]}

    assert company("delete_observations", deletions=[one]) == "Observations deleted successfully"
    assert observations(company, "Alice") == ["works at Acme Corp"]
    answer = company.ask("delete_observations", deletions=[one, none])
    assert answer.content[0].text == "Observations deleted successfully"
    assert answer.content[1].text == "0 of 2 observations existed; unknown entity: NonExistent"
    assert "Alice" in company("read_graph")[0]


def test_deleting_relations(company):
    """Only the given relation is deleted."""
    company("create_relations", relations=[KNOWS, TOGETHER])

    assert company("delete_relations", relations=[KNOWS]) == "Relations deleted successfully"
    assert TOGETHER in company("read_graph")[1]
    answer = company.ask("delete_relations", relations=[KNOWS])
    assert [part.text for part in answer.content] == ["Relations deleted successfully", "0 of 1 relations existed"]


@pytest.mark.parametrize(
    "query, names, relations",
    [
        ("Alice", {"Alice"}, [WORKS]),
        ("ALICE", {"Alice"}, [WORKS]),
        ("company", {"Acme Corp"}, [WORKS, COMPETES]),
        ("programming", {"Alice"}, [WORKS]),
        ("Acme", {"Alice", "Acme Corp"}, [WORKS, COMPETES]),
        ("NonExistent", set(), []),
    ],
)
def test_nodes_are_found_by_name_type_and_observation(company, query, names, relations):
    """The case is ignored; relations at either end are returned."""
    found = company("search_nodes", query=query)

    assert (set(found[0]), found[1]) == (names, relations)


@pytest.mark.parametrize(
    "names, found, relations",
    [
        (["Alice", "Bob"], {"Alice", "Bob"}, [WORKS, COMPETES]),
        (["Acme Corp"], {"Acme Corp"}, [WORKS, COMPETES]),
        (["Bob"], {"Bob"}, [COMPETES]),
        (["NonExistent"], set(), []),
        ([], set(), []),
    ],
)
def test_nodes_are_opened_by_name(company, names, found, relations):
    """With all relations at them, also to those that were not opened."""
    opened = company("open_nodes", names=names)

    assert (set(opened[0]), opened[1]) == (found, relations)


def test_a_store_that_is_not_there_yet_is_an_empty_graph(memory):
    """As in the reference server; a second text says that the graph is empty."""
    answer = memory.ask("read_graph")

    assert answer.structured_content == json.loads(answer.content[0].text) == {"entities": [], "relations": []}
    searched = memory.ask("search_nodes", query="Alice")
    assert searched.structured_content == answer.structured_content
    for empty in (answer, searched, memory.ask("open_nodes", names=["Alice"])):
        assert "has no entities yet" in empty.content[1].text
    assert memory("delete_entities", entityNames=[]) == "Entities deleted successfully"


def collect(memory, name, **arguments):
    """Follow cursors to the end, of which there is at least one; return entities and relations."""
    found, cursor = [], {}
    while True:
        answer = memory.ask(name, **arguments, **cursor)
        assert set(answer.structured_content) == {"entities", "relations"}
        found += [*answer.structured_content["entities"], *answer.structured_content["relations"]]
        if len(answer.content) == 1:
            assert cursor
            return found
        cursor = {"cursor": answer.content[1].text.rpartition("cursor ")[2].strip("'")}


def test_a_large_graph_comes_in_parts(company, monkeypatch):
    """The shape stays; a second text says what is left and how to get it."""
    monkeypatch.setattr(reference_memory, "MAX_GRAPH_CHARACTERS", 250)
    found = collect(company, "read_graph")

    assert sorted(map(str, found)) == sorted(map(str, [*company_entities(company), WORKS, COMPETES]))


def test_an_entity_too_large_for_one_answer_comes_in_parts(company, monkeypatch):
    """Under the same name and type, each time with the next observations."""
    monkeypatch.setattr(reference_memory, "MAX_GRAPH_CHARACTERS", 200)
    more = [f"likes programming language number {n}" for n in range(20)]
    company("add_observations", observations=[{"entityName": "Bob", "contents": more}])
    parts = collect(company, "open_nodes", names=["Bob"])

    assert [text for part in parts[:-1] for text in part["observations"]] == [*BOB["observations"], *more]
    assert {(part["name"], part["entityType"]) for part in parts[:-1]} == {("Bob", "person")}
    assert parts[-1] == COMPETES


def company_entities(company):
    with Engine(company.settings) as engine:
        return reference_memory._read(engine)[0]


def test_a_secret_is_not_kept_and_the_model_hears_it(memory):
    """The rest is; the shape of the answer stays."""
    entity = {**BOB, "observations": ["likes tea", "password: correct-horse-battery"]}
    answer = memory.ask("create_entities", entities=[entity])

    assert answer.structured_content == {"entities": [{**BOB, "observations": ["likes tea"]}]}
    assert "secret" in answer.content[1].text
    assert observations(memory, "Bob") == ["likes tea"]


@pytest.mark.parametrize(
    "name, arguments, said",
    [
        ("create_entities", {}, "entities"),
        ("create_entities", {"entities": "Alice"}, "a list"),
        ("create_entities", {"entities": [{"name": "Alice"}]}, "entityType"),
        ("create_entities", {"entities": [{**ALICE, "name": "?!"}]}, "letters"),
        ("search_nodes", {"query": "x" * 10_001}, "10,000"),
        ("open_nodes", {"namespace": "other", "names": []}, "names"),
    ],
)
def test_wrong_arguments_are_errors_that_say_what_to_do(company, name, arguments, said):
    """They are errors of the tool, so the model sees them."""
    answer = company.ask(name, **arguments)

    assert answer.is_error
    assert said in answer.content[1].text


def test_two_servers_that_write_at_once_lose_nothing(memory):
    """Concurrent writes damage the file of the reference server (its issue 1819); here they are two transactions."""

    async def steps():
        async with (
            connect(memory.settings, compat="memory") as first,
            connect(memory.settings, compat="memory") as second,
        ):
            calls = [
                client.call_tool("create_entities", {"entities": [{**BOB, "name": f"{side} {n}"}]})
                for side, client in (("Left", first), ("Right", second))
                for n in range(10)
            ]
            return await asyncio.gather(*calls)

    assert not any(answer.is_error for answer in drive(steps()))
    assert len(memory("read_graph")[0]) == 20


def test_weft_has_it_as_facts(company):
    """The other tools find the facts that these tools wrote."""

    async def look():
        async with connect(company.settings) as client:
            return (await client.call_tool("entity_lookup", {"name": "Alice"})).structured_content

    found = drive(look())

    assert {fact.get("object") or fact["value"] for fact in found["facts"]} == {*ALICE["observations"], "Acme Corp"}
