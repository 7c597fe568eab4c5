"""Commands that a resident daemon answers: the same output, and none if anything differs."""

import os
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from weft.cli.entry import main
from weft.cli.errors import run_reporting
from weft.cli.main import weft
from weft.cli.resident_client import ask_resident, find_place
from weft.cli.serve.resident_commands import ResidentCommands
from weft.config import read_settings
from weft.daemon import server
from weft.daemon.address import find_address
from weft.daemon.server import Daemon
from weft.engine.engine import Engine

QUESTION = "Which port do the harbour lights use?"


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Return the path of a store in the current folder, with a page and a fact."""
    with tempfile.TemporaryDirectory(prefix="weft") as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        monkeypatch.setenv("WEFT_EMBEDDER", "hash")
        monkeypatch.chdir(tmp_path)
        with Engine(read_settings()) as engine:
            engine.add_text("The harbour lights use port 8080.", source="lights", title="Lights")
            engine.memory.add("user", "prefers", value="green tea")
        yield str(tmp_path / "weft.db")


@pytest.fixture
def resident(store, monkeypatch):
    """Run a daemon of the store; yield its engine."""
    monkeypatch.setattr(server, "POLL_SECONDS", 0.02)  # it would notice after a second that it shall stop
    address = find_address(store, "default")
    with Engine(read_settings({"store.db": store, "store.namespace": "default"}), lists_namespaces=True) as engine:
        daemon = Daemon(engine, address, idle_seconds=60, run_command=ResidentCommands(engine, db=store).answer)
        ready = threading.Event()
        thread = threading.Thread(target=daemon.run, args=(ready.set,))
        thread.start()
        assert ready.wait(60)
        yield engine
        daemon.stop()
        thread.join()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["query", QUESTION], 0),
        (["query", QUESTION, "--facts", "--context", "--budget", "200"], 0),
        (["query", QUESTION, "--method", "keyword", "-n", "1", "--full"], 0),
        (["query", QUESTION, "--where", "x=1"], 3),
        (["query", QUESTION, "--where", "broken"], 2),
        (["recall", "what do I prefer?"], 0),
        (["recall", "what do I prefer?", "-N", "default", "--db", "weft.db"], 0),
        (["timeline", "sometime"], 1),
    ],
)
def test_a_daemon_prints_what_the_command_prints(resident, capfd, arguments, code):
    """Output, errors and exit code are those of a process of its own."""
    if code == 2:
        assert ask_resident(arguments) is None
        return
    assert ask_resident(arguments) == code
    answered = capfd.readouterr()
    assert run_reporting(weft, arguments=arguments) == code
    alone = capfd.readouterr()

    assert answered == alone
    assert answered.out or answered.err


def test_the_entry_point_uses_a_daemon(resident, monkeypatch, capfd):
    """And ends with its exit code."""
    monkeypatch.setattr(sys, "argv", ["weft", "recall", "what do I prefer?"])
    monkeypatch.setattr("weft.cli.entry._load_command_line", lambda: pytest.fail("the command line was loaded"))

    with pytest.raises(SystemExit) as ended:
        main()

    assert ended.value.code == 0
    assert "green tea" in capfd.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["query", QUESTION, "--load", "notes"],
        ["query", QUESTION, "--in", "notes"],
        ["query", QUESTION, "-v"],
        ["query", QUESTION, "--embedder", "none"],
        ["query", QUESTION, "-N", "a", "-N", "b"],
        ["query", QUESTION, "--db", "missing.db"],
        ["query", QUESTION, "--db", "postgresql://host/x"],
        ["stats"],
        [],
    ],
)
def test_other_commands_run_in_their_own_process(store, arguments):
    """Those with options that need it, of several namespaces, or of no file."""
    assert find_place(arguments, os.environ) is None


def test_a_daemon_answers_only_for_the_same_settings_file_and_keys(resident, store, monkeypatch, capfd):
    """A variable, a project file, another namespace, another key or a new store file lead to None."""
    assert ask_resident(["query", QUESTION]) == 0
    with monkeypatch.context() as changed:
        changed.setenv("WEFT_SEARCH_TOP_K", "3")
        assert ask_resident(["query", QUESTION]) is None
    with monkeypatch.context() as changed:
        changed.setattr("weft.cli.resident_client.digest_keys", lambda environment: "other")
        assert ask_resident(["query", QUESTION]) is None
    assert ask_resident(["query", QUESTION, "-N", "other"]) is None
    project = Path("weft.toml")
    project.write_text("[search]\ntop_k = 3\n")
    assert ask_resident(["query", QUESTION]) is None
    project.unlink()
    assert ask_resident(["query", QUESTION]) == 0
    Path("copy.db").write_bytes(Path(store).read_bytes())
    Path("copy.db").replace(store)
    assert ask_resident(["query", QUESTION]) is None


def test_without_a_daemon_the_command_runs_here(store, capfd):
    """Silently."""
    assert ask_resident(["query", QUESTION]) is None
    assert capfd.readouterr() == ("", "")
