"""TOML files of settings, which may come from a stranger: bounded in size, nesting and time."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from weft.errors import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MAX_FILE_BYTES = 65_536
"""Larger files are refused; one with every setting has about 4,000 bytes."""
_LONG_NAME = re.compile(r"(?:[^.,=\[\]\n]{0,60}\.){60}")
"""
A name of more than 60 parts. The parser needs time that grows with the square of their number, or more.

    refused     a.a.a.a.…, "a" . "a" . …
    accepted    exclude = ["*.a", "*.b", …]: a comma ends a name
"""


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file. Raises `ConfigError`."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise ValueError(f"it has more than {MAX_FILE_BYTES:,} bytes")
        text = data.decode("utf-8").replace("\r\n", "\n")
        if _LONG_NAME.search(text):
            raise ValueError("it has a name of more than 60 parts")
        found: dict[str, Any] = tomllib.loads(text)
    except (OSError, RecursionError, ValueError) as error:  # ValueError: also of TOML, UTF-8, and long numbers
        raise ConfigError(
            f"cannot read {str(path)!r}: {error}", hint="correct the TOML syntax, or make the file readable"
        ) from error
    return found
