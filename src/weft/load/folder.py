"""Search for files below paths without opening them, with ignore rules and size limits."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.config import LoadOptions
from weft.errors import InputError
from weft.load.entry_points import find_packaged_loader
from weft.load.file_reader import safe_text, too_large
from weft.load.file_types import is_binary, is_line_based
from weft.load.formats.beir import find_corpus
from weft.load.gitignore import IgnoreRules, find_rules_above, parse_setting
from weft.records import Skipped
from weft.system.source_paths import path_of

SKIPPED_NAMES = frozenset({".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules"})
STORE_SUFFIXES = (".db", ".db-wal", ".db-shm")
"""Files of SQLite stores."""
INDEX_SUFFIX = ".db.index"
"""End of the folder beside a store that contains its read indexes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A file to load."""

    path: Path
    source: str
    is_corpus: bool = False
    """True for the corpus file of a BEIR folder."""


def iter_files(paths: Sequence[Path], *, options: LoadOptions, base: Path | None) -> Iterator[FoundFile | Skipped]:
    """
    Yield files to load and skipped files: paths in the given order, files of a folder by name.

    A file below two of the paths is yielded once. Raises `InputError` immediately if a path does not exist.
    """
    roots = [_resolve(path) for path in paths]
    return _iter_once(roots, options=options, base=base.resolve() if base else None)


def check_paths(paths: Sequence[Path]) -> None:
    """Raise `InputError` if a path does not exist."""
    for path in paths:
        _resolve(path)


def name_source(path: Path, *, base: Path | None) -> str:
    """Return the source of a resolved path: relative to the resolved base if below it, else absolute."""
    inside = base is not None and path.is_relative_to(base)
    return safe_text((path.relative_to(base) if base and inside else path).as_posix())


def source_of(path: Path, *, base: Path | None) -> str:
    """Return the source of a file or folder, which need not exist."""
    resolved = path.resolve() if path.is_dir() else path.parent.resolve() / path.name
    return name_source(resolved, base=base.resolve() if base else None)


def is_on_disk(source: str, *, base: Path | None) -> bool:
    """Return True if a source is an existing file or link, or if this cannot be determined."""
    try:
        status = path_of(source, base=base).lstat()
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: NUL in the name
        return False
    except OSError:
        return True
    return not stat.S_ISDIR(status.st_mode)


def _resolve(path: Path) -> Path:
    """Return the absolute path; links are resolved, except a file that is itself a link."""
    try:
        is_folder = stat.S_ISDIR(path.stat().st_mode)
    except PermissionError:
        is_folder = False  # the walk reports the folder as unreadable
    except (OSError, ValueError) as error:  # ValueError: NUL in the name
        raise InputError(f"file or folder not found: {str(path)!r}", hint="pass an existing file or folder") from error
    return path.resolve() if is_folder else path.parent.resolve() / path.name


def _iter_once(roots: Sequence[Path], *, options: LoadOptions, base: Path | None) -> Iterator[FoundFile | Skipped]:
    seen: set[str] = set()
    for root in roots:
        for found in _Walker(root, options=options, base=base).walk():
            if found.source not in seen:
                yield found
            if len(roots) > 1:
                seen.add(found.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Folder:
    """A folder of the walk in progress."""

    children: Iterator[Path]
    """Remaining entries."""
    rules: IgnoreRules
    is_corpus: bool = False


class _Walker:
    """Iterative walk below one path that visits no folder twice."""

    def __init__(self, root: Path, *, options: LoadOptions, base: Path | None) -> None:
        self._root = root
        self._options = options
        self._base = base
        self._include = parse_setting(options.include, name="load.include")
        self._exclude = parse_setting(options.exclude, name="load.exclude")
        self._visited: set[tuple[int, int]] = set()

    def walk(self) -> Iterator[FoundFile | Skipped]:
        """Yield files to load and skipped files, ordered by name."""
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
                return self._skip(path, "symlink", "symbolic links are not followed")
            status = path.stat()
            is_folder = stat.S_ISDIR(status.st_mode)
            rule = self._find_ignore_rule(path, is_folder=is_folder, rules=parent.rules)
            if rule and path != self._root:  # a path passed by the user is always loaded
                return self._skip(path, "ignored", rule)
            if not is_folder:
                return self._check_file(path, status=status, is_corpus=parent.is_corpus)
            if (status.st_dev, status.st_ino) in self._visited:
                return self._skip(path, "symlink", "folder already visited")
            self._visited.add((status.st_dev, status.st_ino))
            return self._enter(path, rules=parent.rules)
        except OSError as error:
            return self._skip(path, "unreadable", error.strerror or type(error).__name__)

    def _find_ignore_rule(self, path: Path, *, is_folder: bool, rules: IgnoreRules) -> str:
        """Return the rule that excludes a path, or an empty text."""
        name = path.relative_to(self._root).as_posix() + ("/" if is_folder else "")
        store = (INDEX_SUFFIX,) if is_folder else STORE_SUFFIXES
        if path.name in SKIPPED_NAMES or path.name.lower().endswith(store):
            return "always skipped"
        if path.name.startswith(".") and not self._options.hidden:
            return "hidden"
        if rules.ignores(path, is_folder=is_folder):
            return "matched by .gitignore"
        if self._exclude.match_file(name):
            return "matched by load.exclude"
        if self._options.include and not is_folder and not self._include.match_file(name):
            return "not matched by load.include"
        return ""

    def _enter(self, folder: Path, *, rules: IgnoreRules) -> _Folder:
        inner = rules.enter(folder) if self._options.respect_gitignore else rules
        if corpus := find_corpus(folder):
            return _Folder(children=iter([corpus]), rules=inner, is_corpus=True)
        return _Folder(children=iter(sorted(folder.iterdir(), key=lambda path: path.name)), rules=inner)

    def _check_file(self, path: Path, *, status: os.stat_result, is_corpus: bool) -> FoundFile | Skipped:
        if not stat.S_ISREG(status.st_mode):  # reading a pipe or device may block forever
            return self._skip(path, "not a regular file")
        if is_binary(path, ocr=self._options.ocr) and not find_packaged_loader(path.suffix.lower()):
            return self._skip(path, "binary")
        if not status.st_size:
            return self._skip(path, "empty")
        options = self._options
        is_streamed = is_line_based(path) or path.suffix.lower() in (".mbox", ".zip")
        limit = options.max_expanded_bytes if is_streamed else options.max_file_bytes
        if status.st_size > limit:
            error = too_large(status.st_size, limit=limit)
            return self._skip(path, error.reason, error.detail)
        return FoundFile(path=path, source=name_source(path, base=self._base), is_corpus=is_corpus)

    def _skip(self, path: Path, reason: str, detail: str = "") -> Skipped:
        return Skipped(source=name_source(path, base=self._base), reason=reason, detail=detail)
