"""Vector cache: saves calls of the embedder and never causes a failure."""

from __future__ import annotations

import logging
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event, Timer

import apsw
import numpy as np
import pytest

from weft import open_engine
from weft.config import read_settings
from weft.engine.adapters import LOCAL_CACHE_VERSION, VECTOR_CACHE_FILE, open_embedder
from weft.errors import ModelUnavailable, StoreUnavailable
from weft.models import checked_cache_file
from weft.models.base import TextKind
from weft.models.embedders import vector_cache_file
from weft.models.embedders.hashing import HashEmbedder
from weft.models.embedders.vector_cache import HOUR_SECONDS, CachedEmbedder, erase_vectors
from weft.models.local.catalog import GRANITE
from weft.records import ModelCard, Vectors


class CountingEmbedder:
    """The hash embedder, remembering what it was asked; cards and dimensions can be changed."""

    def __init__(self, *, fingerprint: str = "one", dimension: int = 256, stated: int | None = None) -> None:
        self.asked: list[tuple[str, str]] = []
        self.dimension = dimension
        self.card: ModelCard = replace(
            HashEmbedder().card,
            fingerprint=fingerprint,
            dimension=dimension if stated is None else stated,
        )

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        self.asked += [(kind, text) for text in texts]
        full = HashEmbedder().embed(texts)[:, : self.dimension]
        lengths: Vectors = np.linalg.norm(full, axis=1, keepdims=True)
        return (full / np.maximum(lengths, 1e-9)).astype(np.float32)


