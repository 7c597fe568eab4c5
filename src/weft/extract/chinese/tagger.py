"""Protocol of a word segmenter that tags names in Chinese text."""

from __future__ import annotations

from typing import Protocol

from weft.records import TaggedWord


class Tagger(Protocol):
    """Word segmenter and name tagger for text without spaces."""

    @property
    def name(self) -> str:
        """Name and version, such as `lac-0.1.0`. It changes whenever a text would be tagged differently."""

    def tag(self, text: str) -> list[TaggedWord]:
        """Return the words of one sentence in order, without gaps. The first call loads the model."""
