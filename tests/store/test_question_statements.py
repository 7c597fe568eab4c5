"""Number of statements that a question sends: SQLite right after a write, and round trips of PostgreSQL."""

from pathlib import Path

import apsw
import psycopg
import pytest
from opening import open_empty

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.store.sqlite.session import SqliteSession
from weft.testing import FakeEmbedder

CORPUS = Path(__file__).parents[2] / "examples" / "corpus"

QUESTIONS = (
    "what happens if we change the OAuth provider?",
    "Why were sessions moved out of Redis?",
    "How does the login flow work?",
    "Who is on call when the payment service fails?",
)

MAX_STATEMENTS = {"auto": 35, "hybrid": 11}
"""Largest number that one of these questions may send, by method, on both databases (decision 0089)."""

MAX_STATEMENTS_OF_IMPACT = {"auto": 47, "hybrid": 11}
"""The same for the first question, which asks what depends on something: the walk reads a third hop."""


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request, tmp_path):
    settings = read_settings({"store.db": str(tmp_path / "weft.db"), "store.namespace": "default"})
    database = open_empty(request.param, request)
    with Engine(settings, database=database, embedder=FakeEmbedder()) as made:
        made.index(CORPUS)
        yield made


class Counted:
    """A connection that notes its statements."""

    def __init__(self, db: apsw.Connection, found: list[str]) -> None:
        self._db = db
        self._found = found

    def execute(self, sql, *values):
        self._found.append(sql)
        return self._db.execute(sql, *values)

    def __getattr__(self, name):
        return getattr(self._db, name)


@pytest.fixture
def sent(engine, monkeypatch):
    """Return a list of all statements that are sent."""
    found = []
    if "Sqlite" in type(engine.database).__name__:
        start = SqliteSession.__init__
        monkeypatch.setattr(
            SqliteSession, "__init__", lambda self, db, **options: start(self, Counted(db, found), **options)
        )
    else:
        execute = psycopg.Cursor.execute
        monkeypatch.setattr(
            psycopg.Cursor, "execute", lambda self, sql, *a, **k: found.append(sql) or execute(self, sql, *a, **k)
        )

    return found


@pytest.mark.parametrize("method", ["auto", "hybrid"])
def test_a_warm_question_sends_few_statements(engine, sent, method):
    """Models are loaded; nothing else is kept from before the write."""
    engine.query("warm up", method=method)
    counts = []
    for place, question in enumerate(QUESTIONS):
        engine.add_text(f"Note {place}: the {place + 40}th change.", source=f"note-{place}.md")
        sent.clear()
        assert engine.query(question, method=method).evidence
        counts.append(len(sent))

    assert min(counts) > 5, "counted"
    assert max(counts[1:]) <= MAX_STATEMENTS[method], counts
    assert counts[0] <= MAX_STATEMENTS_OF_IMPACT[method], counts
