"""
Git process that reads the objects of a foreign repository and nothing else of it.

Git has some fifty settings that run a program, and every version adds some: external diffs, text conversion, filters,
hooks, signature checks, pagers, remote helpers. They come from configuration files, `.gitattributes` and variables.
A list of settings to switch off is never complete, and does not reach the process that Git starts in a submodule. So
Git never sees the repository:

    private.git/config      written here; Git reads no other configuration file
    private.git/HEAD        the current commit of the repository
    private.git/refs        empty: no replaced objects, no notes, no remote-tracking branches
    GIT_OBJECT_DIRECTORY    the objects of the repository, the only part of it that Git reads

| Git can run a program by | why it does not |
| --- | --- |
| `.git/config`, `config.worktree`, `include`, `includeIf` | the private directory has a configuration of its own |
| `.gitattributes`, `.git/info/attributes`, `core.attributesFile` | the working tree is a private folder, too |
| `.git/hooks`, `core.hooksPath`, `hook.*.command` | no hooks in the private directory |
| settings of a submodule, reached by `diff.submodule`, `submodule.recurse` | the private folder has no submodules |
| fetching missing objects of a partial clone | the private directory has no remotes |
| configuration of the user and of the system | switched off by variables; the home folder is the private one |
| variables `GIT_*` of the caller | removed |
| a program `git` in the current folder | only absolute entries of `PATH` are searched |
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from weft.errors import InputError
from weft.load.git.repository import REFTABLE_HEAD, Repository, find_repository
from weft.processes.child import clean_environment, find_program, start_process
from weft.processes.limits import limit_data_of
from weft.system.temporary_files import temporary_folder

PREFIX = "weft-git-"

CONFIGURATION = """\
[core]
\trepositoryFormatVersion = 1
\tbare = false
\tquotePath = false
\tmultiPackIndex = false
[extensions]
\tobjectFormat = {object_format}
"""
"""
The only configuration that Git reads.

In a bare repository, some versions of Git read `.gitattributes` from the current commit. An index of several packs
names their files, also those of another folder.
"""

MAX_MEMORY_BYTES = 4 << 30
"""
Memory of a Git process, on Linux.

A commit whose folders repeat one folder ten times on ten levels has 120 objects and ten thousand million files, and Git
lists them all before it prints one.
"""

REFTABLE_CONFIGURATION = "\trefStorage = reftable\n"


@contextmanager
def start_git(folder: Path, arguments: Sequence[str], *, errors: IO[bytes] | int) -> Iterator[subprocess.Popen[bytes]]:
    """
    Start Git for the repository that contains a folder, and wait for its end afterwards.

    `HEAD` is the current commit of the repository. Raises `InputError` if it cannot be read, or if Git is missing.
    """
    repository = find_repository(folder)
    program = find_program("git")
    if program is None:
        raise InputError("the program `git` is not installed", hint="install git, then run the command again")
    with temporary_folder(Path(tempfile.gettempdir()), prefix=PREFIX) as private:
        git = _write_git_folder(private / "private.git", repository)
        variables = _variables(private, git=git, objects=repository.objects)
        with start_process(
            [program, *arguments], folder=private, environment=variables, stdin=subprocess.DEVNULL, stderr=errors
        ) as process:
            limit_data_of(process.pid, MAX_MEMORY_BYTES)
            yield process


# ── private ─────────────────────────────────────────────────────────────────────────────────────


def _variables(home: Path, *, git: Path, objects: Path) -> dict[str, str]:
    """Return the environment of Git: that of this process, without variables and settings of Git."""
    kept = {name: value for name, value in clean_environment().items() if not name.upper().startswith("GIT_")}
    return kept | {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "LC_ALL": "C",
        "GIT_DIR": str(git),
        "GIT_OBJECT_DIRECTORY": str(objects),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
    }


def _write_git_folder(folder: Path, repository: Repository) -> Path:
    """Write a private Git directory, and return the folder that Git has to be started for."""
    (folder / "refs").mkdir(parents=True)
    head, configuration = repository.head, CONFIGURATION
    if repository.reftables:
        head, configuration = f"ref: {REFTABLE_HEAD}", CONFIGURATION + REFTABLE_CONFIGURATION
    (folder / "config").write_text(configuration.format(object_format=_object_format(repository)))
    (folder / "HEAD").write_text(head + "\n")
    if repository.shallow:
        (folder / "shallow").write_bytes(repository.shallow)
    git = folder
    for number, tables in enumerate(repository.reftables):
        if number:  # a linked worktree has reftables of its own, with its HEAD
            git = folder / "worktrees" / "linked"
            (git / "refs").mkdir(parents=True)
            (git / "commondir").write_text("../..\n")
            (git / "HEAD").write_text(head + "\n")
        shutil.copytree(tables, git / "reftable", symlinks=True)
    return git


def _object_format(repository: Repository) -> str:
    """Return the hash function of the object ids: the length of an id tells it, or the header of a reftable."""
    for tables in repository.reftables:
        for table in tables.glob("*.ref"):
            with table.open("rb") as file:
                return "sha256" if file.read(28)[24:] == b"s256" else "sha1"
    return "sha256" if len(repository.head) == 64 else "sha1"
