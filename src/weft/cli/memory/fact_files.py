"""`weft fact import` and `weft fact export`."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from weft.admin.exchange_facts import FactForm, export_facts, import_facts
from weft.cli.options import Session, verb
from weft.cli.output import print_json, write_whole
from weft.cli.terminal import hand_over, one_line, say
from weft.context.serialise import fact_receipt_to_dict
from weft.records import FactReceipt

SHOWN = 10
"""Lines about what was left out that are printed; --json has them all."""


@verb("import")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--format", "form", type=click.Choice(get_args(FactForm)), help="What FILE is (default: recognised).")
@click.option("--source", default="file", show_default=True, help="Who states what a memory file says.")
def import_file(session: Session, file: Path, form: FactForm | None, source: str) -> None:
    """
    Read facts from FILE: what `weft fact export` wrote, or the memory file of an MCP memory server.

    The first come back as they were, with ids, status, times and history; what is here already stays as it is. Of a
    memory file, entities are named, observations become values, relations lead to entities. All of it is written, or
    nothing.
    """
    with session.open(must_exist=False) as engine:
        receipt = import_facts(engine, file, form=form, source=source)
    report_import(session, file, receipt)


@verb("export")
@click.argument("file", default="-", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@click.option(
    "--format",
    "form",
    type=click.Choice(get_args(FactForm)),
    default="facts",
    show_default=True,
    help="facts: all, with their whole life; memory: those that hold, for an MCP memory server.",
)
def export_file(session: Session, file: Path, form: FactForm) -> None:
    """
    Write the facts of the namespace to FILE, or to standard output, as JSON Lines.

    A file that is there is replaced when the new one is whole.
    """
    with session.open() as engine:
        lines = list(export_facts(engine, form=form))
    data = "".join(lines).encode("utf-8")
    if file == Path("-"):
        hand_over(data)
        return
    write_whole(file, data)
    if session.as_json:
        print_json({"file": str(file), "format": form, "lines": len(lines), "bytes": len(data)})
    elif session.verbosity >= 0:
        say(f"wrote {file}: {len(lines):,} lines as {form} ({len(data):,} bytes)", err=True)


def report_import(session: Session, file: Path, receipt: FactReceipt) -> None:
    """Print what an import of facts did."""
    if session.as_json:
        print_json(fact_receipt_to_dict(receipt))
        return
    if session.verbosity < 0:
        return
    counts = f"{receipt.added:,} added, {receipt.strengthened:,} strengthened, {receipt.known:,} known"
    said = f"imported {file} ({receipt.form}): {receipt.entities:,} entities, facts: {counts}"
    say(f"{said}, {len(receipt.refused):,} refused", err=True)
    for what, lines in (("refused", receipt.refused), ("skipped", receipt.skipped)):
        for line in lines[:SHOWN]:
            say(one_line(f"{what} {line}"), err=True)
        if len(lines) > SHOWN:
            say(f"{what} {len(lines) - SHOWN:,} more (--json lists them)", err=True)
