"""Command `weft db …`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.cli.maintain.maintenance import check, compact
from weft.cli.options import Session, common_options, verb
from weft.cli.output import print_json
from weft.cli.terminal import say

if TYPE_CHECKING:
    from weft.admin.tables import Tables


@click.group()
@common_options
def db() -> None:
    """Create, check, index and vacuum the tables of a store."""


@verb()
@click.option(
    "--partitions",
    type=click.IntRange(2, 1024),
    metavar="N",
    help="Number of partitions by namespace; only on a server without Citus.",
)
def init(session: Session, partitions: int | None) -> None:
    """
    Create the tables of the store, or describe existing ones.

    On a server only this verb needs the right to create tables. With Citus the tables are distributed over its nodes
    by namespace. A missing file is created.
    """
    from weft.admin.tables import make_tables

    tables = make_tables(session.settings().store.db, partitions=partitions or 0)
    if session.as_json:
        from dataclasses import asdict

        print_json(asdict(tables))
    elif session.verbosity >= 0:
        say(_describe(tables))


def _describe(tables: Tables) -> str:
    parts = [f"{'created' if tables.created else 'found'} the tables of schema {tables.schema} in {tables.where}"]
    if tables.pgvector:
        parts.append(f"pgvector {tables.pgvector}")
    if tables.partitions:
        parts.append(f"{tables.partitions} partitions by namespace")
    if tables.is_spread:
        parts.append("Citus: distributed over its nodes by namespace")
    elif tables.has_citus:
        parts.append("Citus: not distributed, because the tables are older (weft copy to a new database does it)")
    elif tables.pgvector:
        parts.append("no Citus")
    return "; ".join(parts)


@verb()
@click.option("--all", "with_small", is_flag=True, help="Also for namespaces that are searched exactly.")
def index(session: Session, with_small: bool) -> int:
    """
    Create missing vector indexes on a server, while others read and write.

    Only the owner of the tables may do this. Exits with 1 if an index could not be created.
    """
    from weft.admin.tables import create_indexes

    indexes = create_indexes(session.settings().store.db, with_small=with_small)
    if session.as_json:
        from dataclasses import asdict

        print_json([asdict(one) | {"reason": one.reason} for one in indexes])
    elif session.verbosity >= 0:
        for one in indexes:
            took = f" in {one.seconds:.1f} s" if one.state == "created" else ""
            state = one.state if one.state in ("created", "exists") else f"not created: {one.reason}"
            say(f"weft.{one.table}, dimension {one.dimension}: {state}{took}")
        if not indexes:
            say("no namespace has an embedder yet")
    return 1 if any(one.state in ("busy", "locked", "refused") for one in indexes) else 0


db.add_command(index)
db.add_command(init)
db.add_command(check)
db.add_command(compact, name="vacuum")