class EqualVectors:
    """Has the card of a local model and gives each text the same vector."""

    card = GRANITE.card

    def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        return np.eye(1, self.card.dimension, dtype=np.float32).repeat(len(texts), axis=0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "vectors.db"


def test_a_known_text_is_not_embedded_again(path: Path) -> None:
    """A later process gets the same bytes from the file."""
    first, second = CountingEmbedder(), CountingEmbedder()
    vectors = CachedEmbedder(first, path=path).embed(["a", "b"])

    again = CachedEmbedder(second, path=path)

    assert again.embed(["b", "a"]).tobytes() == vectors[::-1].tobytes()
    assert second.asked == []
    assert (again.embedded, again.cached) == (0, 2)


def test_only_new_texts_are_embedded_and_rows_keep_their_order(path: Path) -> None:
    """Known and new ones may be mixed."""
    inner = CountingEmbedder()
    embedder = CachedEmbedder(inner, path=path)
    embedder.embed(["b"])

    vectors = embedder.embed(["a", "b", "c"])

    assert [text for _, text in inner.asked] == ["b", "a", "c"]
    assert vectors.tobytes() == CountingEmbedder().embed(["a", "b", "c"]).tobytes()
    assert (embedder.embedded, embedder.cached) == (3, 1)


def test_a_text_that_occurs_twice_is_embedded_once(path: Path) -> None:
    """Repetitions inside one call count as known."""
    inner = CountingEmbedder()
    embedder = CachedEmbedder(inner, path=path)

    vectors = embedder.embed(["a", "b", "a"])

    assert inner.asked == [("document", "a"), ("document", "b")]
    assert vectors[0].tobytes() == vectors[2].tobytes()
    assert (embedder.embedded, embedder.cached) == (2, 1)


def test_kinds_and_models_do_not_share_vectors(path: Path) -> None:
    """A question's vector is not the passage's, and another model's is nobody's."""
    one, other = CountingEmbedder(), CountingEmbedder(fingerprint="other")
    embedder = CachedEmbedder(one, path=path)

    embedder.embed(["a"])
    embedder.embed(["a"], kind="query")
    CachedEmbedder(other, path=path).embed(["a"])

    assert one.asked == [("document", "a"), ("query", "a")]
    assert other.asked == [("document", "a")]


def test_vectors_of_another_version_are_not_used(path: Path) -> None:
    """Vectors cached before a version was named count as those of another version."""
    inner = CountingEmbedder()
    CachedEmbedder(inner, path=path).embed(["a"])
    assert list(CachedEmbedder(inner, path=path, version="2").find_unknown(["a"]).values()) == ["a"]
    CachedEmbedder(inner, path=path, version="2").embed(["a"])

    assert CachedEmbedder(inner, path=path, version="2").find_unknown(["a"]) == {}
    assert CachedEmbedder(inner, path=path).find_unknown(["a"]) == {}


def test_local_models_do_not_use_vectors_without_a_version(tmp_path: Path) -> None:
    """They may be of a graph that was chosen by its speed. The model is not installed here, so a new vector fails."""
    values = {"models.embedder": GRANITE.card.name, "models.cache_dir": str(tmp_path), "models.auto_fetch": False}
    local = open_embedder(read_settings(values, environment={}))
    assert isinstance(local, CachedEmbedder)
    former = EqualVectors()
    CachedEmbedder(former, path=tmp_path / VECTOR_CACHE_FILE).embed(["a"])

    with pytest.raises(ModelUnavailable):
        local.embed(["a"])
    CachedEmbedder(former, path=tmp_path / VECTOR_CACHE_FILE, version=LOCAL_CACHE_VERSION).embed(["a"])
    assert local.embed(["a"]).shape == (1, GRANITE.card.dimension)


def test_texts_that_differ_in_anything_are_different_texts(path: Path) -> None:
    """Nothing is folded or stripped, and lone surrogates have a digest too."""
    inner = CountingEmbedder()
    texts = ["a", "a ", "A", "\ud800", "\ufffd", "", "\x00"]

    CachedEmbedder(inner, path=path).embed(texts)

    assert [text for _, text in inner.asked] == texts


def test_no_texts_give_no_rows(path: Path) -> None:
    """And touch no file."""
    assert CachedEmbedder(CountingEmbedder(), path=path).embed([]).shape == (0, 256)
    assert not path.exists()


def test_vectors_of_another_dimension_are_not_used(path: Path) -> None:
    """A server that changed its model under the same name must not break an index."""
    CachedEmbedder(CountingEmbedder(dimension=128), path=path).embed(["a", "b"])
    inner = CountingEmbedder()

    vectors = CachedEmbedder(inner, path=path).embed(["a"])

    assert vectors.shape == (1, 256)
    assert len(inner.asked) == 1


def test_an_embedder_that_does_not_know_its_dimension_is_cached_too(path: Path) -> None:
    """Rows that disagree with what it then gives are embedded again."""
    CachedEmbedder(CountingEmbedder(dimension=128), path=path).embed(["a"])
    inner = CountingEmbedder(stated=0)
    embedder = CachedEmbedder(inner, path=path)

    vectors = embedder.embed(["a", "b"])

    assert vectors.tobytes() == CountingEmbedder().embed(["a", "b"]).tobytes()
    assert (embedder.embedded, embedder.cached) == (2, 0)
    assert CachedEmbedder(CountingEmbedder(stated=0), path=path).embed(["b"]).shape == (1, 256)


def test_the_least_recently_used_vectors_are_dropped(path: Path) -> None:
    """The file stays within its bound, and what was read lately stays in it."""
    now = [0.0]
    inner = CountingEmbedder()
    embedder = CachedEmbedder(inner, path=path, max_bytes=4_000_000, clock=lambda: now[0])
    old = [f"old {number}" for number in range(1500)]
    embedder.embed(old)
    now[0] += HOUR_SECONDS
    embedder.embed(old[:100])
    now[0] += HOUR_SECONDS

    for start in range(0, 4000, 500):
        embedder.embed([f"new {number}" for number in range(start, start + 500)])
    embedder.close()

    assert path.stat().st_size <= 4_000_000
    inner.asked.clear()
    embedder.embed(["new 3999", "old 1499"])
    assert inner.asked == [("document", "old 1499")]


def test_reading_keeps_a_vector_alive(path: Path) -> None:
    """A vector read in a later hour outlives one that was only written."""
    now = [0.0]
    embedder = CachedEmbedder(CountingEmbedder(), path=path, clock=lambda: now[0])
    embedder.embed(["a", "b"])
    now[0] += HOUR_SECONDS
    embedder.embed(["a"])
    embedder.close()

    used = dict(apsw.Connection(str(path)).execute("SELECT vector, used FROM vectors").fetchall())

    a, b = (vector.tobytes() for vector in CountingEmbedder().embed(["a", "b"]))
    assert (used[a], used[b]) == (1, 0)


def test_a_corrupt_file_is_put_aside_and_a_new_one_begins(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """One warning, no error, and from then on the cache works again."""
    path.parent.mkdir()
    path.write_bytes(b"this is not a database, although it is long enough to be one" * 100)
    inner = CountingEmbedder()
    embedder = CachedEmbedder(inner, path=path)

    with caplog.at_level(logging.WARNING):
        vectors = [embedder.embed(["a"]) for _ in range(3)]

    assert len({vector.tobytes() for vector in vectors}) == 1
    assert len(inner.asked) < 3
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert path.with_name("vectors.db.corrupt").exists()


def test_a_file_that_breaks_later_is_put_aside_too(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Damage in the middle shows only when that page is read."""
    embedder = CachedEmbedder(CountingEmbedder(), path=path)
    texts = [f"text {number}" for number in range(500)]
    vectors = embedder.embed(texts)
    embedder.close()
    data = bytearray(path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    path.write_bytes(bytes(data))

    with caplog.at_level(logging.WARNING):
        again = [embedder.embed(texts) for _ in range(2)]

    assert all(result.tobytes() == vectors.tobytes() for result in again)
    assert len(caplog.records) == 1


@pytest.mark.parametrize("obstacle", ["folder", "file in the way"])
def test_an_unusable_place_is_logged_once_and_bypassed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, obstacle: str
) -> None:
    """Embedding goes on without the cache."""
    path = tmp_path / "vectors.db"
    if obstacle == "folder":
        path.mkdir()
    else:
        path.write_text("")
        path = path / "below" / "vectors.db"
    inner = CountingEmbedder()
    embedder = CachedEmbedder(inner, path=path)

    with caplog.at_level(logging.WARNING):
        embedder.embed(["a"])
        embedder.embed(["a"])

    assert len(inner.asked) == 2
    assert len(caplog.records) == 1
    assert (embedder.embedded, embedder.cached) == (2, 0)


def test_a_file_that_cannot_be_written_still_answers(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A vector cache on a full disk reads what it has, warns once and keeps the rest to itself."""
    CachedEmbedder(CountingEmbedder(), path=path).embed(["a"])
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TRIGGER full BEFORE INSERT ON vectors BEGIN SELECT raise(ABORT, 'disk full'); END")
    connection.close()
    inner = CountingEmbedder()
    embedder = CachedEmbedder(inner, path=path)

    with caplog.at_level(logging.WARNING):
        vectors = embedder.embed(["a", "b"])

    assert vectors.tobytes() == CountingEmbedder().embed(["a", "b"]).tobytes()
    assert [text for _, text in inner.asked] == ["b"]
    assert len(caplog.records) == 1


def test_threads_may_share_a_cached_embedder(path: Path) -> None:
    """Every call gets its own vectors, and the counts add up."""
    embedder = CachedEmbedder(CountingEmbedder(), path=path)
    calls = [[f"text {(start + step) % 40}" for step in range(10)] for start in range(40)]

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(embedder.embed, calls))

    expected = CountingEmbedder()
    assert all(got.tobytes() == expected.embed(texts).tobytes() for got, texts in zip(results, calls, strict=True))
    assert embedder.embedded + embedder.cached == 400


def _embed_range(path: str, start: int) -> bytes:
    """Run in another process: embed 200 texts in small calls and return the last vectors."""
    embedder = CachedEmbedder(HashEmbedder(), path=Path(path), max_bytes=300_000)
    for first in range(start, start + 200, 10):
        vectors = embedder.embed([f"text {number}" for number in range(first, first + 10)])
    return vectors.tobytes()


def test_two_processes_may_share_the_file(path: Path) -> None:
    """Both write and evict at once; both get right vectors and the file stays whole."""
    context = multiprocessing.get_context("spawn")

    with context.Pool(2) as pool:
        results = pool.starmap(_embed_range, [(str(path), 0), (str(path), 100)])

    for start, result in zip((0, 100), results, strict=True):
        last = [f"text {number}" for number in range(start + 190, start + 200)]
        assert result == HashEmbedder().embed(last).tobytes()
    assert apsw.Connection(str(path)).execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.parametrize("held", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
@pytest.mark.parametrize("is_open", [False, True], ids=["opened while locked", "open before"])
def test_a_question_never_waits_for_a_locked_cache(path: Path, held: str, is_open: bool) -> None:
    now = [HOUR_SECONDS]
    CachedEmbedder(CountingEmbedder(), path=path, clock=lambda: now[0]).embed(["known"], kind="query")
    embedder = CachedEmbedder(CountingEmbedder(), path=path, clock=lambda: now[0])
    if is_open:
        embedder.embed(["another"], kind="query")
    other = apsw.Connection(str(path))
    other.execute(held)
    now[0] += HOUR_SECONDS  # the known vector is to be marked as used
    started = time.monotonic()
    vectors = [embedder.embed([text], kind="query") for text in ("known", "new", "newer")]
    seconds = time.monotonic() - started
    other.execute("ROLLBACK")
    other.close()
    assert seconds < 1
    assert np.array_equal(np.concatenate(vectors), CountingEmbedder().embed(["known", "new", "newer"]))
    embedder.embed(["new"], kind="query")
    again = CountingEmbedder()
    CachedEmbedder(again, path=path).embed(["new"], kind="query")
    assert not again.asked  # the cache is used again as soon as it is free


HOLDER = """
import sys, apsw
held = [apsw.Connection(path) for path in sys.argv[1:]]
for connection in held:
    connection.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("held", [("vectors.db",), ("weft.db",), ("vectors.db", "weft.db")])
def test_questions_are_answered_while_another_process_locks_the_cache_and_the_store(
    tmp_path: Path, held: tuple[str, ...]
) -> None:
    """Passages and facts are found in less than a wait for a lock takes, also in a cache that was not open yet."""

    def embedder() -> CachedEmbedder:
        return CachedEmbedder(CountingEmbedder(), path=tmp_path / "vectors.db")

    with open_engine(tmp_path / "weft.db", embedder=embedder()) as engine:
        engine.add_text("The mill grinds rye.", source="mill.md", title="Rye Mill")
        engine.memory.add("user", "lives_in", "Bath")
    files = [str(tmp_path / name) for name in held]
    pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with (
        open_engine(tmp_path / "weft.db", embedder=embedder()) as engine,
        subprocess.Popen([sys.executable, "-c", HOLDER, *files], **pipe) as holder,
    ):
        assert holder.stdout is not None and holder.stdin is not None
        assert holder.stdout.readline() == "held\n"
        for question in ("Where is the Rye Mill?", "Where do I live?"):
            started = time.monotonic()
            result, recall = engine.query_with_facts(question)
            seconds = time.monotonic() - started
            assert result.evidence or recall.facts
            assert seconds < vector_cache_file.BUSY_MILLISECONDS / 1000 / 2
        holder.stdin.close()


def test_a_question_does_not_wait_for_a_thread_that_uses_the_cache(path: Path) -> None:
    file = vector_cache_file.CacheFile(path, max_bytes=1 << 30)
    entered, leave = Event(), Event()

    def work(_connection: apsw.Connection) -> None:
        entered.set()
        leave.wait(10)

    with ThreadPoolExecutor(1) as pool:
        holder = pool.submit(file._database.run, work)
        assert entered.wait(10)
        started = time.monotonic()
        assert file.read("model", digests=[bytes(32)], waits=False) == {}
        seconds = time.monotonic() - started
        leave.set()
        holder.result()
    assert seconds < 1


@pytest.mark.parametrize("held", ["BEGIN IMMEDIATE", "BEGIN; SELECT count(*) FROM vectors"], ids=["writer", "reader"])
def test_vectors_are_erased_as_soon_as_another_process_lets_them(
    path: Path, monkeypatch: pytest.MonkeyPatch, held: str
) -> None:
    """An erasure is repeated; it fails only if the file stays in use."""
    monkeypatch.setattr(vector_cache_file, "BUSY_MILLISECONDS", 1)
    CachedEmbedder(CountingEmbedder(), path=path).embed(["a", "b"])
    other = apsw.Connection(str(path))
    list(other.execute(held))
    with monkeypatch.context() as patched, pytest.raises(StoreUnavailable, match="another process"):
        patched.setattr(checked_cache_file, "ERASE_SECONDS", 0.2)
        erase_vectors(path, ["a"])

    timer = Timer(0.5, other.close)
    timer.start()
    erase_vectors(path, ["a"])
    timer.join()
    inner = CountingEmbedder()
    CachedEmbedder(inner, path=path).embed(["a", "b"])
    assert inner.asked == [("document", "a")]
