"""MCP answers to invalid arguments and to large requests, and the modules loaded until then."""

import asyncio
import re
import subprocess
import sys

import pytest
from mcp_driving import ask, connect, drive, fill, settings_for

from weft.engine.engine import Engine
from weft.records import Document, GivenFact
from weft.tools import paging
from weft.tools.calls import MAX_DOCUMENT_CHARACTERS
from weft.tools.definitions import TOOLS
from weft.tools.reference_memory import MAX_GRAPH_CHARACTERS
from weft.tools.reference_memory_definitions import MEMORY_TOOLS


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """Settings of a store that holds the pages; for tests that only read."""
    return settings_for(fill(tmp_path_factory.mktemp("store") / "weft.db"))


# ── arguments ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("memory_search", {"q": "sign-in", "top_k": "1", "use_graph": "false", "min_graph_score": 0.5}),
        ("memory_search", {"question": "sign-in", "limit": 1, "useGraph": False, "cursor": None}),
        ("memory_get", {"citation": "docs/1.md:1"}),
        ("memory_get", {"document_id": "docs/1.md"}),
        ("memory_related", {"source": "docs/1.md", "limit": "1"}),
        ("memory_timeline", {"period": "last week"}),
        ("memory_timeline", {"since": "2026-03-01"}),
        ("entity_lookup", {"entityName": "AUTH-SERVICE"}),
        ("graph_neighbours", {"entity": "Auth Service", "maxHops": "2", "min_weight": "1"}),
        ("graph_path", {"from": "Login Flow", "to": "Auth Service", "max_hops": 3.0}),
        ("memory_stats", {}),
        ("search", {"q": "sign-in"}),
    ],
)
def test_arguments_are_read_as_models_write_them(filled, name, arguments):
    """In both spellings, under the names that other servers use, numbers in text."""
    (answer,) = ask(filled, (name, arguments))

    assert not answer.is_error, answer.content[0].text


def test_no_match_names_the_closest_passage(filled):
    """In the values with score and reason, and in the text; an answer has nothing of it."""
    empty, found = ask(
        filled,
        ("memory_search", {"query": "zebra etiquette in Lisbon", "useGraph": False}),
        ("memory_search", {"query": "Auth Service", "useGraph": False}),
    )
    rejected = empty.structured_content["rejected"]

    assert (empty.structured_content["status"], rejected.keys()) == ("no_match", {"citation", "score", "reason"})
    assert f"closest, not shown: {rejected['citation']}" in empty.content[0].text.splitlines()
    assert "rejected" not in found.structured_content
    assert "not shown" not in found.content[0].text


@pytest.mark.parametrize(
    "name, arguments, said",
    [
        ("memory_search", {}, "query"),
        ("memory_search", {"query": "  "}, "query"),
        ("memory_search", {"query": "x", "maxResults": 0}, "pass maxResults as a whole number from 1 to 1000"),
        ("memory_search", {"query": "x", "maxResults": "many"}, "pass maxResults as a whole number"),
        ("memory_search", {"query": "x", "useGraph": "perhaps"}, "true or false"),
        ("memory_search", {"query": "x", "cursor": "../../etc"}, "pass the cursor of the previous answer"),
        ("memory_search", {"query": "x", "limit": 1, "maxResults": 2}, "pass maxResults once"),
        ("memory_search", {"query": {"text": "x"}}, "pass query as a non-empty string"),
        ("memory_get", {"id": "nothing.md"}, "memory_search"),
        ("memory_get", {"id": f"docs/1.md:{9:0>5000}"}, "memory_search"),
        ("memory_get", {"id": "../../etc/passwd"}, "memory_search"),
        ("memory_add", {"subject": "user", "predicate": "likes"}, "pass value, or the name of an entity"),
        (
            "memory_add",
            {"subject": "user", "predicate": "likes", "value": "a", "object": "b"},
            "pass value, or the name",
        ),
        ("memory_add", {"subject": "user", "predicate": "likes", "value": "a", "confidence": 2}, "from 0 to 1"),
        ("memory_confirm", {"id": "none"}, "memory_search"),
        ("memory_forget", {}, "pass ids"),
        ("memory_forget", {"ids": ["none"]}, "memory_search"),
        ("memory_forget", {"ids": [["none"]]}, "a non-empty string"),
        ("memory_forget", {"entity": "Nobody"}, "memory_search"),
        ("memory_forget", {"ids": ["none"], "entity": "Nobody"}, "pass ids for these facts"),
        ("memory_forget", {"conversation": "none"}, "memory_search"),
        ("memory_forget", {"conversation": "none", "entity": "Nobody"}, "pass ids for these facts"),
        ("entity_lookup", {"name": "Nobody"}, "memory_search"),
        ("graph_neighbours", {"name": "Auth Service", "hops": 9}, "from 1 to 3"),
        ("graph_path", {"source": "Auth Service"}, "target"),
        ("graph_path", {"source": "Auth Service", "target": "Nobody"}, "memory_search"),
        ("fetch", {"id": "nothing"}, "memory_search"),
        ("memory_stats", {"namespace": "other"}, "no arguments"),
    ],
)
def test_what_cannot_be_used_is_an_error_that_says_what_to_do(filled, name, arguments, said):
    """It is an error of the tool, so the model sees it and can call again."""
    (answer,) = ask(filled, (name, arguments))

    assert answer.is_error
    assert said in answer.structured_content["action"]
    assert answer.structured_content["error"] in answer.content[0].text
    assert len(answer.content[0].text) < 600


