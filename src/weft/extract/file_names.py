"""What else a document goes by: the name of its file, the id its title begins with."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_NOTES = frozenset({".md", ".markdown", ".mdx"})
_FILE_NAME = re.compile(r"([\w. -]{1,80})\.[a-z0-9]{1,5}")
_OPENING_ID = re.compile(r"([A-Z]{2,10}-\d+)\b")


def note_name(source: str) -> str:
    """Return what wikilinks call a Markdown file, its name without the ending; empty for anything else."""
    path = PurePosixPath(source.replace("\\", "/").removeprefix("upload:"))
    return path.stem if path.suffix.lower() in _NOTES else ""


def opening_id(title: str) -> str:
    """Return the id of `INC-2041 Checkout failures` and of `INC-2090.txt`."""
    match = _OPENING_ID.match(title)
    if not match or match[1] == title:
        return ""
    file = _FILE_NAME.fullmatch(title)
    return match[1] if file is None or file[1] == match[1] or " " in title else ""
