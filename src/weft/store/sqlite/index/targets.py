"""
Index targets: the numbered rows of the file that one read index covers.

    kind       table          scope         rows as read by `read_rows`
    vectors    chunk_vector   embedder      number, vector, chunk id
    entities   fact_vector    embedder      number, vector, entity key
    keywords   chunk_terms    namespace     number, terms as JSON, length, chunk id

Each kind has separate SQL statements, whose names contain the kind.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weft.store.index_files.hnsw import is_available
from weft.store.index_files.segments import Manifest, Segment
from weft.store.relational.session import Namespace, Row, Session

TargetKind: TypeAlias = Literal["vectors", "keywords", "entities"]

MIN_CHECKED_ROWS = 8
"""Rows at the end of a segment whose checksums are stored. Earlier rows are sampled at doubling distances."""


@dataclass(frozen=True, slots=True)
class Target:
    """Rows that one index covers."""

    kind: TargetKind
    namespace: Namespace
    scope: Any
    """Number of the embedder; for keywords, number of the namespace."""
    dimension: int = 0
    """Dimension of the vectors; 0 for keywords."""

    @property
    def dtype(self) -> str:
        """Type of the numbers in stored vectors."""
        return "<f2" if self.kind == "vectors" else "<f4"

    @property
    def name(self) -> str:
        """Prefix of the index files."""
        return f"{self.kind}-{self.namespace}-{self.scope}"


def can_index(kind: TargetKind) -> bool:
    """Return True if the packages for an index are installed: vectors need the extra `scale`."""
    return kind == "keywords" or is_available()


def find_targets(db: Session, *, min_rows: int) -> list[Target]:
    """Return the targets with at least `min_rows` rows."""
    return [Target(*row) for row in db.run("index_targets", {"least": min_rows})]


def last_number(db: Session, target: Target) -> int:
    """Return the highest number of a target; 0 if it has no rows."""
    return int(db.one(f"last_{target.kind}", {"scope": target.scope}))


def count_rows(db: Session, target: Target, *, low: int, high: int) -> int:
    """Return the number of rows with `low < number <= high`."""
    return int(db.one(f"count_{target.kind}_between", {"scope": target.scope, "low": low, "high": high}))


def read_rows(db: Session, target: Target, *, low: int, high: int, limit: int) -> list[Row]:
    """Return the first rows with `low < number <= high`, ordered by number."""
    return db.run(f"{target.kind}_between", {"scope": target.scope, "low": low, "high": high, "limit": limit})


def choose_checked_rows(numbers: NDArray[np.int64]) -> list[int]:
    """
    Return the numbers of a segment whose rows get a checksum.

    These are the last eight rows and the rows 16, 32, 64, ... before the end. A restored backup differs from the
    indexed file after some row, which may be far from the end.
    """
    distances = [*range(1, MIN_CHECKED_ROWS + 1)]
    while 2 * distances[-1] <= len(numbers):
        distances.append(2 * distances[-1])
    return [int(numbers[-distance]) for distance in distances if distance <= len(numbers)]


def read_row_checksums(db: Session, target: Target, numbers: NDArray[np.int64]) -> dict[str, int]:
    """Return the checksums of the chosen rows by number."""
    rows = db.run(f"{target.kind}_at", {"numbers": json.dumps(choose_checked_rows(numbers))})
    return {str(number): _checksum(content) for number, scope, content in rows if scope == target.scope}


def matches_file(db: Session, target: Target, manifest: Manifest) -> bool:
    """Return True if an index was built from this file, and not from one that a backup has replaced."""
    last_assigned: dict[str, int] = dict(db.run("given_numbers"))
    if manifest.dimension != target.dimension or last_assigned.get(target.kind, 0) < manifest.high:
        return False
    checksums = {int(number): crc for segment in manifest.segments for number, crc in segment.ends.items()}
    rows = db.run(f"{target.kind}_at", {"numbers": json.dumps(sorted(checksums))})
    return all(scope == target.scope and _checksum(content) == checksums[number] for number, scope, content in rows)


def live_segments(db: Session, target: Target, segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """Return the segments before the first one that lost more than half of its rows."""
    for place, segment in enumerate(segments):
        if 2 * count_rows(db, target, low=segment.low, high=segment.high) < segment.count:
            return tuple(segments[:place])
    return tuple(segments)


def _checksum(content: bytes | str) -> int:
    return zlib.crc32(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content)
