"""MCP answers if the store or the embedder is unavailable, and while the model is loading."""

import asyncio
import sys
import threading

import apsw
import pytest
from mcp_driving import PAGES, ask, connect, drive, fill, settings_for

from weft.config import read_settings
from weft.engine import lazy_engine
from weft.engine.engine import Engine
from weft.errors import ModelUnavailable
from weft.store.sqlite import connect as connections
from weft.testing import FakeEmbedder


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """Settings of a store that holds the pages; for tests that only read."""
    return settings_for(fill(tmp_path_factory.mktemp("store") / "weft.db"))


class MissingEmbedder(FakeEmbedder):
    """An embedder whose model nobody has fetched."""

    def load(self):
        raise ModelUnavailable("the model is not fetched", hint="weft models fetch")


def test_without_a_store_every_tool_that_reads_says_so(tmp_path):
    """No reading tool creates a store; adding a fact does."""
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
        assert "does not exist yet" in answer.structured_content["warning"]
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
    """The answer is not an empty success."""
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


def test_another_embedder_leaves_words_to_search_by_and_names_the_command_that_mends_it(tmp_path):
    """Passages and facts are found; tools that need no embedder notice nothing."""
    settings = settings_for(tmp_path / "weft.db")
    with Engine(settings, embedder=FakeEmbedder()) as engine:
        engine.add_text("Soup on Mondays.", source="menu", title="Menu")
        engine.memory.add("Canteen", "opens", value="at noon")
    searched, plain, connector, stats, read = ask(
        settings,
        ("memory_search", {"query": "when is there soup in the canteen?"}),
        ("memory_search", {"query": "soup on mondays", "useGraph": False}),
        ("search", {"query": "soup on mondays"}),
        ("memory_stats", {}),
        ("memory_get", {"id": "text:menu"}),
    )

    for answer in (searched, plain, connector, stats):
        assert not answer.is_error
        assert "fake/words" in answer.structured_content["warning"]
        assert "weft reembed" in answer.structured_content["action"]
        assert "weft reembed" in answer.content[0].text
    assert searched.structured_content["facts"][0]["value"] == "at noon"
    assert plain.structured_content["status"] == "degraded"
    assert plain.structured_content["results"][0]["snippet"] == "Soup on Mondays."
    assert connector.structured_content["results"][0]["title"] == "Menu"
    assert stats.structured_content["documents"] == 1
    assert read.structured_content["passages"][0]["text"] == "Soup on Mondays."
    assert "warning" not in read.structured_content


