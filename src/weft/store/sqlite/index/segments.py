"""
Read indexes beside a SQLite file: what lies in the folder, and how it is read and written.

An index is a row of segments, each an immutable file made from rows of a range of numbers. Numbers are never given
again, so a segment can hold too much (what is gone meanwhile) but nothing that is wrong.
"""

from __future__ import annotations

import contextlib
import json
import os
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import apsw

FORMAT = 4

HEAD = 65_536
"""Bytes of a segment that are compared with their checksum whenever it is opened."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A file that was written."""

    file: str
    size: int
    head: int
    """Checksum of its first bytes,"""
    crc: int
    """and of all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Files over the rows with numbers above `low` up to `high`."""

    files: tuple[Saved, ...]
    """Of vectors of chunks a graph and the ids of the chunks; of others one file."""
    low: int
    high: int
    count: int
    ends: Mapping[str, int]
    """Checksums of some of its rows, by number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What an index consists of."""

    dimension: int
    """Of vectors; 0 for others."""
    generation: int
    """The namespace's when it was built: who still sees an earlier state may see rows that are not in it."""
    segments: tuple[Segment, ...] = ()

    @property
    def high(self) -> int:
        """The last number that is covered."""
        return self.segments[-1].high if self.segments else 0

    @property
    def count(self) -> int:
        """How many rows were put in."""
        return sum(segment.count for segment in self.segments)

    @property
    def files(self) -> list[Saved]:
        """All files."""
        return [saved for segment in self.segments for saved in segment.files]


class Folder:
    """The folder beside a file; it exists from the first index on, and may be deleted at any time."""

    def __init__(self, db: str) -> None:
        self.path = Path(db + ".index")

    def manifest_path(self, name: str) -> Path:
        return self.path / f"{name}.json"

    def stamp(self, name: str) -> tuple[int, int]:
        """Return what changes with every new manifest; zeros where there is none."""
        try:
            found = os.stat(f"{self.path}/{name}.json")  # noqa: PTH116 - a Path costs more than the look
        except OSError:
            return 0, 0
        return found.st_mtime_ns, found.st_ino

    def read(self, name: str) -> Manifest | None:
        """Return the manifest of an index; None where there is none that can be used."""
        try:
            said: dict[str, Any] = json.loads(self.manifest_path(name).read_text("utf-8"))
            if said.pop("format") != FORMAT:
                return None
            segments = tuple(_read_segment(**segment) for segment in said.pop("segments"))
            manifest = Manifest(segments=segments, **said)
            is_whole = all((self.path / saved.file).stat().st_size == saved.size for saved in manifest.files)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return manifest if is_whole else None

    def write(self, name: str, manifest: Manifest) -> None:
        """Let a manifest take effect, then remove files that no manifest speaks of."""
        self._replace(self.manifest_path(name), json.dumps({"format": FORMAT, **asdict(manifest)}).encode())
        kept = {saved.file for saved in manifest.files} | {self.manifest_path(name).name}
        self.remove(path for path in self.path.glob(f"{name}.*") if path.name not in kept)

    def save(self, name: str, write: Callable[[Path], object], *, suffix: str = "segment") -> Saved:
        """Let a file of an index be written, whole or not at all."""
        partial = self.new_file(name)
        try:
            write(partial)
        except RuntimeError as error:  # usearch has no other
            raise (OSError if partial.exists() else FileNotFoundError)(f"{partial}: {error}") from error
        with partial.open("rb+") as written:
            os.fsync(written.fileno())
        file = f"{partial.stem}.{suffix}"
        partial.replace(self.path / file)
        return self.known(file)

    def new_file(self, name: str) -> Path:
        """Return where to write what nobody else, and no manifest, knows yet."""
        return self.path / f"{name}.{uuid.uuid4().hex[:12]}.partial"

    def known(self, file: str) -> Saved:
        """Return what a file is known by."""
        with (self.path / file).open("rb") as read:
            head = crc = zlib.crc32(read.read(HEAD))
            while block := read.read(1 << 20):
                crc = zlib.crc32(block, crc)
            return Saved(file, read.tell(), head, crc)

    def open(self, segment: Segment) -> list[Path]:
        """Return where the files of a segment lie. Raises `OSError` where one is not that which was written."""
        paths = []
        for saved in segment.files:
            paths.append(self.path / saved.file)
            with paths[-1].open("rb") as read:
                if zlib.crc32(read.read(HEAD)) != saved.head:
                    raise OSError(f"{saved.file} is damaged")
        return paths

    def keep(self, names: Sequence[str]) -> None:
        """Remove the indexes of all others."""
        with contextlib.suppress(OSError):
            self.remove(path for path in self.path.iterdir() if path.name.split(".")[0] not in {*names, "lock"})

    def remove(self, paths: Iterable[Path]) -> None:
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
        """
        Tell whether nobody else builds, and keep it so; a killed process holds nothing.

        Raises `OSError` where the folder cannot be written.
        """
        self.path.mkdir(exist_ok=True)
        try:
            db = apsw.Connection(str(self.path / "lock.db"))
        except apsw.Error as error:
            raise OSError(f"{self.path} cannot be written: {error}") from error
        try:
            db.execute("BEGIN EXCLUSIVE")
        except apsw.Error as error:
            db.close()
            if not isinstance(error, apsw.BusyError):
                raise OSError(f"{self.path} cannot be written: {error}") from error
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


def _read_segment(*, files: Sequence[Mapping[str, Any]], **rest: Any) -> Segment:
    return Segment(files=tuple(Saved(**saved) for saved in files), **rest)