def test_a_refused_fact_says_why(tmp_path):
    """A secret is not kept, and the model is told."""
    call = ("memory_add", {"subject": "user", "predicate": "password", "value": "hunter2-hunter2"})
    (answer,) = ask(settings_for(tmp_path / "weft.db"), call)

    assert answer.structured_content["outcome"] == "refused"
    assert "secret" in answer.structured_content["reason"]


@pytest.mark.parametrize("compat, tools", [(None, TOOLS), ("memory", MEMORY_TOOLS)])
def test_every_argument_has_the_spellings_that_are_promised(filled, compat, tools):
    """Its name, the same in snake_case, and its aliases: all are read; a name that is none is refused."""
    calls, known = [], []
    for tool in tools:
        spellings = {name: name for name in tool.properties}
        spellings |= {re.sub("([A-Z])", r"_\1", name).lower(): name for name in tool.properties} | dict(tool.aliases)
        for spelling, name in [*spellings.items(), ("bogus", "bogus")]:
            needed = {other: [] if tool.properties[other]["type"] == "array" else "x" for other in tool.required}
            needed.pop(name, None)
            calls.append((tool.name, {**needed, spelling: "x"}))
            known.append(name in tool.properties)
    answers = ask(filled, *calls, compat=compat)

    assert len(calls) > 2 * len(tools)
    for call, answer, is_known in zip(calls, answers, known, strict=True):
        assert ("unknown argument" in answer.content[0].text) is not is_known, call


# ── size ────────────────────────────────────────────────────────────────────────────────────────


