"""
Server of the daemon: answers events of hooks until it has been idle for a while.

Each connection carries one request, and each request gets an answer or an error. Events are answered in their own
threads; what waits in the spool is indexed in a background thread, so that an answer never waits for indexing.

A client that sends half a request takes one of the slots. If all are taken, the connection that has been receiving
longest is closed, so that other hooks are answered at once.
"""

from __future__ import annotations

import hmac
import logging
import secrets
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from weft.daemon.address import Address
from weft.daemon.capture import drain
from weft.daemon.events import CAPTURED, SCOPES, to_capture
from weft.daemon.hooks import Recaller
from weft.daemon.spool import Spool
from weft.daemon.state import State
from weft.engine.engine import Engine
from weft.errors import InputError, WeftError
from weft.processes.framing import FrameTooLarge, decode, encode, receive_frame

logger = logging.getLogger(__name__)

MAX_REQUEST_BYTES = 4 << 20
"""Maximum size of a request. Its input is at most 1 MiB before it is written as JSON again."""
MAX_CONNECTIONS = 16
REQUEST_SECONDS = 10.0
"""Maximum time to receive a request, and to send an answer."""
SLOT_SECONDS = 1.0
"""Maximum time that a new connection waits for another one to end."""
MAX_ERROR_CHARACTERS = 500
POLL_SECONDS = 1.0
RETRY_SECONDS = 60.0
"""Pause after which the spool is drained again, for events that could not be indexed or have to wait."""


