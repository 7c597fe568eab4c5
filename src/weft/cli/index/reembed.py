"""Command `weft reembed`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.cli.options import Session, verb
from weft.cli.output import print_json
from weft.cli.progress import CountBar
from weft.cli.terminal import say
from weft.text.plurals import counted

if TYPE_CHECKING:
    from weft.engine.engine import Engine
    from weft.records import Receipt


@verb()
@click.option("--dry-run", is_flag=True, help="Print the work and its cost; send nothing.")
@click.option(
    "--max-cost",
    type=click.FloatRange(0),
    metavar="USD",
    help="Maximum cost of a remote embedder in USD.",
)
def reembed(session: Session, dry_run: bool, max_cost: float | None) -> None:
    """
    Re-embed all chunks with another embedder.

    --embedder names the new embedder. The old one answers queries until all vectors are written. An interrupted run,
    or one that reached its limit, resumes on the next call.
    """
    from weft.context.serialise import embedding_to_dict

    with session.open(models__max_cost=max_cost) as engine:
        receipt = engine.preview_reembed() if dry_run else _reembed(session, engine)
        name = engine.next_embedder().card.name
    if session.as_json:
        done = {"model": name, "chunks": receipt.chunks, "embedded": receipt.embedded, "cached": receipt.cached}
        usage = embedding_to_dict(receipt.embedding)
        print_json({**done, "seconds": round(receipt.seconds, 3), "embedding": usage, "notes": list(receipt.notes)})
    elif session.verbosity >= 0:
        _print(receipt, name, is_dry=dry_run)


def _reembed(session: Session, engine: Engine) -> Receipt:
    with CountBar("embedding", total=engine.stats().chunks, unit="chunks", quiet=session.verbosity < 0) as bar:
        return engine.reembed(on_step=lambda done: bar.advance(done, extra=done))


def _print(receipt: Receipt, name: str, *, is_dry: bool) -> None:
    """Print the receipt of a run or a dry run to stderr."""
    from weft.cli.receipts import embedding_line
    from weft.records import Usage

    active = "" if is_dry or receipt.stopped else f"; queries now use {name}"
    done = f"{'would embed' if is_dry else 'embedded'} {counted(receipt.chunks, 'chunk')}"
    say(
        f"{done}, {counted(receipt.embedded, 'text')} including names, {receipt.cached:,} from the cache{active}",
        err=True,
    )
    if receipt.embedding != Usage() or (is_dry and receipt.embedded):
        say(f"embedder: {name}, {embedding_line(receipt.embedding, is_dry=is_dry)}", err=True)
    for note in receipt.notes:
        say(f"note: {note}", err=True)
