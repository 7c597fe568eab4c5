"""
Client of the daemon: one message to it, one message back, within a deadline.

Events to be captured are written to the spool first; the daemon is only told that something waits.

The client runs at every prompt of an agent host, so it imports little (see `address.py`).
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress

from weft.daemon.address import Address, find_address
from weft.daemon.events import CAPTURED, folder_of, session_of, to_capture
from weft.daemon.spool import Spool
from weft.daemon.switches import find_switch
from weft.processes.framing import decode, encode, receive_frame, seconds_left

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

HOST_EVENTS = {"session-start": "SessionStart", "prompt": "UserPromptSubmit"}
"""Events whose answer the host adds to the context, with their names in Claude Code."""
MAX_INPUT_BYTES = 1 << 20
MAX_ANSWER_BYTES = 1 << 20
RETRY_SECONDS = 0.02
"""Pause between two attempts to reach a daemon that is starting."""


def answer_hook(event: str, *, db: str, namespace: str, budget: int, milliseconds: int, scope: str = "project") -> str:
    """
    Return what a hook prints: JSON for the host, or nothing. Errors go to the log, because a hook must not fail.

    The event is read from standard input. A daemon is started if none listens.
    """
    end = time.monotonic() + milliseconds / 1000
    try:
        given = json.loads(sys.stdin.buffer.read(MAX_INPUT_BYTES) or b"{}")
        if not isinstance(given, dict):
            raise ValueError("the input is not a JSON object")
        given = {**given, "cwd": folder_of(given) or os.getcwd()}
        if find_switch(session=session_of(given), folder=given["cwd"]):
            return ""
        address = find_address(db, namespace)
        if event in CAPTURED:
            Spool(address.name).write(to_capture(event, given))
            _wake(address, db=db, namespace=namespace, end=end)
            return format_receipt(given)
        request = {"event": event, "input": given, "budget": budget, "scope": scope}
        text = _ask_or_start(address, request, db=db, namespace=namespace, end=end)
        return format_answer(event, text, given=given)
    except Exception as error:  # noqa: BLE001 - a hook must not fail its host
        from weft.daemon.log import write_log
        from weft.daemon.state import State  # here, because most hooks have no error

        write_log(f"{event}: {error}")
        with suppress(OSError):
            State(Spool(find_address(db, namespace).name)).add_error(f"{event}: {error}")
        return ""


def format_receipt(given: Mapping[str, Any]) -> str:
    """Return what Cursor expects of a hook before a prompt is sent; nothing for other events."""
    return json.dumps({"continue": True}) + "\n" if given.get("hook_event_name") == "beforeSubmitPrompt" else ""


def format_answer(event: str, text: str, *, given: Mapping[str, Any]) -> str:
    """
    Return the JSON that adds a text to the context of the host, in ASCII; empty without a text.

    Events of Cursor begin with a small letter. Gemini CLI and Codex expect the shape of Claude Code.
    """
    if not text or event not in HOST_EVENTS:
        return ""
    name = str(given.get("hook_event_name") or HOST_EVENTS[event])
    if name[:1].islower():
        return json.dumps({"additional_context": text}) + "\n"
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}) + "\n"


def _wake(address: Address, *, db: str, namespace: str, end: float) -> None:
    """Tell the daemon that an event waits, or start one and do not wait for it. A busy one finds the event later."""
    try:
        ask(address, {"event": "drain"}, deadline=end)
    except (FileNotFoundError, ConnectionRefusedError):
        start(db, namespace)
    except OSError:
        return


def _ask_or_start(address: Address, request: Mapping[str, Any], *, db: str, namespace: str, end: float) -> str:
    is_started = False
    while True:
        try:
            answer = ask(address, request, deadline=end)
            break
        except (FileNotFoundError, ConnectionRefusedError, BlockingIOError) as error:
            # BlockingIOError: a daemon runs, but too many connections wait for it
            if not is_started and not isinstance(error, BlockingIOError):
                start(db, namespace)
                is_started = True
            time.sleep(RETRY_SECONDS)
            if time.monotonic() > end:
                raise
    if "error" in answer:
        raise OSError(str(answer["error"]))
    return str(answer.get("text", ""))


def ask(address: Address, request: Mapping[str, Any], *, deadline: float) -> dict[str, Any]:
    """Return the answer of the daemon. Raises `OSError` without one before `deadline` (monotonic seconds)."""
    made, token = address.connect(seconds=seconds_left(deadline))
    with made:
        made.sendall(encode({**request, "token": token}))
        try:
            found = decode(receive_frame(made, deadline=deadline, max_bytes=MAX_ANSWER_BYTES))
        except EOFError as error:
            raise OSError("the daemon closed the connection") from error
    return found if isinstance(found, dict) else {}


def start(db: str, namespace: str) -> None:
    """
    Start a daemon that outlives this process.

    It runs in the folder of the store, so that it reads the project file of the store. The current folder of a hook
    depends on the host, and the daemon answers the hooks of all folders.
    """
    from pathlib import Path

    from weft.processes.child import python_command, start_detached

    folder = Path(db).parent
    start_detached(
        python_command("weft", "daemon", "--db", db, "--namespace", namespace, "--quiet"),
        folder=folder if folder.is_absolute() and folder.is_dir() else Path.home(),
    )
