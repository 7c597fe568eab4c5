"""Commands `weft hook` and `weft daemon`."""

from __future__ import annotations

from dataclasses import replace

import click

from weft.cli.entry import DEFAULT_BUDGET, DEFAULT_DEADLINE
from weft.cli.options import Session, verb
from weft.cli.terminal import say, write_data
from weft.daemon.client import EVENTS, answer_hook
from weft.daemon.log import log_to_file, write_log
from weft.errors import WeftError


@verb()
@click.argument("event", type=click.Choice(EVENTS))
@click.option(
    "--budget", type=click.IntRange(1), default=DEFAULT_BUDGET, show_default=True, help="Maximum tokens of the answer."
)
@click.option(
    "--deadline",
    type=click.IntRange(1),
    default=DEFAULT_DEADLINE,
    show_default=True,
    help="Milliseconds to wait for the daemon.",
)
def hook(session: Session, event: str, budget: int, deadline: int) -> None:
    """
    Answer a hook of an agent host.

    Reads the host's JSON from standard input and prints what the host adds to the context: facts about the user, or
    passages and facts for a prompt. `stop` indexes the transcript. A daemon does the work; it is started on demand.
    Errors go to a log, so that the host never fails: the command always exits with 0.
    """
    try:
        db, namespace = _store(session)
    except WeftError as error:
        write_log(f"{event}: {error}")
        return
    write_data(answer_hook(event, db=db, namespace=namespace, budget=budget, milliseconds=deadline))


def _store(session: Session) -> tuple[str, str]:
    """Return the store, with an absolute path, and the namespace."""
    from weft.config import find_path

    store = session.settings().store
    path = find_path(store.db)
    return str(path.absolute()) if path else store.db, store.namespace


@verb()
@click.option(
    "--idle-minutes",
    type=click.FloatRange(0.01),
    default=30.0,
    show_default=True,
    help="Minutes without requests before the daemon exits.",
)
def daemon(session: Session, idle_minutes: float) -> None:
    """Answer hooks of agent hosts until idle. `weft hook` starts it on demand."""
    from weft.daemon.address import find_address
    from weft.daemon.server import Daemon

    db, namespace = _store(session)
    address = find_address(db, namespace)
    if session.verbosity < 0:
        log_to_file()
    with address.claim() as is_claimed:
        if not is_claimed:
            say("a daemon of this store and namespace is running", err=True)
            return
        with session.open(must_exist=False) as engine:
            # `weft hook` passes the store of its folder, which the user may not have chosen.
            origins = {key: origin for key, origin in engine.settings.origins.items() if key != "store.db"}
            engine.settings = replace(engine.settings, origins=origins)
            engine.warm()
            Daemon(engine, address, idle_seconds=60 * idle_minutes).run(
                lambda: (
                    say(f"listening for hooks of {db!r}; Ctrl-C stops", err=True) if session.verbosity >= 0 else None
                )
            )
