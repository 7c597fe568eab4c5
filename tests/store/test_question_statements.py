"""Number of statements that a question sends: SQLite right after a write, and round trips of PostgreSQL."""

from pathlib import Path

import apsw
import postgres
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

MAX_STATEMENTS = {
    ("sqlite", "auto"): (24, 33),
    ("sqlite", "hybrid"): (6, 5),
    ("postgres", "auto"): (28, 38),
    ("postgres", "hybrid"): (11, 9),
}
"""
Largest number that one of these questions may send, by database and method (decision 0089).

The second number is that of the first question, which asks what depends on something: the walk reads a third hop.
"""

CLUSTER_STATEMENTS = 1
"""What a question to a cluster sends besides: it has the settings of its transaction sent to the nodes."""


@pytest.fixture(params=["sqlite", "postgres"])
def database(request):
    """Return the name of a database."""
    return request.param


@pytest.fixture
def engine(database, request, tmp_path):
    settings = read_settings({"store.db": str(tmp_path / "weft.db"), "store.namespace": "default"})
    with Engine(settings, database=open_empty(database, request), embedder=FakeEmbedder()) as made:
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
def sent(engine, database, monkeypatch):
    """Return a list of all statements that are sent."""
    found = []
    if database == "sqlite":
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


def test_a_warm_question_sends_few_statements(engine, sent, database):
    """Models are loaded; nothing else is kept from before the write."""
    for method in ("auto", "hybrid"):
        engine.query("warm up", method=method)
        counts = []
        for place, question in enumerate(QUESTIONS):
            engine.add_text(f"Note {place} by {method}: the {place + 40}th change.", source=f"{method}-{place}.md")
            sent.clear()
            assert engine.query(question, method=method).evidence
            counts.append(len(sent))

        assert min(counts) > 3, "counted"
        more = CLUSTER_STATEMENTS if database == "postgres" and postgres.IS_CITUS else 0
        others, first = (bound + more for bound in MAX_STATEMENTS[database, method])
        assert max(counts[1:]) <= others and counts[0] <= first, (method, counts)
