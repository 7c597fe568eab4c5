"""`weft copy`."""

from __future__ import annotations

from dataclasses import asdict

import click

from weft.admin.copy import CopyReceipt, copy_namespaces
from weft.cli.options import Session, verb
from weft.cli.output import print_json
from weft.cli.progress import CountBar
from weft.cli.terminal import one_line, say
from weft.config import shown

LISTED = 20
"""Differences that are printed; `--json` has all of them."""


@verb()
@click.option("--from", "source", metavar="FILE|DSN", help="The store to copy (default: the one in force).")
@click.option("--to", "target", metavar="FILE|DSN", required=True, help="Where to; a missing file is made.")
@click.option("--all", "every", is_flag=True, help="All namespaces (default: the one in force).")
@click.option("--prune", is_flag=True, help="Remove from the copy what the source does not have.")
def copy(session: Session, source: str | None, target: str, every: bool, prune: bool) -> int:
    """
    Make a namespace the same in another store, a file or a server.

    Documents, vectors, imports, edits, facts with their history and calibration; nothing is embedded again. Interrupt
    when you like, and run it again to go on: only what differs is written. In the end both are compared by checksums;
    exit code 1 if anything differs. Keys are not copied.
    """
    settings = session.settings()
    with CountBar("copying", total=None, unit="items", quiet=session.verbosity < 0) as bar:
        expected = 0

        def on_start(namespace: str, steps: int) -> None:
            nonlocal expected
            expected += steps
            bar.expect(expected)

        receipts = copy_namespaces(
            source or settings.store.db,
            target,
            settings=settings,
            namespaces=() if every else (settings.store.namespace,),
            prune=prune,
            on_start=on_start,
            on_step=lambda count: bar.advance(count, extra=count),
        )
    if session.as_json:
        print_json([asdict(receipt) for receipt in receipts])
    elif session.verbosity >= 0:
        for receipt in receipts:
            _print(receipt, target=shown(target))
    return 1 if any(receipt.differences for receipt in receipts) else 0


def _print(receipt: CopyReceipt, *, target: str) -> None:
    held = f"{receipt.documents:,} documents and {receipt.facts:,} facts"
    say(f"{receipt.namespace}: {held}, copied to {target}", err=True)
    say(f"written: {_list(receipt.written) or 'nothing, it was there already'}", err=True)
    if receipt.removed:
        say(f"removed: {_list(receipt.removed)}", err=True)
    for line in receipt.refused:
        say(one_line(f"refused: {line}"), err=True)
    for found in receipt.differences[:LISTED]:
        say(one_line(f"{found.how}: {found.what} {found.name}"))
    if len(receipt.differences) > LISTED:
        say(f"and {len(receipt.differences) - LISTED:,} more")
    if receipt.is_moving:
        say("the source was written to meanwhile: run the same again to bring the rest", err=True)
    if not receipt.differences:
        say("the same, by checksums", err=True)


def _list(counts: dict[str, int]) -> str:
    """Return counts as people say them."""
    plurals = {what: what[:-1] + "ies" if what.endswith("y") else what + "s" for what in counts}
    return ", ".join(f"{count:,} {what if count == 1 else plurals[what]}" for what, count in counts.items())
