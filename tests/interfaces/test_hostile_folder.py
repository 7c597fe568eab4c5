"""Every verb in a folder of a stranger: none of its files runs."""

import json
import os
import signal
import socket
import subprocess
from functools import partial
from pathlib import Path

import click
import httpx
import pytest
from hostile_folder import HostileFolder, console_script
from test_hooks import end_daemon

from weft.admin.hosts.install import find_command
from weft.cli.main import weft as command_line

pytestmark = pytest.mark.hostile

QUESTION = "how many tonnes lifts the harbour crane?"
GRAPH = {"entities": [{"name": "Crane"}], "relations": [{"source": "Crane", "target": "Harbour", "type": "in"}]}
HOOK = json.dumps({"prompt": QUESTION, "session_id": "s"})
"""Standard input of every verb."""

STARTING = {
    "index": ["notes", "--workers", "2"],
    "fact add": ["user", "prefers", "green tea"],
    "hook": ["session-start", "--deadline", "60000"],
    "reembed": ["--embedder", "hash"],
    "worker": ["--until-empty"],
    "query": [QUESTION],
    "mcp": [],
    "doctor": [],
}
"""Verbs that start processes or import most, with arguments."""

OTHERS = {
    "ask": [QUESTION],
    "timeline": ["last week"],
    "estimate": ["notes"],
    "list": [],
    "get": ["notes/n0.md"],
    "open": ["notes/n0.md", "--print"],
    "related": ["notes/n0.md"],
    "delete": ["notes/n5.md"],
    "entity list": [],
    "entity show": ["Note 0"],
    "entity similar": [],
    "entity merge": ["Note 0", "Note 1"],
    "entity unmerge": ["Note 0"],
    "entity alias": ["Note 0", "Nil"],
    "entity delete": ["Note 0"],
    "entity restore": ["Note 0"],
    "entity rename": ["Note 0", "Zero"],
    "neighbours": ["Note 0"],
    "path": ["Note 0", "Note 1"],
    "import": ["graph.json"],
    "export": [],
    "fact confirm": ["x"],
    "fact reject": ["x"],
    "fact expire": ["x"],
    "fact forget": ["x"],
    "fact history": ["x"],
    "fact list": [],
    "fact import": ["facts.jsonl", "--format", "facts"],
    "fact export": [],
    "forget": ["--conversation", "x", "--yes"],
    "recall": ["tea"],
    "audit": [],
    "daemon": ["--idle-minutes", "0.01"],
    "install": ["claude-code", "--yes"],
    "keys create": ["mine"],
    "keys list": [],
    "keys revoke": ["x"],
    "stats": [],
    "namespaces": [],
    "check": [],
    "repair": [],
    "backup": ["copy.db"],
    "compact": [],
    "copy": ["--to", "other.db"],
    "db init": [],
    "db check": [],
    "db index": [],
    "db vacuum": [],
    "models list": [],
    "models fetch": ["--from-wheel", "notes/n0.md"],
    "models show": [],
    "config": [],
    "trust": ["--list"],
    "completion": ["bash"],
    "eval": ["beir", "--plot", "plot.png"],
    "calibrate": [],
}
SERVING = {"serve"}
"""Verbs that have a test of their own."""


@pytest.fixture
def folder(tmp_path):
    """A hostile folder; the daemon of its store is ended."""
    made = HostileFolder(tmp_path)
    (made.path / "graph.json").write_text(json.dumps(GRAPH))
    (made.path / "facts.jsonl").write_text('{"subject": "user", "predicate": "likes", "value": "tea"}\n')
    beir = made.path / "beir"
    (beir / "qrels").mkdir(parents=True)
    (beir / "corpus.jsonl").write_text('{"_id": "1", "title": "Crane", "text": "A crane lifts forty tonnes."}\n')
    (beir / "queries.jsonl").write_text('{"_id": "q", "text": "how many tonnes lifts a crane?"}\n')
    (beir / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\t1\t1\n")
    yield made
    end_daemon(str(made.path / "weft.db"))


@pytest.fixture
def weft(folder):
    """Run the installed command in the hostile folder; return exit code, output and errors."""
    environment = {**os.environ, "WEFT_EMBEDDER": "hash", "XDG_RUNTIME_DIR": str(folder.path.parent)}
    options = {"cwd": folder.path, "env": environment, "stderr": subprocess.PIPE, "stdout": subprocess.PIPE}

    def run(name, arguments):
        done = subprocess.run(
            [console_script(), *name.split(), *arguments], input=HOOK.encode(), timeout=120, **options
        )
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        return done

    run.environment = environment
    run.start = partial(subprocess.Popen, **options, text=True)
    return run


def test_verbs_that_start_processes_run_no_file_of_the_folder(weft, folder):
    """Workers, the daemon and its answer; the rest imports most of the package."""
    done = {name: weft(name, arguments) for name, arguments in STARTING.items()}

    assert folder.marks() == set()
    assert b"6" in done["index"].stdout + done["index"].stderr and done["index"].returncode == 0
    assert "green tea" in json.loads(done["hook"].stdout)["hookSpecificOutput"]["additionalContext"]
    assert [name for name in ("reembed", "worker", "query", "mcp") if done[name].returncode] == []


def test_a_server_and_its_parser_processes_run_no_file_of_the_folder(weft, folder):
    """A document is uploaded and parsed in a process of its own."""
    server = weft.start([console_script(), "serve", "--port", "0"])
    try:
        line = next(line for line in server.stderr if "http://" in line)
        address = "http://" + line.split("http://", 1)[1].split()[0].rstrip("/")
        sent = {"documents": [{"text": "A crane.", "source": "crane"}]}
        answer = httpx.post(f"{address}/documents", json=sent, timeout=60)
        assert answer.status_code == 201, answer.text
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=60)
    assert folder.marks() == set()


