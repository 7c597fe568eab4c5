"""
Fuzzing of every route of the HTTP interface with Schemathesis: no 5xx, no undocumented status.

    python benchmarks/fuzz_http.py [--examples 100] [--seed 7] [--phases coverage,fuzzing,stateful]

Each situation has a separate server with a small namespace: `open` (no keys, loopback), `key` (a key is sent),
`locked` (keys exist and none is sent). Exits with 1 if one of them fails.
`tests/interfaces/test_serve_schema.py` runs a few examples of each.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from click.testing import CliRunner, Result
from harness import make_parser
from schemathesis.cli import schemathesis

from weft.config import read_settings
from weft.engine.api_keys import Keyring
from weft.engine.namespaces import Engines
from weft.engine.parsing.parser_pool import ParserPool
from weft.server.app import make_app
from weft.server.run import Server, open_port

LEFT_OUT = "positive_data_acceptance"
"""The one check that cannot hold: the schema does not say that a fact has a value or an object and not both, that two
weights must not both be 0, that a form may hold no archive, or that a fact that is confirmed cannot be again."""
NOTES = {
    "auth": "# Auth Service\n\nThe Auth Service depends on the OAuth Provider. It issues JWT tokens.\n",
    "oauth": "# OAuth Provider\n\nThe OAuth Provider signs tokens for the [[Auth Service]].\n",
}
SITUATIONS = ("open", "key", "locked")


@contextmanager
def serving(folder: Path):
    """Serve a small namespace from a thread; yield the address and the engines."""
    engines = Engines(read_settings({"store.db": str(folder / "fuzz.db"), "models.embedder": "hash"}))
    for source, text in NOTES.items():
        engines.engine("default").add_text(text, source=source)
    engines.engine("default").memory.add("user", "drinks", "tea")
    listening = open_port("127.0.0.1", 0)
    app = make_app(engines, parsers=ParserPool(engines.settings.load.parsers))
    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="on")
    server = Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", engines
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
        engines.close()


def fuzz(situation: str, *, examples: int, seed: int, phases: str, only: str = "") -> Result:
    """Run Schemathesis against a server; return its output. Raises if the store is inconsistent afterwards."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as (url, engines):
        command = ["run", f"{url}/openapi.json", "--no-color", "--seed", seed, "--max-examples", examples]
        command += ["--phases", phases, "--warnings", "off", "--generation-database", "none", "--no-shrink"]
        command += ["--continue-on-failure", "--checks", "all"]
        command += ["--exclude-checks", LEFT_OUT + (",ignored_auth" if situation == "open" else "")]
        command += ["--include-path", only] if only else []
        if situation != "open":
            _, key = Keyring(engines.database).create("fuzz", namespaces=["default"], access="write")
            command += ["--header", f"X-API-Key: {key}"] if situation == "key" else []
        done = CliRunner().invoke(schemathesis, list(map(str, command)))
        problems = engines.database.check()
        assert problems == [], problems
    return done


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--examples", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--phases", default="coverage,fuzzing,stateful")
    given = parser.parse_args()
    worst = 0
    for situation in SITUATIONS:
        begin = time.perf_counter()
        done = fuzz(situation, examples=given.examples, seed=given.seed, phases=given.phases)
        print(f"{situation}: exit code {done.exit_code} after {time.perf_counter() - begin:.0f} s")
        lines = done.output.strip().splitlines()
        print("\n".join(lines if done.exit_code else [line for line in lines if "generated" in line]))
        worst = max(worst, done.exit_code)
    return 1 if worst else 0


if __name__ == "__main__":
    sys.exit(main())
