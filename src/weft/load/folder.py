"""Which files the given paths hold, found without opening them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.config import LoadOptions
from weft.errors import InputError
from weft.load.file_reader import safe_text, too_large
from weft.load.file_types import is_binary, is_line_based
from weft.load.formats.beir import find_corpus
from weft.load.gitignore import IgnoreRules, find_rules_above, parse_patterns
from weft.records import Skipped

NEVER_LOADED = frozenset({".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules"})
STORE_SUFFIXES = (".db", ".db-wal", ".db-shm")
"""The files of our own SQLite store."""


_ESCAPE = re.compile(r"\\u(dc[89a-f][0-9a-f])")
"""What `safe_text` makes of a byte that is no text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A file that is to be loaded."""

    path: Path
    source: str
    is_corpus: bool = False
    """Whether it is the corpus of a BEIR folder."""


def iter_files(paths: Sequence[Path], *, options: LoadOptions, base: Path | None) -> Iterator[FoundFile | Skipped]:
    """
    Return what the paths hold, lazily: in the order given, and inside a folder by name.

    A file that is reached by two of the paths comes once. Raises `InputError`, and does so before
    anything is read, if one of the paths does not exist.
    """
    starts = [_resolve(path) for path in paths]
    return _iter_once(starts, options=options, base=base.resolve() if base else None)


def name_source(path: Path, *, base: Path | None) -> str:
    """Return a resolved path as text: relative to the resolved base if it lies inside, else absolute."""
    inside = base is not None and path.is_relative_to(base)
    return safe_text((path.relative_to(base) if base and inside else path).as_posix())


def source_of(path: Path, *, base: Path | None) -> str:
    """Return the source of a file or folder that is given by name, whether or not it exists."""
    resolved = path.resolve() if path.is_dir() else path.parent.resolve() / path.name
    return name_source(resolved, base=base.resolve() if base else None)


def is_on_disk(source: str, *, base: Path | None) -> bool:
    """Tell whether there is a file, or a link, under a source. One that cannot be looked at is taken to be there."""
    name = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), source)
    if name != source and is_on_disk(name, base=base):
        return True
    try:
        status = ((base or Path()) / source).lstat()
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a name with a NUL in it
        return False
    except OSError:
        return True
    return not stat.S_ISDIR(status.st_mode)


def _resolve(path: Path) -> Path:
    """Return an absolute path with the links on the way resolved, but not the name of a file."""
    try:
        is_folder = stat.S_ISDIR(path.stat().st_mode)
    except PermissionError:
        is_folder = False  # it may well exist; the walk will say that it is unreadable
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL in it
        raise InputError(f"cannot find {str(path)!r}", hint="check the spelling and the folder") from error
    return path.resolve() if is_folder else path.parent.resolve() / path.name


def _iter_once(starts: Sequence[Path], *, options: LoadOptions, base: Path | None) -> Iterator[FoundFile | Skipped]:
    taken: set[str] = set()
    for start in starts:
        for found in _Walker(start, options=options, base=base).walk():
            if found.source not in taken:
                yield found
            if len(starts) > 1:
                taken.add(found.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Folder:
    """A folder that is being walked."""

    children: Iterator[Path]
    """Those still to come."""
    rules: IgnoreRules
    is_corpus: bool = False


class _Walker:
    """Walks what one path holds, without recursion and without visiting any folder twice."""

    def __init__(self, root: Path, *, options: LoadOptions, base: Path | None) -> None:
        self._root = root
        self._options = options
        self._base = base
        self._include = parse_patterns(options.include)
        self._exclude = parse_patterns(options.exclude)
        self._visited: set[tuple[int, int]] = set()

    def walk(self) -> Iterator[FoundFile | Skipped]:
        """Yield the files to load, by name, and what is passed over."""
        rules = find_rules_above(self._root) if self._options.respect_gitignore else IgnoreRules()
        stack = [_Folder(children=iter([self._root]), rules=rules)]
        while stack:
            path = next(stack[-1].children, None)
            if path is None:
                stack.pop()
                continue
            found = self._visit(path, parent=stack[-1])
            if isinstance(found, _Folder):
                stack.append(found)
            else:
                yield found

    def _visit(self, path: Path, *, parent: _Folder) -> _Folder | FoundFile | Skipped:
        try:
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode) and path != self._root and not self._options.follow_symlinks:
                return self._skip(path, "symlink", "links are not followed")
            status = path.stat()
            is_folder = stat.S_ISDIR(status.st_mode)
            why = self._find_objection(path, is_folder=is_folder, rules=parent.rules)
            if why and path != self._root:  # what is given by name is loaded all the same
                return self._skip(path, "ignored", why)
            if not is_folder:
                return self._check_file(path, status=status, is_corpus=parent.is_corpus)
            if (status.st_dev, status.st_ino) in self._visited:
                return self._skip(path, "symlink", "leads to a folder that was already visited")
            self._visited.add((status.st_dev, status.st_ino))
            return self._enter(path, rules=parent.rules)
        except OSError as error:
            return self._skip(path, "unreadable", error.strerror or type(error).__name__)

    def _find_objection(self, path: Path, *, is_folder: bool, rules: IgnoreRules) -> str:
        """Return which rule keeps a path out, or nothing."""
        name = path.relative_to(self._root).as_posix() + ("/" if is_folder else "")
        if path.name in NEVER_LOADED or (not is_folder and path.name.lower().endswith(STORE_SUFFIXES)):
            return "never loaded"
        if path.name.startswith(".") and not self._options.hidden:
            return "hidden"
        if rules.ignores(path, is_folder=is_folder):
            return "by .gitignore"
        if self._exclude.match_file(name):
            return "excluded"
        if self._options.include and not is_folder and not self._include.match_file(name):
            return "not included"
        return ""

    def _enter(self, folder: Path, *, rules: IgnoreRules) -> _Folder:
        inner = rules.enter(folder) if self._options.respect_gitignore else rules
        if corpus := find_corpus(folder):
            return _Folder(children=iter([corpus]), rules=inner, is_corpus=True)
        return _Folder(children=iter(sorted(folder.iterdir(), key=lambda path: path.name)), rules=inner)

    def _check_file(self, path: Path, *, status: os.stat_result, is_corpus: bool) -> FoundFile | Skipped:
        if not stat.S_ISREG(status.st_mode):  # reading a pipe or a device may never end
            return self._skip(path, "not a regular file")
        if is_binary(path):
            return self._skip(path, "binary")
        if not status.st_size:
            return self._skip(path, "empty")
        options = self._options
        limit = options.max_expanded_bytes if is_line_based(path) else options.max_file_bytes
        if status.st_size > limit:
            error = too_large(status.st_size, limit=limit)
            return self._skip(path, error.reason, error.detail)
        return FoundFile(path=path, source=name_source(path, base=self._base), is_corpus=is_corpus)

    def _skip(self, path: Path, reason: str, detail: str = "") -> Skipped:
        return Skipped(source=name_source(path, base=self._base), reason=reason, detail=detail)
