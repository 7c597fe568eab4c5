"""
Spool of captured turns: a private folder with a file for each event that waits to be indexed.

    hook ── write ──→ 0000018f…-4711-9c1e.json ── drain (capture.py) ──→ store, then the file is deleted

An event is written to a temporary file, flushed to the disk and renamed, so that a killed hook leaves all of it or
nothing. Names begin with the time, so that they sort by age. Indexing a conversation twice changes nothing, so an event
whose file outlives a killed drain is not stored twice.

A file of 64 KiB is kept in reserve: it is emptied when the disk is full, and the event takes its place.

Hooks import this module, so it loads little (see `address.py`).
"""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from typing import Any

MAX_EVENTS = 10_000
"""Maximum number of waiting events; with more, a hook reports an error."""
MAX_EVENT_BYTES = 1 << 20
RESERVE_BYTES = 1 << 16
RESERVE = "reserve"
SUFFIX = ".json"
PARTIAL = ".partial"
MAX_PARTIAL_SECONDS = 3600
"""Age from which a temporary file belongs to a killed hook."""
FILE_MODE, FOLDER_MODE = 0o600, 0o700


class SpoolFull(OSError):
    """Too many events wait."""


def data_folder() -> str:
    """Return the user's data folder of Weft, the same as that of `platformdirs`, which takes long to import."""
    if sys.platform == "win32":
        return os.path.join(os.environ.get("LOCALAPPDATA") or os.path.expanduser("~"), "weft", "weft")
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Application Support/weft")
    base = os.environ.get("XDG_DATA_HOME", "").strip()
    return os.path.join(base or os.path.expanduser("~/.local/share"), "weft")


class Spool:
    """Events of the hooks of one store and namespace that wait to be indexed."""

    __slots__ = ("folder",)

    def __init__(self, name: str, *, base: str | Path = "") -> None:
        """`name` is that of the daemon's address; `base` replaces the folder of all spools."""
        self.folder = os.path.join(base or os.path.join(data_folder(), "spool"), name)

    def write(self, event: Mapping[str, Any]) -> str:
        """Store an event durably; return the name of its file. Raises `OSError`."""
        data = json.dumps({"time": time.time(), **event}).encode()
        if len(data) > MAX_EVENT_BYTES:
            raise OSError(errno.EFBIG, f"an event of {len(data):,} bytes is too large")
        os.makedirs(self.folder, mode=FOLDER_MODE, exist_ok=True)
        if len(self.names()) >= MAX_EVENTS:
            raise SpoolFull(f"{MAX_EVENTS:,} events wait in {self.folder!r}: run weft hook status")
        name = f"{time.time_ns():020x}-{os.getpid()}-{os.urandom(4).hex()}{SUFFIX}"
        try:
            self._replace(name, data)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT) or not self._release():
                raise
            self._replace(name, data)
        self._reserve()
        return name

    def names(self) -> list[str]:
        """Return the names of the waiting events, oldest first."""
        try:
            return sorted(name for name in os.listdir(self.folder) if name.endswith(SUFFIX))
        except FileNotFoundError:
            return []

    def read(self, name: str) -> dict[str, Any]:
        """Return a waiting event. Raises `OSError`, and `ValueError` if its file is damaged."""
        with open(os.path.join(self.folder, name), "rb") as file:
            found = json.loads(file.read(MAX_EVENT_BYTES + 1))
        if not isinstance(found, dict):
            raise ValueError("expected a JSON object")
        return found

    def remove(self, names: list[str]) -> None:
        """Delete events that are indexed, and temporary files of killed hooks."""
        for name in names:
            _unlink(os.path.join(self.folder, name))
        with os.scandir(self.folder) as entries:
            old = [entry.path for entry in entries if entry.name.endswith(PARTIAL) and _is_abandoned(entry)]
        for path in old:
            _unlink(path)

    @contextmanager
    def claim(self) -> Iterator[bool]:
        """Lock the spool for a drain; yield False if another process drains it. Windows has no such lock."""
        os.makedirs(self.folder, mode=FOLDER_MODE, exist_ok=True)
        with open(os.path.join(self.folder, ".lock"), "a", encoding="utf-8") as lock:
            yield _lock(lock.fileno())

    def _replace(self, name: str, data: bytes) -> None:
        path = os.path.join(self.folder, name)
        partial = path.removesuffix(SUFFIX) + PARTIAL
        try:
            _write(partial, data)
            os.replace(partial, path)
        except BaseException:
            _unlink(partial)
            raise
        _flush_folder(self.folder)

    def _reserve(self) -> None:
        """Create the reserve if it is missing or was used; without space there is none."""
        path = os.path.join(self.folder, RESERVE)
        try:
            if not os.path.exists(path) or os.path.getsize(path) < RESERVE_BYTES:
                _write(path, bytes(RESERVE_BYTES), flags=os.O_TRUNC)
        except OSError:
            return

    def _release(self) -> bool:
        """Empty the reserve; return False if there was none."""
        try:
            path = os.path.join(self.folder, RESERVE)
            had_bytes = os.path.getsize(path) > 0
            os.truncate(path, 0)
        except OSError:
            return False
        return had_bytes


def _write(path: str, data: bytes, *, flags: int = os.O_EXCL) -> None:
    """Create a private file and flush it to the disk."""
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | flags, FILE_MODE)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(descriptor, left) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _flush_folder(folder: str) -> None:
    """Flush a rename to the disk, where folders can be opened."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    if sys.platform == "win32":
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_abandoned(entry: os.DirEntry[str]) -> bool:
    try:
        return time.time() - entry.stat().st_mtime > MAX_PARTIAL_SECONDS
    except OSError:
        return False


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