class Daemon:
    """A daemon of one engine."""

    def __init__(
        self,
        engine: Engine,
        address: Address,
        *,
        idle_seconds: float,
        run_command: Callable[[Mapping[str, Any]], str] | None = None,
    ) -> None:
        """`run_command` runs commands of clients; by default none is run."""
        self._run_command = run_command
        self._engine, self._address, self._idle_seconds = engine, address, idle_seconds
        self._token = secrets.token_hex(16)
        self._last = time.monotonic()
        self._slots = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._receiving: dict[socket.socket, None] = {}
        """Connections whose request is incomplete, oldest first."""
        self._lock = threading.Lock()
        self._spool = Spool(address.name)
        self._recaller = Recaller(engine, State(self._spool))
        self._waiting = threading.Event()
        """Set while events may wait in the spool; at first, those of hooks that found no daemon."""
        self._waiting.set()
        self._is_indexing = threading.Event()
        self._ending = threading.Event()

    def run(self, on_listen: Callable[[], None] = lambda: None) -> None:
        """Answer requests until `stop`, or until there was none for `idle_seconds`. Raises `OSError`."""
        with self._address.listen(self._token) as listener:
            listener.settimeout(POLL_SECONDS)
            worker = threading.Thread(target=self._drain_spool, name="weft-spool", daemon=True)
            worker.start()
            on_listen()
            try:
                while not self._ending.is_set() and not self._is_idle():
                    self._accept(listener)
            finally:
                self._address.remove()
                self._ending.set()
                self._waiting.set()
                worker.join(timeout=60)

    def stop(self) -> None:
        """Make `run` stop accepting requests; it returns after what waits is indexed, or after a minute."""
        self._ending.set()

    def _is_idle(self) -> bool:
        is_busy = self._is_indexing.is_set() or self._waiting.is_set()
        return not is_busy and time.monotonic() - self._last > self._idle_seconds

    def _accept(self, listener: socket.socket) -> None:
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            return
        if not self._slots.acquire(blocking=False):
            self._close_oldest()
            if not self._slots.acquire(timeout=SLOT_SECONDS):
                connection.close()
                return
        self._last = time.monotonic()
        with self._lock:
            self._receiving[connection] = None
        threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _close_oldest(self) -> None:
        """End the connection that has been receiving longest; its thread then frees its slot."""
        with self._lock:
            oldest = next(iter(self._receiving), None)
            if oldest is not None:
                del self._receiving[oldest]
                with suppress(OSError):
                    oldest.shutdown(socket.SHUT_RDWR)

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                answer, on_waited = self._receive_and_answer(connection)
                if _is_closed(connection):
                    raise OSError("the client did not wait")
                on_waited()
                connection.settimeout(REQUEST_SECONDS)
                connection.sendall(encode(answer))
        except OSError as error:
            logger.info("request refused: %s", error)
        finally:
            self._slots.release()

    def _receive_and_answer(self, connection: socket.socket) -> tuple[dict[str, Any], Callable[[], None]]:
        """Return the answer to the request of a connection, or its error, and what to do if the client waits."""
        event = "request"
        try:
            try:
                request = _receive(connection)
            finally:
                with self._lock:
                    self._receiving.pop(connection, None)
            event = str(request.get("event"))
            text, on_waited = self._answer(event, request)
            return {"text": text}, on_waited
        except WeftError as error:
            logger.warning("%s: %s", event[:40], error)
            return {"error": str(error)}, _do_nothing
        except (ArithmeticError, OSError, RuntimeError, TypeError, ValueError) as error:  # odd values and paths
            logger.warning("%s: %s", event[:40], error)
            return {"error": f"invalid request: {error}"[:MAX_ERROR_CHARACTERS]}, _do_nothing

    def _answer(self, event: str, request: dict[str, Any]) -> tuple[str, Callable[[], None]]:
        token = str(request.get("token")).encode("utf-8", "replace")
        if not self._address.is_unix and not hmac.compare_digest(token, self._token.encode()):
            raise InputError("wrong token", hint="run weft hook, which reads the token from the file of the daemon")
        if event == "drain":
            self._waiting.set()
            return "", _do_nothing
        if event == "command" and self._run_command is not None:
            return self._run_command(request), _do_nothing
        given, budget, scope = request.get("input"), request.get("budget", 1), request.get("scope", SCOPES[0])
        if not isinstance(given, dict):
            raise InputError("the input of an event is not a JSON object", hint="pass the JSON of the host")
        if not isinstance(budget, int) or budget < 1:
            raise InputError(f"invalid budget: {str(budget)[:40]}", hint="pass a whole number of at least 1")
        if scope not in SCOPES:
            raise InputError(f"unknown scope {str(scope)[:40]!r}", hint=f"use one of {', '.join(SCOPES)}")
        if event in CAPTURED:
            self._spool.write(to_capture(event, given))
            self._waiting.set()
            return "", _do_nothing
        shown = self._recaller.answer(event, given, budget=budget, scope=scope)
        return shown.text, lambda: self._recaller.count_given(event, given, shown)

    def _drain_spool(self) -> None:
        """Index what waits until the daemon ends; at the end, what came last."""
        is_last = False
        while not is_last:
            self._waiting.wait(timeout=RETRY_SECONDS)
            is_last = self._ending.is_set()
            self._is_indexing.set()
            self._waiting.clear()
            try:
                if drain(self._engine, self._spool):
                    self._last = time.monotonic()
            except (WeftError, OSError, ValueError) as error:
                logger.warning("cannot drain the spool: %s", error)
            finally:
                self._is_indexing.clear()


def _do_nothing() -> None:
    """Do nothing after an answer that changes nothing."""


def _is_closed(connection: socket.socket) -> bool:
    """Return True if the client has closed the connection, for example because it waited too long."""
    connection.setblocking(False)
    try:
        return not connection.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False


def _receive(connection: socket.socket) -> dict[str, Any]:
    """Return the request of a connection. Raises `ValueError` and `OSError`."""
    deadline = time.monotonic() + REQUEST_SECONDS
    try:
        found = decode(receive_frame(connection, deadline=deadline, max_bytes=MAX_REQUEST_BYTES))
    except EOFError as error:
        raise ValueError("the request is incomplete") from error
    except FrameTooLarge as error:
        raise ValueError(f"it is larger than {MAX_REQUEST_BYTES:,} bytes") from error
    if not isinstance(found, dict):
        raise ValueError("expected a JSON object as request")
    return found
