"""Client of the daemon: one JSON line to it, one JSON line back, within a deadline."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from weft.daemon.address import Address

MAX_ANSWER_BYTES = 1 << 20


def ask(address: Address, request: Mapping[str, Any], *, deadline: float) -> dict[str, Any]:
    """Return the answer of the daemon. Raises `OSError` without one before `deadline` (monotonic seconds)."""
    made, token = address.connect(seconds=_left(deadline))
    with made:
        made.sendall(json.dumps({**request, "token": token}).encode() + b"\n")
        data = b""
        while not data.endswith(b"\n"):
            made.settimeout(_left(deadline))
            part = made.recv(1 << 16)
            if not part or len(data) > MAX_ANSWER_BYTES:
                raise OSError("the daemon closed the connection")
            data += part
    found = json.loads(data)
    return found if isinstance(found, dict) else {}


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the deadline has passed")
    return left


def start(arguments: Sequence[str]) -> None:
    """Start a daemon that outlives this process."""
    options: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        options = {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    subprocess.Popen(
        [sys.executable, "-m", "weft", "daemon", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **options,
    )