def collect(settings, name, arguments, key):
    """Follow cursors to the end; return the pages of `key`."""

    async def steps():
        found, cursor = [], {}
        async with connect(settings) as client:
            while True:
                values = (await client.call_tool(name, {**arguments, **cursor})).structured_content
                found.append(values[key])
                if "cursor" not in values:
                    return found
                cursor = {"cursor": values["cursor"]}

    return drive(steps())


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Settings of a store with a long document, much metadata, an entity with many relations, and many facts."""
    text = "\n\n".join(f"## Part {n}\n\n{'cats purr loudly ' * 60}{n}" for n in range(100))
    paging = {"Long Tale": ([], text), "Hub": ([], "The middle.")}
    paging |= {
        f"Spoke Number {n} Of The Wheelwright Neverending Wheelhouse": (["Hub"], f"Spoke {n}.") for n in range(90)
    }
    db = fill(tmp_path_factory.mktemp("store") / "weft.db", paging)
    with Engine(settings_for(db)) as engine:
        verbose = {"abstract": "words without end " * 5000, **{f"field {n}": "word " * 50 for n in range(100)}}
        engine.add([Document(source="docs/verbose.md", title="Verbose", text="Short.", metadata=verbose)])
        engine.memory.add_many(
            GivenFact(subject="Hub", predicate=f"fact_{n}", value=f"a long value that takes its place {n} " * 4)
            for n in range(450)
        )
    return settings_for(db)


def test_long_answers_come_in_pages(large):
    """Each bounded, all together everything, nothing twice."""
    with Engine(large) as engine:
        chunks = [chunk.id for chunk in engine.get("docs/0.md")[1]]
    passages = collect(large, "memory_get", {"id": "docs/0.md"}, "passages")
    facts = collect(large, "entity_lookup", {"name": "Hub"}, "facts")
    results = collect(large, "memory_search", {"query": "cats purr", "maxResults": 40}, "results")
    around = collect(large, "graph_neighbours", {"name": "Hub", "hops": 2}, "neighbours")

    assert [item["id"] for page in passages for item in page] == chunks
    assert len({item["id"] for page in facts for item in page}) == 450
    assert len({item["id"] for page in results for item in page}) == sum(map(len, results)) == 40
    assert len({item["name"] for page in around for item in page}) == sum(map(len, around)) > 60
    for found in (passages, facts, results, around):
        assert len(found) > 1
        assert all(paging.measure(page) < 1.2 * paging.PAGE_CHARACTERS for page in found)


def test_the_text_goes_on_with_the_page(large):
    """With a cursor, the text contains the same page as the values."""
    first = {"query": "cats purr", "maxResults": 40}
    (begun,) = ask(large, ("memory_search", first))
    (gone_on,) = ask(large, ("memory_search", {**first, "cursor": begun.structured_content["cursor"]}))

    assert gone_on.structured_content["results"]
    for result in gone_on.structured_content["results"]:
        assert result["snippet"] in gone_on.content[0].text
        assert f"Source: {result['citation']}" in gone_on.content[0].text


LARGEST = {
    "memory_search": {"query": "cats purr", "maxResults": 1000},
    "memory_get": {"id": "docs/verbose.md"},
    "memory_related": {"id": "docs/verbose.md", "maxResults": 50},
    "memory_timeline": {},
    "entity_lookup": {"name": "Hub"},
    "graph_neighbours": {"name": "Hub", "hops": 3},
    "graph_path": {"source": "Long Tale", "target": "Hub", "maxHops": 6},
    "memory_stats": {},
    "search": {"query": "cats purr"},
    "fetch": {"id": "docs/0.md"},
    "read_graph": {},
    "search_nodes": {"query": ""},
    "open_nodes": {"names": ["Hub"]},
}
"""A call of each tool that reads, for which there is more than fits."""


LIMITS = [(None, 1.5 * paging.PAGE_CHARACTERS), ("memory", 1.2 * MAX_GRAPH_CHARACTERS)]


@pytest.mark.parametrize("compat, limit", LIMITS)
def test_no_answer_is_larger_than_promised(large, compat, limit):
    """Text and values of every tool that reads, by the list of tools; `fetch` gives a document up to its own bound."""
    tools = [tool for tool in (MEMORY_TOOLS if compat else TOOLS) if not tool.writes]
    answers = ask(large, *((tool.name, LARGEST[tool.name]) for tool in tools), compat=compat)

    for tool, answer in zip(tools, answers, strict=True):
        most = 1.2 * MAX_DOCUMENT_CHARACTERS if tool.name == "fetch" else limit
        assert not answer.is_error, answer.content[0].text
        assert paging.measure(answer.structured_content) < most, tool.name
        assert sum(len(part.text) for part in answer.content) < 2 * most, tool.name  # indented in the reference's way


def test_every_tool_that_lists_takes_a_cursor():
    """Tools with bounded answers have no cursor: a path, or as many results as the settings allow."""
    short = {"graph_path", "search", "create_entities", "create_relations", "add_observations"}
    lists = {
        tool.name
        for tool in (*TOOLS, *MEMORY_TOOLS)
        if any(field.get("items", {}).get("type") == "object" for field in tool.answer.values())
    }

    assert short < lists
    assert {tool.name for tool in (*TOOLS, *MEMORY_TOOLS) if "cursor" in tool.properties} == lists - short


def test_many_calls_at_once_lose_nothing(tmp_path):
    """Reads and writes in one session."""
    settings = settings_for(fill(tmp_path / "weft.db"))

    async def steps():
        async with connect(settings) as client:
            calls = []
            for n in range(20):
                fact = {"subject": "user", "predicate": "visited", "value": f"city number {n}"}
                calls += [client.call_tool("memory_add", fact), client.call_tool("memory_search", {"query": "sign-in"})]
            return await asyncio.gather(*calls)

    answers = drive(steps())

    assert not any(answer.is_error for answer in answers)
    with Engine(settings) as engine:
        assert len({fact.value for fact in engine.memory.list("user")}) == 20


def test_a_name_that_only_facts_know_is_an_entity(tmp_path):
    """With its facts as relations."""
    looked, around = ask(
        settings_for(fill(tmp_path / "weft.db")),
        ("memory_add", {"subject": "Grace Hopper", "predicate": "wrote", "object": "Auth Service"}),
        ("entity_lookup", {"name": "grace hopper"}),
        ("graph_neighbours", {"name": "Grace Hopper"}),
    )[1:]

    assert looked.structured_content["facts"][0]["object"] == "Auth Service"
    assert looked.structured_content["relations"][0]["type"] == "wrote"
    assert around.structured_content["neighbours"][0]["name"] == "Auth Service"


def test_an_answer_of_facts_alone_says_that_it_is_one(tmp_path):
    """Without the note, the low confidence of the passages would be unexplained."""
    searched = ask(
        settings_for(fill(tmp_path / "weft.db")),
        ("memory_add", {"subject": "Grace Hopper", "predicate": "collects", "value": "brass sextants"}),
        ("memory_search", {"query": "What does Grace Hopper collect?"}),
    )[1]
    said = searched.content[0].text.splitlines()

    assert searched.structured_content["results"] == []
    assert [line for line in said if "remembered fact" in line] == [
        "note: the answer is 1 remembered fact; no passage is relevant enough"
    ]
    assert "brass sextants" in searched.content[0].text


# ── start ───────────────────────────────────────────────────────────────────────────────────────


GREET = """
import asyncio, sys
import weft.cli.serve.mcp, weft.mcp.serve
from weft.config import read_settings
from weft.engine.lazy_engine import LazyEngine
from weft.mcp.server import make_server
from mcp.client import Client

