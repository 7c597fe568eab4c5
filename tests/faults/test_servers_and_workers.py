"""
Two servers and two workers on one PostgreSQL database, each killed again and again while clients write.

`WEFT_TEST_CITUS_DSN` makes it a database of a cluster. `WEFT_TEST_PG_DSN` and `WEFT_TEST_POOLER=host:port` make it one
behind a pooler, which must hand out every database of that server.
"""

import subprocess
import sys
import time
from collections import Counter
from itertools import pairwise

import postgres
import pytest
from fault_settings import SOAK_SECONDS, chance
from http_writers import FileWriter, HttpWriter
from killed_processes import ENVIRONMENT, KilledProcess, Threads, kill_until
from store_writer import NAMES

from weft.engine.opening.open_engine import open_engine
from weft.records import Filter

OPTIONS = {"embedder": "hash", "memory_from_files": False}
ROLES = ("serve", "serve", "worker", "worker")
WRITERS = 2
MAX_LISTED = 100_000
MAX_ROUNDING = 1e-4
"""Difference of scores: a server sums the deviation of all similarities in another order."""
QUESTIONS = [
    *(f"what does the {name} Service depend on?" for name in NAMES),
    *(f"{first} Service and {second} Service" for first, second in pairwise(NAMES)),
    "Release 3",
]


def test_nothing_acknowledged_is_lost_and_answers_are_those_of_one_process(postgres_dsn, tmp_path, monkeypatch):
    """Documents and facts are those that were acknowledged, `check --deep` is sound, and answers are equal."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    db = postgres.address(postgres.through_pooler(postgres_dsn))
    with open_engine(db, **OPTIONS) as engine:
        processes = [
            KilledProcess(role, db=db, folder=tmp_path, name=f"{role}{number}") for number, role in enumerate(ROLES)
        ]
        writers, files = run(processes, engine, tmp_path / "files")
        killed = Counter(process.role for process in processes for _ in range(process.kills))
        acknowledged, repeated = (sum(getattr(writer, of) for writer in writers) for of in ("calls", "repeated"))
        print(
            f"\n{dict(killed)} kills, {acknowledged} acknowledged calls, {repeated} of them repeated,"
            f" {files.runs} runs of workers, {files.unfinished} unfinished"
        )
        assert set(killed) == set(ROLES) and repeated
        arguments = [sys.executable, "-m", "weft", "--db", db, "db", "check", "--deep"]
        assert subprocess.run(arguments, capture_output=True, text=True, check=True).stdout == "no problems found\n"
        compare(engine, writers, files, tmp_path / "alone.db")


def run(processes, engine, folder):
    """Write and kill until the deadline; return the writers. Every process is killed once more in the end."""
    for process in processes:
        process.start()
    deadline = time.time() + SOAK_SECONDS
    servers = [process for process in processes if process.role == "serve"]
    writers = [HttpWriter(number, servers, chance("writer", number)) for number in range(WRITERS)]
    files, threads = FileWriter(folder, engine, chance("files")), Threads()
    try:
        for writer in (*writers, files):
            threads.start(writer.write_until, deadline)
        for number, process in enumerate(processes):
            threads.start(kill_until, deadline, process, chance("kills", number), is_broken=threads.have_failed)
        threads.join()
    finally:
        for process in processes:
            process.kill()
    return writers, files


def compare(engine, writers, files, alone):
    """Compare documents, facts and answers with those of one process that writes the outcome to a file."""
    documents = {source: found for writer in writers for source, found in writer.documents.items()}
    facts = {value for writer in writers for value in writer.facts}
    with open_engine(alone, **OPTIONS) as single:
        single.index(files.folder)
        for source, (text, version) in documents.items():
            single.add_text(text, source=source, title=source, metadata={"version": version})
        found, expected = contents(engine), contents(single)
        for what in expected:
            assert found[what] == expected[what], what
        assert {fact.value for fact in engine.store.facts.facts_after("", limit=MAX_LISTED)} == facts
        for question in QUESTIONS:
            mine, theirs = (opened.query(question, gate=False) for opened in (engine, single))
            assert mine.status == theirs.status, question
            assert ids(mine) == ids(theirs), question
            assert scores(mine) == pytest.approx(scores(theirs), abs=MAX_ROUNDING), question


def contents(engine):
    """Return the documents, the counts of the text and the graph."""
    store, stats = engine.store, engine.stats()
    with store.reading():
        documents = store.find_documents(Filter(), limit=MAX_LISTED)
        chunks = [chunk for document in documents for chunk in store.find_chunks(document.id)]
        entities = store.graph.entities_after("", limit=MAX_LISTED)
        ids = [entity.id for entity in entities]
        return {
            "documents": documents,
            "chunks": chunks,
            "counts": (stats.documents, stats.chunks, stats.terms, stats.vectors),
            "entities": entities,
            "mentions": sorted(store.graph.mentions_in([chunk.id for chunk in chunks])),
            "relations": store.graph.describe(store.graph.relations_of(ids, limit=MAX_LISTED)),
        }


def ids(found):
    return [piece.chunk.id for piece in found.evidence]


def scores(found):
    return [piece.score for piece in found.evidence]
