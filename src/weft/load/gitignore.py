"""The `.gitignore` files that hold in a folder."""

from __future__ import annotations

import logging
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pathspec import GitIgnoreSpec

from weft.config import MEBIBYTE
from weft.load.line_map import shorten
from weft.text.decode import decode

NAME = ".gitignore"

MAX_STARS = 3
"""In the name of a file or folder: time grows with the length of the name to this power."""
MAX_FOLDERS = 3
"""`**` in a pattern: time grows with the depth of a path to this power."""

_PLAIN = re.compile(r"\\.|\[[^\]/]*\]")
"""What may look like a star and is none, or stands for one character."""
_STARS = re.compile(r"\*+")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """Patterns with the folder each set of them was found in, outermost first."""

    specs: tuple[tuple[Path, GitIgnoreSpec], ...] = ()

    def enter(self, folder: Path) -> IgnoreRules:
        """Return the rules that hold inside a folder: these and its own."""
        lines = _read_patterns(folder / NAME)
        return IgnoreRules((*self.specs, (folder, parse_patterns(lines)))) if lines else self

    def ignores(self, path: Path, *, is_folder: bool) -> bool:
        """Tell whether the path is ignored. The innermost file that mentions it decides, as in git."""
        for folder, spec in reversed(self.specs):
            name = path.relative_to(folder).as_posix() + ("/" if is_folder else "")
            verdict = spec.check_file(name).include
            if verdict is not None:
                return verdict
        return False


def find_rules_above(root: Path) -> IgnoreRules:
    """
    Return the rules of the repository that a folder lies in, from above the folder only.

    There are none when those rules ignore the folder itself: someone asked for it by name.
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
    """Return the patterns of some lines; lines that are no pattern are left out, as git does."""
    return GitIgnoreSpec.from_lines(line for line in lines if _is_pattern(line))


def _is_pattern(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def _read_patterns(path: Path) -> list[str]:
    """Return the lines of a `.gitignore`, but for patterns that may take forever to compare, which are reported."""
    lines = _read_lines(path)
    slow = {line for line in lines if _is_slow(line)}
    for line in sorted(slow):
        logger.warning("the pattern %s of %s has too many stars and is left out", shorten(line), path)
    return [line for line in lines if line not in slow]


def _is_slow(line: str) -> bool:
    parts = _PLAIN.sub("", line).split("/")
    return parts.count("**") > MAX_FOLDERS or any(len(_STARS.findall(part)) > MAX_STARS for part in parts)


def _exists(path: Path) -> bool:
    try:
        path.lstat()
    except OSError:
        return False
    return True


def _read_lines(path: Path) -> list[str]:
    """Return the lines of a file; none if it is absent, unreadable, huge or anything but a plain file."""
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > MEBIBYTE:
            return []
        return decode(path.read_bytes()).split("\n")
    except OSError:
        return []