class Waiting(LazyEngine):
    started = 0
    def start(self):
        self.started += 1

async def greet():
    with Waiting(read_settings({"store.db": "weft.db"}, environment={})) as standby:
        async with Client(make_server(standby), mode="legacy") as client:
            await client.send_ping()
            slow = {"numpy", "apsw", "onnxruntime", "tokenizers", "weft.engine.engine"} & set(sys.modules)
            await client.list_tools()
            print(client.server_info.name, sorted(slow), standby.started > 0)

asyncio.run(greet())
"""


def test_nothing_is_loaded_before_the_client_is_greeted(tmp_path):
    """numpy, SQLite and the model are loaded after the handshake."""
    fill(tmp_path / "weft.db")
    done = subprocess.run([sys.executable, "-c", GREET], cwd=tmp_path, capture_output=True, text=True, timeout=600)

    assert done.stdout == "weft [] True\n", done.stderr


def test_without_the_extra_the_command_says_how_to_get_it(tmp_path):
    """The pip command, and no traceback."""
    hide = "import sys; sys.modules['mcp'] = None; from weft.cli.main import main; sys.argv = ['weft', 'mcp']; main()"
    done = subprocess.run([sys.executable, "-c", hide], cwd=tmp_path, capture_output=True, text=True, timeout=600)

    assert done.returncode == 1
    assert "pip install 'weft-search[mcp]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "name, arguments, most",
    [
        ("memory_search", {"query": "cats purr", "maxResults": 40}, 6000),
        ("memory_search", {"query": "what does the zeppelin on the moon weigh"}, 2000),
        ("graph_neighbours", {"name": "Hub", "hops": 3}, 4500),
    ],
)
def test_a_brief_answer_is_small_and_a_full_one_is_not_cut(large, name, arguments, most):
    """The cursor leads to the rest; the text has a budget too."""
    brief, full = ask(large, (name, arguments), (name, {**arguments, "detail": "full"}))

    assert paging.measure(brief.structured_content) <= most
    assert len(brief.content[0].text) <= 1.2 * most
    assert paging.measure(full.structured_content) >= paging.measure(brief.structured_content)
