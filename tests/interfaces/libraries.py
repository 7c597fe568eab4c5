"""Fixtures for the integrations: a few pages, and an embedder that can be blocked."""

import asyncio
import threading

import pytest

from weft import open_engine
from weft.records import Document
from weft.testing import FakeEmbedder

PAGES = {
    "OAuth Provider": ({"team": "identity"}, "Issues identity tokens for sign-in."),
    "Auth Service": (
        {"team": "identity", "depends_on": ["OAuth Provider"], "status": "live"},
        "# Auth Service\n\nChecks signatures.\n\n## Clock\n\nRelies on [[OAuth Provider]] and on a clock.",
    ),
    "Login Flow": ({"depends_on": ["Auth Service"]}, "The pages where people sign in, by [[Auth Service]]."),
    "Canteen Menu": ({"team": "kitchen"}, "Soup on Mondays, pasta on Tuesdays."),
    "食堂菜单": ({"team": "kitchen"}, "星期一供应番茄汤。"),
}
ASKED = "what if OAuth Provider changes"
FOREIGN = "zebra crossing etiquette"
FAINT = "do badgers prefer pasta"


class HeldEmbedder(FakeEmbedder):
    """An embedder that, once held, answers a question only after it is let go."""

    def __init__(self):
        super().__init__()
        self.entered, self.released = threading.Event(), threading.Event()
        self.is_held = False

    def embed(self, texts, *, kind="document"):
        if self.is_held:
            self.entered.set()
            assert self.released.wait(120), "the event loop was blocked while the engine was at work"
        return super().embed(texts, kind=kind)


def open_pages(*, embedder=None, **settings):
    """Return an engine in memory that holds the pages."""
    engine = open_engine(":memory:", embedder=embedder or FakeEmbedder(), **settings)
    engine.add(
        Document(source=f"docs/{title}.md", title=title, text=text, metadata=metadata, form="markdown")
        for title, (metadata, text) in PAGES.items()
    )
    return engine


async def answer_while_held(embedder, asking):
    """Return what `asking` gives, having held the embedder until the event loop took another turn."""
    embedder.is_held = True
    task = asyncio.create_task(asking)
    while not embedder.entered.is_set() and not task.done():
        await asyncio.sleep(0.001)
    embedder.released.set()
    return await task


def check_impaired(retrieve):
    """Assert that keywords still answer without the model, and that each passage says what is missing."""
    embedder = FakeEmbedder()
    with open_pages(embedder=embedder) as engine:
        embedder.failing = "the model is away"
        found = [passage.metadata for passage in retrieve(engine, "soup on Mondays")]

    assert found[0]["source"] == "docs/Canteen Menu.md"
    assert {about["status"] for about in found} == {"degraded"}
    assert all("the model is away" in about["degraded"] for about in found)


def check_refused(error, said, retrieve, retrieve_async):
    """Assert that a question is an error, with asyncio too."""
    with pytest.raises(error, match=said):
        retrieve()
    with pytest.raises(error, match=said):
        asyncio.run(retrieve_async())
