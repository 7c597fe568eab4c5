"""
Temporary files and folders. The next run deletes those that a killed process left.

The process that writes holds a lock (`flock`), which ends with it, even if it is killed. A file whose lock is free is
abandoned. Systems without `flock` use the age instead.
"""

from __future__ import annotations

import glob
import os
import shutil
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

SUFFIX = "partial"
PRIVATE_MODE = 0o600
LOCK_FILE = ".lock"
"""File in a temporary folder that its process holds locked."""

MAX_AGE_SECONDS = 24 * 3600
"""Age from which a file or folder without a lock is abandoned."""


@contextmanager
def temporary_file(target: Path, *, mode: int = PRIVATE_MODE) -> Iterator[Path]:
    """
    Yield a new empty file beside `target`, which the caller writes and renames to it.

    It is deleted unless it was renamed. Abandoned files of the same target are deleted first. Raises `OSError`.
    """
    for leftover in target.parent.glob(f"{glob.escape(target.name)}.*.{SUFFIX}"):
        with _abandoned(leftover) as is_abandoned:
            if is_abandoned:
                leftover.unlink(missing_ok=True)
    with _new_locked_file(target, mode=mode) as path:
        try:
            yield path
        finally:
            with suppress(OSError):
                path.unlink()


@contextmanager
def temporary_folder(parent: Path, *, prefix: str) -> Iterator[Path]:
    """
    Yield a new folder in `parent`; it is deleted afterwards.

    Abandoned folders with the same prefix are deleted first. Raises `OSError`.
    """
    for leftover in parent.glob(f"{glob.escape(prefix)}*"):
        with _abandoned(leftover / LOCK_FILE, folder=leftover) as is_abandoned:
            if is_abandoned:
                shutil.rmtree(leftover, ignore_errors=True)
    folder = None
    while folder is None:
        made = Path(tempfile.mkdtemp(dir=parent, prefix=prefix))
        descriptor = _lock_new(made / LOCK_FILE, mode=PRIVATE_MODE)
        folder = made if descriptor is not None else None
    try:
        yield folder
    finally:
        if descriptor:
            os.close(descriptor)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """Wait for the lock of a file and hold it until the end; a missing file is created. Raises `OSError`."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, PRIVATE_MODE)
    try:
        if sys.platform != "win32":
            with suppress(OSError):  # a file system without locks
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


# ── private ─────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def _new_locked_file(target: Path, *, mode: int) -> Iterator[Path]:
    descriptor = None
    while descriptor is None:
        path = target.with_name(f"{target.name}.{uuid.uuid4().hex[:12]}.{SUFFIX}")
        descriptor = _lock_new(path, mode=mode)
    try:
        yield path
    finally:
        if descriptor:
            os.close(descriptor)


def _lock_new(path: Path, *, mode: int) -> int | None:
    """Create and lock a file; return its descriptor, 0 without locks, None if another process deleted it first."""
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)
    except FileNotFoundError:
        if path.name != LOCK_FILE:
            raise
        return None
    if sys.platform == "win32":  # an open file could not be renamed
        os.close(descriptor)
        return 0
    with suppress(OSError):  # a file system without locks
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    if path.exists():
        return descriptor
    os.close(descriptor)
    return None


@contextmanager
def _abandoned(path: Path, *, folder: Path | None = None) -> Iterator[bool]:
    """Yield True if no process uses a file, and hold its lock meanwhile. Without locks the age of the file decides."""
    if sys.platform == "win32":
        yield _is_old(folder or path)
        return
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError as error:  # not yet locked, or of another user
        yield isinstance(error, FileNotFoundError) and _is_old(folder or path)
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
    except OSError:
        yield _is_old(folder or path)
    else:
        yield True
    finally:
        os.close(descriptor)


def _is_old(path: Path) -> bool:
    try:
        return time.time() - path.stat().st_mtime > MAX_AGE_SECONDS
    except OSError:
        return False  # its process has just deleted it
