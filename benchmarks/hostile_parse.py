"""
Latency of other requests during a hostile upload: /health, and a query in another namespace.

    python benchmarks/hostile_parse.py [--seconds 2] [--embedder hash]

The document is a PDF of 1 MB whose 1,000 pages share one long list of drawing operators. It reaches the CPU limit, ten
times. The second table gives the extra time of a small document in a parser process, the median of 50.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import httpx

from weft.config import read_settings
from weft.engine.api_keys import Keyring
from weft.engine.engine import Engine
from weft.engine.parsing.parser_messages import TextInput
from weft.engine.parsing.parser_pool import ParserPool
from weft.engine.uploads import text_document
from weft.extract.rules import RuleExtractor
from weft.index.plan import prepare

CORPUS = Path(__file__).parents[1] / "examples" / "corpus"
QUESTION = "Why were sessions moved out of Redis?"
TEXT = "---\ntitle: Auth Service\n---\n# Auth Service\n\nThe Auth Service depends on the OAuth Provider.\n"
ROUNDS = 50
PAGES = 1000
HOSTILE_FILES = 10
OPERATORS = b"BT /F 1 Tf (x) Tj ET " * 40_000


def hostile_pdf() -> bytes:
    """Return a PDF whose pages share one content stream, uncompressed, so that no compression ratio reveals it."""
    first = 5
    kids = b" ".join(b"%d 0 R" % number for number in range(first, first + PAGES))
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 3 0 R/Resources<</Font<</F 4 0 R>>>>>>"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, PAGES),
        b"<</Length %d>>stream\n%s\nendstream" % (len(OPERATORS), OPERATORS),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        *[page] * PAGES,
    ]
    made, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(made))
        made += b"%d 0 obj%s endobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size, start = len(objects) + 1, len(made)
    made += b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
    return made + b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (size, start)


@contextmanager
def serving(folder: Path, *, embedder: str, seconds: int):
    """Serve the sample corpus; yield the address and the keys of two namespaces."""
    db = folder / "hostile.db"
    environment = {**os.environ, "WEFT_DB": str(db), "WEFT_EMBEDDER": embedder}
    weft = [sys.executable, "-m", "weft"]
    subprocess.run([*weft, "index", "-q", str(CORPUS)], env=environment, check=True)
    with Engine(read_settings({"store.db": str(db), "models.embedder": embedder})) as engine:
        keyring = Keyring(engine.database)
        keys = [keyring.create(name, namespaces=(name,), access="write")[1] for name in ("default", "hostile")]
    environment["WEFT_LOAD_MAX_CPU_SECONDS"] = str(seconds)
    process = subprocess.Popen([*weft, "serve", "--port", "0"], env=environment, stderr=subprocess.PIPE, text=True)
    try:
        address = re.search(r"listening at (http://\S+)", process.stderr.readline())
        yield address[1], *keys
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=90)


def measure(client: httpx.Client, *, until) -> dict[str, list[float]]:
    """Return the latencies in ms of rounds of two requests, until a condition is true."""
    times: dict[str, list[float]] = {"/health": [], "query": []}
    while not until(times):
        for kind, request in (("/health", ("GET", "/health")), ("query", ("POST", "/query"))):
            body = {"json": {"query": QUESTION}} if kind == "query" else {}
            begin = time.perf_counter()
            client.request(*request, **body).raise_for_status()
            times[kind].append((time.perf_counter() - begin) * 1000)
        time.sleep(0.02)
    return times


def compare(url: str, good: str, evil: str) -> tuple[dict, dict, dict]:
    """Return the latencies without and with the hostile document, and its finished job."""
    headers = [{"Authorization": f"Bearer {key}"} for key in (good, evil)]
    with (
        httpx.Client(base_url=url, headers=headers[0], timeout=120) as client,
        httpx.Client(base_url=url, headers=headers[1], timeout=120) as attacker,
    ):
        measure(client, until=lambda times: len(times["query"]) >= ROUNDS)  # warm-up
        idle = measure(client, until=lambda times: len(times["query"]) >= 4 * ROUNDS)
        data = hostile_pdf()
        files = [("files", (f"{number}.pdf", data)) for number in range(HOSTILE_FILES)]
        job = attacker.post("/documents/upload", files=files).json()
        time.sleep(1)
        state = job

        def has_ended(times) -> bool:
            nonlocal state
            if len(times["query"]) % 10 == 0:
                state = attacker.get(f"/jobs/{job['id']}").json()
            return state["state"] not in ("queued", "running")

        busy = measure(client, until=has_ended)
    return idle, busy, state


def small_document() -> tuple[float, float]:
    """Return the medians in ms of preparing a small document in process and through a parser process."""
    rules, item = RuleExtractor(), TextInput(source="auth", text=TEXT)
    in_process, pooled = [], []
    with Engine(read_settings({"store.db": ":memory:", "models.embedder": "hash"})) as engine, ParserPool(1) as pool:
        options = engine.settings.split
        list(engine.prepare([item], parsers=pool))
        for _ in range(ROUNDS):
            begin = time.perf_counter()
            prepare(text_document(TEXT, source="auth"), namespace="default", options=options, extractor=rules)
            middle = time.perf_counter()
            list(engine.prepare([item], parsers=pool))
            in_process.append((middle - begin) * 1000)
            pooled.append((time.perf_counter() - middle) * 1000)
    return statistics.median(in_process), statistics.median(pooled)


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seconds", type=int, default=2, help="CPU limit of a document")
    parser.add_argument("--embedder", default="hash")
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder), embedder=arguments.embedder, seconds=arguments.seconds) as (url, good, evil),
    ):
        idle, busy, job = compare(url, good, evil)
    print(f"job: {job['state']}, skipped: {job['receipt']['skipped']}\n")
    print("| request | idle p50 | idle p95 | hostile p50 | hostile p95 | p95 ratio | requests |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for kind in idle:
        middle, high = ([statistics.quantiles(t[kind], n=20)[place] for t in (idle, busy)] for place in (9, 18))
        cells = f"{middle[0]:.1f} ms | {high[0]:.1f} ms | {middle[1]:.1f} ms | {high[1]:.1f} ms"
        print(f"| {kind} | {cells} | {high[1] / high[0]:.2f} | {len(busy[kind])} |")
    in_process, pooled = small_document()
    print("\n| small document in process | in a parser process | extra |\n| --- | --- | --- |")
    print(f"| {in_process:.1f} ms | {pooled:.1f} ms | {pooled - in_process:.1f} ms |")


if __name__ == "__main__":
    main()
