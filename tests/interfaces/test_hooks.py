"""Hooks of an agent host: what was said in one session is in the context of a later one."""

import io
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace

import pytest

from weft.cli.entry import run_hook
from weft.config import read_settings
from weft.daemon import client, server
from weft.daemon.address import Address, find_address
from weft.daemon.client import ask
from weft.daemon.server import Daemon
from weft.daemon.spool import Spool
from weft.daemon.state import read_status
from weft.engine.engine import Engine
from weft.load.conversations.turns import Conversation, Message, to_document
from weft.processes import child
from weft.processes.framing import decode, encode, frame, read_frame
from weft.records import to_microseconds
from weft.testing import FakeEmbedder

FIELDS = {"scope": "project"}


@pytest.fixture
def runtime():
    """Return a folder with a short path, because the path of a socket is limited."""
    with tempfile.TemporaryDirectory(prefix="weft") as folder:
        yield Path(folder)


@pytest.fixture(params=[True, False], ids=["socket", "port"])
def daemon(request, runtime, tmp_path, monkeypatch):
    """Return a function that asks a running daemon, over a socket or over a port with a token."""
    monkeypatch.setattr(server, "POLL_SECONDS", 0.02)  # it would notice after a second that it shall stop
    address = Address(folder=runtime, name="x", is_unix=request.param)
    engine = Engine(read_settings({"store.db": str(tmp_path / "weft.db")}), embedder=FakeEmbedder())
    running = Daemon(engine, address, idle_seconds=60)
    ready = threading.Event()
    thread = threading.Thread(target=running.run, args=(ready.set,))
    thread.start()
    assert ready.wait(60)

    def call(event, fields=FIELDS, **given):
        return ask(address, {"event": event, "input": given, "budget": 1500, **fields}, deadline=time.monotonic() + 60)

    call.engine, call.address = engine, address
    yield call
    running.stop()
    thread.join()
    engine.close()
    assert not Path(address.socket_path).exists() and not Path(address.port_file).exists()


def test_a_session_starts_with_the_facts_about_the_user(daemon):
    """Facts about others are not listed."""
    daemon.engine.memory.add("user", "prefers", value="green tea")
    daemon.engine.memory.add("Harbour Crane", "colour", value="blue")

    text = daemon("session-start", session_id="s1")["text"]
    assert "green tea" in text and "blue" not in text


def test_a_prompt_gets_passages_but_not_those_of_its_own_session(daemon):
    """Nothing is added where nothing matches."""
    note = "The harbour crane lifts forty tonnes since the spring of 2024."
    daemon.engine.add_text(note, source="crane", metadata={"conversation": "s1"})
    prompt = "how many tonnes lifts the harbour crane?"

    text = daemon("prompt", prompt=prompt, session_id="s2")["text"]
    assert text.startswith("<weft-memory>") and "forty tonnes" in text and len(text) <= 1500
    assert daemon("prompt", prompt=prompt, session_id="s2") == {"text": ""}, "it has the passage already"
    assert "forty tonnes" not in daemon("prompt", prompt=prompt, session_id="s1")["text"]
    assert daemon("prompt", prompt="zebra giraffe", session_id="s2") == {"text": ""}


def test_a_prompt_about_a_time_alone_gets_its_exchanges(daemon):
    """Though they share no word with it; those of the running session are left out."""
    yesterday = to_microseconds(datetime.now(timezone.utc) - timedelta(days=1))
    messages = [Message(role="user", text="The harbour crane lifts forty tonnes.", time=yesterday)]
    daemon.engine.add([to_document(messages, Conversation(source="claude:s1", host="claude", id="s1"))])
    prompt = "What did we talk about yesterday?"

    assert "forty tonnes" in daemon("prompt", prompt=prompt, session_id="s2")["text"]
    assert daemon("prompt", prompt=prompt, session_id="s1") == {"text": ""}


@pytest.mark.parametrize("status", ["low_confidence", "no_match", "degraded"])
def test_passages_below_the_threshold_are_not_added(daemon, monkeypatch, status):
    """A hook adds to every prompt, so a weak passage would be added again and again."""
    daemon.engine.add_text("The harbour crane lifts forty tonnes.", source="crane")
    query = daemon.engine.query

    def weaker(*arguments, **options):
        result = query(*arguments, **options)
        assert result.status == "ok" and result.evidence
        return replace(result, status=status)

    monkeypatch.setattr(daemon.engine, "query", weaker)
    assert daemon("prompt", prompt="how many tonnes lifts the harbour crane?") == {"text": ""}


