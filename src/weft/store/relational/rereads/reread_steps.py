"""Transactions that follow a write: they read the chunks of a popular name again, some at a time."""

from __future__ import annotations

import logging
import time

from weft.store.relational.graph_write import GraphChanges
from weft.store.relational.rereads.reread_list import has_waiting
from weft.store.relational.session import Connections, find_namespace

logger = logging.getLogger(__name__)

LONG_SECONDS = 0.1
"""Time of a transaction after which others get a turn."""

PAUSE_SECONDS = 0.02
"""Time between two transactions, in which another process that waits can begin its own."""


def try_read_waiting(connections: Connections, name: str) -> None:
    """
    Read all chunks of a namespace that wait to be read again, after a write that is committed.

    An error must not make the caller repeat what is committed. The rest is then left to the next write.
    """
    try:
        read_waiting(connections, name)
    except Exception as error:  # noqa: BLE001 - the write is committed
        logger.warning("the graph of namespace %r is not up to date: %s", name, error)


def read_waiting(connections: Connections, name: str) -> None:
    """Read all chunks of a namespace that wait to be read again, each time some of them in a transaction."""
    while _has_waiting(connections, name):
        start = time.monotonic()
        if not _read_some(connections, name):
            break
        if time.monotonic() - start > LONG_SECONDS:
            time.sleep(PAUSE_SECONDS)


def _has_waiting(connections: Connections, name: str) -> bool:
    with connections.read(name) as db:
        return has_waiting(db, db.namespace_key(name))


def _read_some(connections: Connections, name: str) -> bool:
    with connections.write(name) as db:
        found = find_namespace(db, name)
        return found is not None and GraphChanges(db, namespace=found.key, name=name).read_waiting()
