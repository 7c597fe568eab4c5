"""Parser processes: the same result as in process, and a limit for everything that a document could cost."""

import logging
import os
import sys
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import pytest
from logical import content

from weft.config import LoadOptions, read_settings
from weft.engine.engine import Engine
from weft.engine.parsing import parser_pool, parser_process
from weft.engine.parsing.parser_messages import FileInput, TextInput, make_recipe
from weft.engine.parsing.parser_pool import ParserPool
from weft.errors import InputError, WeftError
from weft.index.plan import Draft
from weft.load.folder import iter_files
from weft.records import Skipped
from weft.testing import FakeEmbedder

SAMPLE = Path(__file__).parents[2] / "examples" / "corpus"
PARTS = [SAMPLE / part for part in ("services", "code", "zh")]
"""A third of the corpus: front matter, code and two languages."""

HOSTILE = (sys.executable, str(Path(__file__).parents[1] / "store" / "hostile_parser.py"))
NOW = datetime(2026, 1, 2, tzinfo=timezone.utc)
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the limit exists on Linux only")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")


@pytest.fixture(scope="module")
def pool():
    with ParserPool(2, command=HOSTILE) as made:
        yield made
    assert processes(made) == []


@pytest.fixture
def engine(tmp_path):
    with make_engine(tmp_path / "weft.db") as made:
        yield made


def make_engine(path, **settings):
    overrides = {"store.db": str(path), **settings}
    return Engine(read_settings(overrides), embedder=FakeEmbedder(), clock=lambda: NOW)


def recipe(engine, **changed):
    made = make_recipe(engine.settings, extractor=engine.indexing.components().extractor, now=NOW)
    return replace(made, **changed)


def processes(pool):
    """Return the running processes of a pool."""
    return [process for process in pool._live if process.is_alive()]


def files(folder, *names):
    for name in names:
        (folder / name).write_text("Some text.\n")
        yield FileInput(source=name, path=folder / name)


def outcomes(engine, pool, items):
    """Return the reason of each skipped item; documents are named by their title."""
    found = list(engine.indexing.prepare(items, parsers=pool))
    return [item.reason if isinstance(item, Skipped) else item.document.title for item in found], found


def test_a_corpus_is_stored_as_by_the_path_in_one_process(tmp_path, pool):
    """Every row of every table is the same, and so is the receipt; the second time nothing is written."""
    with make_engine(tmp_path / "one.db") as one, make_engine(tmp_path / "two.db") as two:
        found = iter_files(PARTS, options=LoadOptions(), base=two.base)
        items = [i if isinstance(i, Skipped) else FileInput(source=i.source, path=i.path) for i in found]
        expected = one.index(*PARTS)
        receipt = two.indexing.add_prepared(two.indexing.prepare(items, parsers=pool))
        again = two.indexing.add_prepared(two.indexing.prepare(items, parsers=pool))

    assert (receipt.added, receipt.chunks, receipt.facts) == (expected.added, expected.chunks, expected.facts)
    assert receipt.facts > 0 and receipt.embedded == expected.embedded
    assert again.unchanged == expected.added and not again.changed
    first, second = content(tmp_path / "one.db"), content(tmp_path / "two.db")  # transactions depend on time
    assert [name for name in first if first[name] != second[name]] == []


def test_an_extractor_with_a_model_runs_in_the_parent(tmp_path, pool):
    """The draft has everything it needs, and the content hash of that extractor."""
    with make_engine(tmp_path / "weft.db") as engine:
        local = engine.add_text("# Auth\n\nThe Auth Service uses OAuth.\n", source="auth")
        stored = engine.store.documents([next(iter(engine.documents())).id])[0].content_hash
        item = TextInput(source="auth", text="# Auth\n\nThe Auth Service uses OAuth.\n")
        name = engine.indexing.components().extractor.name
        (draft,) = pool.prepare(item, recipe(engine, extracts=False, extractor_name=name))

        assert isinstance(draft, Draft)
        assert draft.info.content_hash == stored
        assert engine.indexing.add_prepared([draft]).unchanged == local.added == 1


def test_a_document_that_ends_its_process_is_skipped_and_the_next_one_is_read(tmp_path, engine, pool):
    """By a signal, by a fault in native code, and by an error in Python, which the process survives."""
    items = files(tmp_path, "a.md", "b.die", "c.md", "d.crash", "e.raise", "f.md")
    reasons, found = outcomes(engine, pool, items)

    assert reasons == ["a", "broken", "c", "broken", "first", "broken", "f"]
    assert found[1].detail == "the parser process was killed (SIGKILL)"
    assert found[3].detail == "the parser process was killed (SIGSEGV)"
    assert found[5].detail == "ZeroDivisionError: a bug"


def test_cpu_time_is_limited(tmp_path, pool, monkeypatch):
    """The operating system ends the process, whatever code runs."""
    monkeypatch.setattr(parser_process, "MIN_WALL_SECONDS", 600)
    with make_engine(tmp_path / "weft.db", **{"load.max_cpu_seconds": 1}) as engine:
        reasons, found = outcomes(engine, pool, files(tmp_path, "a.spin", "b.md"))

    assert reasons == ["too slow", "b"]
    assert found[0].detail == "parsing took more than 1 s of CPU time"


