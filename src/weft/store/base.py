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

from weft.graph.standing import EditKind
from weft.records import (
    Batch,
    Chunk,
    DocumentInfo,
    Entity,
    Extraction,
    Filter,
    Mention,
    Problem,
    Ranking,
    Relation,
    StoredModel,
    StoreStats,
    Vector,
)


class Graph(Protocol):
    """The entities of one namespace. A name that is another name of something is read under that thing."""

    def find_entities(self, keys: Sequence[str]) -> dict[str, Entity]:
        """Return the entity each key (`text.names.name_key`) stands for; keys that are none are left out."""

    def entities(self, ids: Sequence[str]) -> list[Entity]:
        """Return the entities with these ids, in this order, skipping ids that are not here."""

    def search_entities(self, vector: Vector, *, chunk_ids: Sequence[str], limit: int) -> list[tuple[Entity, float]]:
        """Return, of the entities these chunks describe, those whose name and description are closest to a vector."""

    def mentions_of(self, entity_ids: Sequence[str], *, limit: int) -> list[Mention]:
        """Return the strongest `limit` mentions under each name of an entity: what is about it first, then by count."""

    def mentions_in(self, chunk_ids: Sequence[str]) -> list[Mention]:
        """Return the mentions in these chunks."""

    def relations_of(
        self, entity_ids: Sequence[str], *, limit: int, types: Sequence[str] = (), min_weight: float = 0.0
    ) -> list[Relation]:
        """
        Return the strongest `limit` relations of each entity in each direction, of some types or all.

        They come without description and chunks, which `describe` adds where they are wanted.
        """

    def relations_between(self, entity_ids: Sequence[str]) -> list[Relation]:
        """Return the relations both of whose ends are among these entities, strongest first, without description."""

    def describe(self, relations: Sequence[Relation]) -> list[Relation]:
        """Return relations with the sentence and the chunks they come from."""

    def entities_after(self, key: str, *, limit: int) -> list[Entity]:
        """Return entities by key, those after `key`; other names of an entity are not listed on their own."""

    def top_entities(self, *, limit: int) -> list[Entity]:
        """Return the strong entities whose own name most chunks mention, other names left aside."""

    def count(self) -> tuple[int, int]:
        """Return how many entities and relations there are."""

    def size(self) -> int:
        """Return how many chunks the namespace has, which is cheap."""

    def find_unembedded(self, model: str, *, limit: int) -> dict[tuple[str, str], str]:
        """Return names without a vector under this embedder: by chunk id and key, the text to embed."""

    def write_vectors(self, model: str, vectors: Mapping[tuple[str, str], Vector]) -> None:
        """Add vectors of names, by chunk id and key; what is gone meanwhile is left out."""

    def edits(self) -> list[tuple[str, str, str]]:
        """Return what the user said about entities: (kind, key, value)."""

    def write_edit(self, kind: EditKind, key: str, value: str, *, undo: bool = False) -> None:
        """Merge, unmerge, alias or rename an entity by its key; `undo` takes it back."""


class Store(Protocol):
    """One namespace: keeps documents and finds their chunks again."""

    @property
    def namespace(self) -> str:
        """The owner of everything this store reads and writes."""

    @property
    def graph(self) -> Graph:
        """The entities and relations of the namespace."""

    # write: each call is one transaction

    def write(self, *batches: Batch) -> None:
        """Make documents exactly what the batches say, replacing what was there under their ids: all or none."""

    def delete(self, document_ids: Sequence[str]) -> int:
        """Remove documents with everything derived from them; return how many there were."""

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

    # read

    def reading(self) -> AbstractContextManager[None]:
        """Let all reads of this thread inside the block see the same state of the store."""

    def documents(self, ids: Sequence[str]) -> list[DocumentInfo]:
        """Return the documents with these ids, in this order, skipping ids that are not here."""

    def find_documents(self, where: Filter, *, after: str = "", limit: int = 1000) -> list[DocumentInfo]:
        """Return documents by source, those after `after` first in order; a page of at most `limit`."""

    def chunks(self, ids: Sequence[str]) -> list[Chunk]:
        """Return the chunks with these ids, in this order, skipping ids that are not here."""

    def find_chunks(self, document_id: str) -> list[Chunk]:
        """Return a document's chunks in their order."""

    def models(self) -> list[StoredModel]:
        """Return the embedders the namespace has vectors of, the active one first."""

    def find_unembedded(self, model: str, *, limit: int) -> list[str]:
        """Return ids of chunks that have no vector under this embedder, in id order."""

    def search_vector(self, vector: Vector, *, limit: int, where: Filter) -> Ranking:
        """Rank chunks by cosine under the active embedder, best first; ties go to the smaller id."""

    def search_keyword(self, terms: Sequence[str], *, limit: int, where: Filter) -> Ranking:
        """Rank chunks by BM25 over this namespace's statistics, best first; ties go to the smaller id."""

    def stats(self) -> StoreStats:
        """Return what the namespace holds."""


class Database(Protocol):
    """The opened file or server that holds all namespaces."""

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

    def repair(self) -> list[str]:
        """Mend what can be derived again; return what was done."""

    def backup(self, target: Path) -> None:
        """Write a consistent copy while others read and write. An existing target is refused."""

    def compact(self) -> None:
        """Give free space back and leave no trace of deleted text in the file."""

    def close(self) -> None:
        """Release files and connections. Calling it twice is harmless."""
