"""Progress on stderr: bars on a terminal, a line every few seconds in a pipe."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING

from weft.cli.terminal import say

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

EVERY_SECONDS = 10.0
"""Seconds between two lines in a pipe."""
WINDOW_SECONDS = 30.0
"""Seconds over which the rate is measured. One call of a slow embedder takes several seconds."""
MIN_DONE = 10
"""Number of steps before the remaining time is printed, because the first steps include loading the model."""


class FetchBar:
    """Download bar. Called with the bytes so far and in total."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._last = 0.0
        self._is_done = False

    def __call__(self, done: int, total: int) -> None:
        if self._is_done:
            return
        self._is_done = done >= total
        if not sys.stderr.isatty():
            now = time.monotonic()
            if now - self._last > EVERY_SECONDS or self._is_done:
                self._last = now
                say(f"fetching the model: {done / 1e6:.0f} of {total / 1e6:.0f} MB", err=True)
            return
        if self._progress is None or self._task is None:
            self._progress = _make_download_bar()
            self._task = self._progress.add_task("", total=total)
            self._progress.start()
        self._progress.update(self._task, completed=done, total=total)
        if done >= total:
            self._progress.stop()
            self._progress = None


class CountBar:
    """Bar with the number of finished steps, the rate of a unit over the last seconds, and the remaining time."""

    def __init__(self, label: str, *, total: int | None, unit: str, quiet: bool) -> None:
        self._label, self._total, self._unit = label, total, unit
        self._last = time.monotonic()
        self._done = self._extra = 0
        self._steps, self._units = RecentRate(start=self._last), RecentRate(start=self._last)
        self._bar: Progress | None = None
        self._quiet = quiet
        self._lock = threading.Lock()
        if not quiet and sys.stderr.isatty():
            self._bar = _make_count_bar()
            self._task = self._bar.add_task(label, total=total, rate="", left="")

    def expect(self, total: int) -> None:
        """Set the total number of steps once it is known."""
        self._set_total(total)

    def advance(self, count: int = 1, *, extra: int = 0) -> None:
        """Add `count` finished steps and `extra` of the unit whose rate is printed."""
        self._done += count
        self._extra += extra
        if self._total is not None and self._done > self._total:  # a file may hold more records than estimated
            self._set_total(None)
        self._show()

    def update(self, done: int, *, total: int | None, extra: int | None = None) -> None:
        """Set the number of finished steps, the known total, and the units of the rate: one per step by default."""
        with self._lock:  # planning and embedding report from two threads
            self._done = max(self._done, done)
            self._extra = done if extra is None else extra
            self._set_total(total)
            self._show()

    def _set_total(self, total: int | None) -> None:
        if total != self._total and self._bar is not None:
            self._bar.update(self._task, total=total)
        self._total = total

    def _show(self) -> None:
        now = time.monotonic()
        self._steps.add(self._done, now)
        self._units.add(self._extra, now)
        per_second = self._units.per_second()
        rate, left = f"{per_second:.1f} {self._unit}/s" if per_second else "", self._left()
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, rate=rate, left=left)
        elif not self._quiet and now - self._last >= EVERY_SECONDS:
            self._last = now
            count = f"{self._done:,} of {self._total:,}" if self._total else f"{self._done:,}"
            say(f"{self._label}: {', '.join(part for part in (count, rate, left) if part)}", err=True)

    def _left(self) -> str:
        """Return the remaining time as text; empty if it is unknown or no step is left."""
        per_second = self._steps.per_second()
        if not self._total or self._done >= self._total or self._done < MIN_DONE or not per_second:
            return ""
        return f"{(self._total - self._done) / per_second:.0f} s left"

    def __enter__(self) -> CountBar:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


class RecentRate:
    """Rate of a counter over the last `WINDOW_SECONDS`, so that it soon excludes the time of loading the model."""

    def __init__(self, *, start: float) -> None:
        self._samples = deque([(start, 0)])

    def add(self, count: int, now: float) -> None:
        """Record the counter at a time in seconds."""
        self._samples.append((now, count))
        while len(self._samples) > 2 and self._samples[1][0] <= now - WINDOW_SECONDS:
            self._samples.popleft()

    def per_second(self) -> float:
        """Return the increase per second; 0 if it is unknown."""
        (start, first), (end, last) = self._samples[0], self._samples[-1]
        return (last - first) / max(end - start, 1e-9)


def _make_download_bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("fetching the model"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True))


def _make_count_bar() -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
    )

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[left]}"),
        console=Console(stderr=True),
    )
