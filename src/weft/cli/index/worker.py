"""Command `weft worker`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weft.cli.options import Session, verb
from weft.cli.output import print_json
from weft.cli.progress import CountBar
from weft.cli.terminal import say
from weft.text.plurals import counted

if TYPE_CHECKING:
    import threading
    from types import FrameType

    from weft.index.job_worker import Until
    from weft.index.progress import Step


@verb()
@click.option("--once", "until", flag_value="once", help="Run at most one job, then exit.")
@click.option("--until-empty", "until", flag_value="empty", help="Exit when no job is waiting or running.")
@click.option(
    "--lease",
    type=click.FloatRange(1.0),
    default=60.0,
    metavar="SECONDS",
    help="Seconds without heartbeat before others take the jobs (default: 60).",
)
def worker(session: Session, until: Until | None, lease: float) -> None:
    """
    Index documents queued by `weft index --workers`.

    A worker needs the store, not the files; it may run on another machine. SIGTERM or Ctrl-C stops it after the
    current transaction, and other workers take its remaining jobs. Several workers with the same settings may run.
    """
    from weft.engine.parsing.parser_pool import ParserPool
    from weft.engine.worker_process import work

    stop = _stop_on_signals()
    with (
        session.open(must_exist=False) as engine,
        ParserPool(engine.settings.load.parsers) as parsers,
        CountBar("working", total=None, unit="chunks", quiet=session.verbosity < 0) as bar,
    ):

        def on_step(step: Step) -> None:
            bar.advance(extra=step.chunks)

        tally = work(engine, stop, until=until or "stopped", lease=lease, on_step=on_step, parsers=parsers)
        left = engine.store.jobs.counts()
    if session.as_json:
        counts = {"waiting": left.waiting, "running": left.running, "failed": left.failed}
        print_json({"done": tally.done, "chunks": tally.chunks, "failures": tally.failed, "jobs": counts})
    elif session.verbosity >= 0:
        say(f"indexed {counted(tally.done, 'document')}, {counted(tally.chunks, 'chunk')}", err=True)
        if left.failed:
            say(f"note: {left.failed:,} jobs failed; weft index retries them", err=True)
        if left.waiting and until == "empty":
            say(f"note: {left.waiting:,} jobs need a worker with other settings", err=True)


def _stop_on_signals() -> threading.Event:
    """Return an event set by SIGTERM and Ctrl-C; a second Ctrl-C raises `KeyboardInterrupt`."""
    import signal
    import threading

    stop = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        if stop.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    return stop
