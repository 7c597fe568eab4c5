"""What language models cost, without a database."""

from __future__ import annotations

from collections.abc import Sequence

from weft.records import LlmRun


class MemorySpending:
    """The runs of one namespace in memory."""

    def __init__(self, runs: dict[str, LlmRun]) -> None:
        self._runs = runs

    def write(self, *runs: LlmRun) -> None:
        self._runs |= {run.id: run for run in runs}

    def runs(self) -> list[LlmRun]:
        return sorted(self._runs.values(), key=lambda run: (run.at, run.id))

    def forget(self, ids: Sequence[str]) -> int:
        return sum(self._runs.pop(id, None) is not None for id in set(ids))
