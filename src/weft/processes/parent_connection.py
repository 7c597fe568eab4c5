"""Connection of a child process to its parent. `child_process.py` is the other side."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from weft.processes.framing import decode, encode, frame, read_frame

BUFFER_BYTES = 64 * 1024
"""As large as a pipe on Linux."""


class ParentConnection:
    """The pipes of the parent. Libraries read from and print to the null device instead."""

    def __init__(self) -> None:
        self._incoming, outgoing = os.dup(0), os.dup(1)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        os.close(null)
        self._output = os.fdopen(outgoing, "wb", BUFFER_BYTES)

    def receive(self) -> Any:
        """Return the next message. Raises `EOFError` if the parent has ended."""
        # Unbuffered: the lock of a buffer would block the end of the interpreter.
        return decode(read_frame(partial(os.read, self._incoming)))

    def send(self, message: Any, *, flush: bool = True) -> None:
        """Send a message. Raises `BrokenPipeError` if the parent has ended."""
        self._output.write(encode(message))
        if flush:
            self._output.flush()

    def send_data(self, data: bytes | memoryview) -> None:
        """Send bytes, which the message before has announced. Raises `BrokenPipeError` if the parent has ended."""
        self._output.write(frame(data))
        self._output.flush()

    def requests(self) -> Iterator[Any]:
        """Yield messages of the parent. This process ends with the parent, even in the middle of a request."""
        found: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=self._queue_requests, args=(found,), name="requests", daemon=True).start()
        while True:
            yield found.get()

    def on_end(self, action: Callable[[], None]) -> None:
        """Call a function when the parent ends or asks this process to end. No message is expected any more."""

        def wait() -> None:
            os.read(self._incoming, 1)
            action()

        threading.Thread(target=wait, name="parent", daemon=True).start()

    def _queue_requests(self, found: queue.SimpleQueue[Any]) -> None:
        try:
            while True:
                found.put(self.receive())
        finally:
            os._exit(0)
