"""The parts of a store that are asked for by themselves: its graph, its facts, its jobs, what it cost."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

from weft.graph.entity_resolution import EditKind
from weft.records import (
    Census,
    Entity,
    Fact,
    FactEntity,
    FactEvent,
    Job,
    JobCounts,
    Known,
    LlmRun,
    Mention,
    Relation,
    Vector,
)


class Graph(Protocol):
    """The entities of one namespace. A name that is another name of something is read under that thing."""

    def find_entities(self, keys: Sequence[str]) -> dict[str, Entity]:
        """Return the entity each key (`text.names.name_key`) stands for; keys that are none are left out."""

    def entities(self, ids: Sequence[str]) -> list[Entity]:
        """Return the entities with these ids, in this order, skipping ids that are not here."""

    def find_known(self, keys: Sequence[str], *, homes: int) -> dict[str, Known]:
        """
        Return less of the same for many keys at once, with chunks about an entity counted to `homes`.

        Names that facts alone know, of whatever status, are among them, under ids of their own
        (`text.ids.fact_entity_id`): no chunk mentions them.
        """

    def find_beginnings(self, pairs: Collection[str]) -> set[str]:
        """Return those pairs of words that keys of more words begin with, those that facts name among them."""

    def names(self, ids: Sequence[str]) -> dict[str, str]:
        """Return what entities are called, by id; ids that are not here are left out."""

    def search_entities(self, vector: Vector, *, chunk_ids: Sequence[str], limit: int) -> list[tuple[Entity, float]]:
        """Return, of the entities these chunks describe, those whose name and description are closest to a vector."""

    def mentions_of(self, entity_ids: Sequence[str], *, limit: int) -> list[Mention]:
        """Return the strongest `limit` mentions under each name of an entity: what is about it first, then by count."""

    def mentions_in(self, chunk_ids: Sequence[str], *, about: bool = False) -> list[Mention]:
        """
        Return the mentions in these chunks, with whether entities may stand elsewhere and, strong ones, have a home.

        They come in no order. With `about`, only those of what a chunk is about, in the order of the chunks.
        """

    def relations_of(
        self, entity_ids: Sequence[str], *, limit: int, types: Sequence[str] = (), min_weight: float = 0.0
    ) -> list[Relation]:
        """
        Return the strongest `limit` relations in each direction under each name of an entity, of some types or all.

        They come without description and chunks, which `describe` adds where they are wanted.
        """

    def links_of(
        self, entity_ids: Sequence[str], *, limit: int, min_weight: float = 0.0
    ) -> tuple[list[Mention], list[Relation]]:
        """Return what `mentions_of` and `relations_of` do, at once."""

    def relations_between(self, entity_ids: Sequence[str]) -> list[Relation]:
        """Return the relations both of whose ends are among these entities, strongest first, without description."""

    def describe(self, relations: Sequence[Relation]) -> list[Relation]:
        """Return relations with the sentence and the chunks they come from, and who read them there."""

    def extractors(self, entity_ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return who put each entity forward, under any of its names: `rules`, `import` or a model, sorted."""

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

    def vectors(self, chunk_ids: Sequence[str]) -> dict[tuple[str, str], Vector]:
        """Return the vectors of the names these chunks describe under the active embedder, by chunk id and key."""

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

    def restore(
        self,
        facts: Sequence[Fact],
        *,
        events: Sequence[FactEvent] = (),
        origins: Mapping[str, Sequence[str]] | None = None,
        entities: Sequence[FactEntity] = (),
    ) -> None:
        """
        Make facts and entities exactly what they are elsewhere: accesses, whole history and `origins` included.

        What was known of these facts and entities gives way. The documents that state them are there already.
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
        """Return the entities with these keys, in this order; keys that facts do not name are left out."""

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

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors of entities under the active embedder, by key."""

    def has_links(self) -> bool:
        """Return whether any fact leads to an entity, whatever its status; cheap, for each question asks."""

    def links(
        self, entity_ids: Sequence[str], *, at: datetime, limit: int, types: Sequence[str] = (), min_weight: float = 0.0
    ) -> list[Relation]:
        """
        Return facts that hold at a time and lead from one entity to another, as relations.

        Of each entity (by its id in the graph, under all its names) the surest `limit` in each direction, strongest
        first, and as many to entities that facts alone know. These have ids of their own (`text.ids.fact_entity_id`)
        and can be asked for by them. The type is the predicate, the weight ten times the confidence; below 1, where
        the scale of weights begins, it is none. Of a name with thousands of facts only the surest are looked at
        (`store.stating.LOOKS`).
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


class Spending(Protocol):
    """
    What asking language models for one namespace cost. Each write is one transaction.

    None of it is content: the generation stays as it is.
    """

    def write(self, *runs: LlmRun) -> None:
        """Keep what runs cost, each in the place of what was known of it."""

    def runs(self) -> list[LlmRun]:
        """Return what every run cost, oldest first, then by id."""

    def forget(self, ids: Sequence[str]) -> int:
        """Remove runs as if they had never been; return how many there were."""
