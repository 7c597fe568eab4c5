"""Real server on loopback in a thread of the test."""

import threading

import httpx
import uvicorn

from weft.config import read_settings
from weft.connection_limits import ConnectionLimits
from weft.engine.api_keys import Keyring
from weft.engine.namespaces import Engines
from weft.engine.parsing.parser_pool import ParserPool
from weft.server.app import make_app
from weft.server.run import Server, open_port
from weft.testing import FakeEmbedder

NOTE = "# Auth Service\n\nThe Auth Service depends on the OAuth Provider. It issues JWT tokens.\n"
OTHER = "# OAuth Provider\n\nThe OAuth Provider signs tokens. [[Auth Service]] asks it.\n"

TLS = httpx.create_ssl_context()
"""Made once: to read all certificates takes a new client 50 ms, although the server speaks plain HTTP."""


class SharedParsers(ParserPool):
    """Parser processes that all servers of a test run share; stopping a server leaves them running."""

    def close(self):
        """Leave them running: they end with this process."""


PARSERS = SharedParsers(4)


class Running:
    """`with Running(path) as server:` answers at `server.url` until the block ends, as if it listened at `host`."""

    def __init__(
        self, path, *, host="127.0.0.1", embedder=None, reranker=None, limits=None, parsers=PARSERS, **settings
    ):
        overrides = {"store.db": str(path), **{name.replace("__", "."): value for name, value in settings.items()}}
        self.engines = Engines(read_settings(overrides), embedder=embedder or FakeEmbedder(), reranker=reranker)
        self.app = make_app(self.engines, parsers=parsers, host=host)
        limits = limits or ConnectionLimits()
        config = uvicorn.Config(
            self.app,
            log_config=None,
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=20,
            http=limits.protocol,
        )
        self.server = Server(config)
        self._socket = open_port("127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self._socket]}, daemon=True)

    def __enter__(self):
        self._thread.start()
        with self.client() as client:
            assert client.get("/health").status_code == 200
        return self

    def __exit__(self, *error):
        self.stop()

    def stop(self):
        """Ask it to stop, as a signal does, and wait until it has."""
        self.server.should_exit = True
        self._thread.join(60)
        assert not self._thread.is_alive()
        self._socket.close()
        self.engines.close()

    def client(self, key="", **headers):
        """Return a client, with a key if one is given."""
        headers |= {"Authorization": f"Bearer {key}"} if key else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60, verify=TLS)

    def make_key(self, *namespaces, access="write"):
        """Return the text of a new key."""
        return Keyring(self.engines.database).create("test", namespaces=namespaces, access=access)[1]


def add(client, text=NOTE, source="auth"):
    """Index one text and return its receipt."""
    answer = client.post("/documents", json={"documents": [{"text": text, "source": source}]})
    assert answer.status_code == 201, answer.text
    return answer.json()


def refused(answer):
    """Return status and code of an error, which has the shape of all of them."""
    body = answer.json()
    assert answer.headers["content-type"] == "application/json"
    assert set(body) == {"error", "request_id"}
    assert set(body["error"]) == {"code", "message", "hint"}
    assert all(body["error"].values()), body
    assert body["request_id"] == answer.headers["x-request-id"]
    return answer.status_code, body["error"]["code"]


def wait(client, job):
    """Follow a job's events to the end; return all of them."""
    import json

    with client.stream("GET", f"/jobs/{job['id']}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in stream.iter_lines() if line]
    names = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
    data = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    return list(zip(names, data, strict=True))
