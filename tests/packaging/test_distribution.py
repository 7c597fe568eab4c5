"""Wheel and source distribution: the same bytes twice, and a fresh environment that works from the wheel alone."""

import hashlib
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow


def build(folder, epoch):
    """Return the built files by name."""
    pytest.importorskip("hatchling", reason="hatchling is missing: pip install hatchling")
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    environment = {"SOURCE_DATE_EPOCH": epoch, "PATH": "/usr/bin:/bin"}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, timeout=600)
    return {path.name: path for path in folder.iterdir()}


def test_two_builds_have_the_same_bytes_and_nothing_private(tmp_path):
    """Anybody can repeat a release from its commit."""
    first, second = build(tmp_path / "a", "1700000000"), build(tmp_path / "b", "1700000000")

    assert len(first) == 2 and set(first) == set(second)
    for name, path in first.items():
        assert hashlib.sha256(path.read_bytes()).digest() == hashlib.sha256(second[name].read_bytes()).digest()
    wheel = next(path for name, path in first.items() if name.endswith(".whl"))
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"weft", "weft_search"}
    assert {"weft/py.typed", "weft/store/sqlite/sql/schema.sql", "weft/server/page/app.js"} <= set(names)
    source = next(path for name, path in first.items() if name.endswith(".tar.gz"))
    with tarfile.open(source) as archive:
        members = archive.getmembers()
    assert {member.mtime for member in members} == {1700000000}
    assert not [member.name for member in members if "/.venv" in member.name or member.name.endswith(".db")]


def test_a_fresh_environment_passes_a_call_of_every_interface(tmp_path):
    """CLI, Python, HTTP and MCP, from the wheel alone; pip needs a package index."""
    wheel = next(path for name, path in build(tmp_path, "1700000000").items() if name.endswith(".whl"))
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("smoke.py")), str(wheel)],
        capture_output=True, text=True, timeout=1800,
    )  # fmt: skip

    assert done.stdout.split("\n")[:4] == ["CLI: ok", "Python: ok", "HTTP: ok", "MCP: ok"], done.stderr
