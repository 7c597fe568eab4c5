"""Fills a read index with all rows of a namespace, in one snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.store.postgres.change_log import Version
from weft.store.postgres.index.keyword_segments import KeywordSegment
from weft.store.postgres.index.namespace_index import IndexSession, NamespaceIndex
from weft.store.postgres.index.vector_segments import VectorSegment, read_vectors, to_unit_length
from weft.store.read_index.postings_file import PostingArrays
from weft.store.read_index.postings_merge import invert_chunks, merge_postings
from weft.store.relational.session import Namespace, Row, find_active_model, find_namespace

MAX_BUFFERED_CHUNKS = 32_768
"""Chunks whose postings are built in memory before they are written to a temporary file."""

READ_ROWS = 1_024
"""Rows between two checks whether the index is still wanted."""

Check = Callable[[], None]
"""Raises an exception if the index is no longer wanted."""


class Contents(NamedTuple):
    """What an index is filled from: the version of a snapshot and the size of the namespace."""

    version: Version
    chunks: int
    mean: float
    """Mean length of the chunks."""
    model: int
    """Number of the active embedder; 0: none."""
    dimension: int


def read_contents(db: IndexSession, namespace: str) -> Contents | None:
    """Return what an index can be filled from; None without chunks."""
    found = find_namespace(db, namespace)
    if found is None or not found.chunks:
        return None
    active = find_active_model(db, namespace)
    model, dimension = (active.number, active.model.dimension) if active else (0, 0)
    return Contents(db.version(namespace), found.chunks, found.length / found.chunks, model, dimension)


def fill_in_memory(db: IndexSession, namespace: str, contents: Contents, *, check: Check) -> NamespaceIndex:
    """Return the index of a small namespace."""
    rows = [row for some in read_batches(db, "indexed_terms", namespace, contents, check=check) for row in some]
    postings = invert_chunks(rows, mean=contents.mean)
    segments = []
    for numbers, ids, matrix in read_matrices(
        db, namespace, contents, postings, limit=len(rows) + READ_ROWS, check=check
    ):
        segments.append(VectorSegment(numbers, ids, to_unit_length(matrix), np.ones(len(numbers), bool)))
    return NamespaceIndex(
        contents.version,
        contents.model,
        contents.dimension,
        (KeywordSegment(postings, np.ones(len(rows), bool)),),
        tuple(segments),
        filled=(1, len(segments)),
    )


def write_postings(
    db: IndexSession, namespace: str, contents: Contents, *, new_file: Callable[[], Path], path: Path, check: Check
) -> PostingArrays:
    """Write the postings of a large namespace to a file; `new_file` returns paths of temporary files."""
    parts: list[PostingArrays] = []
    buffer: list[Row] = []

    def spill() -> None:
        part = invert_chunks(buffer, mean=contents.mean)
        parts.append(merge_postings([part], [np.ones(len(buffer), bool)], mean=contents.mean, path=new_file()))
        buffer.clear()

    for rows in read_batches(db, "indexed_terms", namespace, contents, check=check):
        buffer += rows
        if len(buffer) >= MAX_BUFFERED_CHUNKS:
            spill()
    if buffer:
        spill()
    return merge_postings(parts, [np.ones(len(part.numbers), bool) for part in parts], mean=contents.mean, path=path)


def read_matrices(
    db: IndexSession, namespace: str, contents: Contents, postings: PostingArrays, *, limit: int, check: Check
) -> Iterator[tuple[NDArray[np.int64], NDArray[Any], NDArray[np.float32]]]:
    """Yield numbers, packed ids and vectors of chunks as stored, at most `limit` at once."""
    numbers: list[int] = []
    matrices: list[NDArray[np.float32]] = []

    def joined() -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.float32]]:
        found = np.array(numbers, np.int64)
        return found, postings.ids[np.searchsorted(postings.numbers, found)], np.concatenate(matrices)

    for rows in read_batches(db, "indexed_vectors", namespace, contents, check=check) if contents.model else ():
        numbers += (number for number, _ in rows)
        matrices.append(read_vectors([value for _, value in rows], dimension=contents.dimension))
        if len(numbers) + READ_ROWS > limit:
            yield joined()
            numbers, matrices = [], []
    if numbers:
        yield joined()


def read_batches(
    db: IndexSession, name: str, namespace: Namespace, contents: Contents, *, check: Check
) -> Iterator[list[Row]]:
    """Yield the rows of a statement in batches."""
    rows = db.stream(name, {"namespace": namespace, "model": contents.model})
    while some := list(islice(rows, READ_ROWS)):
        check()
        yield some