def test_a_running_session_gets_only_strong_passages_unless_it_asks_one_question(daemon, monkeypatch):
    """Its prompts bring their own context."""
    daemon.engine.add_text("The harbour crane lifts forty tonnes in Bergen since the spring of 2024.", source="crane")
    daemon.engine.add_text("An old talk.", source="talk", metadata={"conversation": "running"})
    query, scores = daemon.engine.query, []

    def scored(*arguments, **options):
        result = query(*arguments, **options)
        pieces = tuple(replace(piece, score=scores[-1]) for piece in result.evidence)
        return replace(result, evidence=pieces, status="ok", confidence=1.0)

    monkeypatch.setattr(daemon.engine, "query", scored)
    told, asked = "I will look at the harbour crane. How many tonnes does it lift?", "how many tonnes lifts the crane?"
    for score, prompt, session, expected in [
        (0.4, asked, "a", False), (0.7, asked, "b", True), (0.7, told, "c", True), (0.7, told, "running", False),
        (0.7, asked, "running", True), (0.9, told, "d", True),
    ]:  # fmt: skip
        scores.append(score)
        assert ("forty tonnes" in daemon("prompt", prompt=prompt, session_id=session)["text"]) is expected, prompt


def test_an_answer_that_came_too_late_was_not_given(daemon, monkeypatch, caplog):
    """The session gets the passage with its next prompt."""
    daemon.engine.add_text("The harbour crane lifts forty tonnes since the spring of 2024.", source="crane")
    query, is_late = daemon.engine.query, threading.Event()
    request = {"event": "prompt", "input": {"prompt": "how many tonnes lifts the crane?", "session_id": "s"}}
    request |= {"budget": 1500, **FIELDS}

    def late(*arguments, **options):
        is_late.wait(60)
        return query(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(daemon.engine, "query", late)
        with pytest.raises(TimeoutError):
            ask(daemon.address, request, deadline=time.monotonic() + 0.3)
    with caplog.at_level("INFO", logger="weft.daemon"):
        is_late.set()
        end = time.monotonic() + 60
        while "the client did not wait" not in caplog.text:
            assert time.monotonic() < end
            time.sleep(0.01)
    assert "forty tonnes" in ask(daemon.address, request, deadline=time.monotonic() + 60)["text"]


def write_log(folder, session, *turns):
    """Write a session log of Claude Code; `turns` are (type, text)."""
    path = folder / f"{session}.jsonl"
    rows = [
        {
            "type": kind,
            "sessionId": session,
            "timestamp": "2026-03-02T10:15:00Z",
            "message": {"role": kind, "content": text},
        }
        for kind, text in turns
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_what_the_first_session_said_is_in_the_context_of_the_third(daemon, tmp_path):
    """A host of three sessions; nothing of the second, and nothing foreign, is added. `stop` answers at once."""
    crane = write_log(
        tmp_path,
        "s1",
        ("user", "Remember: the harbour crane lifts forty tonnes."),
        ("assistant", "Noted: forty tonnes."),
    )
    bread = write_log(tmp_path, "s2", ("user", "How long does rye bread bake?"), ("assistant", "About ninety minutes."))
    for number, path in enumerate((crane, bread), start=1):
        daemon("session-start", session_id=f"s{number}")
        assert daemon("stop", session_id=f"s{number}", transcript_path=path) == {"text": ""}
    end = time.monotonic() + 60
    while len(list(daemon.engine.documents())) < 2 and time.monotonic() < end:
        time.sleep(0.05)

    text = daemon("prompt", prompt="How many tonnes does the harbour crane lift?", session_id="s3")["text"]
    assert "forty tonnes" in text and "rye bread" not in text
    assert daemon("prompt", prompt="zebra giraffe", session_id="s3") == {"text": ""}


@pytest.mark.parametrize(
    "event, given, message",
    [
        ("prompt", {}, "has no text 'prompt'"),
        ("stop", {}, "has no text 'transcript_path'"),
        ("stop", {"transcript_path": "x.jsonl"}, "no transcript"),
        ("turn", {"text": "hello"}, "no conversation_id"),
        ("stop", {"transcript_path": "/etc/passwd"}, "no transcript"),
        ("dance", {}, "unknown event"),
    ],
)
def test_a_wrong_event_is_an_error_and_the_daemon_goes_on(daemon, event, given, message):
    """Each request gets an answer."""
    assert message in daemon(event, **given)["error"]
    with daemon.address.connect(seconds=60)[0] as raw:
        raw.sendall(frame(b"no json"))
        assert "invalid request" in decode(read_frame(raw.recv))["error"]
    assert daemon("session-start") == {"text": ""}


def test_a_port_needs_the_token(daemon):
    """A socket is protected by its folder instead."""
    if daemon.address.is_unix:
        assert Path(daemon.address.socket_path).stat().st_mode & 0o777 == 0o600
        return
    port = json.loads(Path(daemon.address.port_file).read_text())["port"]
    with socket.create_connection(("127.0.0.1", port)) as raw:
        raw.sendall(encode({"event": "session-start", "input": {}, "token": "wrong"}))
        assert decode(read_frame(raw.recv)) == {"error": "wrong token"}


def test_only_one_daemon_holds_an_address(runtime):
    """A second one gives way."""
    address = Address(folder=runtime, name="x")
    with address.claim() as first, address.claim() as second:
        assert (first, second) == (True, False)


def test_the_command_starts_a_daemon_and_never_fails(tmp_path, runtime):
    """A first call starts it; broken input is logged; the exit status is 0."""
    if sys.platform == "win32":
        pytest.skip("the runtime folder is set by a variable of Unix")
    home = tmp_path / "h"
    home.mkdir()
    variables = {"XDG_RUNTIME_DIR": str(runtime), "HOME": str(home), "PATH": "/usr/bin:/bin", "WEFT_EMBEDDER": "hash",
                 "PYTHONPATH": ":".join(sys.path)}  # fmt: skip

    def weft(*arguments, given=""):
        command = [sys.executable, "-m", "weft", *arguments]
        return subprocess.run(
            command, input=given.encode(), capture_output=True, cwd=tmp_path, env=variables, timeout=180
        )

    try:
        assert weft("fact", "add", "user", "prefers", "green tea").returncode == 0
        started = weft("hook", "session-start", "--deadline", "120000", given="{}")
        answer = json.loads(started.stdout)["hookSpecificOutput"]
        assert answer["hookEventName"] == "SessionStart" and "green tea" in answer["additionalContext"]
        named = ("--db", str(tmp_path / "weft.db"), "--namespace", "default", "--deadline", "120000")
        assert weft("hook", "session-start", *named, given="{}").stdout == started.stdout
        broken = weft("hook", "prompt", given="{broken")
        assert (broken.returncode, broken.stdout) == (0, b"")
        (log,) = home.rglob("hook.log")
        assert "prompt:" in log.read_text() and log.stat().st_mode & 0o777 == 0o600
        address = find_address(str(tmp_path / "weft.db"), "default")
        assert [path.name for path in runtime.rglob("*.sock")] == [Path(address.socket_path).name]
    finally:
        end_daemon(str(tmp_path / "weft.db"))


@pytest.fixture
def answer_unreachable(monkeypatch, runtime):
    """Return a function that answers a hook while the daemon is too busy, and a function that reads its status."""

    def refuse(*_, **__):
        raise TimeoutError("the deadline has passed")

    def answer(event, **given):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(json.dumps(given).encode())))
        return client.answer_hook(event, db="/a/w.db", namespace="n", budget=1500, milliseconds=50)

    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    monkeypatch.setattr(client, "ask", refuse)
    return answer, lambda: read_status(Spool(find_address("/a/w.db", "n").name))


