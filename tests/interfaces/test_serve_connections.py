"""Slow and half-open connections do not block the server, and monitoring is always answered."""

import asyncio
import contextlib
import errno
import logging
import os
import resource
import socket
import subprocess
import sys
import threading
import time
from functools import partial
from types import SimpleNamespace

import httpx
import pytest
from serving import Running

from weft.connection_limits import MIN_CONNECTIONS, ConnectionLimits, LoopErrors, max_connections

HALF_HEAD = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: "


@contextlib.contextmanager
def connections(server, count, first=b""):
    """Open connections that have sent `first`; those that the server closes at once count too."""
    host, port = server.url.removeprefix("http://").split(":")
    opened = []
    try:
        for _ in range(count):
            one = socket.create_connection((host, int(port)), timeout=60)
            opened.append(one)
            with contextlib.suppress(OSError):
                one.sendall(first)
        yield opened
    finally:
        for one in opened:
            one.close()


def is_closed(connection, seconds=60):
    """Return whether the server closes a connection within some time."""
    connection.settimeout(seconds)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


def health(server):
    return httpx.get(f"{server.url}/health", timeout=60).status_code


def test_a_request_head_has_a_deadline(tmp_path):
    """An empty connection, half a head and half a second head are closed; a whole request is answered."""
    limits = ConnectionLimits()
    second = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" + HALF_HEAD
    with Running(tmp_path / "weft.db", limits=limits) as server:
        limits.head_seconds = 0.1
        for first in (b"", HALF_HEAD):
            with connections(server, 1, first) as (one,):
                assert is_closed(one)
        limits.head_seconds = 60  # what comes next may take its time, and is closed as an idle connection
        server.server.config.timeout_keep_alive = 1
        with connections(server, 1, second) as (one,):
            assert one.recv(12) == b"HTTP/1.1 200"
            while data := one.recv(4096):
                assert data
        assert health(server) == 200


def test_a_body_in_progress_is_not_a_slow_head(tmp_path):
    """The deadline of the head ends with the head."""
    limits = ConnectionLimits()
    head = b"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n"
    with Running(tmp_path / "weft.db", limits=limits) as server, connections(server, 1, head) as (one,):
        wait_until(lambda: any(not other.is_waiting and other._deadline is None for other in limits._open))
        one.sendall(b'{"query": "jwt"}')
        assert one.recv(12) == b"HTTP/1.1 200"


def test_half_open_connections_do_not_keep_others_out(tmp_path):
    """At the limit the oldest half-open connection is closed, so that a new one is served."""
    limits = ConnectionLimits(total=20, head_seconds=60)
    with Running(tmp_path / "weft.db", limits=limits) as server:
        with connections(server, 60, HALF_HEAD) as opened:
            assert [health(server) for _ in range(5)] == [200] * 5
            assert is_closed(opened[0])
            assert not is_closed(opened[-1], seconds=0.2)
        assert limits.closed >= 40


def test_few_file_descriptors_are_enough(tmp_path, monkeypatch):
    """The number of connections follows from `ulimit -n`; some descriptors stay for the store."""
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (256, 1024))
    assert max_connections() == 160
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (64, 64))
    assert max_connections() == MIN_CONNECTIONS


def test_slow_bodies_of_one_key_leave_slots_to_others(tmp_path):
    """One key may use half of the slots; monitoring needs none."""
    with Running(tmp_path / "weft.db", server__max_requests=8) as server:
        slow, quick = server.make_key("default", access="read"), server.make_key("default")
        head = (
            f"POST /query HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {slow}\r\n"
            "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
        ).encode()
        with connections(server, 20, head), server.client(quick) as client:
            wait_until(lambda: busy(server, slow) == 503)
            assert client.post("/query", json={"query": "jwt"}).status_code == 200
            assert busy(server, slow) == 503
            assert health(server) == 200
            assert client.get("/metrics").status_code == 200


def busy(server, key):
    with server.client(key) as client:
        return client.post("/query", json={"query": "jwt"}).status_code


def wait_until(check):
    for _ in range(6000):
        if check():
            return
        time.sleep(0.01)
    pytest.fail("it did not happen within a minute")


def test_metrics_are_answered_while_all_readers_are_busy(tmp_path):
    """Monitoring has a thread of its own."""
    release = threading.Event()
    with Running(tmp_path / "weft.db", server__threads=1) as server:
        state = server.app.state.weft
        blocked = state.threads._readers.submit(release.wait, 30)
        try:
            assert health(server) == 200
            assert httpx.get(f"{server.url}/metrics", timeout=60).status_code == 200
        finally:
            release.set()
            blocked.result()


def test_missing_file_descriptors_are_reported_once_a_second(tmp_path):
    """300 half-open connections to a server with 100 descriptors: it still answers, and its log stays short."""
    command = [sys.executable, "-m", "weft", "--db", str(tmp_path / "weft.db"), "serve", "--port", "0"]
    limit = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (100, 100))
    environment = {**os.environ, "WEFT_EMBEDDER": "hash"}
    started = time.monotonic()
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, preexec_fn=limit) as process:
        line = next(line for line in process.stderr if "http://" in line)
        server = SimpleNamespace(url="http://" + line.split("http://", 1)[1].split()[0].rstrip("/"))
        with connections(server, 300, HALF_HEAD):
            assert health(server) == 200
        process.terminate()
        lines = process.stderr.read().splitlines()
    assert not [line for line in lines if "Traceback" in line]
    assert len(lines) <= time.monotonic() - started + 2


def test_other_errors_of_the_event_loop_are_logged_in_full(caplog):
    """Only connections that cannot be accepted are summed up."""
    loop, errors = asyncio.new_event_loop(), LoopErrors()
    full = OSError(errno.EMFILE, "Too many open files")
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            errors(loop, {"message": "socket.accept() out of system resource", "exception": full})
        assert [record.name for record in caplog.records] == ["weft.connection_limits"]
        errors(loop, {"message": "Task exception was never retrieved", "exception": ValueError("x")})
    loop.close()
    assert [record.name for record in caplog.records] == ["weft.connection_limits", "asyncio"]
