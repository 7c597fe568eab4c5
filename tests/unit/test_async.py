"""The engine for asyncio."""

import asyncio
from dataclasses import replace

import pytest

from weft import open_async_engine
from weft.errors import NotFound, StoreError
from weft.records import Filter
from weft.testing import FakeEmbedder

ANIMALS = {"cats": "cats purr softly", "dogs": "dogs bark loudly", "owls": "owls hoot nightly"}


@pytest.mark.parametrize("db", ["weft.db", ":memory:"])
def test_questions_asked_at_once_get_the_answers_they_get_alone(tmp_path, monkeypatch, db):
    """Each worker thread has its own view of the store."""
    monkeypatch.chdir(tmp_path)

    async def run():
        async with open_async_engine(db, embedder=FakeEmbedder()) as engine:
            for source, text in ANIMALS.items():
                await engine.add_text(text, source=source)
            asked = list(ANIMALS.values()) * 10
            together = await asyncio.gather(*(engine.query(text) for text in asked))
            alone = [engine.engine.query(text) for text in asked]
            return [replace(r, timings={}) for r in together], [replace(r, timings={}) for r in alone]

    together, alone = asyncio.run(run())
    assert together == alone
    assert [result.evidence[0].document.source for result in together[:3]] == [f"text:{name}" for name in ANIMALS]


@pytest.mark.parametrize("db", ["weft.db", ":memory:"])
def test_texts_added_at_once_are_all_there(tmp_path, monkeypatch, db):
    """Writers take turns, and readers are not disturbed."""
    monkeypatch.chdir(tmp_path)

    async def run():
        async with open_async_engine(db, embedder=FakeEmbedder()) as engine:
            writes = [engine.add_text(f"text number {n}", source=f"n{n}") for n in range(20)]
            reads = [engine.query("first text") for _ in range(20)]
            await asyncio.gather(*writes, *reads)
            return await engine.stats(), engine.engine.database.check()

    stats, problems = asyncio.run(run())
    assert (stats.documents, stats.vectors, problems) == (20, 20, [])


def test_every_call_is_there(tmp_path):
    """Index, context, filter and delete work as they do without asyncio."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("cats purr softly")
    (tmp_path / "docs" / "b.md").write_text("dogs bark loudly")

    async def run():
        async with open_async_engine(tmp_path / "weft.db", embedder=FakeEmbedder()) as engine:
            assert (await engine.index(tmp_path / "docs")).added == 2
            result = await engine.query("cats purr", where=Filter(source_prefix="docs/a"), top_k=1)
            context = await engine.context(result, budget=100)
            assert "cats purr softly" in context.text
            assert (await engine.context(result, format="graph")).text.startswith("No knowledge graph context: ")
            called = await engine.memory_search("cats purr", maxResults="1", useGraph=False)
            assert (called["method"], len(called["results"])) == ("hybrid", 1)
            (tmp_path / "docs" / "b.md").unlink()
            assert (await engine.index(tmp_path / "docs", prune=True)).pruned == 1
            assert await engine.delete("docs/a.md") == 1
            with pytest.raises(NotFound):
                await engine.delete("docs/a.md")
        return engine

    engine = asyncio.run(run())
    with pytest.raises(StoreError, match="closed"):
        engine.engine.stats()


def test_what_is_remembered_comes_beside_documents():
    """The same calls as of the engine underneath."""

    async def run():
        async with open_async_engine(":memory:", embedder=FakeEmbedder()) as engine:
            await engine.add_text("cats purr softly", source="cats")
            engine.engine.memory.add("user", "feeds", "cats at noon")
            result, recall = await engine.query_with_facts("when do I feed the cats?")
            return (await engine.context(result, recall=recall)).text

    assert asyncio.run(run()).startswith("### 👤 USER CONTEXT\n- feeds: cats at noon\n")
