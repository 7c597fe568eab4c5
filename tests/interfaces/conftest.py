"""Fixtures that run the command line in a separate process."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import partial

import pytest
from browsing import opened, running_browser, show
from forking import Forks
from serving import PARSERS

from weft.cli.errors import run_reporting
from weft.cli.main import weft as command
from weft.engine.parsing.parser_pool import ParserPool

FORKS = Forks()


@pytest.fixture(scope="session", autouse=True)
def forks():
    """Commands are forked from one process for each worker; servers share their parser processes."""
    yield
    FORKS.close()
    ParserPool.close(PARSERS)


@dataclass
class Ran:
    """Output and exit code of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


def run_weft(*arguments, cwd, stdin="", expect=0, **environment):
    """Run `weft ARGUMENTS` with the hash embedder, which needs no model."""
    env = {**os.environ, "WEFT_EMBEDDER": "hash", "PYTHONUTF8": "1", **environment}
    run = start_weft if "PYTHONPATH" in environment or not hasattr(os, "fork") else FORKS.run
    code, out, err = run(list(map(str, arguments)), stdin=stdin, cwd=cwd, env=env)
    assert code == expect, f"exit code {code}\n{out}\n{err}"
    assert "Traceback" not in err
    return Ran(code, out, err)


def start_weft(arguments, *, stdin, cwd, env):
    """Run a command in a process that begins with nothing; return exit code, output and errors."""
    done = subprocess.run(
        [sys.executable, "-m", "weft", *arguments],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=env,
        text=True,
        encoding="utf-8",
        timeout=600,
    )
    return done.returncode, done.stdout, done.stderr


def write_notes(folder):
    """Write a small folder of documents."""
    folder.mkdir()
    (folder / "auth.md").write_text(
        "---\ntitle: Auth Service\ntags: [identity, core]\n---\n# Auth Service\n\nIssues JWT tokens.\n\n"
        "## Failure modes\n\nWhen the clock drifts, tokens are refused with ERR_CONN_RESET.\n"
    )
    (folder / "zh.md").write_text("# 部署\n\n重跑gen-itgc后检查密钥。\n")
    (folder / "models.txt").write_text("We moderate titles with gpt-4o; see arXiv:2501.03236 and the C++ renderer.\n")
    (folder / "data.bin").write_bytes(b"\x00\x01\x02" * 100)
    return folder


@pytest.fixture
def weft(tmp_path):
    """Run `weft ARGUMENTS` in an empty folder."""
    return partial(run_weft, cwd=tmp_path)


@pytest.fixture
def notes(tmp_path):
    """A small folder of documents, not indexed yet."""
    return write_notes(tmp_path / "notes")


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """Run `weft ARGUMENTS` where the notes are indexed already; for tests that only read."""
    folder = tmp_path_factory.mktemp("indexed")
    write_notes(folder / "notes")
    run_weft("index", "notes", "-q", cwd=folder)
    return partial(run_weft, cwd=folder)


@pytest.fixture
def weft_here(tmp_path, monkeypatch, capsys):
    """Run `weft ARGUMENTS` in this process; whatever address was given, its password is not printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEFT_EMBEDDER", "hash")

    def run(*arguments, expect=0):
        monkeypatch.setattr(sys, "argv", ["weft", *map(str, arguments)])
        code = run_reporting(command)
        out, err = capsys.readouterr()
        assert code == expect, out + err
        assert "sesame" not in out + err
        return json.loads(out) if "--json" in arguments else out + err

    return run


@pytest.fixture(scope="module")
def browser():
    """A headless Chromium for all tests of a module."""
    with running_browser() as made:
        yield made


@pytest.fixture(scope="module")
def tab(browser, server):
    """Browser tab at the server of the module, because loading the page takes longer than most tests."""
    with opened(browser, server.url) as made:
        yield made


@pytest.fixture
def page(tab, server):
    """The tab, back at the start."""
    show(tab, f"{server.url}/#/ask")
    yield tab
    tab.unroute_all()
    assert tab.evaluate("window.violations") == []
