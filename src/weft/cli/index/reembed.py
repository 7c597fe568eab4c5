"""`weft reembed`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.cli.options import Session, verb
from weft.cli.output import embedding_line, print_json
from weft.cli.progress import CountBar
from weft.cli.terminal import say
from weft.context.serialise import embedding_to_dict
from weft.records import Receipt, Usage

if TYPE_CHECKING:
    from weft.engine.engine import Engine


@verb()
@click.option("--dry-run", is_flag=True, help="Say what would be embedded, and what it would cost; send nothing.")
@click.option(
    "--max-cost",
    type=click.FloatRange(0),
    metavar="DOLLARS",
    help="Stop before embedding through an endpoint costs more.",
)
def reembed(session: Session, dry_run: bool, max_cost: float | None) -> None:
    """
    Give every chunk a vector of another embedder (--embedder), then let it answer.

    Works online: the old embedder answers until the last moment. Interrupted, or ended by a bound, it
    goes on where it stopped.
    """
    with session.open(models__max_cost=max_cost) as engine:
        receipt = engine.preview_reembed() if dry_run else _reembed(session, engine)
        name = engine.next_embedder().card.name
    if session.as_json:
        done = {"model": name, "chunks": receipt.chunks, "embedded": receipt.embedded, "cached": receipt.cached}
        asked = embedding_to_dict(receipt.embedding)
        print_json({**done, "seconds": round(receipt.seconds, 3), "embedding": asked, "notes": list(receipt.notes)})
    elif session.verbosity >= 0:
        _print(receipt, name, is_dry=dry_run)


def _reembed(session: Session, engine: Engine) -> Receipt:
    with CountBar("embedding", total=engine.stats().chunks, unit="chunks", quiet=session.verbosity < 0) as bar:
        return engine.reembed(on_step=lambda done: bar.advance(done, extra=done))


def _print(receipt: Receipt, name: str, *, is_dry: bool) -> None:
    """Print to stderr what was done, or would be."""
    answers = "" if is_dry or receipt.stopped else f"; {name} answers now"
    done = f"{'would embed' if is_dry else 'embedded'} {receipt.chunks:,} chunks"
    say(f"{done}, {receipt.embedded:,} texts with names, {receipt.cached:,} from the cache{answers}", err=True)
    if receipt.embedding != Usage() or (is_dry and receipt.embedded):
        say(f"embedder: {name}, {embedding_line(receipt.embedding, is_dry=is_dry)}", err=True)
    for note in receipt.notes:
        say(f"note: {note}", err=True)
