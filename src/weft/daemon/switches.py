"""
Switches of hooks: paused for all, off for a session, off in a folder.

| switch | effect |
| --- | --- |
| `weft hook pause` | no hook captures or recalls until `weft hook resume` |
| `weft hook pause --session ID` | none of this session does |
| `WEFT_PRIVATE=1` in the environment of the host | none of its sessions does |
| a pattern in `ignore` in the user's configuration folder | none does in matching folders |
| a pattern in `.weftignore` of the folder, or of one above it up to the project | the same |

Patterns are those of `.gitignore`; they are checked before anything is written. Hooks import this module, so it loads
little; the patterns are loaded if there are any.
"""

from __future__ import annotations

import hashlib
import os
import sys

from weft.daemon.spool import FILE_MODE, FOLDER_MODE, data_folder
from weft.load.conversations.projects import find_project

IGNORE_FILE = ".weftignore"
VARIABLE = "WEFT_PRIVATE"
ALL = "all"


def pause(session: str = "") -> None:
    """Stop the hooks of a session, or all. Raises `OSError`."""
    os.makedirs(_folder(), mode=FOLDER_MODE, exist_ok=True)
    os.close(os.open(_mark(session), os.O_CREAT | os.O_WRONLY, FILE_MODE))


def resume(session: str = "") -> bool:
    """Undo `pause`; without a session for all, paused sessions included. Return False if nothing was paused."""
    names = [os.path.basename(_mark(session))] if session else _names()
    for name in names:
        try:
            os.unlink(os.path.join(_folder(), name))
        except FileNotFoundError:
            return False
    return bool(names)


def is_paused() -> bool:
    """Return True if all hooks are paused."""
    return os.path.exists(_mark(""))


def find_switch(*, session: str, folder: str) -> str:
    """Return why a hook does nothing in a session and folder; empty if it is not switched off."""
    if os.environ.get(VARIABLE, "") not in ("", "0"):
        return f"{VARIABLE} is set"
    if is_paused():
        return "hooks are paused"
    if session and os.path.exists(_mark(session)):
        return "this session is private"
    return "the folder is ignored" if os.path.isabs(folder) and _is_ignored(os.path.realpath(folder)) else ""


def user_ignore_file() -> str:
    """Return the path of the user's ignore list."""
    if sys.platform == "win32":
        return os.path.join(data_folder(), "ignore")
    if sys.platform == "darwin":
        return os.path.join(data_folder(), "ignore")
    base = os.environ.get("XDG_CONFIG_HOME", "").strip()
    return os.path.join(base or os.path.expanduser("~/.config"), "weft", "ignore")


def _is_ignored(folder: str) -> bool:
    """Return True if a list ignores a folder, or one above it; the list of the innermost folder is asked first."""
    lists = [(os.path.abspath(os.sep), user_ignore_file())]
    project, parent = find_project(folder), folder
    while True:
        lists.append((parent, os.path.join(parent, IGNORE_FILE)))
        if parent == project or (above := os.path.dirname(parent)) == parent:
            break
        parent = above
    present = [(base, path) for base, path in lists if os.path.isfile(path)]
    if not present:
        return False
    from pathlib import Path

    from weft.load.gitignore import parse_patterns, read_patterns

    # A pattern matches files, so a file of this name in the folder stands for it: `*` ignores the folder itself.
    probe = os.path.join(folder, "session")
    return any(
        parse_patterns(read_patterns(Path(path))).match_file(os.path.relpath(probe, base).replace(os.sep, "/"))
        for base, path in present
    )


def _folder() -> str:
    return os.path.join(data_folder(), "paused")


def _mark(session: str) -> str:
    """Return the path of the file that stands for a pause; ids of sessions may hold any characters."""
    return os.path.join(_folder(), hashlib.sha256(session.encode()).hexdigest()[:24] if session else ALL)


def _names() -> list[str]:
    try:
        return os.listdir(_folder())
    except FileNotFoundError:
        return []
