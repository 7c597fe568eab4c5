"""`weft worker`."""

from __future__ import annotations

import signal
import threading
from types import FrameType

import click

from weft.cli.options import Session, verb
from weft.cli.output import print_json
from weft.cli.progress import CountBar
from weft.cli.terminal import say
from weft.engine.worker_pool import work
from weft.index.job_worker import LEASE_S, Until
from weft.index.run import Step


@verb()
@click.option("--once", "until", flag_value="once", help="Do one job, where there is one, and end.")
@click.option("--until-empty", "until", flag_value="empty", help="End when no job is waiting or under way.")
@click.option(
    "--lease",
    type=click.FloatRange(1.0),
    default=LEASE_S,
    metavar="SECONDS",
    help=f"How long it may be silent before others take over its jobs (default: {LEASE_S:g}).",
)
def worker(session: Session, until: Until | None, lease: float) -> None:
    """
    Index documents that `weft index --workers` hands out, here or on another machine.

    It needs the store, not the files. SIGTERM or Ctrl-C ends it after the transaction under way; what
    it had not begun is done by others. Several may run, with the same settings.
    """
    stop = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        if stop.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    with (
        session.open(must_exist=False) as engine,
        CountBar("working", total=None, unit="chunks", quiet=session.verbosity < 0) as bar,
    ):

        def on_step(step: Step) -> None:
            bar.advance(extra=step.chunks)

        tally = work(engine, stop, until=until or "stopped", lease=lease, on_step=on_step)
        left = engine.store.jobs.counts()
    if session.as_json:
        counts = {"waiting": left.waiting, "running": left.running, "failed": left.failed}
        print_json({"done": tally.done, "chunks": tally.chunks, "failures": tally.failed, "jobs": counts})
    elif session.verbosity >= 0:
        say(f"indexed {tally.done:,} documents, {tally.chunks:,} chunks", err=True)
        if left.failed:
            say(f"note: {left.failed:,} jobs failed; weft index tries them again", err=True)
        if left.waiting and until == "empty":
            say(f"note: {left.waiting:,} jobs wait for a worker with other settings", err=True)