def test_a_busy_daemon_does_not_stop_a_prompt_of_cursor(answer_unreachable):
    """The turn waits in the spool, so the host goes on and there is no error."""
    answer, status = answer_unreachable
    given = {"conversation_id": "c1", "generation_id": "g1", "prompt": "The lamp is blue.", "workspace_roots": ["/a"]}
    assert json.loads(answer("turn", hook_event_name="beforeSubmitPrompt", **given)) == {"continue": True}
    assert (status().waiting, status().errors) == (1, ())


def test_a_prompt_that_no_daemon_answers_is_in_the_status(answer_unreachable):
    """Without it, a memory that is always too late looks like one that finds nothing."""
    answer, status = answer_unreachable
    assert answer("prompt", session_id="s1", prompt="Which colour has the lamp?", cwd="/a") == ""
    assert [entry["what"] for entry in status().errors] == ["prompt: the deadline has passed"]


@pytest.mark.parametrize("db, expected", [("{}/weft.db", "{}"), ("{}/missing/weft.db", "~"), ("postgresql://h/d", "~")])
def test_a_daemon_runs_in_the_folder_of_its_store(monkeypatch, tmp_path, clean_home, db, expected):
    """It answers the hooks of all folders, so the settings of the current one do not matter."""
    started = []
    monkeypatch.setattr(
        child,
        "start_process",
        lambda command, **options: started.append((command, options)) or SimpleNamespace(wait=lambda: 0),
    )
    client.start(db.format(tmp_path), "n")

    ((command, options),) = started
    assert command[-6:] == ["daemon", "--db", db.format(tmp_path), "--namespace", "n", "--quiet"]
    assert options["folder"] == (clean_home if expected == "~" else tmp_path)


