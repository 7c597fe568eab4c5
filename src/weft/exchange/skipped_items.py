"""Messages about items of a file that could not be read."""

from __future__ import annotations

MAX_SKIPPED_MESSAGES = 100
"""Further messages are only counted."""


class SkippedItems:
    """Collects messages, each with the position in the file."""

    def __init__(self) -> None:
        self._messages: list[str] = []
        self._more = 0

    def add(self, place: str, reason: str) -> None:
        """Record an item that was not read, or not completely."""
        if len(self._messages) < MAX_SKIPPED_MESSAGES:
            self._messages.append(f"{place}: {reason}")
        else:
            self._more += 1

    def messages(self) -> tuple[str, ...]:
        """Return the messages, the last one with the number of those left out."""
        rest = [f"and {self._more:,} more"] if self._more else []
        return (*self._messages, *rest)