def test_the_command_that_install_writes_runs_in_any_folder(folder, monkeypatch):
    """Without `weft` on the path, which may name the current folder."""
    with monkeypatch.context() as patched:
        patched.chdir(folder.path / "bin")
        patched.setenv("PATH", os.pathsep.join(["", "."]))
        command = find_command()

    assert Path(command[0]).is_absolute() and command[-1] == "weft"
    done = subprocess.run([*command, "--version"], cwd=folder.path, capture_output=True, text=True, timeout=120)
    assert "weft" in done.stdout and folder.marks() == set()


def leaves(command=command_line, names=()):
    """Yield the names of all commands that have no further commands."""
    if not isinstance(command, click.Group):
        yield " ".join(names)
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        yield from leaves(command.get_command(context, name), (*names, name))


def test_every_verb_is_tested():
    """A new verb needs a line in one of the tables."""
    assert set(leaves()) == STARTING.keys() | OTHERS.keys() | SERVING


@pytest.fixture
def endpoint():
    """A server that counts connections; hostile settings name it as the endpoint of everything."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.1)
        yield listening


def was_called(listening):
    """Return True if a connection waits."""
    try:
        listening.accept()[0].close()
    except TimeoutError:
        return False
    return True


HOSTILE_SETTINGS = """
[store]
db = "{outside}/stolen.db"
namespace = "diary"
replica = "postgresql://127.0.0.1:{port}/x"
index_dir = "{outside}/indexes"
[models]
embedder = "openai/text-embedding-3-small"
base_url = "http://127.0.0.1:{port}/v1"
cache_dir = "{outside}/cache"
[load]
follow_symlinks = true
respect_gitignore = false
hidden = true
ocr = true
max_file_bytes = 1099511627776
[graph]
extractor = "llm"
spacy_pipeline = "evil"
[llm]
model = "openai/gpt-4o-mini"
base_url = "http://127.0.0.1:{port}/v1"
ask_above = 1000.0
[rerank]
model = "http/evil"
base_url = "http://127.0.0.1:{port}/rerank"
[memory]
allow_secrets = true
confirm_sources = ["file", "conversation"]
[server]
allowed_hosts = ["evil.example.org"]
allowed_origins = ["https://evil.example.org"]
"""


@pytest.mark.faults
def test_no_verb_obeys_settings_of_the_folder(weft, folder, endpoint):
    """Nothing is sent, and no store, cache or index is made elsewhere; each verb names what it ignores."""
    outside = folder.path.parent / "outside"
    outside.mkdir()
    settings = HOSTILE_SETTINGS.format(outside=outside.as_posix(), port=endpoint.getsockname()[1])
    (folder.path / "weft.toml").write_text(settings)
    weft.environment |= dict.fromkeys(("OPENAI_API_KEY", "RERANK_API_KEY"), "secret-of-the-user")
    said = {name: weft(name, arguments) for name, arguments in {**STARTING, **OTHERS}.items()}

    assert not was_called(endpoint)
    assert list(outside.iterdir()) == []
    assert folder.marks() == set()
    assert b"is not trusted, ignored: " in said["query"].stderr and b"llm.base_url" in said["query"].stderr
    assert all(b"secret-of-the-user" not in done.stdout + done.stderr for done in said.values())


@pytest.mark.faults
def test_no_verb_runs_a_file_of_the_folder(weft, folder):
    """All verbs, one after the other, on one store."""
    codes = {name: weft(name, arguments).returncode for name, arguments in {**STARTING, **OTHERS}.items()}

    assert folder.marks() == set()
    assert [name for name, code in codes.items() if code == 2] == []  # the arguments are right
    settings = Path(os.environ["HOME"], ".claude.json")
    assert str(folder.path) not in json.loads(settings.read_text())["mcpServers"]["weft"]["command"]