def test_a_process_that_waits_is_killed_by_the_parent(tmp_path, engine, pool, monkeypatch):
    """Waiting costs no CPU time; so does every system without that limit."""
    monkeypatch.setattr(parser_process, "WALL_FACTOR", 0.01)
    monkeypatch.setattr(parser_process, "MIN_WALL_SECONDS", 0.5)
    reasons, found = outcomes(engine, pool, files(tmp_path, "a.hang"))

    assert reasons == ["too slow"]
    assert found[0].detail.startswith("parsing took more than")


@LINUX
def test_memory_is_limited(tmp_path, engine, pool):
    """The process reports it, and another one takes its place."""
    reasons, found = outcomes(engine, pool, files(tmp_path, "a.md", "b.allocate", "c.md"))

    assert reasons == ["a", "too large", "c"]
    assert found[1].detail == "parsing needed more than 2,048 MiB of memory"


def test_output_is_limited(tmp_path, engine, pool, monkeypatch):
    """The limit applies to the document; printed output of a parser is discarded."""
    monkeypatch.setattr(parser_process, "MAX_OUTPUT_BYTES", 1024 * 1024)
    reasons, found = outcomes(engine, pool, files(tmp_path, "a.give", "b.print"))

    assert reasons == ["too large", "printed"]
    assert found[0].detail == "parsing produced more than 1 MiB"


def test_an_invalid_text_is_an_error_of_the_caller(engine, pool):
    """The error is the same as in process, and the parser process stays in use."""
    with pytest.raises(InputError, match="cannot store"):
        list(engine.indexing.prepare([TextInput(source="a", text="Text.", metadata={"x": float("nan")})], parsers=pool))
    (plan,) = engine.indexing.prepare([TextInput(source="b", text="Two 𝄞 halves.")], parsers=pool)
    assert plan.chunks[0].text == "Two 𝄞 halves."


def test_warnings_of_a_loader_reach_the_log_of_the_server(tmp_path, engine, pool, caplog):
    """They name the file and, for a bug, the line of code."""
    with caplog.at_level(logging.WARNING):
        outcomes(engine, pool, files(tmp_path, "a.raise"))

    assert "ZeroDivisionError" in caplog.text
    assert "hostile_parser.py" in caplog.text


def test_a_process_is_replaced_after_many_documents(engine, monkeypatch):
    """Without a gap: the old one serves until the new one is ready. Neither sees a key or the address of a store."""
    monkeypatch.setenv("OPENAI_API_KEY", "sesame")
    monkeypatch.setenv("WEFT_DB", "postgresql://user:sesame@host/db")
    monkeypatch.setattr(parser_pool, "MAX_DOCUMENTS_PER_PROCESS", 2)
    texts = [TextInput(source=str(n), text=f"Text {n}.") for n in range(3)]
    with ParserPool(1) as pool:
        assert len(list(engine.indexing.prepare(texts[:1], parsers=pool))) == 1
        (old,) = processes(pool)
        if sys.platform == "linux":
            assert b"sesame" not in Path(f"/proc/{old.pid}/environ").read_bytes()
        assert len(list(engine.indexing.prepare(texts, parsers=pool))) == 3
        with pool._changed:
            assert pool._changed.wait_for(lambda: old not in pool._live, 60)
        (new,) = processes(pool)
    assert new is not old
    assert old._child.exit_code and not new.is_alive()


def test_one_namespace_leaves_a_process_to_the_others(tmp_path, engine, pool):
    """A file that is read halfway keeps its process."""
    first = pool.prepare(next(files(tmp_path, "a.raise")), recipe(engine, namespace="a"))
    next(first)
    (plan,) = pool.prepare(TextInput(source="b", text="Text."), recipe(engine, namespace="b"))

    assert plan.document.source == "text:b"
    assert pool._leased == {"a": 1}
    first.close()
    assert not pool._leased


def test_processes_that_do_not_start_are_an_error(engine):
    """It names the command; nothing waits forever."""
    pool = ParserPool(1, command=(sys.executable, "-c", "raise SystemExit(3)"))
    with pool, pytest.raises(WeftError, match="cannot start a parser process: 3 attempts failed"):
        list(engine.indexing.prepare([TextInput(source="a", text="Text.")], parsers=pool))


def test_a_closed_pool_refuses_documents_and_leaves_no_process(tmp_path, engine):
    """A process that is parsing is killed too."""
    pool = ParserPool(1, command=HOSTILE)
    half_read = pool.prepare(next(files(tmp_path, "a.raise")), recipe(engine))
    next(half_read)
    (process,) = processes(pool)
    pool.close()

    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)
    with pytest.raises(WeftError, match="stopped"):
        list(engine.indexing.prepare([TextInput(source="a", text="Text.")], parsers=pool))
    half_read.close()
