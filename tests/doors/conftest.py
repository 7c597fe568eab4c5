"""The command line as a user has it: a process of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass

import pytest


@dataclass
class Ran:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def weft(tmp_path, clean_home):
    """Run `weft ARGUMENTS` in an empty folder, with the hash embedder, which needs no model."""

    def run(*arguments, stdin="", cwd=tmp_path, expect=0, **environment):
        done = subprocess.run(
            [sys.executable, "-m", "weft", *map(str, arguments)],
            input=stdin,
            capture_output=True,
            cwd=cwd,
            env={**os.environ, "WEFT_EMBEDDER": "hash", "PYTHONUTF8": "1", **environment},
            text=True,
            encoding="utf-8",
            timeout=120,
        )
        assert done.returncode == expect, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def notes(tmp_path):
    """A small folder of documents."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "auth.md").write_text(
        "---\ntitle: Auth Service\ntags: [identity, core]\n---\n# Auth Service\n\nIssues JWT tokens.\n\n"
        "## Failure modes\n\nWhen the clock drifts, tokens are refused with ERR_CONN_RESET.\n"
    )
    (folder / "zh.md").write_text("# 部署\n\n重跑gen-itgc后检查密钥。\n")
    (folder / "models.txt").write_text("We moderate titles with gpt-4o; see arXiv:2501.03236 and the C++ renderer.\n")
    (folder / "data.bin").write_bytes(b"\x00\x01\x02" * 100)
    return folder
