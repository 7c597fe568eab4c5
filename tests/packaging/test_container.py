"""The container commands of docs/deployment.md, run as they are written where Docker and the base image are at hand."""

import contextlib
import os
import re
import shlex
import shutil
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


def documented():
    """Return the commands of the section on containers."""
    page = (ROOT / "docs" / "deployment.md").read_text("utf-8")
    section = page.partition("## Container\n")[2].partition("\n## ")[0]
    return re.findall(r"^    (docker .+)$", section, re.MULTILINE)


@pytest.fixture(scope="module")
def docker():
    """Return a function that runs a documented command under names of this test, or skip and say what is missing."""
    if shutil.which("docker") is None or subprocess.run(["docker", "info"], capture_output=True).returncode:
        pytest.skip("no running Docker daemon")
    base = re.search(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE)[1]
    if subprocess.run(["docker", "image", "inspect", base], capture_output=True).returncode:
        pytest.skip(f"the base image is not at hand: docker pull {base}")
    name = f"weft-test-{os.getpid()}"

    def run(command, *, start=False):
        words = [word.replace("weft:/data", f"{name}:/data") for word in shlex.split(command)]
        words = [name if word == "weft" else word for word in words]
        if start:
            return subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=1800)

    yield run
    subprocess.run(["docker", "volume", "rm", "--force", name], capture_output=True)
    subprocess.run(["docker", "image", "rm", "--force", name], capture_output=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_the_documented_commands_build_and_serve(docker):
    build, keys, serve = documented()
    built = docker(build)
    assert built.returncode == 0, built.stderr[-2000:]
    created = docker(keys)
    assert created.returncode == 0 and created.stdout.strip(), created.stderr
    port = free_port()
    server = docker(
        serve.replace("8321:8321", f"{port}:8321").replace("docker run", "docker run --rm --init"), start=True
    )
    try:
        deadline = time.monotonic() + 60
        answered = b""
        while not answered and time.monotonic() < deadline:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/health") as response:
                answered = response.read()
            time.sleep(0.5)
        assert b"ok" in answered
    finally:
        server.terminate()
        server.wait(60)
