"""`weft db …`."""

from __future__ import annotations

from dataclasses import asdict

import click

from weft.admin.tables import Tables, make_tables, migrate_tables
from weft.cli.maintain.maintenance import check, compact
from weft.cli.options import Session, common_options, verb
from weft.cli.output import print_json
from weft.cli.terminal import say
from weft.config import shown


@click.group()
@common_options
def db() -> None:
    """Make, migrate, check and vacuum the tables of a store."""


@verb()
@click.option(
    "--partitions",
    type=click.IntRange(2, 1024),
    metavar="N",
    help="On a server without Citus: split the tables by namespace into N parts.",
)
def init(session: Session, partitions: int | None) -> None:
    """
    Make the tables of the store; where they are there already, say what there is.

    On a server this is done by whoever may create tables; others then need no such right. Where Citus is there, the
    tables are spread over its nodes by namespace. A file is made where it is missing.
    """
    tables = make_tables(session.settings().store.db, partitions=partitions or 0)
    if session.as_json:
        print_json(asdict(tables))
    elif session.verbosity >= 0:
        say(_describe(tables))


@verb()
def migrate(session: Session) -> None:
    """
    Bring the tables of the store up to date with this version, and say what was done.

    A file is migrated when it is opened, too. On a server it is done a statement at a time, while others read;
    interrupted, it goes on where it stopped.
    """
    db = session.settings().store.db
    done = migrate_tables(db)
    if session.as_json:
        print_json({"where": shown(db), "done": done})
    elif session.verbosity >= 0:
        say(f"{shown(db)}: {', '.join(done) if done else 'up to date'}")


def _describe(tables: Tables) -> str:
    parts = [f"{'made' if tables.created else 'there are'} the tables of schema {tables.schema} in {tables.where}"]
    if tables.pgvector:
        parts.append(f"pgvector {tables.pgvector}")
    if tables.partitions:
        parts.append(f"split by namespace into {tables.partitions} parts")
    if tables.is_spread:
        parts.append("Citus: spread over its nodes by namespace")
    elif tables.has_citus:
        parts.append(
            "Citus: not spread, for they were made before it came (weft copy into a new database spreads them)"
        )
    elif tables.pgvector:
        parts.append("no Citus")
    return "; ".join(parts)


db.add_command(init)
db.add_command(migrate)
db.add_command(check)
db.add_command(compact, name="vacuum")
