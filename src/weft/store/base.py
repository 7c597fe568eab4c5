"""
What every store can do. Adapters implement it; nothing above `store/` knows which one it has.

A `Database` is the whole thing that was opened; a `Store` is the part of it that belongs to one namespace.
Everything a caller reads or writes goes through a `Store`, so no call can name another namespace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Protocol

from weft.graph.standing import EditKind
from weft.records import (
    ApiKey,
    Batch,
    Calibration,
    Census,
    Chunk,
    DocumentInfo,
    Done,
    Entity,
    Extraction,
    Fact,
    FactEntity,
    FactEvent,
    Filter,
    Job,
    JobCounts,
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

    def census(self) -> Census:
        """Return how many entities there are of each type, and how many stated relations."""

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


class Facts(Protocol):
    """The facts of one namespace, and the entities they are about or lead to."""

    # write: each call is one transaction, or a part of the one that `writing` makes

    def writing(self) -> AbstractContextManager[None]:
        """Let all reads and writes of facts inside the block be one transaction that no other writer comes between."""

    def write(
        self, facts: Sequence[Fact], *, events: Sequence[FactEvent] = (), entities: Sequence[FactEntity] = ()
    ) -> None:
        """
        Make facts exactly what these say, with what happened to them, and name the entities that they need.

        What is known of accesses stays as it is. An entity keeps its name; a description or type that is not empty
        replaces it. Facts that documents state too now stay when these are gone.
        """

    def forget(self, ids: Sequence[str], *, entities: Sequence[str] = ()) -> int:
        """
        Remove facts with their history, and entities that no fact needs any more; return how many facts there were.

        Entities that stand for themselves stay, but for those among `entities` (keys).
        """

    def touch(self, ids: Sequence[str], *, at: datetime) -> bool:
        """
        Count one access to each of these facts; return whether it was done.

        It does not wait: where another one is writing it does nothing. The generation stays as it is.
        """

    def write_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Add vectors of entities (by key) under the embedder with this fingerprint; unknown keys are left out."""

    # read

    def facts(self, ids: Sequence[str]) -> list[Fact]:
        """Return the facts with these ids, in this order, skipping ids that are not here."""

    def same(self, contents: Sequence[str]) -> list[Fact]:
        """Return the facts of any status that state the same (`text.ids.fact_content`), oldest first."""

    def stated(self, subject: str, predicate: str) -> list[Fact]:
        """Return what is stated of a subject (by key) under a predicate, whatever its status, oldest first."""

    def about(self, keys: Sequence[str], *, at: datetime, limit: int, incoming: bool = False) -> list[Fact]:
        """
        Return the surest `limit` facts of each subject that hold at a time, in the order of `keys`.

        Equally sure ones: the newest first, then by id. With `incoming`, of each object instead. Staged and confirmed
        facts hold in their time, superseded ones until they were superseded.
        """

    def facts_after(self, id: str, *, limit: int, subject: str = "") -> list[Fact]:
        """Return facts by id, those after `id`; of one subject (by key) or all."""

    def history(self, id: str) -> list[FactEvent]:
        """Return what happened to a fact, in its order."""

    def find_entities(self, keys: Sequence[str]) -> dict[str, FactEntity]:
        """Return the entities with these keys; keys that facts do not name are left out."""

    def entities_after(self, key: str, *, limit: int) -> list[FactEntity]:
        """Return entities by key, those after `key`."""

    def origins(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the documents that state these facts; an empty id among them: somebody stated it by hand as well."""

    def search_names(self, words: Sequence[str], *, limit: int) -> list[tuple[FactEntity, int]]:
        """Return the entities whose names hold most of these folded words, and how many; shorter names, then keys."""

    def search_vector(self, vector: Vector, *, limit: int) -> list[tuple[FactEntity, float]]:
        """Return the entities whose name and description are closest under the active embedder; ties by key."""

    def find_unembedded(self, model: str, *, limit: int) -> dict[str, str]:
        """Return entities without a vector under this embedder: by key, the text to embed."""

    def has_links(self) -> bool:
        """Return whether any fact leads to an entity, whatever its status; cheap, for each question asks."""

    def links(
        self, entity_ids: Sequence[str], *, at: datetime, limit: int, types: Sequence[str] = (), min_weight: float = 0.0
    ) -> list[Relation]:
        """
        Return facts that hold at a time and lead from one entity of the graph to another, as relations.

        Of each entity (by its id in the graph, under all its names) the surest `limit` in each direction, strongest
        first. The type is the predicate, the weight ten times the confidence; below 1, where the scale of weights
        begins, it is none. Of a name with thousands of facts only the surest are looked at (`store.stating.LOOKS`).
        """

    def frequent(self, *, limit: int) -> list[str]:
        """Return the keys of the subjects whose live facts were accessed most, never accessed ones left out."""

    def count(self) -> tuple[int, int]:
        """Return how many facts and entities there are."""

    def generation(self) -> int:
        """Return a number that grows with every write to the namespace but `touch` and vectors."""


class Jobs(Protocol):
    """
    The documents of one namespace that wait to be indexed. Each call is one transaction.

    Times are those of the database, for workers on several machines may disagree. None of it is content: the generation
    stays as it is.
    """

    def enqueue(self, jobs: Sequence[Job]) -> None:
        """
        Add jobs, each in the place of the one with the same id.

        One that is under way towards the same content goes on, and belongs to the new run. What was done a day ago and
        nobody collected is forgotten.
        """

    def claim(self, worker: str, *, recipe: str, limit: int, lease: float, attempts: int) -> list[Job]:
        """
        Take up to `limit` jobs of a recipe that wait, or whose worker was silent for the `lease` (seconds) it had.

        Those that were begun before come last and one at a time: one of them may be what ended its worker. What was
        begun `attempts` times and not finished is failed from now on.
        """

    def renew(self, worker: str, *, lease: float) -> None:
        """Let a worker keep what it has for another `lease` seconds."""

    def fail(self, worker: str, id: str, error: str, *, attempts: int) -> None:
        """Give a job back that went wrong; after `attempts` it is failed. One that was taken over is left alone."""

    def release(self, worker: str, *, counted: bool) -> int:
        """Give back everything a worker has; return how many. Where it is not `counted`, it was never begun."""

    def withdraw(self, run: str) -> int:
        """Remove the jobs of a run that nobody has begun, and what is done of it; return how many never began."""

    def collect(self, run: str, *, limit: int) -> list[Job]:
        """Return jobs of a run that are done, with their results, and forget them."""

    def failed(self, run: str = "", *, limit: int) -> list[Job]:
        """Return the jobs of a run, or of all, that failed, by source. They stay until they are enqueued again."""

    def counts(self, run: str = "", *, recipe: str = "") -> JobCounts:
        """Return how many jobs there are: of a run or of all, of a recipe or of all."""


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

    def repair(self) -> list[str]:
        """Mend what can be derived again; return what was done."""

    def backup(self, target: Path) -> None:
        """Write a consistent copy while others read and write. An existing target is refused."""

    def compact(self) -> None:
        """Give free space back and leave no trace of deleted text in the file."""

    def close(self) -> None:
        """Release files and connections. Calling it twice is harmless."""
