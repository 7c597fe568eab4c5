"""The engine of a command, which says so where its end takes long."""

from __future__ import annotations

import threading

from weft.cli.terminal import say
from weft.engine.engine import Engine

PATIENCE = 1.0
"""Seconds after which it is said."""

WAITING = "bringing the read indexes up to date; Ctrl-C puts that off, nothing is lost"


class CommandEngine(Engine):
    """An engine that tells the user what is waited for when it is closed."""

    def close(self) -> None:
        """Release the database; what was written may have to be put into read indexes first."""
        notice = threading.Timer(PATIENCE, say, [WAITING], {"err": True})
        notice.daemon = True
        notice.start()
        try:
            super().close()
        finally:
            notice.cancel()
