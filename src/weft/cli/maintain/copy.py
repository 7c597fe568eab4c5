"""Command `weft copy`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.cli.options import Session, verb
from weft.cli.output import print_json
from weft.cli.progress import CountBar
from weft.cli.terminal import one_line, say
from weft.text.plurals import counted

if TYPE_CHECKING:
    from weft.admin.copy import CopyReceipt

MAX_LISTED_DIFFERENCES = 20
"""Maximum number of differences printed; `--json` lists all."""


@verb()
@click.option("--from", "source", metavar="FILE|DSN", help="Source store (default: the current one).")
@click.option("--to", "target", metavar="FILE|DSN", required=True, help="Target store; created if missing.")
@click.option("--all", "every", is_flag=True, help="All namespaces (default: the current one).")
@click.option("--prune", is_flag=True, help="Delete data from the target that the source does not have.")
def copy(session: Session, source: str | None, target: str, every: bool, prune: bool) -> int:
    """
    Copy namespaces to another store.

    Copies documents, vectors, imports, edits, facts with their history, and calibration; nothing is embedded again.
    Keys are not copied. Only differences are written, so an interrupted copy resumes on the next call. At the end
    checksums compare both stores; the exit code is 1 if they differ.
    """
    from weft.config import shown

    receipts = _copy(session, source, target, every=every, prune=prune)
    if session.as_json:
        from dataclasses import asdict

        print_json([asdict(receipt) for receipt in receipts])
    elif session.verbosity >= 0:
        for receipt in receipts:
            _print(receipt, target=shown(target))
    return 1 if any(receipt.differences for receipt in receipts) else 0


def _copy(session: Session, source: str | None, target: str, *, every: bool, prune: bool) -> list[CopyReceipt]:
    from weft.admin.copy import copy_namespaces

    settings = session.settings()
    with CountBar("copying", total=None, unit="items", quiet=session.verbosity < 0) as bar:
        expected = 0

        def on_start(namespace: str, steps: int) -> None:
            nonlocal expected
            expected += steps
            bar.expect(expected)

        return copy_namespaces(
            source or settings.store.db,
            target,
            settings=settings,
            namespaces=() if every else (settings.store.namespace,),
            prune=prune,
            on_start=on_start,
            on_step=lambda count: bar.advance(count, extra=count),
        )


def _print(receipt: CopyReceipt, *, target: str) -> None:
    counts = f"{counted(receipt.documents, 'document')} and {counted(receipt.facts, 'fact')}"
    say(f"{receipt.namespace}: {counts} copied to {target}", err=True)
    say(f"written: {_list(receipt.written) or 'nothing, the target is up to date'}", err=True)
    if receipt.removed:
        say(f"deleted: {_list(receipt.removed)}", err=True)
    for line in receipt.refused:
        say(one_line(f"refused: {line}"), err=True)
    for found in receipt.differences[:MAX_LISTED_DIFFERENCES]:
        say(one_line(f"{found.how}: {found.what} {found.name}"))
    if len(receipt.differences) > MAX_LISTED_DIFFERENCES:
        say(f"and {len(receipt.differences) - MAX_LISTED_DIFFERENCES:,} more")
    if receipt.is_moving:
        say("the source changed during the copy: run the same command again", err=True)
    if not receipt.differences:
        say("identical by checksums", err=True)


def _list(counts: dict[str, int]) -> str:
    """Return counts with their nouns in singular or plural."""
    return ", ".join(counted(count, noun) for noun, count in counts.items())
