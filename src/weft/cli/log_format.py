"""Log messages on the terminal: names of files and other foreign text in them are escaped."""

from __future__ import annotations

import logging

from weft.cli.terminal import visible


class VisibleFormatter(logging.Formatter):
    """Formatter that escapes control characters, except line ends."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the message of a record."""
        return visible(super().format(record))


def escape_warnings() -> None:
    """Escape the warnings that Python prints while no handler is installed."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(VisibleFormatter())


def log_to_stderr(level: int) -> None:
    """Print messages from a level on, with the name of their logger."""
    handler = logging.StreamHandler()
    handler.setFormatter(VisibleFormatter("%(name)s: %(message)s"))
    logging.basicConfig(level=level, handlers=[handler])
