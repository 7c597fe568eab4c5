"""
Load test of a server with 64 concurrent clients: errors, lost writes, memory, and p95 compared with one client.

    python benchmarks/load_http.py [--clients 64] [--seconds 30] [--embedder hash]

The server is a separate process on loopback with the indexed sample corpus. Of ten requests of a client, six are
questions, one recalls facts, one reads the graph, one adds a document and one adds a fact. Afterwards every
acknowledged write is looked up. Clients and server share the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

CORPUS = Path(__file__).parents[1] / "examples" / "corpus"
QUESTIONS = (
    "Why were sessions moved out of Redis?",
    "What caused the double charges in March?",
    "what happens if we change the OAuth provider?",
    "Which service issues tokens?",
    "支付网关超时怎么处理？",
    "who is on call for payments?",
)


@dataclass
class Account:
    """Results of the clients."""

    times: dict[str, list[float]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    processor: float = 0.0
    """Seconds of the server."""


@contextmanager
def serving(folder: Path, embedder: str):
    """Index the sample corpus and serve it; yield the process and the address."""
    environment = {**os.environ, "WEFT_DB": str(folder / "load.db"), "WEFT_EMBEDDER": embedder}
    weft = [sys.executable, "-m", "weft"]
    subprocess.run([*weft, "index", "-q", str(CORPUS)], env=environment, check=True)
    process = subprocess.Popen([*weft, "serve", "--port", "0"], env=environment, stderr=subprocess.PIPE, text=True)
    try:
        address = re.search(r"listening at (http://\S+)", process.stderr.readline())
        yield process, address[1]
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=90)
    check = subprocess.run([*weft, "check"], env=environment, capture_output=True, text=True)
    print(f"store after shutdown: {check.stdout.strip()}")


async def work(client: httpx.AsyncClient, number: int, *, until: float, account: Account) -> None:
    """Run one client until a time."""
    turn = 0
    while time.perf_counter() < until:
        turn += 1
        name = f"client {number} turn {turn} of {os.getpid()}"
        text = QUESTIONS[(number + turn) % len(QUESTIONS)]
        match (number + turn) % 10:
            case 0:
                given = {"documents": [{"text": f"# Note\n\nWritten by {name}.", "source": f"load:{name}"}]}
                if await timed(client, account, "add document", "POST", "/documents", json=given):
                    account.documents.append(f"load:{name}")
            case 1:
                fact = {"subject": f"client {number}", "predicate": "took", "value": name}
                if await timed(client, account, "add fact", "POST", "/facts", json={"facts": [fact]}):
                    account.facts.append(name)
            case 2:
                await timed(client, account, "recall", "POST", "/facts/recall", json={"query": f"client {number}"})
            case 3:
                await timed(client, account, "graph", "GET", "/graph/entities", params={"limit": 20})
            case _:
                await timed(client, account, "query", "POST", "/query", json={"query": text})


async def timed(client: httpx.AsyncClient, account: Account, kind: str, method: str, path: str, **request) -> bool:
    begin = time.perf_counter()
    try:
        answer = await client.request(method, path, **request)
    except httpx.HTTPError as error:
        account.errors.append(f"{kind}: {error!r}")
        return False
    account.times.setdefault(kind, []).append((time.perf_counter() - begin) * 1000)
    if answer.status_code not in (200, 201):
        account.errors.append(f"{kind}: {answer.status_code} {answer.text[:200]}")
    return answer.status_code in (200, 201)


async def run(url: str, process: subprocess.Popen, *, clients: int, seconds: float) -> tuple[Account, list[float]]:
    """Run clients for some seconds; return their results, and the memory of the server in MB during that time."""
    account, memory, until = Account(), [], time.perf_counter() + seconds
    before = processor(process.pid)
    limits = httpx.Limits(max_connections=clients, max_keepalive_connections=clients)
    async with httpx.AsyncClient(base_url=url, timeout=120, limits=limits) as client:

        async def watch() -> None:
            while time.perf_counter() < until:
                memory.append(resident(process.pid))
                await asyncio.sleep(1)

        await asyncio.gather(
            watch(), *(work(client, number, until=until, account=account) for number in range(clients))
        )
        account.processor = processor(process.pid) - before
        await look_for(client, account)
    return account, memory


async def look_for(client: httpx.AsyncClient, account: Account) -> None:
    """Count each acknowledged write that is missing as an error."""
    sources, after = set(), ""
    while after is not None:
        found = (await client.get("/documents", params={"after": after, "limit": 1000})).json()
        sources |= {document["source"] for document in found["documents"]}
        after = found["next"]
    values, after = set(), ""
    while after is not None:
        found = (await client.get("/facts", params={"after": after, "limit": 1000})).json()
        values |= {fact.get("value") for fact in found["facts"]}
        after = found["next"]
    lost = [*(set(account.documents) - sources), *(set(account.facts) - values)]
    account.errors += [f"lost: {name}" for name in lost]


def resident(pid: int) -> float:
    """Return the memory of a process in MB, if the operating system reports it."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def processor(pid: int) -> float:
    """Return the CPU seconds of a process, if the operating system reports them."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def percentile(values: list[float], share: float) -> float:
    return (
        statistics.quantiles(values, n=100, method="inclusive")[int(share * 100) - 1] if len(values) > 1 else values[0]
    )


def report(one: Account, many: Account, memory: list[float], *, clients: int, seconds: float) -> list[str]:
    lines = [
        f"| request | 1 client: count, p50, p95 ms | {clients} clients: count, p50, p95 ms |",
        "| --- | --- | --- |",
    ]
    every = {**{kind: (one.times.get(kind, []), many.times.get(kind, [])) for kind in sorted(many.times)}}
    every["all"] = ([t for ts in one.times.values() for t in ts], [t for ts in many.times.values() for t in ts])
    for kind, pair in every.items():
        cells = [f"{len(v):,}, {percentile(v, 0.5):.0f}, {percentile(v, 0.95):.0f}" if v else "–" for v in pair]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    count = sum(map(len, many.times.values()))
    spent = [1000 * a.processor / max(sum(map(len, a.times.values())), 1) for a in (one, many)]
    third = max(len(memory) // 3, 1)
    lines += [
        "",
        f"{count:,} requests in {seconds:.0f} s ({count / seconds:.0f} a second), {len(many.errors)} errors; "
        f"{len(many.documents):,} documents and {len(many.facts):,} facts written, all of them found afterwards."
        if not many.errors
        else f"{len(many.errors)} errors, the first: {many.errors[0]}",
        f"The server used {spent[0]:.0f} ms of a core for a request of one client, {spent[1]:.0f} ms of {clients}.",
        f"Memory of the server: {memory[0]:.0f} MB at the start, {memory[-1]:.0f} MB at the end, mean of each third "
        f"{', '.join(f'{statistics.mean(memory[i : i + third]):.0f}' for i in range(0, third * 3, third))} MB.",
    ]
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description="Load the HTTP door.")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--embedder", default="hash", help="local/granite-30m measures the model too")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), given.embedder) as (process, url):
        one, _ = asyncio.run(run(url, process, clients=1, seconds=given.seconds / 3))
        many, memory = asyncio.run(run(url, process, clients=given.clients, seconds=given.seconds))
        print("\n".join(report(one, many, memory, clients=given.clients, seconds=given.seconds)))
    return 1 if one.errors or many.errors else 0


if __name__ == "__main__":
    sys.exit(main())
