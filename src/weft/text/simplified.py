"""Conversion of traditional to simplified Chinese characters by OpenCC's table."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]")
_EXTRA = {"瞭": "了", "藉": "借", "祇": "只", "衹": "只"}
"""Characters that OpenCC converts only inside phrases. Here they are always converted, which is almost always right."""


def simplify(text: str) -> str:
    """
    Return `text` with each traditional character replaced: `臺灣積體電路` becomes `台湾积体电路`.

    Each character is converted on its own, so offsets stay valid and a substring converts like the whole text. The
    result is for comparison, not for display: `皇后` and `皇後` become equal.
    """
    return text.translate(_table()) if _HAN.search(text) else text


@cache
def _table() -> dict[int, str]:
    """Return the conversion table; importing its package instead would take 0.25 seconds and 40 MB."""
    spec = find_spec("opencc_purepy")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("No module named 'opencc_purepy'", name="opencc_purepy")
    lines = (Path(spec.origin).parent / "dicts" / "TSCharacters.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t") for line in lines if "\t" in line and not line.startswith("#")]
    first = {old: new.split(" ")[0] for old, new in pairs} | _EXTRA
    # apply the table twice, to make the conversion idempotent
    return {ord(old): first.get(new, new) for old, new in first.items() if len(old) == len(new) == 1 and old != new}
