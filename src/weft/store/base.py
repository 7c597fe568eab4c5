"""
What every store can do. Adapters implement it; nothing above `store/` knows which one it has.

A `Database` is the whole thing that was opened; a `Store` is the part of it that belongs to one namespace.
Everything a caller reads or writes goes through a `Store`, so no call can name another namespace.
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
    Extraction,
    Filter,
    Problem,
    Ranking,
    StoredModel,
    StoreStats,
    Vector,
)
from weft.store.roles import Facts, Graph, Jobs, Spending

COMMON = 512
"""Chunks that hold a term from which it is no way to those that hold others as well."""

__all__ = ["Database", "Facts", "Graph", "Jobs", "Keys", "Spending", "Store"]


class Store(Protocol):
    """One namespace: keeps documents and finds their chunks again."""

    @property
    def namespace(self) -> str:
        """The owner of everything this store reads and writes."""

    @property
    def graph(self) -> Graph:
        """The entities and relations of the namespace."""

    @property
    def facts(self) -> Facts:
        """What is remembered in the namespace."""

    @property
    def jobs(self) -> Jobs:
        """What waits to be indexed."""

    @property
    def spending(self) -> Spending:
        """What asking language models cost."""

    # write: each call is one transaction

    def write(self, *batches: Batch, done: Done | None = None) -> None:
        """
        Make documents exactly what the batches say, replacing what was there under their ids: all or none.

        With `done`, the jobs it names are finished by the same transaction; where the worker no longer has one of them
        it raises `ClaimLost`. Other jobs of these documents are older than the batches, and gone.
        """

    def delete(self, document_ids: Sequence[str]) -> int:
        """Remove documents with everything derived from them, and their jobs; return how many documents there were."""

    def annotate(self, origin: str, extractions: Mapping[str, Extraction]) -> int:
        """
        Make what `origin`, the name of an import (never `*`), says exactly this: by chunk id, beside their documents.

        Of chunks that are not named it says nothing, so no extractions take all of it back. It goes when the chunk
        goes; chunks that are not here are left out. Return of how many chunks it now says something else.
        """

    def write_model(self, model: StoredModel) -> None:
        """Remember an embedder. An active one takes over, and vectors of the others are dropped."""

    def write_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Add vectors of chunks (by id) under the embedder with this fingerprint; unknown chunks are left out."""

    def write_calibration(self, calibration: Calibration | None) -> None:
        """
        Keep how sure answers are under the active embedder, or under none; None forgets it.

        It goes with its embedder: when another one takes over it is gone.
        """

    # read

    def reading(self) -> AbstractContextManager[None]:
        """
        Let all reads of this thread inside the block see the same state of the store.

        It may be a little behind what other processes wrote, never behind what this one wrote.
        """

    def documents(self, ids: Sequence[str]) -> list[DocumentInfo]:
        """Return the documents with these ids, in this order, skipping ids that are not here."""

    def find_documents(self, where: Filter, *, after: str = "", limit: int = 1000) -> list[DocumentInfo]:
        """Return documents by source, those after `after` first in order; a page of at most `limit`."""

    def chunks(self, ids: Sequence[str]) -> list[Chunk]:
        """Return the chunks with these ids, in this order, skipping ids that are not here."""

    def find_chunks(self, document_id: str) -> list[Chunk]:
        """Return a document's chunks in their order."""

    def batches(self, document_ids: Sequence[str]) -> list[Batch]:
        """
        Return documents as they were written, in this order, skipping ids that are not here.

        Vectors are those of the active embedder. The facts they state are left out: `facts.origins` knows them.
        """

    def imports(self) -> list[str]:
        """Return the names of the imports that say something of chunks, sorted."""

    def said_by(self, origin: str) -> dict[str, Extraction]:
        """Return what an import says, by chunk id."""

    def models(self) -> list[StoredModel]:
        """Return the embedders the namespace has vectors of, the active one first."""

    def calibration(self) -> Calibration | None:
        """Return what was fitted for the active embedder; None where nothing was. Cheap, for each question asks."""

    def sample(self, *, limit: int) -> list[Chunk]:
        """Return chunks in the order of their ids, which says nothing of their content; at most `limit`."""

    def find_unembedded(self, model: str, *, limit: int) -> list[str]:
        """Return ids of chunks that have no vector under this embedder, in id order."""

    def search_vector(self, vector: Vector, *, limit: int, where: Filter) -> Ranking:
        """Rank chunks by cosine under the active embedder, best first; ties go to the smaller id."""

    def search_keyword(self, terms: Sequence[str], *, limit: int, where: Filter) -> Ranking:
        """Rank chunks by BM25 over this namespace's statistics, best first; ties go to the smaller id."""

    def find_holders(self, terms: Sequence[str], *, limit: int) -> list[str] | None:
        """
        Return the ids of the chunks that hold all of these terms, sorted.

        None where there are more than `limit`, and where it is not worth a look: `COMMON` chunks hold even the rarest.
        """

    def stats(self) -> StoreStats:
        """Return what the namespace holds."""


class Keys(Protocol):
    """The keys of a database, which belong to no namespace. Each write is one transaction."""

    def write(self, key: ApiKey) -> None:
        """Keep a key, in the place of the one with the same id."""

    def all(self) -> list[ApiKey]:
        """Return all keys, revoked ones too, in the order they were created, then by id."""

    def find(self, ids: Sequence[str]) -> dict[str, ApiKey]:
        """Return the keys with these ids; ids that are not here are left out."""

    def forget(self, ids: Sequence[str]) -> int:
        """Remove keys as if they had never been; return how many there were."""


class Database(Protocol):
    """The opened file or server that holds all namespaces."""

    @property
    def keys(self) -> Keys:
        """Who may come in through a door that others can reach."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know about how this database answers; usually nothing."""

    def store(self, namespace: str) -> Store:
        """Return the part that belongs to `namespace`, which need not exist yet."""

    def namespaces(self) -> list[str]:
        """Return the names of the namespaces that hold something, sorted."""

    def drop(self, namespace: str) -> bool:
        """Remove a namespace with everything in it; return whether there was one."""

    def check(self) -> list[Problem]:
        """Look for contradictions. An empty list means the content is sound."""

    def compare(self) -> list[Problem]:
        """Compare what read indexes beside the content find with what a scan finds; takes as long as some scans."""

    def repair(self) -> list[str]:
        """Mend what can be derived again; return what was done."""

    def backup(self, target: Path) -> None:
        """Write a consistent copy while others read and write. An existing target is refused."""

    def size(self) -> int:
        """Return how many bytes it takes on disk, with all its namespaces; 0 where it takes none."""

    def compact(self) -> None:
        """Give free space back and leave no trace of deleted text in the file."""

    def close(self) -> None:
        """Release files and connections. Calling it twice is harmless."""
