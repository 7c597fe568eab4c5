"""
Segments, manifests and the folder of read indexes.

A manifest lists the segments of one target. Example of `vectors-1-3.json`, shortened:

    {"format": 4,
     "dimension": 384,                   of the vectors; 0 for keywords
     "generation": 17,                   of the namespace when the manifest was written
     "segments": [
       {"files": [{"file": "vectors-1-3.5d0c4b1a9e77.segment", "size": 52160, "head": 81, "crc": 81},
                  {"file": "vectors-1-3.90aa3f21c6d4.ids",     "size": 3168,  "head": 47, "crc": 47}],
        "low": 0, "high": 96,            covers the rows 0 < number <= 96
        "count": 96,                     rows that were written; deleted ones still count
        "ends": {"96": 1042, "95": 77}}  CRC-32 of some rows by number, see `targets.choose_checked_rows`
     ]}

Files are written under a new random name and never changed, so that processes with mapped files are not disturbed:

    1. write `<name>.<hex>.partial`, fsync
    2. rename to `<name>.<hex>.segment` or `.ids`
    3. replace the manifest: from now on the segment is part of the index
    4. delete the files of this target that the manifest does not list

A process killed before step 4 leaves files that no manifest lists. The next process that takes the build lock deletes
them, before it builds and even if no index needs an extension.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import apsw

from weft.errors import StoreUnavailable
from weft.store.shared.file_checks import check_files
from weft.system.private_files import make_private_folder

FORMAT_VERSION = 4

LEFTOVER_SUFFIXES = (".partial", ".segment", ".ids", ".vectors")
"""Suffixes of the files that a build writes before its manifest."""

HEAD_BYTES = 65_536
"""Bytes at the start of a file that `head` covers."""


@dataclass(frozen=True, slots=True)
class SegmentFile:
    """File of a segment; the fields are keys of the manifest."""

    file: str
    size: int
    """Bytes."""
    head: int
    """CRC-32 of the first `HEAD_BYTES` bytes."""
    crc: int
    """CRC-32 of all bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Files over the rows with `low < number <= high`; the fields are keys of the manifest."""

    files: tuple[SegmentFile, ...]
    """Chunk vectors have a graph and a file of chunk ids; other targets have one file."""
    low: int
    high: int
    count: int
    """Number of written rows, including rows deleted since."""
    ends: Mapping[str, int]
    """CRC-32 of some rows, by number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """List of the segments of an index; the fields are keys of the JSON file."""

    dimension: int
    """Dimension of the vectors; 0 for keywords."""
    generation: int
    """Generation of the namespace after the build; a reader with an older snapshot may see rows not in the index."""
    segments: tuple[Segment, ...] = ()

    @property
    def high(self) -> int:
        """Highest number that the segments cover."""
        return self.segments[-1].high if self.segments else 0

    @property
    def count(self) -> int:
        """Number of rows in all segments, including rows deleted since."""
        return sum(segment.count for segment in self.segments)

    @property
    def files(self) -> list[SegmentFile]:
        """Files of all segments."""
        return [file for segment in self.segments for file in segment.files]


