"""One thread that looks after all child processes whose answer is awaited: deadlines and cancellation."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

POLL_SECONDS = 0.1

_changed = threading.Condition()
_checks: list[Callable[[], None]] = []
_thread: threading.Thread | None = None


@contextmanager
def watched(check: Callable[[], None]) -> Iterator[None]:
    """Call a function every `POLL_SECONDS` during the block, in another thread. It must not wait."""
    global _thread
    with _changed:
        if _thread is None or not _thread.is_alive():  # the first block, or a fork of this process
            _thread = threading.Thread(target=_watch, name="weft-process-watchdog", daemon=True)
            _thread.start()
        _checks.append(check)
        if len(_checks) == 1:
            _changed.notify()
    try:
        yield
    finally:
        with _changed:
            _checks.remove(check)


def _watch() -> None:
    pause = threading.Event()
    while True:
        with _changed:
            _changed.wait_for(lambda: _checks)
            current = list(_checks)
        for check in current:
            check()
        pause.wait(POLL_SECONDS)
