"""Files and folders that only their owner can read: stores, indexes, caches."""

from __future__ import annotations

import os
from pathlib import Path

FILE_MODE = 0o600
FOLDER_MODE = 0o700


def make_private_file(path: str | Path) -> None:
    """
    Create an empty file with mode 0600 if there is none; an existing file keeps its mode.

    SQLite gives `-wal` and `-shm` the mode of the database. Raises `OSError`.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE))
    except FileExistsError:
        return


def make_private_folder(path: Path) -> None:
    """Create a folder and its missing parents with mode 0700; existing ones keep theirs. Raises `OSError`."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
    if not missing:
        path.mkdir(exist_ok=True)  # raises if it is a file