class IndexFolder:
    """
    Folder of the read indexes. It is created with the first index and may be deleted at any time.

    A folder that a stranger wrote may contain one. A link in its place is not followed, a file that is no ordinary one
    is not read, and nothing is written through a link.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def manifest_path(self, name: str) -> Path:
        return self.path / f"{name}.json"

    def stamp(self, name: str) -> tuple[int, int]:
        """Return a value that changes with every new manifest; zeros if there is none."""
        try:
            found = os.stat(f"{self.path}/{name}.json")  # noqa: PTH116 - building a Path costs more than the call
        except OSError:
            return 0, 0
        return found.st_mtime_ns, found.st_ino

    def read_manifest(self, name: str) -> Manifest | None:
        """Return the manifest of an index; None if it is missing, damaged, of another format or without its files."""
        try:
            if not self._is_file(self.manifest_path(name).name):
                return None
            content: dict[str, Any] = json.loads(self.manifest_path(name).read_text("utf-8"))
            if content.pop("format") != FORMAT_VERSION:
                return None
            segments = tuple(_read_segment(**segment) for segment in content.pop("segments"))
            manifest = Manifest(segments=segments, **content)
            is_complete = all(self._is_file(file.file, size=file.size) for file in manifest.files)
        except (OSError, RecursionError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return manifest if is_complete else None

    def write_manifest(self, name: str, manifest: Manifest) -> None:
        """Replace the manifest of an index, then delete files that it does not list."""
        content = json.dumps({"format": FORMAT_VERSION, **asdict(manifest)}).encode()
        self._replace(self.manifest_path(name), content)
        kept = {file.file for file in manifest.files} | {self.manifest_path(name).name}
        self.delete(path for path in self.path.glob(f"{name}.*") if path.name not in kept)

    def write_file(self, name: str, write: Callable[[Path], object], *, suffix: str = "segment") -> SegmentFile:
        """Write a file of an index, completely or not at all; `write` gets the path of a temporary file."""
        partial = self.new_file(name)
        try:
            write(partial)
        except RuntimeError as error:  # the only type that usearch raises
            raise (OSError if partial.exists() else FileNotFoundError)(f"{partial}: {error}") from error
        with partial.open("rb+") as written:
            os.fsync(written.fileno())
        file = f"{partial.stem}.{suffix}"
        partial.replace(self.path / file)
        return self.checksum_file(file)

    def new_file(self, name: str) -> Path:
        """Return the path of a new temporary file."""
        return self.path / f"{name}.{uuid.uuid4().hex[:12]}.partial"

    def checksum_file(self, file: str) -> SegmentFile:
        """Return size and checksums of a file."""
        with (self.path / file).open("rb") as read:
            head = crc = zlib.crc32(read.read(HEAD_BYTES))
            while block := read.read(1 << 20):
                crc = zlib.crc32(block, crc)
            return SegmentFile(file, read.tell(), head, crc)

    def has_leftovers(self) -> bool:
        """Return True if files exist that no manifest lists. A running or interrupted build leaves such files."""
        return any(self._unlisted())

    def delete_leftovers(self) -> None:
        """Delete the files that no manifest lists. The caller holds the build lock."""
        self.delete(self._unlisted())

    def discard(self, name: str) -> None:
        """Delete the manifest and the files of a damaged index. The next build creates it again."""
        self.delete([self.manifest_path(name), *self.path.glob(f"{name}.*")])

    def retain(self, names: Sequence[str]) -> None:
        """Delete the indexes of all targets but these."""
        with contextlib.suppress(OSError):
            self.delete(path for path in self.path.iterdir() if path.name.split(".")[0] not in {*names, "lock"})

    def delete(self, paths: Iterable[Path]) -> None:
        """Delete files; one that another process has open may remain until the next call."""
        if self.path.is_symlink():  # they belong to somebody else
            return
        for path in paths:
            with contextlib.suppress(OSError):
                path.unlink()

    def clear(self) -> None:
        """Delete all files and the folder."""
        self.delete(self.path.glob("*"))
        with contextlib.suppress(OSError):
            self.path.rmdir()

    def size(self) -> int:
        """Return the bytes of all files."""
        is_own = self.path.is_dir() and not self.path.is_symlink()
        return sum(path.lstat().st_size for path in self.path.glob("*")) if is_own else 0

    @contextmanager
    def build_lock(self) -> Iterator[bool]:
        """
        Try to take the build lock; yield True if it was free. The lock ends with the process, even a killed one.

        Raises `OSError` if the folder cannot be written.

        """
        lock = self.path / "lock.db"
        if self.path.is_symlink() or lock.is_symlink():
            raise OSError(f"{self.path} or its lock is a link")
        make_private_folder(self.path)
        try:
            check_files(lock)
            db = apsw.Connection(str(lock))
        except (apsw.Error, StoreUnavailable) as error:
            raise OSError(f"cannot write {self.path}: {error}") from error
        try:
            db.execute("BEGIN EXCLUSIVE")
        except apsw.Error as error:
            db.close()
            if not isinstance(error, apsw.BusyError):
                raise OSError(f"cannot write {self.path}: {error}") from error
            yield False
            return
        try:
            yield True
        finally:
            db.execute("ROLLBACK")
            db.close()

    def _is_file(self, name: str, *, size: int | None = None) -> bool:
        """Return True if an ordinary file of this name, and of this size, lies in the folder. Raises `OSError`."""
        if Path(name).name != name or self.path.is_symlink():
            return False
        found = (self.path / name).lstat()
        return stat.S_ISREG(found.st_mode) and size in (None, found.st_size)

    def _unlisted(self) -> list[Path]:
        """Return the files that are neither a manifest nor listed in one."""
        paths = list(self.path.glob("*")) if self.path.is_dir() else []
        manifests = (self.read_manifest(path.stem) for path in paths if path.suffix == ".json")
        listed = {file.file for manifest in manifests if manifest for file in manifest.files}
        return [path for path in paths if path.suffix in LEFTOVER_SUFFIXES and path.name not in listed]

    def _replace(self, target: Path, content: bytes) -> None:
        partial = target.with_name(target.name + ".partial")
        with contextlib.suppress(FileNotFoundError):
            partial.unlink()  # of an interrupted build
        with partial.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(target)


def _read_segment(*, files: Sequence[Mapping[str, Any]], ends: Mapping[str, int], **rest: Any) -> Segment:
    """Return a segment of a manifest; raise if it is damaged."""
    known = {str(int(number)): crc for number, crc in ends.items()}
    return Segment(files=tuple(SegmentFile(**file) for file in files), ends=known, **rest)
