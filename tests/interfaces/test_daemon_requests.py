"""Requests that no hook sends: the daemon answers each with an error, and goes on."""

import json
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from weft.config import read_settings
from weft.daemon import server
from weft.daemon.address import Address
from weft.daemon.client import ask
from weft.daemon.server import MAX_CONNECTIONS, MAX_REQUEST_BYTES, Daemon
from weft.engine.engine import Engine
from weft.processes.framing import HEADER_BYTES, decode, frame, read_frame
from weft.testing import FakeEmbedder

pytestmark = pytest.mark.hostile


@pytest.fixture(scope="module", params=[True, False], ids=["socket", "port"])
def address(request, tmp_path_factory):
    """Give the address of a running daemon."""
    with tempfile.TemporaryDirectory(prefix="weft") as folder:  # the path of a socket has to be short
        made = Address(folder=folder, name="x", is_unix=request.param)
        engine = Engine(
            read_settings({"store.db": str(tmp_path_factory.mktemp("store") / "weft.db")}), embedder=FakeEmbedder()
        )
        engine.memory.add("user", "prefers", value="green tea")
        daemon = Daemon(engine, made, idle_seconds=60)
        ready = threading.Event()
        thread = threading.Thread(target=daemon.run, args=(ready.set,))
        thread.start()
        assert ready.wait(60)
        yield made
        daemon.stop()
        thread.join()
        engine.close()


def about_user(address, seconds=60):
    """Return the answer to an event that is in order."""
    request = {"event": "session-start", "input": {}, "budget": 300}
    return ask(address, request, deadline=time.monotonic() + seconds)["text"]


def send(address, text):
    """Send a message; return the answer."""
    connection, token = address.connect(seconds=60)
    with connection, connection.makefile("rb") as answers:
        connection.sendall(frame(text.replace("TOKEN", token).encode()))
        return decode(read_frame(answers.read))


def request_line(**changes):
    """Return a request as JSON; a value may be JSON that Python would not write."""
    values = {"event": '"session-start"', "input": "{}", "budget": "300", "token": '"TOKEN"', **changes}
    return "{" + ", ".join(f'"{name}": {value}' for name, value in values.items()) + "}"


STOP = {"event": '"stop"'}


@pytest.mark.parametrize(
    "line, said",
    [
        (request_line(budget="1e999"), "budget"),
        (request_line(budget="NaN"), "budget"),
        (request_line(budget="0"), "budget"),
        (request_line(budget='"x"'), "budget"),
        (request_line(budget="null"), "budget"),
        (request_line(budget="[]"), "budget"),
        (request_line(budget="9" * 5000), "invalid request"),
        (request_line(input="[" * 100_000 + "]" * 100_000), "invalid request"),
        (request_line(input="[]"), "JSON object"),
        ("[]", "JSON object"),
        ("7", "JSON object"),
        ("", "invalid request"),
        (request_line(**STOP, input=json.dumps({"transcript_path": "/" + "a" * 5000 + ".jsonl"})), "too long"),
        (request_line(**STOP, input=json.dumps({"transcript_path": "/" + "a/" * 50_000 + "x.jsonl"})), "too long"),
        (request_line(**STOP, input=json.dumps({"transcript_path": "/a\0b.jsonl"})), "no transcript"),
        (request_line(**STOP, input=json.dumps({"transcript_path": "~nobody-here/x.jsonl"})), "no transcript"),
        (request_line(**STOP, input=json.dumps({"transcript_path": "/\ud800.jsonl"})), "no transcript"),
        (request_line(**STOP, input=json.dumps({"transcript_path": ["/x.jsonl"]})), "transcript_path"),
        (request_line(event='{"a": 1}'), "unknown event"),
    ],
)
def test_an_odd_request_gets_an_error(address, line, said):
    """The next request is answered."""
    assert said in send(address, line)["error"]
    assert "green tea" in about_user(address)


@pytest.mark.parametrize("token", ['"wrong"', '"größe"', '"\\ud800"', "null", "7"])
def test_a_wrong_token_is_refused(address, token):
    """Letters outside ASCII are no error of Python. A socket needs no token."""
    answer = send(address, request_line(token=token))

    assert answer == {"error": "wrong token"} if not address.is_unix else "green tea" in answer["text"]


def test_a_request_has_a_maximum_size(address):
    """One byte more is refused by the length that a message begins with, before the rest of it comes."""
    line = request_line(input='{"x": "PAD"}')
    connection, token = address.connect(seconds=60)
    spare = MAX_REQUEST_BYTES - len(line.replace("TOKEN", token)) + len("PAD")
    assert "green tea" in send(address, line.replace("PAD", "x" * spare))["text"]
    with connection, connection.makefile("rb") as answers:
        connection.sendall((MAX_REQUEST_BYTES + 1).to_bytes(HEADER_BYTES, "big"))
        assert f"{MAX_REQUEST_BYTES:,}" in decode(read_frame(answers.read))["error"]


def test_half_open_connections_do_not_silence_hooks(address):
    """Three times as many as there are slots; a hook is answered within its usual deadline."""
    about_user(address)
    with ExitStack() as opened:
        for _ in range(3 * MAX_CONNECTIONS):
            connection, _ = address.connect(seconds=60)
            opened.enter_context(connection).sendall(frame(b'{"event": "stop"}')[:10])
        for _ in range(5):
            begin = time.monotonic()
            assert "green tea" in about_user(address, seconds=10)
            assert time.monotonic() - begin < server.SLOT_SECONDS


def test_a_request_that_arrives_byte_by_byte_has_a_deadline(address, monkeypatch):
    """The time counts from the first byte, not from the last one."""
    monkeypatch.setattr(server, "REQUEST_SECONDS", 0.5)
    connection, _ = address.connect(seconds=60)
    unsent = iter(frame(b" " * 1000))
    with connection:
        begin = time.monotonic()
        answer = b""
        connection.settimeout(0.1)
        while not answer and time.monotonic() - begin < 30:
            try:
                connection.sendall(bytes([next(unsent)]))
                answer = connection.recv(1000)
            except TimeoutError:
                continue
            except OSError:
                break
        assert time.monotonic() - begin < 10
        assert b"timed out" in answer
    assert Path(address.socket_path if address.is_unix else address.port_file).exists()
