"""CPU time limit for parsing one file."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from weft.load.file_reader import LoadError

CHECK_SECONDS = 1.0
"""CPU seconds of the process between two checks."""


@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """
    Raise `LoadError` inside the block once this thread has used `seconds` of CPU time.

    The limit needs the signal SIGVTALRM and the main thread; without them the block is not limited. Servers parse in
    child processes instead (`weft.engine.parsing`). The timer counts all threads of the process, so each alarm checks
    the CPU time of this thread.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    begin = time.thread_time()

    def check(number: int, frame: FrameType | None) -> None:
        if time.thread_time() - begin > seconds:
            raise LoadError("too slow", f"parsing took more than {seconds:.0f} s of CPU time")

    previous = signal.signal(signal.SIGVTALRM, check)
    signal.setitimer(signal.ITIMER_VIRTUAL, CHECK_SECONDS, CHECK_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)
