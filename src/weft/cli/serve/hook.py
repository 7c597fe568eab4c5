"""Commands `weft hook` and `weft daemon`."""

from __future__ import annotations

import click

from weft.cli.options import Session, verb
from weft.cli.terminal import say

EVENTS = ("session-start", "prompt", "stop")
HOST_EVENTS = {"session-start": "SessionStart", "prompt": "UserPromptSubmit"}
"""Names of the events whose answer the host adds to the context."""


@verb()
@click.argument("event", type=click.Choice(EVENTS))
@click.option("--budget", type=click.IntRange(1), default=800, show_default=True, help="Maximum tokens of the answer.")
@click.option(
    "--deadline", type=click.IntRange(1), default=300, show_default=True, help="Milliseconds to wait for the daemon."
)
def hook(session: Session, event: str, budget: int, deadline: int) -> None:
    """
    Answer a hook of an agent host.

    Reads the host's JSON from standard input and prints what the host adds to the context: facts about the user, or
    passages and facts for a prompt. `stop` indexes the transcript. A daemon does the work; it is started on demand.
    Errors go to a log, so that the host never fails: the command always exits with 0.
    """
    import time

    end = time.monotonic() + deadline / 1000
    try:
        text = _ask(session, event, budget=budget, end=end)
    except Exception as error:  # noqa: BLE001 - a hook must not fail its host
        from weft.daemon.log import write_log

        write_log(f"{event}: {error}")
        return
    if text and event in HOST_EVENTS:
        import json

        answer = {"hookEventName": HOST_EVENTS[event], "additionalContext": text}
        say(json.dumps({"hookSpecificOutput": answer}, ensure_ascii=False))


def _ask(session: Session, event: str, *, budget: int, end: float) -> str:
    """Return the answer of the daemon, which is started if none listens."""
    import json
    import sys
    import time

    from weft.daemon.address import find_address
    from weft.daemon.client import ask, start
    from weft.errors import InputError

    given = json.loads(sys.stdin.buffer.read(1 << 20) or b"{}")
    db, namespace = _store(session)
    address, request = find_address(db, namespace), {"event": event, "input": given, "budget": budget}
    is_started = False
    while True:
        try:
            answer = ask(address, request, deadline=end)
            break
        except (FileNotFoundError, ConnectionRefusedError):
            if not is_started:
                start(["--db", db, "--namespace", namespace, "--quiet"])
                is_started = True
            time.sleep(0.02)
            if time.monotonic() > end:
                raise
    if "error" in answer:
        raise InputError(str(answer["error"]))
    return str(answer.get("text", ""))


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
            engine.warm()
            Daemon(engine, address, idle_seconds=60 * idle_minutes).run(
                lambda: (
                    say(f"listening for hooks of {db!r}; Ctrl-C stops", err=True) if session.verbosity >= 0 else None
                )
            )
