"""Paths of document sources on this machine."""

from __future__ import annotations

import os
import re
from pathlib import Path

_ESCAPE = re.compile(r"\\u(dc[89a-f][0-9a-f])")
"""Escape that `safe_text` writes for an undecodable byte."""


def path_of(source: str, *, base: Path | None) -> Path:
    """Return the absolute path of a source that is a file, which need not exist."""
    folder = (base or Path()).absolute()
    if "\\u" not in source:
        return folder / source
    unescaped = folder / _ESCAPE.sub(lambda match: chr(int(match[1], 16)), source)
    return unescaped if os.path.lexists(unescaped) else folder / source
