"""Paths of document sources on this machine."""

from __future__ import annotations

import os
import re
from pathlib import Path

_ESCAPE = re.compile(r"\\u(dc[89a-f][0-9a-f])")
"""Escape that `safe_text` writes for an undecodable byte."""


def path_of(source: str, *, base: Path | None) -> Path:
    """Return the absolute path of a source that is a file, which need not exist."""
    return Path(file_path(source, folder=str((base or Path()).absolute())))


def file_path(source: str, *, folder: str) -> str:
    """Return the path of a source that is a file; sources without a root are below a folder."""
    path = os.path.join(folder, source)  # noqa: PTH118 - called for each hit
    if "\\u" not in source:
        return path
    unescaped = os.path.join(folder, _ESCAPE.sub(lambda match: chr(int(match[1], 16)), source))  # noqa: PTH118
    return unescaped if os.path.lexists(unescaped) else path
