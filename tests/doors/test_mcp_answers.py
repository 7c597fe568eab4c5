"""What the MCP server says when arguments are wrong, when much is asked for, and when something does not work."""

import asyncio
import subprocess
import sys
import threading

import apsw
import pytest
from mcp_driving import PAGES, connect, drive, fill, settings_for

from weft.engine import pages, standby
from weft.engine.engine import Engine
from weft.errors import ModelUnavailable
from weft.store.sqlite import connect as connections
from weft.testing import FakeEmbedder


def ask(settings, *calls, **options):
    """Call tools one after the other; return their answers."""

    async def steps():
        async with connect(settings, **options) as client:
            return [await client.call_tool(name, arguments) for name, arguments in calls]

    return drive(steps())


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


@pytest.mark.parametrize(
    "name, arguments, said",
    [
        ("memory_search", {}, "query"),
        ("memory_search", {"query": "  "}, "query"),
        ("memory_search", {"query": "x", "maxResults": 0}, "maxResults: a whole number from 1 to 1000"),
        ("memory_search", {"query": "x", "maxResults": "many"}, "maxResults: a whole number"),
        ("memory_search", {"query": "x", "useGraph": "perhaps"}, "true or false"),
        ("memory_search", {"query": "x", "cursor": "../../etc"}, "cursor: as the answer before gave it"),
        ("memory_search", {"query": "x", "limit": 1, "maxResults": 2}, "give maxResults once"),
        ("memory_search", {"query": {"text": "x"}}, "query: a text"),
        ("memory_get", {"id": "nothing.md"}, "memory_search"),
        ("memory_get", {"id": "../../etc/passwd"}, "memory_search"),
        ("memory_add", {"subject": "user", "predicate": "likes"}, "give value, or object"),
        ("memory_add", {"subject": "user", "predicate": "likes", "value": "a", "object": "b"}, "give value, or object"),
        ("memory_add", {"subject": "user", "predicate": "likes", "value": "a", "confidence": 2}, "from 0 to 1"),
        ("memory_confirm", {"id": "none"}, "memory_search"),
        ("memory_forget", {}, "give ids"),
        ("memory_forget", {"ids": ["none"]}, "memory_search"),
        ("memory_forget", {"ids": [["none"]]}, "a text"),
        ("memory_forget", {"entity": "Nobody"}, "memory_search"),
        ("entity_lookup", {"name": "Nobody"}, "memory_search"),
        ("graph_neighbours", {"name": "Auth Service", "hops": 9}, "from 1 to 3"),
        ("graph_path", {"source": "Auth Service"}, "target"),
        ("fetch", {"id": "nothing"}, "memory_search"),
        ("memory_stats", {"namespace": "other"}, "no arguments"),
    ],
)
def test_what_cannot_be_used_is_an_error_that_says_what_to_do(filled, name, arguments, said):
    """Of the tool, so that the model sees it and can call again."""
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


def test_long_answers_come_in_pages(tmp_path):
    """Each bounded, all together everything, nothing twice."""
    text = "\n\n".join(f"## Part {n}\n\n{'cats purr loudly ' * 60}{n}" for n in range(60))
    db = fill(tmp_path / "weft.db", {"Long Tale": ([], text), "Hub": ([], "The middle.")})
    with Engine(settings_for(db)) as engine:
        for n in range(300):
            engine.memory.add("Hub", f"fact_{n}", value=f"a long value that takes its place {n} " * 4)
        chunks = [chunk.id for chunk in engine.get("docs/0.md")[1]]
    passages = collect(settings_for(db), "memory_get", {"id": "docs/0.md"}, "passages")
    facts = collect(settings_for(db), "entity_lookup", {"name": "Hub"}, "facts")
    results = collect(settings_for(db), "memory_search", {"query": "cats purr", "maxResults": 40}, "results")

    assert [item["id"] for page in passages for item in page] == chunks
    assert len({item["id"] for page in facts for item in page}) == 300
    assert len({item["id"] for page in results for item in page}) == sum(map(len, results)) == 40
    for found in (passages, facts, results):
        assert len(found) > 1
        assert all(pages.measure(page) < 1.2 * pages.PAGE_CHARACTERS for page in found)


