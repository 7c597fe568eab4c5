"""
Interface of every store, which adapters implement and the layers above import.

A `Database` is the opened file or server. A `Store` is its part for one namespace: all reads and writes go through
a `Store`, so no call can name another namespace. Each role is split into a reading and a writing half; code that
only searches takes the reading half.

    StoreReader ── .graph: GraphReader    .facts: FactReader
    StoreWriter
    Store       ── .graph: Graph          .facts: Facts
                   .annotations: Annotations    .jobs: Jobs    .spending: Spending
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from weft.records import (
    ApiKey,
    Batch,
    Calibration,
    Chunk,
    DocumentInfo,
    Done,
    Filter,
    KeyPresence,
    KeywordStatistics,
    Problem,
    Ranking,
    StoredModel,
    StoreStats,
    Vector,
)
from weft.store.roles import (
    Annotations,
    FactReader,
    Facts,
    FactWriter,
    Graph,
    GraphReader,
    GraphWriter,
    Jobs,
    PassageReader,
    Spending,
)

MIN_COMMON_TERM_CHUNKS = 512
"""A term found in this many chunks is too common to start an intersection from."""

READ_ONLY = "several namespaces are read-only"
READ_ONLY_HINT = "write to one namespace of one store"
"""Message and hint of the error for a write to several namespaces."""

__all__ = [
    "Annotations",
    "Database",
    "FactReader",
    "FactWriter",
    "Facts",
    "Graph",
    "GraphReader",
    "GraphWriter",
    "Jobs",
    "Keys",
    "PassageReader",
    "Spending",
    "Store",
    "StoreReader",
    "StoreWriter",
]


class StoreReader(Protocol):
    """Read access to one namespace."""

    @property
    def namespace(self) -> str:
        """Name of the namespace."""

    @property
    def graph(self) -> GraphReader:
        """Entities and relations of the namespace."""

    @property
    def facts(self) -> FactReader:
        """Facts of the namespace."""

    @property
    def passages(self) -> PassageReader:
        """Chunks by document, time and place in a conversation."""

    def reading(self) -> AbstractContextManager[None]:
        """
        Give all reads of this thread inside the block the same snapshot of the store.

        The snapshot may miss recent writes of other processes, never writes of this process.


        """

    def documents(self, ids: Sequence[str]) -> list[DocumentInfo]:
        """Return the documents with these ids, in this order, skipping unknown ids."""

    def find_documents(self, where: Filter, *, after: str = "", limit: int = 1000) -> list[DocumentInfo]:
        """Return a page of at most `limit` documents by source, starting after the source `after`."""

    def source_range(self, *, absolute: bool = False) -> tuple[str, str] | None:
        """
        Return the first and the last source, of all or of those that begin with `/`; None without one.

        The latter are read with `models`, so they cost no statement of their own.
        """

    def chunks(self, ids: Sequence[str]) -> list[Chunk]:
        """Return the chunks with these ids, in this order, skipping unknown ids."""

    def find_chunks(self, document_id: str) -> list[Chunk]:
        """Return a document's chunks in document order."""

    def batches(self, document_ids: Sequence[str]) -> list[Batch]:
        """
        Return documents as they were written, in this order, skipping unknown ids.

        Vectors are those of the active embedder. Stated facts are left out; `facts.origins` lists them.
        """

    def models(self) -> list[StoredModel]:
        """Return the embedders with vectors in the namespace, the active one first."""

    def calibration(self) -> Calibration | None:
        """Return the calibration fitted for the active embedder, or None. Cheap: every question reads it."""

    def search_vector(self, vector: Vector, *, limit: int, where: Filter) -> Ranking:
        """Rank chunks by cosine under the active embedder, best first; ties go to the smaller id."""

    def search_keyword(
        self, terms: Sequence[str], *, limit: int, where: Filter, statistics: KeywordStatistics | None = None
    ) -> Ranking:
        """
        Rank chunks by BM25, best first; ties go to the smaller id.

        `statistics` are those of several namespaces that are searched together, by default those of this one.
        """

    def keyword_statistics(self, terms: Sequence[str]) -> KeywordStatistics:
        """
        Return the statistics of this namespace that BM25 needs for these terms. Cheap.

        If `search_keyword` follows for some of these terms, nothing is read again.
        """

    def find_chunks_with_terms(self, wanted: Sequence[Sequence[str]], *, limit: int) -> list[list[str] | None]:
        """
        Return, for each list of terms, the ids of the chunks that contain all of them, sorted.

        None if more than `limit` chunks do, or if every term occurs in `MIN_COMMON_TERM_CHUNKS` chunks or more.
        """

    def stats(self) -> StoreStats:
        """Return counts, embedders and search methods of the namespace."""


