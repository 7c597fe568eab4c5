"""Small stores with read indexes, and scans of the same state for comparison."""

import json
import os
import random
import subprocess
import sys
import textwrap
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pytest
from contract import EVERYTHING, MODEL, make_batch

from weft.records import Fact
from weft.store.sqlite import vectors
from weft.store.sqlite.database import SqliteDatabase
from weft.store.sqlite.index import builder, reader
from weft.store.sqlite.postings import search_postings

DIMENSION = 16
EMBEDDER = replace(MODEL, dimension=DIMENSION)
MIN_ROWS, EXTENSION_ROWS = 120, 30
NOW = datetime(2026, 3, 1, tzinfo=timezone.utc)
WORDS = [*"alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu".split(), "猫", "中文", "Ünïcode", "x:y"]
"""Most common words first."""


def small(monkeypatch):
    """Lower the index thresholds to test sizes, and extend indexes only on demand."""
    monkeypatch.setattr(reader, "MIN_INDEXED_ROWS", MIN_ROWS)
    monkeypatch.setattr(reader, "MIN_EXTENSION_ROWS", EXTENSION_ROWS)
    monkeypatch.setattr(builder, "MAX_TRANSACTION_ROWS", 32)
    monkeypatch.setattr(builder, "MAX_BUFFERED_CHUNKS", 64)
    monkeypatch.setattr(builder.IndexBuilder, "request", lambda self, wrote=False: None)


def direction(seed):
    vector = np.random.default_rng(seed).normal(size=DIMENSION).astype(np.float32)
    return vector / np.linalg.norm(vector)


def words(seed):
    """Return a text, the same for the same seed; some words are in most, some in few."""
    chance = random.Random(seed)
    chosen = chance.choices(WORDS, [1 / (place + 1) for place in range(len(WORDS))], k=chance.randrange(3, 15))
    return " ".join([*chosen, f"rare{seed % 97}", f"number{seed}"])


def batch(source, seeds):
    texts = [words(seed) for seed in seeds]
    said = dict(zip(texts, map(direction, seeds), strict=True))
    return make_batch(source, texts, vectors=said, metadata={"part": len(source) % 2})


def fill(store, documents=range(10), *, chunks=20):
    store.write_model(EMBEDDER)
    for number in documents:
        store.write(batch(f"note {number}", range(number * 1000, number * 1000 + chunks)))


def remember(store, seeds):
    """Write a fact about each of some entities, and their vectors."""
    keys = {f"thing {seed}": direction(seed) for seed in seeds}
    made = [
        Fact(id=f"f {key}", subject=key, subject_name=key, predicate="is", value="here", created=NOW) for key in keys
    ]
    store.facts.write(made)
    store.facts.write_vectors(EMBEDDER.fingerprint, keys)


def populate(database, documents=range(10)):
    fill(database.store("default"), documents)
    remember(database.store("default"), range(documents.start * 20, documents.stop * 20))


def catch_up(database):
    return database._connections.index_builder.catch_up()


def search_methods(database):
    """Return the search methods of vectors, keywords and entities."""
    stats = database.store("default").stats()
    return [stats.vector_search, stats.keyword_search, stats.entity_search]


def files(database, kind=""):
    return sorted(database._connections.indexes.folder.path.glob(f"{kind}*.segment"))


def questions(seed):
    """Return query terms: common, rare and unknown ones."""
    chance = random.Random(seed)
    return [*chance.sample(WORDS, chance.randrange(1, 7)), f"rare{chance.randrange(97)}", "nowhere", 'a "b" OR c:*']


def exact_vectors(database, vector, *, limit=10, where=EVERYTHING):
    with database._connections.read() as db:
        found = db.namespace("default")
        return vectors.search(db, found.key, vector, model=found.active.number, limit=limit, where=where).hits


def exact_keywords(database, terms, *, limit=10, where=EVERYTHING):
    with database._connections.read() as db:
        found = db.namespace("default")
        asked = {"limit": limit, "where": where, "total": found.chunks, "mean_length": found.length / found.chunks}
        return search_postings(db, found.key, terms, **asked)


def exact_entities(database, vector, *, limit=5):
    with database._connections.read() as db:
        return vectors.search_facts(db, vector, model=db.namespace("default").active.number, limit=limit)


def same(database, seeds=range(3), *, where=EVERYTHING):
    """Assert that searches of every kind return the results of a scan."""
    store = database.store("default")
    for seed in seeds:
        vector = direction(-seed - 1 + 2**20)
        near, scanned = (
            store.search_vector(vector, limit=10, where=where).hits,
            exact_vectors(database, vector, where=where),
        )
        assert [hit[:2] for hit in near] == [hit[:2] for hit in scanned]
        if store.stats().chunks >= MIN_ROWS:
            assert near == scanned
        else:  # resident vectors: the same products, summed in another order
            assert [hit.score for hit in near] == pytest.approx([hit.score for hit in scanned], abs=1e-6)
        found = [(entity.key, score) for entity, score in store.facts.search_vector(vector, limit=5)]
        assert found == exact_entities(database, vector)
        for limit in (1, 10, 70):
            asked = questions(seed)
            ranking = store.search_keyword(asked, limit=limit, where=where)
            assert ranking == exact_keywords(database, asked, limit=limit, where=where)
        assert ranking.shared == store.passages.find_terms(list(ranking.shared), asked)


def unsound(database):
    """Return problems of the store; facts without history, which tests write directly, are not reported."""
    expected = ("no `added` event", "referred to")
    return [problem for problem in database.check() if not problem.what.endswith(expected)]


SECOND = """
    import sys
    import indexed as t
    from weft.store.sqlite.index import builder, reader
    reader.MIN_INDEXED_ROWS, reader.MIN_EXTENSION_ROWS = t.MIN_ROWS, t.EXTENSION_ROWS
    builder.MAX_TRANSACTION_ROWS, builder.MAX_BUFFERED_CHUNKS, builder.DEBOUNCE_SECONDS = 32, 64, 0.0
    database = t.SqliteDatabase(sys.argv[1])
"""


def start(script, *arguments):
    """Run a script in a second process, which has the same small sizes and the same store open."""
    code = textwrap.dedent(SECOND) + textwrap.dedent(script)
    here = str(Path(__file__).parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([here, *sys.path])}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "env": environment}
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], **pipes)


def manifest(database, kind):
    """Return the path and the content of the manifest of an index."""
    (path,) = database._connections.indexes.folder.path.glob(f"{kind}-*.json")
    return path, json.loads(path.read_text())


__all__ = ["SqliteDatabase"]
