"""
Location of a repository's objects and of its current commit, read without Git.

The folder may come from a stranger. Its configuration, attributes and hooks are never read. Nothing outside the
repository is read: a link, a `.git` file, `commondir` or an alternate that leads elsewhere is refused.

    folder/.git              a Git directory
    folder/.git              a file `gitdir: PATH` of a submodule or a linked worktree; PATH must name `folder` in turn
    folder                   a bare repository, or a Git directory itself
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from weft.errors import InputError

MAX_LINK_BYTES = 4096
"""Size that is read of files with one path or one reference: `.git`, `HEAD`, `commondir`, `gitdir`."""
MAX_LIST_BYTES = 16 << 20
"""Size that is read of lists: alternates, shallow commits, the configuration with `core.worktree`."""
MAX_REFTABLE_BYTES = 256 << 20
"""Size of the reftables, which are copied."""
MAX_SYMBOLIC_REFERENCES = 5
MAX_OBJECT_DEPTH = 4
"""Depth of folders that is checked; Git itself makes two below `objects`."""
REFTABLE_HEAD = "refs/heads/.invalid"
"""Branch that `HEAD` names if the references are stored as reftables."""

_OBJECT_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REFERENCE = re.compile(r"refs(?:/(?!\.\.?(?:/|$))[^/\\\x00-\x1f]+)+")
_WORKTREE = re.compile(r"[ \t]*worktree[ \t]*=(?P<path>.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """Parts of a repository that Git may read."""

    objects: Path
    head: str
    """Id of the current commit; empty if Git has to look it up in the reftables."""
    shallow: bytes
    """Ids of the commits whose parents are missing, one per line."""
    reftables: tuple[Path, ...] = ()
    """Folders with reftables: of the repository, and of the linked worktree if it is one."""


def find_repository(folder: Path) -> Repository:
    """
    Return the repository that contains a folder. Raises `InputError`.

    The folders above are searched as well, as Git does, but only for a `.git` of the same owner as this process.
    """
    try:
        return _Reader(folder).read()
    except (OSError, RuntimeError, ValueError) as error:  # not readable, a loop of links, a path with a null byte
        refuse(folder, str(error))


def refuse(folder: Path, reason: str, *, hint: str = "") -> NoReturn:
    """Raise the error of a repository that cannot be read."""
    raise InputError(
        f"cannot read the history of {str(folder)!r}: {reason}",
        hint=hint or "pass the folder of a Git repository with at least one commit",
    )


# ── private ─────────────────────────────────────────────────────────────────────────────────────


class _Reader:
    """Reader of one repository; `_roots` are the folders in which everything must lie."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._top = folder.resolve()
        self._roots: list[Path] = []

    def read(self) -> Repository:
        git = self._find_git_folder()
        common = self._find_common_folder(git)
        self._roots = [*dict.fromkeys([self._top, git, common])]
        objects = self._inside(common / "objects")
        self._check_objects(objects, seen=set())
        head = self._read_head(git, common)
        is_reftable = head == REFTABLE_HEAD
        return Repository(
            objects=objects,
            head="" if is_reftable else head,
            shallow=self._read_file(common / "shallow", limit=MAX_LIST_BYTES),
            reftables=tuple(self._find_reftables(git, common)) if is_reftable else (),
        )

    def _find_git_folder(self) -> Path:
        """Return the Git directory of the folder, or of the first folder above that has a `.git`."""
        if not os.path.lexists(self._top / ".git") and _is_git_folder(self._top):
            return self._top
        for top in (self._top, *self._top.parents):
            git = top / ".git"
            if os.path.lexists(git) and (top == self._top or _is_own(git)):
                self._top = top
                return self._follow(git)
        refuse(self._folder, "not a git repository")

    def _follow(self, git: Path) -> Path:
        """Return the Git directory for `.git`, which lies in the folder or names it."""
        target = git.resolve()
        if target.is_file():
            text = _decode(_read(target, limit=MAX_LINK_BYTES))
            target = (target.parent / text.removeprefix("gitdir:").strip()).resolve()
            if not text.startswith("gitdir:"):
                refuse(self._folder, "not a git repository")
        if not _is_git_folder(target):
            refuse(self._folder, "not a git repository")
        if not target.is_relative_to(self._top) and not _names(target, self._top):
            refuse(
                self._folder,
                f"its '.git' leads to {str(target)!r}, which does not belong to the folder",
                hint=f"if it does, pass that folder: weft index --git {target}",
            )
        return target

    def _find_common_folder(self, git: Path) -> Path:
        """Return the folder with objects and branches: that of the main repository for a linked worktree."""
        if not os.path.lexists(git / "commondir"):
            return git
        common = (git / _decode(_read(git / "commondir", limit=MAX_LINK_BYTES)).strip()).resolve()
        if not git.is_relative_to(common):
            self._refuse_outside(common)
        return common

    def _read_head(self, git: Path, common: Path) -> str:
        """Return the id of the current commit, or `REFTABLE_HEAD`."""
        value = _decode(self._read_file(git / "HEAD", limit=MAX_LINK_BYTES)).strip()
        for _ in range(MAX_SYMBOLIC_REFERENCES):
            if _OBJECT_ID.fullmatch(value):
                return value
            name = value.removeprefix("ref:").strip()
            if name == REFTABLE_HEAD:
                return name
            if not value.startswith("ref:") or not _REFERENCE.fullmatch(name):
                break
            value = self._read_reference(name, git=git, common=common)
        refuse(self._folder, "the current branch has no commits")

    def _read_reference(self, name: str, *, git: Path, common: Path) -> str:
        """Return the value of a reference: of the worktree, of the repository, or packed; empty if there is none."""
        for folder in dict.fromkeys([git, common]):
            if (folder / name).is_file():
                return _decode(self._read_file(folder / name, limit=MAX_LINK_BYTES)).strip()
        packed = common / "packed-refs"
        if packed.is_file():
            with self._inside(packed).open("rb") as lines:
                wanted = b" " + os.fsencode(name)
                while line := lines.readline(MAX_LINK_BYTES):
                    if line.rstrip(b"\r\n").endswith(wanted):
                        return _decode(line).split(" ")[0]
        return ""

    def _find_reftables(self, git: Path, common: Path) -> Iterator[Path]:
        for folder in dict.fromkeys([common, git]):
            reftable = self._inside(folder / "reftable")
            self._check_plain(reftable)
            if sum(table.stat().st_size for table in reftable.iterdir()) > MAX_REFTABLE_BYTES:
                refuse(self._folder, f"{str(reftable)!r} is larger than {MAX_REFTABLE_BYTES:,} bytes")
            yield reftable

    def _check_objects(self, objects: Path, *, seen: set[Path]) -> None:
        """Raise an error if Git would read objects from elsewhere, or wait at something that is no file."""
        seen.add(objects)
        self._check_plain(objects)
        alternates = objects / "info" / "alternates"
        for line in _decode(self._read_file(alternates, limit=MAX_LIST_BYTES)).split("\n"):
            if line.startswith('"'):
                self._refuse_outside(alternates)  # a quoted path, which Git writes for odd characters only
            if line and not line.startswith("#"):
                # Git resolves `..` as text, before links.
                alternate = self._inside(Path(os.path.normpath(objects / line)))
                if alternate not in seen and alternate.is_dir():
                    self._check_objects(alternate, seen=seen)

    def _check_plain(self, folder: Path, *, depth: int = 0) -> None:
        """Raise an error unless a folder contains nothing but folders and ordinary files."""
        with os.scandir(folder) as entries:
            for entry in entries:
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_folder and depth < MAX_OBJECT_DEPTH:
                    self._check_plain(Path(entry), depth=depth + 1)
                elif not is_folder and not entry.is_file(follow_symlinks=False):
                    refuse(self._folder, f"{entry.path!r} is a link or no ordinary file")

    def _read_file(self, path: Path, *, limit: int) -> bytes:
        """Return the content of a file of the repository, empty if there is none."""
        if not path.is_file():
            return b""
        content = _read(self._inside(path), limit=limit + 1)
        if len(content) > limit:
            refuse(self._folder, f"{str(path)!r} is larger than {limit:,} bytes")
        return content

    def _inside(self, path: Path) -> Path:
        """Return a path without links. Raises `InputError` if it lies outside the repository."""
        real = path.resolve()
        if not any(real.is_relative_to(root) for root in self._roots):
            self._refuse_outside(real)
        return real

    def _refuse_outside(self, path: Path) -> NoReturn:
        refuse(
            self._folder,
            f"it refers to {str(path)!r} outside the repository",
            hint="make a copy with `git clone --no-local`, and index that",
        )


def _is_git_folder(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and ((folder / "objects").is_dir() or (folder / "commondir").is_file())


def _is_own(path: Path) -> bool:
    """Return True if a path belongs to the user of this process; always on Windows."""
    return not hasattr(os, "getuid") or path.lstat().st_uid == os.getuid()


def _names(git: Path, top: Path) -> bool:
    """Return True if a Git directory names `top` as its folder: as a linked worktree, or as a submodule."""
    named = _decode(_read(git / "gitdir", limit=MAX_LINK_BYTES)).strip()
    if named and (git / named).resolve() == top / ".git":
        return True
    lines = _decode(_read(git / "config", limit=MAX_LIST_BYTES)).splitlines()
    paths = [found["path"].strip().strip('"') for line in lines if (found := _WORKTREE.match(line))]
    return any((git / path).resolve() == top for path in paths if path)


def _read(path: Path, *, limit: int) -> bytes:
    """Return the beginning of an ordinary file, empty if there is none."""
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(limit)


def _decode(value: bytes) -> str:
    return os.fsdecode(value)
