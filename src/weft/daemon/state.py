"""Last events of hooks: capture, recall and errors with their times, in a file beside the spool."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from weft.daemon.spool import FILE_MODE, FOLDER_MODE, Spool
from weft.daemon.switches import is_paused
from weft.masking.mask import mask_secrets

FILE_NAME = "state"
MAX_ERRORS = 10
MAX_ERROR_CHARACTERS = 300
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class HookStatus:
    """What the hooks of a store and namespace did last."""

    capture: Mapping[str, str]
    """`time` and `what` of the last indexed conversation; empty if there was none."""
    recall: Mapping[str, str]
    """The same of the last prompt or session start that was answered."""
    waiting: int
    """Number of captured events that are not indexed yet."""
    oldest: str
    """Time of the oldest of them; empty without any."""
    errors: tuple[Mapping[str, str], ...]
    """`time` and `what` of the last errors, newest first."""
    is_paused: bool


class State:
    """The state file of a spool. Writing it never fails, because it only informs."""

    def __init__(self, spool: Spool) -> None:
        self._folder = spool.folder

    def read(self) -> dict[str, Any]:
        """Return the state; empty if there is none, or if it is damaged."""
        try:
            with open(os.path.join(self._folder, FILE_NAME), encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def set(self, name: str, what: str) -> None:
        """Record that something was done now."""
        self._change(lambda known: {**known, name: _entry(what)})

    def add_error(self, what: str) -> None:
        """Record an error."""
        self._change(lambda known: {**known, "errors": [_entry(what), *_errors(known)][:MAX_ERRORS]})

    def _change(self, change: Any) -> None:
        path = os.path.join(self._folder, FILE_NAME)
        partial = f"{path}.{os.getpid()}.partial"
        try:
            with _LOCK:
                os.makedirs(self._folder, mode=FOLDER_MODE, exist_ok=True)
                with open(os.open(partial, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, FILE_MODE), "w") as file:
                    json.dump(change(self.read()), file)
                os.replace(partial, path)
        except OSError:
            return


def read_status(spool: Spool) -> HookStatus:
    """Return what the hooks of a store and namespace did last."""
    known, names = State(spool).read(), spool.names()
    return HookStatus(
        capture=_named(known.get("capture")),
        recall=_named(known.get("recall")),
        waiting=len(names),
        oldest=_begin(names[0]) if names else "",
        errors=tuple(map(_named, _errors(known))),
        is_paused=is_paused(),
    )


def _errors(known: Mapping[str, Any]) -> list[Any]:
    found = known.get("errors")
    return found if isinstance(found, list) else []


def _named(value: Any) -> Mapping[str, str]:
    return {str(key): str(text) for key, text in value.items()} if isinstance(value, dict) else {}


def _entry(what: str) -> dict[str, str]:
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return {"time": now, "what": mask_secrets(" ".join(what.split())[:MAX_ERROR_CHARACTERS])}


def _begin(name: str) -> str:
    """Return the time at the beginning of the name of an event."""
    try:
        seconds = int(name.partition("-")[0], 16) / 1e9
        return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""
