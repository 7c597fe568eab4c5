"""
Smoke test of a built wheel in a fresh virtual environment: one call of every interface.

    python tests/packaging/smoke.py dist/weft_search-0.3.0-py3-none-any.whl

The packages come from the package index that pip is configured for. Nothing of the source tree is used.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import urllib.request
import venv
from pathlib import Path

EXTRAS = "html,mcp,serve"
NOTE = "# Harbour\n\nThe harbour master is Ada Quist. She keeps the log of the lighthouse.\n"
QUESTION = "who keeps the log of the lighthouse?"
PYTHON = """
import sys, weft
assert "site-packages" in weft.__file__, weft.__file__
with weft.open_engine("weft.db", embedder="hash") as engine:
    result = engine.query(sys.argv[1])
assert "Ada Quist" in result.evidence[0].chunk.text, result
"""
MCP = """
import asyncio, sys
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

async def main():
    server = StdioServerParameters(command=sys.argv[1], args=["mcp", "--embedder", "hash"], cwd=".")
    async with Client(server) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert "memory_search" in names, names
        found = await client.call_tool("memory_search", {"query": sys.argv[2]})
        assert "Ada Quist" in str(found), found

asyncio.run(main())
"""


def main(wheel: Path) -> None:
    """Install the wheel into a new environment and call every interface. Raises on the first failure."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        bin_folder = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
        python, weft = str(bin_folder / "python"), str(bin_folder / "weft")
        _run(python, "-m", "pip", "install", "--quiet", f"{wheel.resolve()}[{EXTRAS}]", folder=folder)
        (folder / "notes").mkdir()
        (folder / "notes" / "harbour.md").write_text(NOTE, "utf-8")
        _run(weft, "--embedder", "hash", "index", "notes", folder=folder)
        answer = json.loads(_run(weft, "--embedder", "hash", "query", QUESTION, "--json", folder=folder))
        assert answer["results"][0]["citation"].startswith("notes/harbour.md"), answer
        print("CLI: ok")
        _run(python, "-c", PYTHON, QUESTION, folder=folder)
        print("Python: ok")
        _check_http(weft, folder=folder)
        print("HTTP: ok")
        _run(python, "-c", MCP, weft, QUESTION, folder=folder)
        print("MCP: ok")


def _run(*command: str, folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, timeout=900)
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:4])} failed\n{done.stdout}\n{done.stderr}")
    return done.stdout


def _check_http(weft: str, *, folder: Path) -> None:
    """Start a server on a free port and ask it."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    command = [weft, "--embedder", "hash", "serve", "--port", "0"]
    server = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert server.stdout is not None
        line = next(line for line in server.stdout if "http://" in line)
        address = "http://" + line.split("http://", 1)[1].split()[0].rstrip("/")
        body = json.dumps({"query": QUESTION}).encode()
        request = urllib.request.Request(
            f"{address}/query", data=body, headers={"Content-Type": "application/json"}, method="POST"
        )
        with urllib.request.urlopen(f"{address}/health", timeout=30) as reply:
            assert json.load(reply)["status"] == "ok"
        with urllib.request.urlopen(f"{address}/", timeout=30) as reply:
            assert b"<!doctype html>" in reply.read().lower()
        with urllib.request.urlopen(request, timeout=60) as reply:
            assert "Ada Quist" in json.load(reply)["results"][0]["chunk"]["text"]
    finally:
        server.terminate()
        server.wait(30)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
