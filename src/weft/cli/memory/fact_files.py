"""Commands `weft fact import` and `weft fact export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from weft.cli.options import Session, verb
from weft.cli.output import print_json, write_whole
from weft.cli.terminal import one_line, say, write_data
from weft.exchange.file_formats import FactForm
from weft.text.plurals import counted

if TYPE_CHECKING:
    from weft.records import FactReceipt

MAX_LISTED_LINES = 10
"""Maximum number of refused or skipped facts printed; --json lists all."""


@verb("import")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--format", "form", type=click.Choice(get_args(FactForm)), help="Format of FILE (default: detected).")
@click.option("--source", default="file", show_default=True, help="Source of the facts of a memory file.")
def import_file(session: Session, file: Path, form: FactForm | None, source: str) -> None:
    """
    Import facts from FILE.

    FILE is an export of `weft fact export`, or the memory file of an MCP memory server. An export restores facts with
    ids, status, times and history; existing facts are kept. In a memory file, observations become values and
    relations link entities. The import is one transaction.
    """
    from weft.admin.exchange_facts import import_facts

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
    help="'facts': all, with history; 'memory': valid facts for MCP servers.",
)
def export_file(session: Session, file: Path, form: FactForm) -> None:
    """
    Export the facts of the namespace as JSON Lines.

    Writes to standard output without FILE. An existing file is replaced atomically.
    """
    from weft.admin.exchange_facts import export_facts

    with session.open() as engine:
        lines = list(export_facts(engine, form=form))
    data = "".join(lines).encode("utf-8")
    if file == Path("-"):
        write_data(data)
        return
    write_whole(file, data)
    if session.as_json:
        print_json({"file": str(file), "format": form, "lines": len(lines), "bytes": len(data)})
    elif session.verbosity >= 0:
        say(f"wrote {file}: {counted(len(lines), 'line')} as {form} ({counted(len(data), 'byte')})", err=True)


def report_import(session: Session, file: Path, receipt: FactReceipt) -> None:
    """Print the receipt of an import of facts."""
    from weft.context.serialise import fact_receipt_to_dict

    if session.as_json:
        print_json(fact_receipt_to_dict(receipt))
        return
    if session.verbosity < 0:
        return
    counts = f"{receipt.added:,} added, {receipt.strengthened:,} strengthened, {receipt.known:,} known"
    imported = f"imported {file} ({receipt.form}): {counted(receipt.entities, 'entity')}, facts: {counts}"
    say(f"{imported}, {len(receipt.refused):,} refused", err=True)
    for outcome, lines in (("refused", receipt.refused), ("skipped", receipt.skipped)):
        for line in lines[:MAX_LISTED_LINES]:
            say(one_line(f"{outcome} {line}"), err=True)
        if len(lines) > MAX_LISTED_LINES:
            say(f"{outcome} {len(lines) - MAX_LISTED_LINES:,} more (--json lists them)", err=True)