@pytest.mark.parametrize(
    "embedder, action",
    [
        ("none", "--embedder hash"),
        ("local/no-such-model", "local/granite-30m"),
        ("sentence-transformers/any", "pip install"),
    ],
)
def test_an_embedder_that_cannot_be_opened_leaves_words_to_search_by(filled, monkeypatch, embedder, action):
    """The answer names the action for every cause."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    settings = settings_for(filled.store.db, **{"models.embedder": embedder})
    found, connector, stats = ask(
        settings,
        ("memory_search", {"query": "identity tokens for sign-in"}),
        ("search", {"query": "identity tokens for sign-in"}),
        ("memory_stats", {}),
    )

    for answer in (found, connector, stats):
        assert not answer.is_error
        assert answer.structured_content["warning"]
        assert action in answer.structured_content["action"]
    assert found.structured_content["results"] and connector.structured_content["results"]


def test_facts_are_kept_and_recalled_where_no_embedder_can_be_opened(tmp_path):
    """This also works in a store without documents."""
    settings = settings_for(tmp_path / "weft.db", **{"models.embedder": "local/no-such-model"})
    added, found = ask(
        settings,
        ("memory_add", {"subject": "Canteen", "predicate": "opens", "value": "at noon"}),
        ("memory_search", {"query": "when does the canteen open?"}),
    )

    assert added.structured_content["outcome"] == "added"
    assert found.structured_content["facts"][0]["value"] == "at noon"
    assert "no-such-model" in found.structured_content["warning"]


def test_a_model_that_is_not_there_is_named_with_what_brings_it(tmp_path):
    """By the search that misses it, and by the statistics after it was looked for."""
    embedder = MissingEmbedder()
    settings = settings_for(tmp_path / "weft.db")
    with Engine(settings, embedder=FakeEmbedder()) as engine:
        engine.add_text("Soup on Mondays.", source="menu", title="Menu")
    found, stats = ask(
        settings, ("memory_search", {"query": "soup on mondays"}), ("memory_stats", {}), embedder=embedder
    )

    assert found.structured_content["results"]
    for answer in (found, stats):
        assert "not fetched" in answer.structured_content["warning"]
        assert answer.structured_content["action"] == "weft models fetch"


def test_a_server_follows_when_its_namespace_is_embedded_anew(tmp_path):
    """By another process, where the settings leave the embedder open: no restart, and nothing to warn of but `hash`."""
    db = {"store.db": str(tmp_path / "weft.db")}
    open_choice = read_settings({**db, "models.auto_fetch": False, "models.cache_dir": str(tmp_path)}, environment={})
    with Engine(read_settings({**db, "models.embedder": "none"}, environment={})) as engine:
        engine.add_text("Soup on Mondays.", source="menu", title="Menu")

    async def steps():
        async with connect(open_choice) as client:
            before = await client.call_tool("memory_search", {"query": "soup on mondays"})
            with Engine(settings_for(tmp_path / "weft.db")) as engine:
                engine.reembed()
            return before, await client.call_tool("memory_search", {"query": "soup on mondays"})

    before, after = (answer.structured_content for answer in drive(steps()))

    assert before["results"] and after["results"]
    assert "weft reembed" in before["action"]
    assert "hash" in after["warning"] and "local/" not in after["warning"]


def test_a_locked_file_is_an_answer_too(tmp_path, monkeypatch):
    """Writing waits, then says who is in the way; reading goes on."""
    monkeypatch.setattr(connections, "WRITER_TIMEOUT_MS", 50)
    settings = settings_for(fill(tmp_path / "weft.db"))
    other = apsw.Connection(str(tmp_path / "weft.db"))
    other.execute("BEGIN IMMEDIATE")
    try:
        added, stats, found = ask(
            settings,
            ("memory_add", {"subject": "user", "predicate": "likes", "value": "tea"}),
            ("memory_stats", {}),
            ("memory_search", {"query": "identity tokens for sign-in"}),
        )
    finally:
        other.close()

    assert added.is_error
    assert "busy" in added.structured_content["warning"]
    assert added.structured_content["action"] == "run the command again after that process has finished"
    assert stats.structured_content["documents"] == len(PAGES)
    assert found.structured_content["results"]


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
    """Requests that need no model are answered too."""
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


def test_a_question_waits_for_a_model_as_long_as_the_settings_say(tmp_path, monkeypatch):
    """Then it is answered by words, and by meaning once the model is there."""
    embedder = BlockingEmbedder()
    settings = settings_for(tmp_path / "weft.db", **{"models.loading_seconds": 0.01})
    with Engine(settings, embedder=FakeEmbedder()) as engine:
        engine.add_text("Soup on Mondays.", source="menu", title="Menu")

    async def steps():
        async with connect(settings, embedder=embedder) as client:
            early = await client.call_tool("memory_search", {"query": "soup on mondays"})
            assert await asyncio.to_thread(embedder.loading.wait, 60)
            embedder.go_on.set()
            monkeypatch.setattr(embedder, "load", lambda: None)
            for _ in range(1200):  # until the thread that loads has noticed
                late = await client.call_tool("memory_search", {"query": "soup, on mondays"})
                if late.structured_content["status"] == "ok":
                    break
                await asyncio.sleep(0.05)
            return early, late

    early, late = (answer.structured_content for answer in drive(steps()))

    assert early["results"] and late["results"]
    assert early["status"] == "degraded"
    assert "still being loaded" in early["warning"]
    assert early["action"] == "retry in a few seconds"
    assert late["status"] == "ok" and "warning" not in late


def test_the_first_question_is_answered_by_the_model_that_it_waited_for(tmp_path):
    """A model that loads within the time of the settings makes no answer degraded."""
    embedder = BlockingEmbedder()
    settings = settings_for(tmp_path / "weft.db", **{"models.loading_seconds": 600})
    with Engine(settings, embedder=FakeEmbedder()) as engine:
        engine.add_text("Soup on Mondays.", source="menu", title="Menu")

    async def steps():
        async with connect(settings, embedder=embedder) as client:
            question = asyncio.create_task(client.call_tool("memory_search", {"query": "soup on mondays"}))
            assert await asyncio.to_thread(embedder.loading.wait, 60)
            assert not question.done()
            embedder.go_on.set()
            return await question

    answer = drive(steps()).structured_content

    assert answer["status"] == "ok"
    assert "warning" not in answer


def test_leaving_does_not_wait_for_a_model_for_long(tmp_path, monkeypatch):
    """A client that goes away while the model loads leaves nothing behind that hangs."""
    monkeypatch.setattr(lazy_engine, "MAX_CLOSE_SECONDS", 0.01)
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
