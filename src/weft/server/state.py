"""What a server holds while it runs."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address

from weft.engine.api_keys import Keyring
from weft.engine.namespaces import Engines
from weft.server.index_jobs import Jobs
from weft.server.metrics import Metrics
from weft.server.threads import Workers


@dataclass(frozen=True)
class Door:
    """Everything the routes share."""

    engines: Engines
    keys: Keyring
    workers: Workers
    jobs: Jobs
    metrics: Metrics
    host: str
    """The address it listens at."""

    @property
    def is_private(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Tell whether an address is reached from this machine alone."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
