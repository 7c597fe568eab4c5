"""HTTP server on this machine that sends scripted responses."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread


@dataclass(frozen=True, kw_only=True)
class Answer:
    """
    One scripted answer, after `until` is set and `delay` seconds more.

    With `cut` the connection breaks in the middle of the body.
    """

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    delay: float = 0.0
    until: Event | None = None


def in_json(body: object, *, status: int = 200, **headers: str) -> Answer:
    return Answer(
        status=status,
        body=json.dumps(body).encode(),
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )


@dataclass
class Endpoint:
    """Received requests and scripted answers of the server."""

    url: str
    default: Callable[[dict[str, object]], Answer]
    """Makes the answer once the script is used up."""
    script: list[Answer] = field(default_factory=list)
    requests: list[dict[str, object]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    clients: set[tuple[str, int]] = field(default_factory=set)
    """Addresses of the open connections."""
    busy: int = 0
    most: int = 0
    """How many requests were answered at the same time."""
    lock: Lock = field(default_factory=Lock)


@contextmanager
def serve(default: Callable[[dict[str, object]], Answer]) -> Iterator[Endpoint]:
    """Run the server on a free port of 127.0.0.1 while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            with endpoint.lock:
                endpoint.clients.add(self.client_address)

        def finish(self) -> None:
            with suppress(BrokenPipeError, ConnectionResetError):
                super().finish()
            with endpoint.lock:
                endpoint.clients.discard(self.client_address)

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with endpoint.lock:
                endpoint.requests.append(request)
                endpoint.headers.append({name.lower(): value for name, value in self.headers.items()})
                answer = endpoint.script.pop(0) if endpoint.script else endpoint.default(request)
                endpoint.busy += 1
                endpoint.most = max(endpoint.most, endpoint.busy)
            if answer.until is not None:
                answer.until.wait(30)  # less than the client waits for a response
            time.sleep(answer.delay)
            with endpoint.lock:
                endpoint.busy -= 1
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body) + (100 if answer.cut else 0)))
            self.end_headers()
            with suppress(BrokenPipeError, ConnectionResetError):  # the client may have disconnected
                self.wfile.write(answer.body)
            self.close_connection = answer.cut

        def log_message(self, format: str, *args: object) -> None:
            """Keep the test's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    endpoint = Endpoint(url=f"http://127.0.0.1:{server.server_port}/v1", default=default)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
