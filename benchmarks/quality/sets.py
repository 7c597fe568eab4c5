"""Evaluation sets of the quality benchmarks, opened through the cache of `weft eval`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.evaluate.dataset import Case, read_cases
from weft.evaluate.retrieval import open_evaluation

NAMES = (
    "hotpot-train", "musique-train", "2wiki-dev", "scifact-train", "xquad-en", "xquad-zh", "cmrc-trial", "cacm",
)  # fmt: skip
MAIN_MEASURE = dict.fromkeys(NAMES, "recall@5") | {
    "xquad-en": "recall@1", "xquad-zh": "recall@1", "cmrc-trial": "recall@1", "cacm": "recall@10",
}  # fmt: skip


def data_folder() -> Path:
    """Return the folder of the sets: $WEFT_DATA, or `shared/data` beside the project."""
    home = Path(os.environ.get("WEFT_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
    if not home.is_dir():
        sys.exit("no evaluation sets: set WEFT_DATA to a folder of sets in BEIR layout")
    return home


@contextmanager
def open_set(name: str, *, embedder: str) -> Iterator[tuple[Engine, list[Case]]]:
    """Yield an engine on the indexed set and its questions."""
    settings = read_settings({"models.embedder": embedder})
    folder = data_folder() / name
    with open_evaluation(folder, settings=settings, use_cache=True, on_step=lambda stage, count: None) as (engine, _):
        yield engine, read_cases(folder)
