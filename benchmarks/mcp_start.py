"""How long an MCP client waits for the first answer of `weft mcp`, beside what importing the SDK alone takes."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}}
SDK = "import mcp.server.lowlevel, mcp.server.stdio; print('imported', flush=True)"


def time_import() -> float:
    """Return seconds to start Python and import the SDK."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", SDK], stdout=subprocess.PIPE, text=True)
    assert process.stdout and process.stdout.readline() == "imported\n"
    spent = time.perf_counter() - start
    process.wait(timeout=30)
    return spent


def time_greeting(folder: str) -> float:
    """Return seconds from starting `weft mcp` to its answer to `initialize`."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "weft", "mcp"],
        cwd=folder,
        env={**os.environ, "WEFT_DB": "weft.db"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin and process.stdout
    process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}) + "\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    spent = time.perf_counter() - start
    process.stdin.close()
    process.wait(timeout=30)
    assert answer["result"]["serverInfo"]["name"] == "weft"
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        pairs = [(time_import(), time_greeting(folder)) for _ in range(runs)]
    imports, greetings = (sorted(times) for times in zip(*pairs, strict=True))
    print(f"Python with the SDK imported   median {statistics.median(imports):.2f} s   least {imports[0]:.2f} s")
    print(f"`initialize` answered          median {statistics.median(greetings):.2f} s   least {greetings[0]:.2f} s")
    ours = sorted(greeting - alone for alone, greeting in pairs)
    print(f"after the import               median {statistics.median(ours):.2f} s   least {ours[0]:.2f} s")


if __name__ == "__main__":
    main()
