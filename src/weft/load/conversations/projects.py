"""
Project of a folder: the root of its Git repository, else the folder itself.

| folder | project |
| --- | --- |
| `~/work/shop/src` of the repository `~/work/shop` | `~/work/shop` |
| a linked worktree of it, anywhere | `~/work/shop` |
| its submodule `~/work/shop/vendor/lib` | `~/work/shop` |
| `~/letters`, in no repository | `~/letters` |

Files of a repository may be a stranger's. A `.git` file that names another repository counts only if that repository
names the worktree too, as Git writes it; else a clone could read the memory of any project.

Hooks import this module, so it loads little.
"""

from __future__ import annotations

import os

PROJECT, FOLDER = "project", "folder"
"""Metadata of a conversation: the project in which it took place, and its working directory."""
MAX_FILE_BYTES = 4096


def find_project(folder: str) -> str:
    """Return the project of an absolute folder; empty for a relative or empty one."""
    if not os.path.isabs(folder):
        return ""
    start = os.path.realpath(folder)
    root = ""
    for parent in _parents(start):
        mark = os.path.join(parent, ".git")
        if os.path.isdir(mark):
            return parent
        if not root and os.path.isfile(mark):
            if main := _main_worktree(mark):
                return main
            root = parent  # a submodule belongs to the repository around it
    return root or start


def _parents(folder: str) -> list[str]:
    found = [folder]
    while (parent := os.path.dirname(found[-1])) != found[-1]:
        found.append(parent)
    return found


def _main_worktree(mark: str) -> str:
    """Return the main worktree of the linked one with this `.git` file; empty if it is no linked worktree."""
    folder = os.path.dirname(mark)
    line = _read(mark)
    if not line.startswith("gitdir:"):
        return ""
    data = os.path.realpath(os.path.join(folder, line.removeprefix("gitdir:").strip()))
    common, back = _read(os.path.join(data, "commondir")), _read(os.path.join(data, "gitdir"))
    if not common or not back or os.path.realpath(os.path.join(data, back)) != os.path.realpath(mark):
        return ""
    shared = os.path.realpath(os.path.join(data, common))
    if os.path.basename(shared) != ".git":
        return shared  # a bare repository
    return os.path.dirname(shared)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(MAX_FILE_BYTES).strip()
    except OSError:
        return ""
