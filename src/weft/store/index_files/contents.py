"""
Verified contents of segment files.

The HNSW library follows links in the file without checking them, so one flipped bit can crash the process or change
an answer. A file is used only after the checksum of all its bytes was compared with the manifest: once per process, and
again after it changed.

    mode       content                  verified            a file truncated later
    mapped     memory map of the file   before first use    could kill the process (SIGBUS)
    resident   private copy in memory   while it is read    is not noticed

A command is short and maps the files. A server loads copies in the background and scans the store until they are there.
"""

from __future__ import annotations

import os
import threading
import zlib
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from weft.store.index_files.segments import SegmentFile

Content: TypeAlias = NDArray[np.uint8]

BLOCK_BYTES = 1 << 22
"""Bytes read between two checks for a closed store; `zlib` releases the interpreter lock during a block."""

THREADS = 2


class DamagedFile(OSError):
    """A segment file does not have the size or the checksum of the manifest."""


@dataclass(frozen=True, slots=True)
class _Entry:
    stamp: tuple[int, ...]
    content: Future[Content]


class SegmentContents:
    """Contents of the segment files in one folder, verified in background threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._entries: dict[str, _Entry] = {}
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._is_closed = False
        self.is_resident = False
        """True if files are copied into memory instead of mapped."""

    def get(self, file: SegmentFile) -> Content:
        """Return the content of a file, verified. Raises `DamagedFile`, or `OSError` if it cannot be read."""
        return self.request(file).result()

    def request(self, file: SegmentFile) -> Future[Content]:
        """Return the verified content of a file as a future."""
        with self._lock:
            entry = self._entries.get(file.file)
            if entry is None or (not self.is_resident and entry.stamp != self._stamp(file)):
                if self._pool is None:
                    self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="weft-verify")
                entry = _Entry(self._stamp(file), self._pool.submit(self._load, file))
                self._entries[file.file] = entry
            return entry.content

    def are_ready(self, files: Iterable[SegmentFile]) -> bool:
        """Return True if all these files are loaded; start to load the missing ones."""
        requested = [self.request(file) for file in files]
        return all(content.done() for content in requested)

    def are_unchanged(self, files: Iterable[SegmentFile]) -> bool:
        """Return True if the files are unchanged since their verification. A private copy cannot change."""
        if self.is_resident:
            return True
        entries = self._entries
        return all((entry := entries.get(file.file)) and entry.stamp == self._stamp(file) for file in files)

    def drop(self, files: Iterable[SegmentFile]) -> None:
        """Drop the contents of files that no manifest lists."""
        with self._lock:
            for file in files:
                self._entries.pop(file.file, None)

    def make_resident(self) -> None:
        """Copy files into memory from now on; mapped ones are loaded again."""
        with self._lock:
            self.is_resident, self._entries = True, {}

    def close(self) -> None:
        """Stop the threads."""
        self._is_closed = True
        with self._lock:
            pool, self._pool, self._entries = self._pool, None, {}
        if pool is not None:
            pool.shutdown(cancel_futures=True)

    def _stamp(self, file: SegmentFile) -> tuple[int, ...]:
        try:
            found = os.stat(f"{self._folder}/{file.file}")  # noqa: PTH116 - building a Path costs more than the call
        except OSError:
            return ()
        return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino

    def _load(self, file: SegmentFile) -> Content:
        path = self._folder / file.file
        copy = np.empty(file.size, np.uint8) if self.is_resident else None
        buffer = bytearray(0 if copy is not None else BLOCK_BYTES)
        size = crc = 0
        with path.open("rb", buffering=0) as stream:
            # Read through the descriptor, not through a map: the file may be truncated during the read.
            while not self._is_closed:
                target = memoryview(buffer) if copy is None else copy.data[size : size + BLOCK_BYTES]
                count = stream.readinto(target) if len(target) else 0
                if not count:
                    break
                crc = zlib.crc32(target[:count], crc)
                size += count
            is_longer = os.fstat(stream.fileno()).st_size != size
        if self._is_closed:
            raise OSError("the store was closed")
        if size != file.size or is_longer or crc != file.crc:
            raise DamagedFile(f"{file.file} is damaged")
        return np.memmap(path, dtype=np.uint8, mode="r") if copy is None else copy
