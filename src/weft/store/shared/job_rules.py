"""Job rules shared by all stores: retention of results, stored error texts."""

from __future__ import annotations

RESULT_RETENTION_S = 86_400.0
"""Seconds until an uncollected result of a finished job is deleted."""

WORKER_DIED = "each worker that claimed it ended before it was done"
"""Error of a job whose workers all ended without reporting one."""

MAX_ERROR_CHARACTERS = 2000


def storable_error(error: str) -> str:
    """Return an error text that every database can store: no NUL, valid UTF-8, at most `MAX_ERROR_CHARACTERS`."""
    text = error.replace("\x00", "�").encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= MAX_ERROR_CHARACTERS else text[: MAX_ERROR_CHARACTERS - 1] + "…"
