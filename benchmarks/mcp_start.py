"""Time until the first answer of `weft mcp`, in total and after the import of the SDK."""

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
SDK_FIRST = """
import mcp.server.lowlevel, mcp.server.stdio
import runpy, sys
print("imported", file=sys.stderr, flush=True)
sys.argv = ["weft", "mcp"]
runpy.run_module("weft", run_name="__main__", alter_sys=True)
"""
"""Imports the SDK, says so, and goes on as `weft mcp` does."""


def time_greeting(folder: str) -> tuple[float, float]:
    """
    Return the seconds from the start of Python to the answer to `initialize`, in total and after the import of the SDK.
    """
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", SDK_FIRST],
        cwd=folder,
        env={**os.environ, "WEFT_DB": "weft.db"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin and process.stdout and process.stderr
    process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}) + "\n")
    process.stdin.flush()
    said = process.stderr.readline()
    imported = time.perf_counter()
    answer = json.loads(process.stdout.readline())
    answered = time.perf_counter()
    process.communicate(timeout=30)
    assert said == "imported\n", said
    assert answer["result"]["serverInfo"]["name"] == "weft"
    return answered - start, answered - imported


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        pairs = [time_greeting(folder) for _ in range(runs)]
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    print(f"seconds until `initialize` is answered, {runs} runs, {load}")
    for name, values in zip(("from the start", "after the import"), zip(*pairs, strict=True), strict=True):
        print(f"{name:18} median {statistics.median(values):.2f}   {min(values):.2f} to {max(values):.2f}")


if __name__ == "__main__":
    main()
