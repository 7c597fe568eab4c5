"""Progress on stderr: bars on a terminal, a line every few seconds in a pipe."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from weft.cli.terminal import say

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

EVERY_SECONDS = 10.0
"""Seconds between two lines in a pipe."""
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
    """Bar with the number of finished steps, the rate of a unit, and the remaining time."""

    def __init__(self, label: str, *, total: int | None, unit: str, quiet: bool) -> None:
        self._label, self._total, self._unit = label, total, unit
        self._start = self._last = time.monotonic()
        self._done = self._extra = 0
        self._bar: Progress | None = None
        self._quiet = quiet
        if not quiet and sys.stderr.isatty():
            self._bar = _make_count_bar()
            self._task = self._bar.add_task(label, total=total, rate="")

    def expect(self, total: int) -> None:
        """Set the total number of steps once it is known."""
        if total != self._total and self._bar is not None:
            self._bar.update(self._task, total=total)
        self._total = total

    def advance(self, count: int = 1, *, extra: int = 0) -> None:
        """Add `count` finished steps and `extra` of the unit whose rate is printed."""
        self._done += count
        self._extra += extra
        if self._total is not None and self._done > self._total:  # a file may hold more records than estimated
            self._forget_total()
        now = time.monotonic()
        rate = f"{self._extra / max(now - self._start, 1e-9):.1f} {self._unit}/s" if self._extra else ""
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, rate=rate)
        elif not self._quiet and now - self._last >= EVERY_SECONDS:
            self._last = now
            say(f"{self._label}: {self._line(now, rate)}", err=True)

    def _forget_total(self) -> None:
        self._total = None
        if self._bar is not None:
            self._bar.update(self._task, total=None)

    def _line(self, now: float, rate: str) -> str:
        parts = [f"{self._done:,} of {self._total:,}" if self._total else f"{self._done:,}", rate]
        if self._total and self._done >= min(MIN_DONE, self._total):
            left = (now - self._start) / self._done * max(0, self._total - self._done)
            parts.append(f"{left:.0f} s left")
        return ", ".join(part for part in parts if part)

    def __enter__(self) -> CountBar:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


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
        TimeRemainingColumn,
    )

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )
