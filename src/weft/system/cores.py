"""Number of processor cores."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Return the number of cores this process may use; in a container it can be lower than the machine's."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
