"""Evaluation sets of the quality benchmarks, opened through the cache of `weft eval`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from harness import data_folder

from weft.config import read_settings
from weft.engine.engine import Engine
from weft.evaluate.dataset import Case, read_cases
from weft.evaluate.retrieval import open_evaluation

NAMES = (
    "hotpot-train", "musique-train", "2wiki-dev", "scifact-train", "xquad-en", "xquad-zh", "cmrc-trial", "cacm",
)  # fmt: skip


@contextmanager
def open_set(name: str, *, embedder: str) -> Iterator[tuple[Engine, list[Case]]]:
    """Yield an engine on the indexed set and its questions."""
    settings = read_settings({"models.embedder": embedder})
    folder = data_folder() / name
    with open_evaluation(folder, settings=settings, use_cache=True, on_step=lambda stage, count: None) as (engine, _):
        yield engine, read_cases(folder)
