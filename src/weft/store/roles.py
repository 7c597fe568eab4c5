"""Roles of one namespace: graph and facts, each with a reading and a writing half; annotations; jobs; costs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

from weft.graph.entity_resolution import EditKind
from weft.records import (
    BrokenLink,
    Census,
    Chunk,
    Definition,
    DocumentInfo,
    DocumentTitle,
    Entity,
    Extraction,
    Fact,
    FactEntity,
    FactEvent,
    Filter,
    Job,
    JobCounts,
    Known,
    Links,
    LlmRun,
    Mention,
    Relation,
    Vector,
)

# ── graph ───────────────────────────────────────────────────────────────────────────────────────


class GraphReader(Protocol):
    """Read access to the graph of one namespace. An alias is read as its entity."""

    def find_entities(self, keys: Sequence[str]) -> dict[str, Entity]:
        """Return the entity of each key (`text.names.name_key`); keys without an entity are left out."""

    def entities(self, ids: Sequence[str]) -> list[Entity]:
        """Return the entities with these ids, in this order, skipping unknown ids."""

    def find_known(self, keys: Sequence[str], *, max_defining: int) -> dict[str, Known]:
        """
        Return statistics of the entities of many keys; defining chunks are counted up to `max_defining`.

        Names known only from facts of any status are included under separate ids (`text.ids.fact_entity_id`). No chunk
        mentions them.

        """

    def keys(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the keys of entities, by id; unknown ids are left out. Cheap."""

    def find_key_prefixes(self, pairs: Collection[str]) -> set[str]:
        """Return the word pairs that start a longer key, including keys of facts."""

    def names(self, ids: Sequence[str]) -> dict[str, str]:
        """Return the names of entities, by id; unknown ids are left out."""

    def search_entities(self, vector: Vector, *, chunk_ids: Sequence[str], limit: int) -> list[tuple[Entity, float]]:
        """Return the entities described in these chunks whose name and description are closest to a vector."""

    def compare_entities(self, vector: Vector, *, chunk_ids: Sequence[str]) -> dict[str, float]:
        """Return the cosines of these entities with a vector, by entity id. Cheaper than `search_entities`."""

    def mentions_of(self, entity_ids: Sequence[str], *, limit: int) -> list[Mention]:
        """
        Return the strongest `limit` mentions under each name of an entity: defining chunks first, then by count.

        Chunks that propose the name count. If there are few, others with its words are read (`shared.name_search`).
        """

    def mentions_in(self, chunk_ids: Sequence[str], *, about: bool = False) -> list[Mention]:
        """
        Return the mentions in these chunks, in no order: of names that they propose, and of other entities that they
        write like names. `elsewhere` is set, and
        `has_defining_chunk` for strong entities.

        With `about`, return only mentions in defining chunks, in the order of `chunk_ids`.

        """

    def relations_of(
        self, entity_ids: Sequence[str], *, limit: int, types: Sequence[str] = (), min_weight: float = 0.0
    ) -> list[Relation]:
        """
        Return the strongest `limit` stated relations in each direction under each name of an entity, of some types or
        all.

        Description and chunks are empty; `describe` fills them in.
        """

    def links_of(
        self,
        entity_ids: Sequence[str],
        *,
        keys: Sequence[str] = (),
        mentions: int,
        relations: int,
        facts_at: datetime | None = None,
    ) -> Links:
        """
        Return everything about entities, which are given by id or by the key of a name, in one call.

        These are up to `mentions` mentions in chunks that propose them, up to `relations` results of `relations_of`,
        and with a time what `FactReader.links` returns with the limit `MAX_FACT_LINKS`. A store may leave out facts.
        """

    def definitions(self, entity_ids: Sequence[str], *, hits: Sequence[str] = ()) -> dict[str, Definition]:
        """Return the name and the strongest defining chunk of each entity, and which chunks are in its document."""

    def co_occurrences(
        self, entity_ids: Sequence[str], *, limit: int, others: Sequence[str] | None = None
    ) -> list[Relation]:
        """
        Return the strongest `limit` derived relations in each direction under each name: `co_occurs_with`, `mentions`.

        They are counted in the strongest chunks of the name. With `others`, the other end is among these entities.
        """

    def relations_between(self, entity_ids: Sequence[str], *, others: Sequence[str] | None = None) -> list[Relation]:
        """
        Return the stated relations with one end among these entities and the other among `others`, strongest first.

        Without `others`, both ends are among these entities. The relations have no description.
        """

    def describe(self, relations: Sequence[Relation]) -> list[Relation]:
        """Return relations with their source sentence, source chunks and extractors."""

    def extractors(self, entity_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the extractors that proposed each entity under any name: `rules`, `import` or a model, sorted."""

    def entities_after(self, key: str, *, limit: int) -> list[Entity]:
        """Return a page of entities by key, starting after `key`; aliases are not listed separately."""

    def has_entities(self) -> bool:
        """Return True if `top_entities` would return any."""

    def top_entities(self, *, limit: int) -> list[Entity]:
        """Return the strong entities with the most mentioning chunks; aliases do not count."""

    def count(self) -> tuple[int, int]:
        """Return the number of entities and of relations."""

    def size(self) -> int:
        """Return the number of chunks of the namespace. Cheap."""

    def edits(self) -> list[tuple[str, str, str]]:
        """Return the user's edits of entities: (kind, key, value)."""


class GraphWriter(Protocol):
    """Write access to the graph of one namespace. Each call is one transaction."""

    def write_vectors(self, model: str, vectors: Mapping[tuple[str, str], Vector]) -> None:
        """Add vectors of names, by chunk id and key; names that no longer exist are skipped."""

    def write_edit(self, kind: EditKind, key: str, value: str, *, undo: bool = False) -> None:
        """Merge, unmerge, alias, rename or delete an entity by its key; `undo` removes the edit."""


class Graph(GraphReader, GraphWriter, Protocol):
    """Entities, mentions and relations of one namespace, and what its maintenance reads."""

    def census(self) -> Census:
        """Return the number of entities and of stated relations of each type, estimated in a large namespace."""

    def find_unembedded(self, model: str, *, limit: int) -> dict[tuple[str, str], str]:
        """Return the texts to embed of names without a vector of this embedder, by chunk id and key."""

    def vectors(self, chunk_ids: Sequence[str]) -> dict[tuple[str, str], Vector]:
        """Return the vectors of the names described in these chunks under the active embedder, by chunk id and key."""

    def count_broken_links(self, document_ids: Sequence[str] | None = None) -> int:
        """
        Return the number of links of these documents, or of all, that lead to no document.

        A relative link out of the innermost folder of all documents does not count.
        """

    def broken_links(self) -> list[BrokenLink]:
        """Return the links that lead to no document, by source and line."""


# ── annotations ─────────────────────────────────────────────────────────────────────────────────


class Annotations(Protocol):
    """Annotations of chunks by imports of a graph. They are deleted with their chunk."""

    def origins(self) -> list[str]:
        """Return the names of the imports that annotate chunks, sorted."""

    def read(self, origin: str) -> dict[str, Extraction]:
        """Return the annotations of an import, by chunk id."""

    def write(
        self,
        origin: str,
        extractions: Mapping[str, Extraction],
        *,
        vectors: Mapping[tuple[str, str], Vector] | None = None,
    ) -> int:
        """
        Replace all annotations of the import `origin` (never `*`) by `extractions`, which are by chunk id.

        Other chunks lose their annotations of this import; an empty mapping deletes all of them. Unknown chunks are
        skipped. Return the number of changed chunks.

        `vectors` of described names, by chunk id and key, are written with them under the active embedder.
        """


# ── passages ───────────────────────────────────────────────────────────────────────────────


class PassageReader(Protocol):
    """Read access to chunks by time and place. Only chunks of conversations have a time."""

    def titles(self, chunk_ids: Sequence[str]) -> dict[str, DocumentTitle]:
        """Return the documents of these chunks, by chunk id; unknown ids are left out. No text is read."""

    def with_documents(self, chunk_ids: Sequence[str]) -> list[tuple[Chunk, DocumentInfo]]:
        """Return the chunks with these ids and the document of each, in this order, skipping unknown ids."""

    def find_terms(self, chunk_ids: Sequence[str], terms: Sequence[str]) -> dict[str, set[str]]:
        """Return which of these terms each chunk contains, by chunk id; unknown ids are left out. No text is read."""

    def have_times(self) -> bool:
        """Return True if a chunk has a time: it is of a conversation."""

    def latest(self, where: Filter, *, limit: int) -> list[Chunk]:
        """Return the `limit` latest chunks that pass a filter, by start time; ties by id."""

    def openings(self, chunk_ids: Sequence[str]) -> dict[str, Chunk]:
        """
        Return the chunks that open the exchanges of later parts of long answers, by the id of the part.

        An opening chunk is the last one before the part, in its document, that has no heading. Chunks that open an
        exchange themselves, and unknown ones, are left out.
        """

    def answers(self, chunk_ids: Sequence[str]) -> dict[str, Chunk]:
        """Return the first later part of each exchange, by the id of its opening chunk; others are left out."""


# ── facts ───────────────────────────────────────────────────────────────────────────────────────


class FactReader(Protocol):
    """Read access to the facts of one namespace, and to their subject and object entities."""

    def facts(self, ids: Sequence[str]) -> list[Fact]:
        """Return the facts with these ids, in this order, skipping unknown ids."""

    def same(self, contents: Sequence[str]) -> list[Fact]:
        """Return the facts of any status with one of these contents (`text.ids.fact_content`), oldest first."""

    def stated(self, subject: str, predicate: str) -> list[Fact]:
        """Return the facts of any status with this subject (a key) and predicate, oldest first."""

    def about(self, keys: Sequence[str], *, at: datetime, limit: int, incoming: bool = False) -> list[Fact]:
        """
        Return the `limit` facts of highest confidence valid at a time for each subject, in the order of `keys`.

        Ties: the newest first, then by id. With `incoming`, `keys` are objects. Staged and confirmed facts are valid
        in their period, superseded ones until they were superseded.
        """

    def facts_after(self, id: str, *, limit: int, subject: str = "") -> list[Fact]:
        """Return a page of facts by id, starting after `id`, of one subject (a key) or of all."""

    def history(self, id: str) -> list[FactEvent]:
        """Return the events of a fact, oldest first."""

    def find_entities(self, keys: Sequence[str]) -> dict[str, FactEntity]:
        """Return the entities with these keys, in this order; keys that no fact names are left out."""

    def entities_after(self, key: str, *, limit: int) -> list[FactEntity]:
        """Return a page of entities by key, starting after `key`."""

    def origins(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the ids of the documents that state these facts; an empty id stands for a manual statement."""

    def search_names(self, words: Sequence[str], *, limit: int) -> list[tuple[FactEntity, int]]:
        """
        Return the entities whose names contain most of these folded words, with the number of shared words.

        Ties go to the shorter name, then to the smaller key.
        """

    def search_vector(self, vector: Vector, *, limit: int) -> list[tuple[FactEntity, float]]:
        """Return the entities closest to a vector under the active embedder, with their cosines; ties by key."""

    def search_texts(self, vector: Vector, *, at: datetime, limit: int) -> list[tuple[Fact, float]]:
        """Return the facts valid at a time that are closest to a vector as sentences, with cosines; ties by id."""

    def text_vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors of facts under the active embedder, by fact id; missing vectors are left out."""

    def has_links(self) -> bool:
        """Return True if any fact of any status has an entity as its object. Every question calls this cheap method."""

    def links(
        self, entity_ids: Sequence[str], *, at: datetime, limit: int, types: Sequence[str] = (), min_weight: float = 0.0
    ) -> list[Relation]:
        """
        Return facts between two entities that are valid at a time, as relations, strongest first.

        `entity_ids` are ids of the graph; entities are read under all names. Each entity gets the `limit` facts of
        highest confidence in each direction, and `limit` facts to entities known only from facts. Those entities have
        separate ids (`text.ids.fact_entity_id`), which are accepted here too. The type is the predicate; the weight is
        ten times the confidence, and facts below weight 1 are left out. Only the
        `store.shared.fact_rules.MAX_LINK_CANDIDATES` facts of highest confidence of a name are examined.
        """

    def frequent(self, *, limit: int) -> list[str]:
        """Return the keys of the subjects with the most accesses to live facts; others are left out."""

    def count(self) -> tuple[int, int]:
        """Return the number of facts and of entities."""

    def generation(self) -> int:
        """Return a counter that every write to the namespace increases, except `touch` and writes of vectors."""


class FactWriter(Protocol):
    """Write access to the facts of one namespace. Each call is one transaction, or part of a `writing` block."""

    def writing(self) -> AbstractContextManager[None]:
        """Make all reads and writes of facts inside the block one transaction that excludes other writers."""

    def write(
        self, facts: Sequence[Fact], *, events: Sequence[FactEvent] = (), entities: Sequence[FactEntity] = ()
    ) -> None:
        """
        Write facts, append their events, and create the entities they need.

        Access counts stay unchanged. An entity keeps its name; a non-empty description or type replaces the old one.
        Facts that documents state as well are kept when those documents are deleted.
        """

    def restore(
        self,
        facts: Sequence[Fact],
        *,
        events: Sequence[FactEvent] = (),
        origins: Mapping[str, Sequence[str]] | None = None,
        entities: Sequence[FactEntity] = (),
        vectors: Mapping[str, Vector] | None = None,
        text_vectors: Mapping[str, Vector] | None = None,
    ) -> None:
        """
        Write facts and entities exported from another store, with access counts, history and `origins`.

        Existing values of these facts and entities are replaced. The documents in `origins` must exist already.
        `vectors` of entities, by key, and `text_vectors` of facts, by id, are written in the same transaction under the
        active embedder.
        """

    def forget(self, ids: Sequence[str], *, entities: Sequence[str] = ()) -> int:
        """
        Delete facts, their history and entities that no other fact needs; return how many facts existed.

        Declared entities are kept unless their keys are in `entities`.
        """

    def touch(self, ids: Sequence[str], *, at: datetime) -> bool:
        """
        Count one access to each of these facts; return True if it was counted.

        If another writer is active, nothing is counted, without waiting. The generation stays unchanged.
        """

    def write_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Add vectors of entities (by key) under the embedder with this fingerprint; unknown keys are skipped."""

    def write_text_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Add vectors of facts (by id) under the embedder with this fingerprint; unknown ids are skipped."""


class Facts(FactReader, FactWriter, Protocol):
    """Facts of one namespace, their subject and object entities, and what their maintenance reads."""

    def find_unembedded(self, model: str, *, limit: int) -> dict[str, str]:
        """Return the texts to embed of entities without a vector of this embedder, by key."""

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors of entities under the active embedder, by key."""

    def find_unembedded_texts(self, model: str, *, limit: int) -> dict[str, str]:
        """Return the sentences of facts of any status without a vector of this embedder, by fact id."""


# ── jobs and costs ──────────────────────────────────────────────────────────────────────────────


class Jobs(Protocol):
    """
    Queue of the documents of one namespace that wait for indexing. Each call is one transaction.

    All times come from the database clock, because worker clocks may differ. Changes to jobs do not change the
    generation.
    """

    def enqueue(self, jobs: Sequence[Job]) -> None:
        """
        Add jobs, each replacing the one with the same id.

        A running job for the same content continues and is assigned to the new run. Results that are not collected
        within a day are deleted.
        """

    def claim(self, worker: str, *, recipe: str, limit: int, lease: float, attempts: int) -> list[Job]:
        """
        Claim up to `limit` jobs of a recipe that wait, or whose `lease` (seconds) has expired.

        Jobs with an earlier attempt come last and one at a time, because one of them may have killed its worker.
        Jobs with `attempts` unfinished attempts are marked as failed.

        """

    def renew(self, worker: str, *, lease: float) -> None:
        """Extend a worker's claims by `lease` seconds from now."""

    def fail(self, worker: str, id: str, error: str, *, attempts: int) -> None:
        """Return a job after an error; after `attempts` it is failed. A job taken over by another worker is skipped."""

    def release(self, worker: str, *, counted: bool) -> int:
        """
        Return all jobs of a worker to the queue; return their number.

        Without `counted`, the attempt is not counted.
        """

    def withdraw(self, run: str) -> int:
        """Delete the waiting and the finished jobs of a run; return the number of waiting jobs."""

    def collect(self, run: str, *, limit: int) -> list[Job]:
        """Return finished jobs of a run with their results, and delete them."""

    def failed(self, run: str = "", *, limit: int) -> list[Job]:
        """Return the failed jobs of a run, or of all runs, by source. They stay until they are enqueued again."""

    def counts(self, run: str = "", *, recipe: str = "") -> JobCounts:
        """Return the number of jobs in each state: of a run or of all, of a recipe or of all."""


class Spending(Protocol):
    """
    Costs of language models in one namespace. Each write is one transaction.

    Costs are not content: the generation stays unchanged.
    """

    def write(self, *runs: LlmRun) -> None:
        """Write the costs of runs, each replacing the run with the same id."""

    def runs(self) -> list[LlmRun]:
        """Return the costs of all runs, oldest first, then by id."""

    def forget(self, ids: Sequence[str]) -> int:
        """Delete runs; return the number of deleted runs."""
