"""Limit for the number of models whose weights are in memory."""

from __future__ import annotations

from threading import Lock
from typing import Protocol


class Unloadable(Protocol):
    """A model that can release its weights."""

    def unload(self) -> None:
        """Release the weights. The next use loads them again; a use in progress ends normally."""


class LoadedModels:
    """
    Models with weights in memory, at most `limit`. Beyond it, the least recently used model is unloaded.

    Threads may share it.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = Lock()
        self._models: dict[int, Unloadable] = {}
        """Models by `id`, the least recently used first."""

    def __len__(self) -> int:
        return len(self._models)

    def use(self, model: Unloadable) -> None:
        """Record the use of a loaded model, and unload another one if there are too many."""
        with self._lock:
            self._models.pop(id(model), None)
            self._models[id(model)] = model
            while len(self._models) > self._limit:
                self._models.pop(next(iter(self._models))).unload()
