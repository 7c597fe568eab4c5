"""Limits that a child process sets on itself, or its parent on it: CPU time, memory, priority."""

from __future__ import annotations

import math
import os
import sys
from contextlib import suppress
from pathlib import Path

if sys.platform != "win32":
    import resource

MAX_MEMORY_BYTES = 2 * 1024 * 1024 * 1024
"""Address space of a parser process. The largest accepted files (50 MB) need about half of it."""

HAS_CPU_LIMIT = sys.platform != "win32"
"""True if the operating system limits CPU time. If not, the parent limits wall-clock time to the same value."""

GRACE_CPU_SECONDS = 1
"""CPU seconds beyond the limit, in which the loaders of PDF and DOCX end by themselves and the process survives."""

NICENESS = 10
"""Priority of parsing below that of the server, which answers queries meanwhile."""


def lower_priority() -> None:
    """Lower the CPU priority, and make this process the first one to be killed when memory runs out."""
    if sys.platform != "win32":
        os.nice(NICENESS)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def limit_memory(max_bytes: int = MAX_MEMORY_BYTES) -> None:
    """Limit the address space where the operating system supports it (Linux)."""
    if sys.platform != "win32":
        _set_soft_limit(resource.RLIMIT_AS, max_bytes)
        _set_soft_limit(resource.RLIMIT_CORE, 0)


def lift_memory_limit() -> None:
    """Lift the limit of the address space, so that an error can be reported."""
    if sys.platform != "win32":
        _set_soft_limit(resource.RLIMIT_AS, resource.RLIM_INFINITY)


def limit_cpu(seconds: float) -> None:
    """Make the operating system kill this process after `seconds` more seconds of CPU time."""
    if sys.platform != "win32":
        usage = resource.getrusage(resource.RUSAGE_SELF)
        _set_soft_limit(resource.RLIMIT_CPU, math.ceil(usage.ru_utime + usage.ru_stime + seconds) + GRACE_CPU_SECONDS)


def limit_data_of(pid: int, max_bytes: int) -> None:
    """Make allocations of a running process fail beyond a limit, on Linux; mapped files do not count."""
    if sys.platform == "linux":
        with suppress(OSError, ValueError):  # the process has ended
            resource.prlimit(pid, resource.RLIMIT_DATA, (max_bytes, max_bytes))


def _set_soft_limit(kind: int, value: int) -> None:
    if sys.platform != "win32":
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY and (value == resource.RLIM_INFINITY or value > hard):
            value = hard
        with suppress(ValueError, OSError):  # macOS refuses some values
            resource.setrlimit(kind, (value, hard))
