"""What read indexes are made from: numbered rows of the file, of three kinds, each under statements of its own."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias

from weft.store.relational.session import Namespace, Row, Session
from weft.store.sqlite.index.segments import Manifest, Segment

Kind: TypeAlias = Literal["vectors", "keywords", "entities"]

LAST = 8
"""Last rows of a segment whose checksums are kept; before them rows at twice the distance each."""


@dataclass(frozen=True, slots=True)
class Target:
    """What one index is made from."""

    kind: Kind
    namespace: Namespace
    scope: Any
    """Number of the embedder; of keywords, of the namespace."""
    dimension: int = 0

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"{self.kind}-{self.namespace}-{self.scope}"


@cache
def can_index(kind: Kind) -> bool:
    """Return whether what an index needs is installed: of vectors, the extra `scale`."""
    return kind == "keywords" or find_spec("usearch") is not None


def find_targets(db: Session, *, least: int) -> list[Target]:
    """Return what is large enough for an index."""
    return [Target(*row) for row in db.run("index_targets", {"least": least})]


def last_number(db: Session, target: Target) -> int:
    """Return the highest number there is."""
    return int(db.one(f"last_{target.kind}", {"scope": target.scope}))


def count_rows(db: Session, target: Target, *, low: int, high: int) -> int:
    """Return how many rows have numbers above `low` up to `high`."""
    return int(db.one(f"count_{target.kind}_between", {"scope": target.scope, "low": low, "high": high}))


def read_rows(db: Session, target: Target, *, low: int, high: int, limit: int) -> list[Row]:
    """Return the first rows with numbers above `low` up to `high`, in their order."""
    return db.run(f"{target.kind}_between", {"scope": target.scope, "low": low, "high": high, "limit": limit})


def choose_ends(numbers: Sequence[int]) -> list[int]:
    """Return numbers by which a file that was replaced is known, however far back it parts from this one."""
    distances = [*range(1, LAST + 1)]
    while 2 * distances[-1] <= len(numbers):
        distances.append(2 * distances[-1])
    return [int(numbers[-distance]) for distance in distances if distance <= len(numbers)]


def read_ends(db: Session, target: Target, numbers: Sequence[int]) -> dict[str, int]:
    """Return checksums of rows, by number."""
    rows = db.run(f"{target.kind}_at", {"numbers": json.dumps(choose_ends(numbers))})
    return {str(number): _checksum(content) for number, scope, content in rows if scope == target.scope}


def belongs(db: Session, target: Target, manifest: Manifest) -> bool:
    """Return whether an index was built from this file, and not from one that a backup has replaced."""
    given: dict[str, int] = dict(db.run("given_numbers"))
    if manifest.dimension != target.dimension or given.get(target.kind, 0) < manifest.high:
        return False
    ends = {int(number): crc for segment in manifest.segments for number, crc in segment.ends.items()}
    rows = db.run(f"{target.kind}_at", {"numbers": json.dumps(sorted(ends))})
    return all(scope == target.scope and _checksum(content) == ends[number] for number, scope, content in rows)


def live_segments(db: Session, target: Target, segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """Return the segments before the first of which less than half is still there."""
    for place, segment in enumerate(segments):
        if 2 * count_rows(db, target, low=segment.low, high=segment.high) < segment.count:
            return tuple(segments[:place])
    return tuple(segments)


def _checksum(content: bytes | str) -> int:
    return zlib.crc32(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content)
