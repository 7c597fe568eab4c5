"""sqlite-vec and FTS5 in one file, used as in their documentation, fused by RRF."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import apsw
import sqlite_vec

from peers import DIMENSION
from peers.given import Found, Question, Record, fuse

PACKAGES = ("sqlite-vec",)
NOTE = (
    "sqlite-vec + FTS5: `vec0` compares every vector. "
    "FTS5 uses `porter unicode61`, with the words of a question joined by OR"
)

TABLES = f"""
CREATE TABLE chunks (number INTEGER PRIMARY KEY, id TEXT, text TEXT);
CREATE VIRTUAL TABLE vectors USING vec0(number INTEGER PRIMARY KEY, vector float[{DIMENSION}] distance_metric=cosine);
CREATE VIRTUAL TABLE words USING fts5(text, content='chunks', content_rowid='number', tokenize='porter unicode61');
"""
NEAR = """
SELECT c.id, c.text FROM (SELECT number, distance FROM vectors WHERE vector MATCH ? AND k = ?) AS v
JOIN chunks AS c ON c.number = v.number ORDER BY v.distance
"""
MATCHING = """
SELECT c.id, c.text FROM (SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?) AS w
JOIN chunks AS c ON c.number = w.rowid ORDER BY w.rank
"""


class Peer:
    def __init__(self, folder: Path) -> None:
        is_new = not any(folder.iterdir())
        self._db = apsw.Connection(str(folder / "plain.db"))
        self._db.enable_load_extension(True)
        self._db.load_extension(sqlite_vec.loadable_path())
        self._db.execute("PRAGMA journal_mode = wal")
        if is_new:
            self._db.execute(TABLES)

    def add(self, batches: Iterable[list[Record]]) -> None:
        number = 0
        for batch in batches:
            with self._db:
                for record in batch:
                    number += 1
                    text = f"{record.title}\n{record.text}"
                    self._db.execute("INSERT INTO chunks VALUES (?, ?, ?)", (number, record.id, text))
                    self._db.execute("INSERT INTO words(rowid, text) VALUES (?, ?)", (number, text))
                    self._db.execute("INSERT INTO vectors VALUES (?, ?)", (number, record.vector.tobytes()))
        self._db.execute("INSERT INTO words(words) VALUES ('optimize')")

    def vector(self, question: Question, k: int) -> Found:
        return self._db.execute(NEAR, (question.vector.tobytes(), k)).fetchall()

    def keyword(self, question: Question, k: int) -> Found:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question.text))
        return self._db.execute(MATCHING, (words, k)).fetchall()

    def hybrid(self, question: Question, k: int) -> Found:
        return fuse([self.vector(question, k), self.keyword(question, k)], k)

    def close(self) -> None:
        self._db.close()