class StoreWriter(Protocol):
    """Write access to one namespace. Each call is one transaction."""

    def write(self, *batches: Batch, done: Done | None = None, defer_indexes: bool = False) -> None:
        """
        Replace documents by the content of the batches: all of them or none.

        With `defer_indexes`, an index that a large namespace needs is created only by a later write or `finish_load`.

        With `done`, the same transaction finishes these jobs. Raises `ClaimLost` if another worker has taken over one
        of them. Other jobs of these documents are older than the batches and are deleted.
        """

    def finish_load(self) -> None:
        """End a run of writes: create missing indexes, and rewrite a SQLite file that has at least doubled."""

    def delete(self, document_ids: Sequence[str]) -> int:
        """Delete documents, everything derived from them and their jobs; return how many documents existed."""

    def write_model(self, model: StoredModel) -> None:
        """
        Register an embedder.

        An active embedder replaces the current one, and the vectors of all others are deleted.
        """

    def write_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Add vectors of chunks (by id) under the embedder with this fingerprint; unknown chunks are skipped."""

    def write_calibration(self, calibration: Calibration | None) -> None:
        """
        Set the calibration of the active embedder, or of a search without an embedder; None deletes it.

        It is deleted when another embedder becomes active.

        """


class Store(StoreReader, StoreWriter, Protocol):
    """One namespace: documents, chunks, graph, facts, jobs and costs."""

    @property
    def graph(self) -> Graph:
        """Entities and relations of the namespace."""

    @property
    def facts(self) -> Facts:
        """Facts of the namespace."""

    @property
    def annotations(self) -> Annotations:
        """Annotations of chunks by imports."""

    @property
    def jobs(self) -> Jobs:
        """Documents waiting to be indexed."""

    @property
    def spending(self) -> Spending:
        """Costs of language models."""

    def content_hashes(self) -> list[tuple[str, str, str]]:
        """Return the id, the source and the content hash of every document, in any order."""

    def sample(self, *, limit: int) -> list[Chunk]:
        """Return at most `limit` chunks by id. Ids are hashes, so the order is independent of the content."""

    def find_unembedded(self, model: str, *, limit: int) -> list[str]:
        """Return ids of chunks without a vector of this embedder, in id order."""


class Keys(Protocol):
    """API keys of a database; they belong to no namespace. Each write is one transaction."""

    def write(self, key: ApiKey) -> None:
        """Write a key, replacing the one with the same id."""

    def all(self) -> list[ApiKey]:
        """Return all keys, including revoked ones, by creation time, then by id."""

    def find(self, ids: Sequence[str]) -> dict[str, ApiKey]:
        """Return the keys with these ids; unknown ids are left out."""

    def match(self, id: str, *, digest: str) -> ApiKey | None:
        """Return the key with this id and this digest, or None. Every role may call this."""

    def presence(self) -> KeyPresence:
        """Return whether there are keys. Every role may call this."""

    def forget(self, ids: Sequence[str]) -> int:
        """Delete keys and their records; return the number of deleted keys."""


class Database(Protocol):
    """The opened file or server with all namespaces."""

    @property
    def keys(self) -> Keys:
        """API keys of the HTTP and MCP interfaces."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Limitations of this database that the user should know; usually none."""

    def store(self, namespace: str) -> Store:
        """Return the store of `namespace`, which need not exist yet."""

    def prefetch(self, *, resident: bool = False) -> None:
        """
        Start to load and verify read indexes in the background; return at once. A second call does nothing.

        With `resident` they are copied into memory, so a server keeps running if an index file is damaged or truncated.
        """

    def namespaces(self) -> list[str]:
        """Return the names of the namespaces with content, sorted. Raises `AccessDenied`."""

    def drop(self, namespace: str) -> bool:
        """Delete a namespace with all its content; return True if it existed."""

    def check(self) -> list[Problem]:
        """Return all inconsistencies found in the content; an empty list if there are none. Raises `AccessDenied`."""

    def compare(self) -> list[Problem]:
        """Compare the results of the read indexes with full scans. This takes as long as several scans."""

    def repair(self) -> list[str]:
        """Rebuild all derived data; return a line for each change."""

    def backup(self, target: Path) -> None:
        """Write a consistent copy while others read and write. Raises `InputError` if the target exists."""

    def size(self) -> int:
        """Return the bytes on disk, all namespaces together; 0 for a store in memory."""

    def compact(self) -> None:
        """Return free space to the disk and overwrite deleted text."""

    def close(self) -> None:
        """Release files and connections. A second call does nothing."""
