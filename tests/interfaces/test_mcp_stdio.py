"""Lines on standard input: every request gets a response."""

import asyncio
import json
import os
import subprocess
import sys
import threading

import pytest

from weft.mcp.stdio import MAX_LINE_BYTES, clean_message, error_responses, iter_lines

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
LINES = [
    '{"jsonrpc":"2.0","id":42,"method":"tools/call","params":{"name":"fetch","arguments":{"id":"\\ud800"}}}',
    '{"jsonrpc":"2.0","id":"a\\udfffb","method":"tools/list"}',
    '{"jsonrpc":"2.0","id":43,"method":5}',
    '{"id":44,"method":"tools/list"}',
    '[{"jsonrpc":"2.0","id":45,"method":"tools/list"},{"jsonrpc":"2.0","id":46,"method":"ping"}]',
    '{"jsonrpc":"2.0","id":47,"method":"ping"',
    '{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
    '{"jsonrpc":"2.0","id":null,"method":"tools/list"}',
    '{"jsonrpc":"2.0","id":{"a":1},"method":"tools/list"}',
    "[]",
    "7",
    "",
    '{"jsonrpc":"2.0","id":48,"method":"ping"}',
]


def test_every_line_with_a_request_is_answered(tmp_path):
    """A real server over pipes: lone surrogates, wrong shapes, batches, no JSON; then it still answers."""
    ready = '{"jsonrpc":"2.0","method":"notifications/initialized"}'
    command = [sys.executable, "-m", "weft", "--db", str(tmp_path / "weft.db"), "mcp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        server.stdin.write("\n".join([json.dumps(HELLO), ready, *LINES]) + "\n")
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(14)]
        server.stdin.close()
    ids = [answer["id"] for answer in answers]

    assert {1, 42, 43, 44, 45, 46, 48, "a\ufffdb"} <= set(ids)
    assert ids.count(None) == 6
    codes = {answer["id"]: answer["error"]["code"] for answer in answers if "error" in answer and answer["id"]}
    assert {id: codes[id] for id in (43, 44, 45, 46)} == dict.fromkeys((43, 44, 45, 46), -32600)


@pytest.mark.parametrize(
    "line, expected",
    [
        ('{"jsonrpc":"2.0","id":1,"method":"x\\ud83d\\ude00"}', "x😀"),
        ('{"jsonrpc":"2.0","id":1,"method":"x\\ud83d"}', "x\ufffd"),
        ('{"jsonrpc":"2.0","id":1,"method":"x"}', "x"),
    ],
)
def test_only_lone_surrogates_are_replaced(line, expected):
    """A pair of them is one character."""
    assert json.loads(clean_message(line))["method"] == expected


@pytest.mark.parametrize("id", [True, None, 1.5, [1], {}])
def test_an_id_that_cannot_be_repeated_is_left_out(id):
    """JSON-RPC allows texts and whole numbers."""
    (error,) = error_responses(json.dumps({"id": id, "method": 5}))

    assert error.id is None


BAD_IDS = ["1.5", "2.0", "true", "null", '{"a":1}', "[1]", "1e400", "NaN", "9" * 5000]


@pytest.mark.parametrize("id", BAD_IDS)
def test_a_request_with_an_invalid_id_is_no_notification(id):
    """It is answered with id null, because a client that sent an id waits for an answer."""
    line = f'{{"jsonrpc":"2.0","id":{id},"method":"ping"}}'
    assert clean_message(line) is None

    (error,) = error_responses(line)
    assert error.id is None and error.error.code in (-32600, -32700)


def test_a_notification_is_passed_on():
    """It has no id."""
    line = '{"jsonrpc":"2.0","method":"notifications/initialized"}'

    assert clean_message(line) == line


@pytest.mark.parametrize("size", [0, 1, 65_536, 65_537, MAX_LINE_BYTES, MAX_LINE_BYTES + 1, 3 * MAX_LINE_BYTES])
def test_a_line_that_is_too_long_is_dropped(size):
    """The lines around it arrive."""
    reading, writing = os.pipe()

    def write():
        with os.fdopen(writing, "wb") as stream:
            stream.write(b"before\n" + b"x" * size + b"\nafter")

    async def read():
        return [line async for line in iter_lines(reading)]

    thread = threading.Thread(target=write)
    thread.start()
    first, line, last = asyncio.run(read())
    thread.join()
    os.close(reading)
    assert (first, last) == ("before", "after")
    assert line == ("x" * size if size <= MAX_LINE_BYTES else None)


def test_deep_nesting_is_an_error_and_no_crash():
    """The parser has a limit; the line is answered without an id."""
    (error,) = error_responses("[" * 100_000)

    assert error.error.code == -32700
