"""
Server of the daemon: answers events of hooks until it has been idle for a while.

Each connection carries one request. Events are answered in their own threads; transcripts are indexed one after the
other in a background thread, so that an answer never waits for indexing.
"""

from __future__ import annotations

import hmac
import json
import logging
import queue
import secrets
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from weft.daemon.address import Address
from weft.daemon.hooks import answer_event, find_transcript
from weft.engine.engine import Engine
from weft.errors import WeftError

logger = logging.getLogger(__name__)

MAX_REQUEST_BYTES = 1 << 20
MAX_CONNECTIONS = 16
REQUEST_SECONDS = 10.0
"""Maximum time to receive a request."""
POLL_SECONDS = 1.0


class Daemon:
    """A daemon of one engine."""

    def __init__(self, engine: Engine, address: Address, *, idle_seconds: float) -> None:
        self._engine, self._address, self._idle_seconds = engine, address, idle_seconds
        self._token = secrets.token_hex(16)
        self._last = time.monotonic()
        self._slots = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._transcripts: queue.Queue[Path | None] = queue.Queue()
        self._is_indexing = threading.Event()
        self._ending = threading.Event()

    def run(self, on_listen: Callable[[], None] = lambda: None) -> None:
        """Answer requests until `stop`, or until there was none for `idle_seconds`. Raises `OSError`."""
        with self._address.listen(self._token) as listener:
            listener.settimeout(POLL_SECONDS)
            worker = threading.Thread(target=self._index_transcripts, name="weft-transcripts", daemon=True)
            worker.start()
            on_listen()
            try:
                while not self._ending.is_set() and not self._is_idle():
                    self._accept(listener)
            finally:
                self._address.remove()
                self._transcripts.put(None)
                worker.join(timeout=60)

    def stop(self) -> None:
        """Make `run` stop accepting requests; it returns after the current transcript is indexed, or after a minute."""
        self._ending.set()

    def _is_idle(self) -> bool:
        is_busy = self._is_indexing.is_set() or not self._transcripts.empty()
        return not is_busy and time.monotonic() - self._last > self._idle_seconds

    def _accept(self, listener: socket.socket) -> None:
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            return
        if not self._slots.acquire(timeout=REQUEST_SECONDS):
            connection.close()
            return
        self._last = time.monotonic()
        threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                connection.settimeout(REQUEST_SECONDS)
                answer = self._answer(_receive(connection))
                connection.sendall(json.dumps(answer).encode() + b"\n")
        except (OSError, ValueError) as error:
            logger.info("request refused: %s", error)
        finally:
            self._slots.release()

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if not self._address.is_unix and not hmac.compare_digest(str(request.get("token")), self._token):
            return {"error": "wrong token"}
        event, given = str(request.get("event")), request.get("input")
        if not isinstance(given, dict):
            return {"error": "the input of an event is a JSON object"}
        try:
            text = answer_event(self._engine, event, given, budget=max(1, int(request.get("budget", 1))))
            if event == "stop":
                self._transcripts.put(find_transcript(given))
        except (WeftError, TypeError, ValueError) as error:
            logger.warning("%s: %s", event[:40], error)
            return {"error": str(error)}
        return {"text": text}

    def _index_transcripts(self) -> None:
        while path := self._transcripts.get():
            self._is_indexing.set()
            try:
                self._engine.index(path)
            except (WeftError, OSError) as error:
                logger.warning("cannot index %s: %s", path, error)
            finally:
                self._last = time.monotonic()
                self._is_indexing.clear()


def _receive(connection: socket.socket) -> dict[str, Any]:
    """Return the request of a connection. Raises `ValueError` and `OSError`."""
    data = b""
    while not data.endswith(b"\n"):
        part = connection.recv(1 << 16)
        if not part:
            raise ValueError("the request is incomplete")
        data += part
        if len(data) > MAX_REQUEST_BYTES:
            raise ValueError("the request is too large")
    found = json.loads(data)
    if not isinstance(found, dict):
        raise ValueError("expected a JSON object as request")
    return found
