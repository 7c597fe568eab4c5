"""Transactions that follow a write: they read the chunks of a popular name again, some at a time."""

from __future__ import annotations

import logging
import time

from weft.errors import StoreUnavailable
from weft.store.relational.graph_write import GraphChanges
from weft.store.relational.rereads.reread_list import has_waiting
from weft.store.relational.session import Connections, find_namespace

logger = logging.getLogger(__name__)

PAUSE_SECONDS = 0.02
"""Time between two transactions, in which another process that waits can begin its own."""


def read_waiting(connections: Connections, name: str) -> None:
    """
    Read all chunks of a namespace that wait to be read again, each time some of them in a transaction.

    The write before is committed. So if another process writes for too long, the rest is left to the next write.
    """
    try:
        while _has_waiting(connections, name) and _read_some(connections, name):
            time.sleep(PAUSE_SECONDS)
    except StoreUnavailable as error:
        logger.warning("the graph of namespace %r is not up to date: %s", name, error)


def _has_waiting(connections: Connections, name: str) -> bool:
    with connections.read(name) as db:
        return has_waiting(db, db.namespace_key(name))


def _read_some(connections: Connections, name: str) -> bool:
    with connections.write(name) as db:
        found = find_namespace(db, name)
        if found is None or not GraphChanges(db, namespace=found.key, name=name).read_waiting():
            return False
        db.run("touch_namespace", {"namespace": found.key, "chunks": 0, "length": 0})
        return True