# ── impaired ────────────────────────────────────────────────────────────────────────────────────


def test_without_a_store_every_tool_that_reads_says_so(tmp_path):
    """And none makes one; remembering does."""
    settings = settings_for(tmp_path / "weft.db")
    calls = [
        ("memory_search", {"query": "tea"}),
        ("memory_get", {"id": "x"}),
        ("memory_stats", {}),
        ("search", {"query": "tea"}),
        ("entity_lookup", {"name": "tea"}),
    ]
    for answer in ask(settings, *calls):
        assert answer.is_error
        assert "there is no store" in answer.structured_content["warning"]
        assert "weft index" in answer.structured_content["action"]
    assert not (tmp_path / "weft.db").exists()

    added, found = ask(
        settings,
        ("memory_add", {"subject": "user", "predicate": "drinks", "value": "green tea"}),
        ("memory_search", {"query": "what does the user drink?"}),
    )
    assert added.structured_content["outcome"] == "added"
    assert found.structured_content["facts"][0]["value"] == "green tea"
    assert "green tea" in found.content[0].text
    assert added.structured_content["fact"]["id"] in found.content[0].text


def test_an_empty_namespace_is_said_to_be_empty(tmp_path):
    """Not answered with an empty success."""
    settings = settings_for(tmp_path / "weft.db")
    Engine(settings).close()
    for answer in ask(settings, ("memory_search", {"query": "tea"}), ("memory_stats", {}), ("search", {"query": "t"})):
        assert "is empty" in answer.structured_content["warning"]
        assert "weft index" in answer.structured_content["action"]


def test_a_model_that_fails_leaves_words_to_search_by(tmp_path):
    """The answer is there, marked, with what to do."""
    embedder = FakeEmbedder()
    settings = settings_for(tmp_path / "weft.db")
    with Engine(settings, embedder=embedder) as engine:
        engine.add_text("Soup on Mondays.", source="menu", title="Menu")
    embedder.failing = "the model is gone"
    (answer,) = ask(settings, ("memory_search", {"query": "soup on mondays"}), embedder=embedder)

    assert answer.structured_content["results"]
    assert answer.structured_content["status"] == "degraded"
    assert "the model is gone" in answer.structured_content["warning"]
    assert "the model is gone" in answer.content[0].text
    assert answer.structured_content["action"]


def test_another_embedder_is_named_with_the_command_that_mends_it(tmp_path):
    """By the tools that need it; the others work."""
    settings = settings_for(tmp_path / "weft.db")
    with Engine(settings, embedder=FakeEmbedder()) as engine:
        engine.add_text("Soup on Mondays.", source="menu", title="Menu")
    searched, stats, read = ask(
        settings, ("memory_search", {"query": "soup"}), ("memory_stats", {}), ("memory_get", {"id": "text:menu"})
    )

    assert searched.is_error
    for answer in (searched, stats):
        assert "fake/words" in answer.structured_content["warning"]
        assert "weft reembed" in answer.structured_content["action"]
    assert stats.structured_content["documents"] == 1
    assert read.structured_content["passages"][0]["text"] == "Soup on Mondays."


def test_a_locked_file_is_an_answer_too(tmp_path, monkeypatch):
    """Writing waits, then says who is in the way; reading goes on."""
    monkeypatch.setattr(connections, "BUSY_MS", 50)
    settings = settings_for(fill(tmp_path / "weft.db"))
    other = apsw.Connection(str(tmp_path / "weft.db"))
    other.execute("BEGIN IMMEDIATE")
    try:
        added, stats = ask(
            settings, ("memory_add", {"subject": "user", "predicate": "likes", "value": "tea"}), ("memory_stats", {})
        )
    finally:
        other.close()

    assert added.is_error
    assert "busy" in added.structured_content["warning"]
    assert added.structured_content["action"] == "try again"
    assert stats.structured_content["documents"] == len(PAGES)


def test_a_file_that_is_no_store_is_an_answer_too(tmp_path):
    """The server stays up."""
    (tmp_path / "weft.db").write_text("a letter, not a database " * 50)
    (answer,) = ask(settings_for(tmp_path / "weft.db"), ("memory_search", {"query": "soup"}))

    assert answer.is_error
    assert "--db" in answer.structured_content["action"]


