"""What all stores hold of jobs."""

from __future__ import annotations

KEPT_S = 86_400.0
"""How long a job that is done waits to be collected, in seconds: whoever wanted it may be gone."""

ENDED = "each worker that took it ended before it was done"
"""Why a job failed of which nobody said why."""

MAX_ERROR = 2000
"""Characters of an error that are kept."""


def clean(error: str) -> str:
    """Return an error as every database can keep it."""
    text = error.replace("\x00", "�").encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= MAX_ERROR else text[: MAX_ERROR - 1] + "…"
