"""Role of a word segmenter that marks names in Chinese text."""

from __future__ import annotations

from typing import Protocol

from weft.records import TaggedWord


class Tagger(Protocol):
    """Cuts text in a script without spaces into words and says which of them are names."""

    @property
    def name(self) -> str:
        """Changes whenever the same text would be read otherwise: `lac-0.1.0`."""

    def tag(self, text: str) -> list[TaggedWord]:
        """Return the words of one sentence in order, without gaps. Loads the model when it is first called."""
