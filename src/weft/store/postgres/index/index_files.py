"""
Files of the read index of a large namespace on a server.

The manifest names the version of the index and its segments: the postings, then the vectors in segments of at most
`MAX_SEGMENT_VECTORS`. Example of a namespace of 140,000 chunks:

    5f1c…-17.json            manifest; the name has a hash of server and namespace, and the number of the embedder
    5f1c…-17.<hex>.segment   postings of all chunks
    5f1c…-17.<hex>.segment   graph of the first 131,072 vectors
    5f1c…-17.<hex>.ids       their chunk numbers and ids
    5f1c…-17.<hex>.vectors   the vectors, float16; float32 of unit length if they come from segments in memory
    5f1c…-17.<hex>.…         the same of the other 8,928 vectors
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.store.postgres.change_log import Version
from weft.store.postgres.index.fill import Check, Contents, read_matrices, write_postings
from weft.store.postgres.index.keyword_segments import KeywordSegment, is_among
from weft.store.postgres.index.namespace_index import IndexSession, NamespaceIndex
from weft.store.postgres.index.vector_segments import VectorSegment, to_unit_length
from weft.store.read_index.chunk_ids import ChunkIds, write_chunk_ids
from weft.store.read_index.contents import SegmentContents
from weft.store.read_index.hnsw import HnswSegments, add_vectors, make_graph
from weft.store.read_index.postings_file import PostingArrays, read_postings
from weft.store.read_index.segments import IndexFolder, Manifest, Segment, SegmentFile

MAX_SEGMENT_VECTORS = 131_072
"""Maximum number of vectors in an HNSW graph, as in SQLite; measured in decision 0019."""

DEAD_DIVISOR = 8
"""A segment with more than one dead chunk in eight is written again."""

NAME_DIGITS = 32
"""Hexadecimal digits of the hash in a file name."""


class IndexFiles:
    """Folder with the files of one server."""

    def __init__(self, path: Path, *, server: str) -> None:
        self._server = server
        self.folder = IndexFolder(path.resolve())
        self._contents = SegmentContents(path)
        self._contents.make_resident()

    def close(self) -> None:
        """Stop background threads."""
        self._contents.close()

    def discard(self, namespace: str) -> None:
        """Delete the files of a namespace."""
        self.folder.delete(self.folder.path.glob(f"{self._digest(namespace)}-*"))

    def open(self, namespace: str, contents: Contents) -> NamespaceIndex | None:
        """Return the stored index of a namespace at its version; None if there is none."""
        manifest = self.folder.read_manifest(self._name(namespace, contents))
        if manifest is None or manifest.dimension != contents.dimension:
            return None
        try:
            return self._load(manifest, contents)
        except (OSError, RuntimeError, ValueError, KeyError, TypeError):  # damaged: the index is filled again
            return None

    def fill(
        self, db: IndexSession, namespace: str, contents: Contents, *, known: NamespaceIndex | None, check: Check
    ) -> Callable[[], NamespaceIndex]:
        """
        Write the rows of a namespace to files. The caller holds the build lock.

        The vectors are those of the `known` index, if there is one at this version; its large graphs are kept.

        Return a function that builds the graphs and returns the index; it needs no transaction.
        """
        name = self._name(namespace, contents)
        made: list[PostingArrays] = []

        def write(path: Path) -> None:
            new_file = lambda: self.folder.new_file(name)  # noqa: E731 - a name for the argument
            made.append(write_postings(db, namespace, contents, new_file=new_file, path=path, check=check))

        postings = Segment(files=(self.folder.write_file(name, write),), low=0, high=0, count=contents.chunks, ends={})
        kept: list[Segment] = []
        if known is None:
            options: dict[str, Any] = {"limit": MAX_SEGMENT_VECTORS, "check": check}
            matrices = read_matrices(db, namespace, contents, made[0], **options)
        else:
            kept, rest = self._divide(name, known)
            matrices = _live_rows(rest)
        files = [self._write_vectors(name, *columns) for columns in matrices]
        return lambda: self._finish(name, contents, [postings, *kept], files, check=check)

    def _divide(self, name: str, known: NamespaceIndex) -> tuple[list[Segment], list[VectorSegment]]:
        """
        Return the stored segments that are kept, and the other segments, whose live rows are written again.

        A segment is kept if it is mostly alive, and full or twice as large as what is written again.
        """
        manifest = self.folder.read_manifest(name)
        stored = manifest.segments[1:] if manifest and (manifest.generation, manifest.stamp) == known.origin else ()
        kept, rest = list[Segment](), list(known.vectors[len(stored) :])
        pairs = zip(stored, known.vectors, strict=False)
        for segment, vectors in sorted(pairs, key=lambda pair: pair[0].count):
            live = np.count_nonzero(vectors.live)
            rewritten = sum(np.count_nonzero(other.live) for other in rest)
            is_large = 2 * segment.count >= MAX_SEGMENT_VECTORS or segment.count > 2 * rewritten
            if is_large and DEAD_DIVISOR * (len(vectors.live) - live) < len(vectors.live):
                kept.append(replace(segment, dead=vectors.numbers[~vectors.live].tolist()))
            else:
                rest.append(vectors)
        return kept, rest

    def _write_vectors(
        self, name: str, numbers: NDArray[np.int64], ids: NDArray[Any], matrix: NDArray[np.float32]
    ) -> tuple[SegmentFile, ...]:
        """Write ids and vectors: float16 as stored by the server, or else float32 of unit length."""
        half = matrix.astype("<f2")
        stored = half if np.array_equal(half, matrix) else to_unit_length(matrix).astype("<f4")
        listed = self.folder.write_file(name, lambda path: write_chunk_ids(path, numbers.tolist(), ids), suffix="ids")
        return listed, self.folder.write_file(name, lambda path: stored.tofile(path), suffix="vectors")

    def _finish(
        self,
        name: str,
        contents: Contents,
        segments: list[Segment],
        files: list[tuple[SegmentFile, ...]],
        *,
        check: Check,
    ) -> NamespaceIndex:
        """Build the graphs of new segments, write the manifest and open the index."""
        made = [self._write_graph(name, contents, listed, check=check) for listed in files]
        generation, stamp = contents.version
        manifest = Manifest(
            dimension=contents.dimension, generation=generation, stamp=stamp, segments=(*segments, *made)
        )
        self.folder.write_manifest(name, manifest)
        for other in self.folder.path.glob(f"{name.partition('-')[0]}-*.json"):
            if other.stem != name:  # the index of an embedder that was replaced
                self.folder.discard(other.stem)
        return self._load(manifest, contents)

    def _write_graph(self, name: str, contents: Contents, listed: tuple[SegmentFile, ...], *, check: Check) -> Segment:
        """Return a segment of these files and its graph, which is built from them."""
        ids, vectors = (self._contents.get(file) for file in listed)
        numbers = ChunkIds(ids).numbers
        matrix = _matrix(vectors, rows=len(numbers), dimension=contents.dimension).astype(np.float16)

        def write(path: Path) -> None:
            graph = make_graph(contents.dimension)
            for _ in add_vectors(graph, numbers.tolist(), matrix):
                check()
            graph.save(str(path))

        files = (self.folder.write_file(name, write), *listed)
        return Segment(files=files, low=0, high=0, count=len(numbers), ends={})

    def _load(self, manifest: Manifest, contents: Contents) -> NamespaceIndex:
        """Read the files of a manifest into memory and verify them. Raises `OSError` or `ValueError`."""
        loaded = [[self._contents.get(file) for file in segment.files] for segment in manifest.segments]
        (postings_content,), *segments = loaded
        postings = read_postings(postings_content)
        vectors = []
        for segment, (_, ids, matrix) in zip(manifest.segments[1:], segments, strict=True):
            chunks = ChunkIds(ids)
            rows = _matrix(matrix, rows=len(chunks.numbers), dimension=contents.dimension)
            live = ~is_among(chunks.numbers, np.array(sorted(segment.dead), np.int64))
            vectors.append(VectorSegment(chunks.numbers, chunks.ids, rows, live))
        graphs = HnswSegments([[graph] for graph, *_ in segments]) if segments else None
        self._contents.drop(manifest.files)  # the index has them
        return NamespaceIndex(
            Version(manifest.generation, manifest.stamp),
            contents.model,
            contents.dimension,
            (KeywordSegment(postings, np.ones(len(postings.numbers), bool)),),
            tuple(vectors),
            graphs,
            filled=(1, len(vectors)),
            origin=Version(manifest.generation, manifest.stamp),
        )

    def _name(self, namespace: str, contents: Contents) -> str:
        return f"{self._digest(namespace)}-{contents.model}"

    def _digest(self, namespace: str) -> str:
        identity = f"{self._server}\0{namespace}".encode("utf-8", "surrogatepass")
        return sha256(identity).hexdigest()[:NAME_DIGITS]


def _live_rows(
    segments: Sequence[VectorSegment],
) -> Iterator[tuple[NDArray[np.int64], NDArray[Any], NDArray[np.float32]]]:
    """Yield numbers, packed ids and vectors of the live rows of segments by number, as many as a graph has at most."""
    if not segments:
        return
    columns = [(part.numbers[part.live], part.ids[part.live], part.matrix[part.live]) for part in segments]
    numbers, ids, matrix = (np.concatenate(column) for column in zip(*columns, strict=True))
    order = np.argsort(numbers)
    for start in range(0, len(order), MAX_SEGMENT_VECTORS):
        some = order[start : start + MAX_SEGMENT_VECTORS]
        yield numbers[some], ids[some], to_unit_length(matrix[some])


def _matrix(content: NDArray[np.uint8], *, rows: int, dimension: int) -> NDArray[Any]:
    """Return the vectors of a file: float16, or float32 of unit length if it is twice as large."""
    return content.view("<f2" if len(content) == 2 * rows * dimension else "<f4").reshape(rows, dimension)
