"""Commands `weft hook` and `weft daemon`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from weft.cli.entry import DEFAULT_BUDGET, DEFAULT_DEADLINE
from weft.cli.options import Session, verb
from weft.cli.output import print_json
from weft.cli.terminal import say, write_data
from weft.daemon.events import EVENTS, SCOPES
from weft.errors import WeftError

if TYPE_CHECKING:
    from weft.daemon.spool import Spool
    from weft.daemon.state import HookStatus


ACTIONS = ("status", "pause", "resume")


@verb()
@click.argument("event", type=click.Choice((*EVENTS, *ACTIONS)))
@click.option(
    "--budget", type=click.IntRange(1), default=DEFAULT_BUDGET, show_default=True, help="Maximum characters to add."
)
@click.option(
    "--deadline",
    type=click.IntRange(1),
    default=DEFAULT_DEADLINE,
    show_default=True,
    help="Milliseconds to wait for the daemon.",
)
@click.option(
    "--scope", type=click.Choice(SCOPES), default=SCOPES[0], show_default=True, help="Where a prompt is searched for."
)
@click.option("--session", "id", default="", metavar="ID", help="Pause or resume only this session.")
def hook(session: Session, event: str, budget: int, deadline: int, scope: str, id: str) -> None:
    """
    Answer a hook of an agent host, or show and switch hooks.

    Reads the host's JSON from standard input and prints what the host adds to the context: facts about the user, or
    passages and facts for a prompt. `stop` and `turn` capture the conversation. A daemon does the work; it is started
    on demand. Errors go to a log, so that the host never fails: the command always exits with 0.

    `status` prints what the hooks did last, what waits to be indexed, and errors. `pause` and `resume` switch all
    hooks, or those of a session.
    """
    if event in ACTIONS:
        _ACTIONS[event](session, id)
        return
    from weft.daemon.client import answer_hook

    try:
        db, namespace = _store(session)
    except WeftError as error:
        from weft.daemon.log import write_log

        write_log(f"{event}: {error}")
        return
    answer = answer_hook(event, db=db, namespace=namespace, budget=budget, milliseconds=deadline, scope=scope)
    write_data(answer)


def find_spool(session: Session) -> Spool:
    """Return the spool of the store and namespace of a command. Raises `OSError`."""
    from weft.daemon.address import find_address
    from weft.daemon.spool import Spool

    return Spool(find_address(*_store(session)).name)


def find_hook_status(session: Session) -> HookStatus:
    """Return what the hooks of the store and namespace of a command did last."""
    from weft.daemon.state import read_status

    return read_status(find_spool(session))


def _show_status(session: Session, _: str) -> None:
    status = find_hook_status(session)
    if session.as_json:
        print_json({**asdict(status), "errors": list(status.errors)})
        return
    last = {"last capture": status.capture, "last recall": status.recall}
    for name, entry in last.items():
        say(f"{name}: {entry['time']}  {entry['what']}" if entry else f"{name}: none")
    say(f"waiting: {status.waiting}" + (f", since {status.oldest}" if status.oldest else ""))
    say("hooks: paused; weft hook resume switches them on" if status.is_paused else "hooks: on")
    for entry in status.errors:
        say(f"error: {entry['time']}  {entry['what']}")


def _pause(session: Session, id: str) -> None:
    from weft.daemon.switches import pause

    pause(id)
    if session.verbosity >= 0:
        say("paused" if not id else f"session {id} is private", err=True)


def _resume(session: Session, id: str) -> None:
    from weft.daemon.switches import resume

    is_changed = resume(id)
    if session.verbosity >= 0:
        say("resumed" if is_changed else "nothing was paused", err=True)


_ACTIONS: Mapping[str, Callable[[Session, str], None]] = {
    "status": _show_status,
    "pause": _pause,
    "resume": _resume,
}


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
    from pathlib import Path

    from weft.cli.serve.resident_commands import ResidentCommands
    from weft.daemon.address import find_address
    from weft.daemon.log import log_to_file
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
            commands = ResidentCommands(engine, db=db).answer if Path(db).is_file() else None
            Daemon(engine, address, idle_seconds=60 * idle_minutes, run_command=commands).run(
                lambda: (
                    say(f"listening for hooks of {db!r}; Ctrl-C stops", err=True) if session.verbosity >= 0 else None
                )
            )