@pytest.mark.parametrize(
    "arguments, asked",
    [
        ("prompt --db /a/w.db --namespace n", ("prompt", "/a/w.db", "n", 1500, 300, "project")),
        ("turn --db /a/w.db --namespace n --scope all", ("turn", "/a/w.db", "n", 1500, 300, "all")),
        (
            "stop --budget 20 --namespace n --deadline 9 --db postgresql://h/d",
            ("stop", "postgresql://h/d", "n", 20, 9, "project"),
        ),
        ("prompt --db /a/w.db --namespace n --scope moon", None),
        ("status --db /a/w.db --namespace n", None),
        ("prompt", None),
        ("", None),
        ("prompt --db w.db --namespace n", None),
        ("prompt --db /a/w.db", None),
        ("prompt --db /a/w.db --namespace n --verbose", None),
        ("prompt --db /a/w.db --namespace n --budget 0", None),
        ("prompt --db /a/w.db --namespace n --budget x", None),
        ("dance --db /a/w.db --namespace n", None),
        ("--help --db /a/w.db --namespace n", None),
    ],
)
def test_a_hook_with_store_and_namespace_needs_no_command_line(monkeypatch, capsysbinary, arguments, asked):
    """All else is left to the command line, which reads the settings and reports mistakes."""
    calls = []

    def answer(event, *, db, namespace, budget, milliseconds, scope):
        calls.append((event, db, namespace, budget, milliseconds, scope))
        return "{}\n"

    monkeypatch.setattr(client, "answer_hook", answer)
    assert run_hook(arguments.split()) == (asked is not None)
    assert calls == ([asked] if asked else [])
    assert capsysbinary.readouterr().out == (b"{}\n" if asked else b"")


@pytest.mark.parametrize(
    "event, name, expected",
    [
        ("prompt", None, {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "tea ☕"}}),
        (
            "prompt",
            "BeforeAgent",
            {"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "tea ☕"}},
        ),
        ("session-start", "sessionStart", {"additional_context": "tea ☕"}),
        ("stop", "Stop", None),
    ],
)
def test_an_answer_has_the_shape_of_its_host(event, name, expected):
    """Claude Code and Codex, Gemini CLI, Cursor; the text is ASCII, whatever the locale of the host is."""
    answer = client.format_answer(event, "tea ☕", given={"hook_event_name": name} if name else {})

    assert answer.isascii() and (json.loads(answer) if answer else None) == expected


def test_a_hook_imports_little():
    """Each of these takes longer to import than the daemon takes to answer."""
    code = (
        f"import sys; sys.path.insert(0, {str(Path(client.__file__).parents[2])!r})\n"
        "import weft.cli.entry, weft.daemon.client\n"
        "print([m for m in ('click', 'pathlib', 'typing', 'dataclasses', 'tempfile', 'logging') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_the_socket_is_in_a_folder_that_only_the_user_can_enter(runtime, monkeypatch):
    """A runtime folder that is missing, or a link of somebody else, is replaced by a folder of the user."""
    if sys.platform == "win32":
        pytest.skip("Windows has no runtime folder")
    monkeypatch.setenv("TMPDIR", str(runtime))
    (runtime / "real").mkdir()
    (runtime / "link").mkdir()
    (runtime / "link" / "weft").symlink_to(runtime)
    for given, expected in (("real", "real/weft"), ("none", f"weft-{os.getuid()}"), ("link", f"weft-{os.getuid()}")):
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime / given))
        path = Path(find_address("/a/w.db", "n").socket_path)
        assert path.parent == runtime / expected
        assert path.parent.stat().st_mode & 0o777 == 0o700


def end_daemon(db):
    """End the daemon that the command started, by its process id."""
    found = subprocess.run(["pgrep", "-f", f"weft daemon --db {db}"], capture_output=True, text=True, check=False)
    for process in found.stdout.split():
        subprocess.run(["kill", process], check=False)
