"""
Commits of a Git repository, read from one `git log` process.

The repository may come from a stranger, so Git reads nothing of it but objects (`git_process`). The output is parsed
line by line, so the size of a diff does not matter.
"""

from __future__ import annotations

import re
import secrets
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NoReturn

from weft.load.git.git_process import start_git
from weft.load.git.repository import refuse
from weft.text.decode import clean

MAX_FILES = 50
"""Maximum number of changed files that are kept per commit; files that it adds are kept before others."""
MAX_HEADINGS = 8
"""Maximum number of hunk headings that are kept per file."""
MAX_LINE_BYTES = 4096
"""Longer lines of a diff are read in pieces, of which only the first is looked at."""
MAX_MESSAGE_CHARACTERS = 20_000

_HUNK = re.compile(r"@@ [-+,\d ]{1,60} @@ (?P<heading>\S.{0,200})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A file that a commit changes."""

    path: str
    headings: tuple[str, ...] = ()
    """Lines that Git prints after `@@`: the functions, classes or sections of the changes."""
    is_added: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """One commit."""

    sha: str
    author: str
    date: str
    """Author date, ISO 8601."""
    parents: tuple[str, ...]
    message: str
    files: tuple[ChangedFile, ...] = ()
    omitted_files: int = 0
    """Number of changed files that are not in `files`."""


@dataclass(slots=True)
class _Diff:
    """Files of the diff that is being read."""

    files: dict[str, list[str]] = field(default_factory=dict)
    added: set[str] = field(default_factory=set)
    current: str = ""
    is_new: bool = False
    """True if the commit adds the file whose header is being read."""
    omitted: int = 0
    left_out: str = ""
    """Path of the last omitted file, which a header names twice."""

    def read(self, line: str) -> None:
        """Note a file or a hunk heading; other lines are content."""
        if line.startswith("diff --git "):
            self.current, self.is_new = "", False
        elif line.startswith("new file mode ") and not self.current:
            self.is_new = True
        elif line.startswith(("--- a/", "+++ b/")) and len(line) > 6:
            self._open(line[6:].rstrip("\t"))
        elif line.startswith("rename to "):
            self._open(line.removeprefix("rename to "))
        elif self.current and (hunk := _HUNK.match(line)):
            known, heading = self.files[self.current], hunk["heading"].strip()
            if heading not in known and len(known) < MAX_HEADINGS:
                known.append(heading)

    def _open(self, path: str) -> None:
        if self.is_new:
            self._make_room()
            self.added.add(path)
        if path in self.files or len(self.files) < MAX_FILES:
            if self.current and self.current != path and not self.files[self.current]:
                del self.files[self.current]  # the old name of a renamed file
            self.current = path
            self.files.setdefault(path, [])
        elif path != self.left_out:
            self.omitted += 1
            self.current, self.left_out = "", path

    def _make_room(self) -> None:
        """Leave out the last file that is not new, if there are too many: who introduced a file is asked most."""
        changed = [path for path in self.files if path not in self.added]
        if len(self.files) >= MAX_FILES and changed:
            del self.files[changed[-1]]
            self.omitted += 1


def iter_commits(repository: Path) -> Iterator[Commit]:
    """Yield the commits of the current branch, newest first. Raises `InputError` if there is no repository."""
    mark = secrets.token_hex(16)  # no message or diff can contain it
    arguments = ["log", f"--format={mark}commit%n%H%n%an%n%aI%n%P%n%B%n{mark}diff", "--patch", "--unified=0",
                 "--find-renames"]  # fmt: skip
    with tempfile.TemporaryFile() as errors, start_git(repository, arguments, errors=errors) as process:
        assert process.stdout is not None
        try:
            yield from _parse(process.stdout, mark=mark)
        except GeneratorExit:
            process.terminate()
            raise
        if process.wait():
            errors.seek(0)
            _refuse(repository, errors.read(4096))


def list_shas(repository: Path) -> list[str]:
    """Return the ids of the commits of the current branch, newest first. Raises `InputError`."""
    with start_git(repository, ["log", "--format=%H"], errors=subprocess.PIPE) as process:
        out, errors = process.communicate()
    if process.returncode:
        _refuse(repository, errors)
    return out.decode("ascii", "replace").split()


def _refuse(folder: Path, errors: bytes) -> NoReturn:
    lines = errors.decode("utf-8", "replace").strip().splitlines() or ["git failed"]
    refuse(folder, lines[0].removeprefix("fatal: "))


def _parse(out: IO[bytes], *, mark: str) -> Iterator[Commit]:
    """Yield the commits of the output of `git log`."""
    head: list[str] | None = None
    diff: _Diff | None = None
    for line, is_start in _iter_lines(out):
        if is_start and line.startswith(mark):
            if line.rstrip("\n") == f"{mark}diff":
                diff = _Diff()
                continue
            if head is not None:
                yield _make_commit(head, diff or _Diff())
            head, diff = [], None
        elif diff is not None:
            if is_start:
                diff.read(line.rstrip("\n"))
        elif head is not None:
            head.append(line)
    if head is not None:
        yield _make_commit(head, diff or _Diff())


def _iter_lines(out: IO[bytes]) -> Iterator[tuple[str, bool]]:
    """Yield (piece of a line, True at the start of a line); only long lines have several pieces."""
    is_start = True
    while line := out.readline(MAX_LINE_BYTES):
        yield line.decode("utf-8", "replace"), is_start
        is_start = line.endswith(b"\n")


def _make_commit(head: Sequence[str], diff: _Diff) -> Commit:
    sha, author, date, parents = (line.strip() for line in (*head, "", "", "", "")[:4])
    return Commit(
        sha=sha,
        author=clean(author),
        date=date,
        parents=tuple(parents.split()),
        message=clean("".join(head[4:])[:MAX_MESSAGE_CHARACTERS]).strip(),
        files=tuple(
            ChangedFile(path=clean(path), headings=tuple(map(clean, heads)), is_added=path in diff.added)
            for path, heads in diff.files.items()
        ),
        omitted_files=diff.omitted,
    )