def test_what_nobody_foresaw_does_not_end_the_server(filled, monkeypatch, caplog):
    """The model hears that it failed, the log has the rest, and the next call is answered."""

    def fail(engine):
        raise RuntimeError("a detail that is nobody's business")

    with monkeypatch.context() as patch:
        patch.setattr(Engine, "stats", fail)
        failed, found = ask(filled, ("memory_stats", {}), ("entity_lookup", {"name": "Auth Service"}))

    assert failed.is_error
    assert "RuntimeError" in failed.structured_content["warning"]
    assert "business" not in failed.content[0].text
    assert "business" in caplog.text
    assert found.structured_content["name"] == "Auth Service"


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


def test_a_name_that_only_facts_know_is_found_where_it_is(tmp_path):
    """The graph says where to look."""
    looked, around = ask(
        settings_for(fill(tmp_path / "weft.db")),
        ("memory_add", {"subject": "Grace Hopper", "predicate": "wrote", "object": "Auth Service"}),
        ("entity_lookup", {"name": "grace hopper"}),
        ("graph_neighbours", {"name": "Grace Hopper"}),
    )[1:]

    assert looked.structured_content["facts"][0]["object"] == "Auth Service"
    assert around.is_error
    assert "entity_lookup" in around.structured_content["action"]


# ── start ───────────────────────────────────────────────────────────────────────────────────────


class BlockingEmbedder(FakeEmbedder):
    """An embedder whose model takes until somebody lets it go on."""

    def __init__(self):
        super().__init__()
        self.loading, self.go_on = threading.Event(), threading.Event()

    def load(self):
        self.loading.set()
        if not self.go_on.wait(60):
            raise ModelUnavailable("nobody let the model go on")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_client_is_greeted_while_the_model_loads(tmp_path, mode):
    """What needs no model is answered too."""
    embedder = BlockingEmbedder()
    settings = settings_for(tmp_path / "weft.db")
    with Engine(settings, embedder=embedder) as engine:
        engine.add_text("Soup on Mondays.", source="menu", title="Menu")

    async def steps():
        async with connect(settings, mode=mode, embedder=embedder) as client:
            assert (await client.list_tools()).tools
            stats = await client.call_tool("memory_stats", {})
            assert embedder.loading.wait(60)
            assert not embedder.go_on.is_set()
            embedder.go_on.set()
            return stats

    assert drive(steps()).structured_content["documents"] == 1


def test_leaving_does_not_wait_for_a_model_for_long(tmp_path, monkeypatch):
    """A client that goes away while the model loads leaves nothing behind that hangs."""
    monkeypatch.setattr(standby, "PATIENCE", 0.01)
    embedder = BlockingEmbedder()
    settings = settings_for(tmp_path / "weft.db")
    Engine(settings).close()

    async def steps():
        async with connect(settings, embedder=embedder) as client:
            await client.list_tools()
            assert await asyncio.to_thread(embedder.loading.wait, 60)

    drive(steps())

    assert not embedder.go_on.is_set()
    embedder.go_on.set()
    for thread in threading.enumerate():
        if thread.name == "weft-warm":
            thread.join(60)


GREET = """
import asyncio, sys
import weft.cli.mcp, weft.mcp.serve
from weft.config import read_settings
from weft.engine.standby import Standby
from weft.mcp.server import make_server
from mcp.client import Client

class Waiting(Standby):
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
    """Neither numpy nor SQLite nor a model: they wait until the handshake is over."""
    fill(tmp_path / "weft.db")
    done = subprocess.run([sys.executable, "-c", GREET], cwd=tmp_path, capture_output=True, text=True, timeout=100)

    assert done.stdout == "weft [] True\n", done.stderr


def test_without_the_extra_the_command_says_how_to_get_it(tmp_path):
    """The pip command, and no traceback."""
    hide = "import sys; sys.modules['mcp'] = None; from weft.cli.main import main; sys.argv = ['weft', 'mcp']; main()"
    done = subprocess.run([sys.executable, "-c", hide], cwd=tmp_path, capture_output=True, text=True, timeout=100)

    assert done.returncode == 1
    assert "pip install 'weft[mcp]'" in done.stderr
    assert "Traceback" not in done.stderr
