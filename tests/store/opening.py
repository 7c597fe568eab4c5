"""The one place where tests open a database of each kind."""

import uuid
from contextlib import ExitStack, closing, contextmanager

from memory_store.store import MemoryDatabase

import weft.store.sqlite.connect as connect
from weft.store.postgres.database import PostgresDatabase
from weft.store.sqlite.database import SqliteDatabase

KINDS = ("memory", "sqlite", "sqlite in memory", "sqlite without sqlite-vec", "postgres")
EACH = ("memory", "sqlite", "postgres")
"""One of each adapter."""


def open_empty(kind, request):
    """Open an empty database; what it needs is asked of the fixtures of the test."""
    match kind:
        case "memory":
            return MemoryDatabase()
        case "postgres":
            return PostgresDatabase(request.getfixturevalue("postgres_dsn"))
        case "sqlite in memory":
            return SqliteDatabase(":memory:")
        case "sqlite without sqlite-vec":
            monkeypatch = request.getfixturevalue("monkeypatch")
            monkeypatch.setattr(connect, "_load_vector_functions", lambda db: "not authorized")
    return SqliteDatabase(str(request.getfixturevalue("tmp_path") / "weft.db"))


@contextmanager
def open_shared(kind, request):
    """Open an empty database that outlives a test."""
    with ExitStack() as stack:
        match kind:
            case "memory":
                database = MemoryDatabase()
            case "postgres":
                import postgres

                server, name = request.getfixturevalue("postgres_server"), f"weft_shared_{uuid.uuid4().hex[:8]}"
                database = PostgresDatabase(stack.enter_context(postgres.new_database(server, name)))
            case _:
                folder = request.getfixturevalue("tmp_path_factory").mktemp("shared")
                database = SqliteDatabase(str(folder / "weft.db"))
        yield stack.enter_context(closing(database))


def contradictions(database):
    """Return what is wrong, but for vectors that were not written."""
    return [problem for problem in database.check() if problem.command != "weft reembed"]


def where(kind, request):
    """Return what `logical.content` reads of the database that a test has opened."""
    if kind == "postgres":
        return request.getfixturevalue("postgres_dsn")
    return request.getfixturevalue("tmp_path") / "weft.db"
