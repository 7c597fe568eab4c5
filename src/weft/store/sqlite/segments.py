"""
Read indexes of chunk vectors beside a SQLite file: what lies in the folder, and how it is read and written.

An index is a row of segments, each an immutable file of usearch over the vectors of a range of numbers. Numbers of
vectors are never given again, so a segment can hold too much (what is gone meanwhile) but nothing that is wrong.
"""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import apsw

FORMAT = 1
ENDS = 8
"""Last vectors of a segment whose checksums are kept, to know a file that was replaced by another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A file over the vectors with numbers above `low` up to `high`."""

    file: str
    size: int
    low: int
    high: int
    count: int
    ends: Mapping[str, int]
    """Checksums of its last vectors, by number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What the index of an embedder consists of."""

    dimension: int
    generation: int
    """The namespace's when it was built: who still sees an earlier state may see vectors that are not in it."""
    segments: tuple[Segment, ...] = ()

    @property
    def high(self) -> int:
        """The last number that is covered."""
        return self.segments[-1].high if self.segments else 0

    @property
    def count(self) -> int:
        """How many vectors were put in."""
        return sum(segment.count for segment in self.segments)


def can_index() -> bool:
    """Return whether the extra `scale` is installed."""
    return find_spec("usearch") is not None


def checksum(vector: bytes) -> int:
    """Return what a vector is known by."""
    return zlib.crc32(vector)


class Folder:
    """The folder beside a file; it exists from the first index on, and may be deleted at any time."""

    def __init__(self, db: str) -> None:
        self.path = Path(db + ".index")

    def manifest_path(self, name: str) -> Path:
        return self.path / f"{name}.json"

    def stamp(self, name: str) -> tuple[int, int]:
        """Return what changes with every new manifest; zeros where there is none."""
        try:
            found = self.manifest_path(name).stat()
        except OSError:
            return 0, 0
        return found.st_mtime_ns, found.st_ino

    def read(self, name: str) -> Manifest | None:
        """Return the manifest of an index; None where there is none that can be used."""
        try:
            said: dict[str, Any] = json.loads(self.manifest_path(name).read_text("utf-8"))
            if said.pop("format") != FORMAT:
                return None
            segments = tuple(Segment(**segment) for segment in said.pop("segments"))
            sizes = [(self.path / segment.file).stat().st_size for segment in segments]
            manifest = Manifest(segments=segments, **said)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return manifest if sizes == [segment.size for segment in segments] else None

    def write(self, name: str, manifest: Manifest) -> None:
        """Let a manifest take effect, then remove files that no manifest speaks of."""
        self._replace(self.manifest_path(name), json.dumps({"format": FORMAT, **asdict(manifest)}).encode())
        kept = {segment.file for segment in manifest.segments}
        self.remove(path for path in self.path.glob(f"{name}.*.usearch*") if path.name not in kept)

    def save(self, index: Any, file: str) -> int:
        """Write a segment whole or not at all; return its size."""
        target = self.path / file
        partial = target.with_name(file + ".partial")
        index.save(str(partial))
        with partial.open("rb+") as written:
            os.fsync(written.fileno())
        partial.replace(target)
        return target.stat().st_size

    def open(self, segment: Segment) -> Any:
        """Return a segment, mapped into memory. Raises `RuntimeError` or `OSError` where it cannot be read."""
        from usearch.index import Index

        index = Index.restore(str(self.path / segment.file), view=True)
        if index is None:
            raise OSError(f"{segment.file} is no index")
        return index

    def keep(self, names: Sequence[str]) -> None:
        """Remove the indexes of all others."""
        with contextlib.suppress(OSError):
            self.remove(path for path in self.path.iterdir() if path.name.split(".")[0] not in {*names, "lock"})

    def remove(self, paths: Iterator[Path]) -> None:
        """Remove files; one that another process holds open may stay until next time."""
        for path in paths:
            with contextlib.suppress(OSError):
                path.unlink()

    def clear(self) -> None:
        """Remove everything, and the folder with it."""
        self.remove(self.path.glob("*"))
        with contextlib.suppress(OSError):
            self.path.rmdir()

    def size(self) -> int:
        """Return the bytes of all indexes."""
        return sum(path.stat().st_size for path in self.path.glob("*")) if self.path.is_dir() else 0

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Tell whether nobody else builds, and keep it so; a killed process holds nothing."""
        self.path.mkdir(exist_ok=True)
        db = apsw.Connection(str(self.path / "lock.db"))
        try:
            db.execute("BEGIN EXCLUSIVE")
        except apsw.BusyError:
            db.close()
            yield False
            return
        try:
            yield True
        finally:
            db.execute("ROLLBACK")
            db.close()

    def _replace(self, target: Path, content: bytes) -> None:
        partial = target.with_name(target.name + ".partial")
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(target)
