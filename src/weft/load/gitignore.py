"""Ignore rules of the `.gitignore` files of a folder and the folders above it."""

from __future__ import annotations

import logging
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pathspec import GitIgnoreSpec

from weft.config import MEBIBYTE
from weft.errors import InputError
from weft.load.line_map import shorten
from weft.text.decode import decode

FILE_NAME = ".gitignore"

MAX_STARS_PER_NAME = 3
"""Maximum number of `*` in one part of a pattern: matching time grows with the name length to this power."""
MAX_DOUBLE_STARS = 3
"""Maximum number of `**` in a pattern: matching time grows with the path depth to this power."""

_ONE_CHARACTER = re.compile(r"\\.|\[[^\]/]{0,100}\]")
"""Parts of a pattern that match one character: escapes (`\\*`) and sets (`[*a]`)."""
_STARS = re.compile(r"\*+")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """Pattern sets with the folder of their `.gitignore`, outermost first."""

    specs: tuple[tuple[Path, GitIgnoreSpec], ...] = ()

    def enter(self, folder: Path) -> IgnoreRules:
        """Return these rules and the rules of a folder."""
        lines = read_patterns(folder / FILE_NAME)
        return IgnoreRules((*self.specs, (folder, parse_patterns(lines)))) if lines else self

    def ignores(self, path: Path, *, is_folder: bool) -> bool:
        """Return True if a path is ignored. The innermost `.gitignore` with a matching pattern decides, as in git."""
        for folder, spec in reversed(self.specs):
            name = path.relative_to(folder).as_posix() + ("/" if is_folder else "")
            verdict = spec.check_file(name).include
            if verdict is not None:
                return verdict
        return False


def find_rules_above(root: Path) -> IgnoreRules:
    """
    Return the rules of the enclosing repository from the folders above `root`.

    Empty if these rules ignore `root` itself, because the user passed it explicitly.
    """
    chain = [root]
    while not _exists(chain[0] / ".git"):
        if chain[0] == chain[0].parent:
            return IgnoreRules()
        chain.insert(0, chain[0].parent)
    rules = IgnoreRules()
    for folder, child in pairwise(chain):
        rules = rules.enter(folder)
        if rules.ignores(child, is_folder=True):
            return IgnoreRules()
    return rules


def parse_patterns(lines: Iterable[str]) -> GitIgnoreSpec:
    """Return the patterns of the lines; invalid patterns are omitted, as in git."""
    return GitIgnoreSpec.from_lines(line for line in lines if _is_pattern(line))


def parse_setting(patterns: Sequence[str], *, name: str) -> GitIgnoreSpec:
    """Return the patterns of a setting. Raises `InputError` for one with too many wildcards."""
    for pattern in patterns:
        if _is_slow(pattern):
            raise InputError(f"too many wildcards in {name}: {shorten(pattern)!r}", hint="use fewer `*` in a pattern")
    return parse_patterns(patterns)


def _is_pattern(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def read_patterns(path: Path) -> list[str]:
    """Return the lines of a `.gitignore`; patterns with too many wildcards are omitted and logged."""
    lines = _read_lines(path)
    slow = {line for line in lines if _is_slow(line)}
    for line in sorted(slow):
        logger.warning("ignored pattern %s in %s: too many wildcards", shorten(line), path)
    return [line for line in lines if line not in slow]


def _is_slow(line: str) -> bool:
    parts = _ONE_CHARACTER.sub("", line).split("/")
    return parts.count("**") > MAX_DOUBLE_STARS or any(len(_STARS.findall(part)) > MAX_STARS_PER_NAME for part in parts)


def _exists(path: Path) -> bool:
    try:
        path.lstat()
    except OSError:
        return False
    return True


def _read_lines(path: Path) -> list[str]:
    """Return the lines of a file; none if it is missing, unreadable, over 1 MiB or not a regular file."""
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > MEBIBYTE:
            return []
        return decode(path.read_bytes()).split("\n")
    except OSError:
        return []
