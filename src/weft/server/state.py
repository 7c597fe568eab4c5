"""State that all routes of a running server share."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address

from weft.engine.api_keys import Keyring
from weft.engine.namespaces import Engines
from weft.engine.parsing.parser_pool import ParserPool
from weft.server.index_jobs import Jobs
from weft.server.metrics import Metrics
from weft.server.threads import Threads


@dataclass(frozen=True)
class ServerState:
    """Engines, parser processes, keys, threads, jobs and metrics of a server."""

    engines: Engines
    parsers: ParserPool
    keys: Keyring
    threads: Threads
    jobs: Jobs
    metrics: Metrics
    host: str
    """Address that the server listens on."""

    @property
    def is_private(self) -> bool:
        """True if the server listens on loopback only."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Return True for a loopback address."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
