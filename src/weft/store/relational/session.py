"""
Interface between the relational stores and their adapters.

This package decides which statements run, by name. An adapter has a file of statements under the same names, opens
transactions, and ranks by keywords and by vectors.

    with connections.read(namespace) as db:        read        consistent snapshot
        rows = db.run("find_documents", {...})     scan        the same, for reading whole tables
                                                   write       committed at the end of the block
                                                   try_write   the same, or None if it would have to wait
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from weft.errors import SchemaMismatch
from weft.graph.entity_resolution import KIND_RANKS, vote
from weft.records import Candidate, Filter, IndexedChunk, KeywordStatistics, Problem, Ranking, StoredModel, Vector

Namespace: TypeAlias = int | str
"""Value of the namespace columns: its number (SQLite) or its name (PostgreSQL)."""

Row: TypeAlias = tuple[Any, ...]

NO_VALUES: Mapping[str, Any] = {}

Values: TypeAlias = Mapping[str, Any] | tuple[Any, ...]
"""Values of a statement, by name. SQLite also takes them in the order in which the statement first names them."""

Turn: TypeAlias = Literal["shared", "next", "alone"]
"""
Which writers of a namespace a transaction excludes.

| turn | excludes | may |
| --- | --- | --- |
| shared | those with a turn `alone`, and those that write the same documents | insert rows of new documents |
| next | those with a turn `next` or `alone` | change all rows of the namespace |
| alone | all | rely on there being no unfinished documents |

A transaction can begin with `shared`, which lasts long, and wait for its `next` turn when only shared rows are left.
"""


class ModelRow(NamedTuple):
    """An embedder and its number in the database."""

    number: int
    model: StoredModel


class NamespaceRow(NamedTuple):
    """What every call reads first: row of the table `namespace`, embedders and calibration of one namespace."""

    key: Namespace
    number: int
    """Number of its creation: a namespace that is dropped and created again gets another."""
    generation: int
    chunks: int
    length: int
    """Total number of terms in all chunks."""
    models: tuple[ModelRow, ...]
    """Embedders, the active one first."""
    calibration: str | None
    """JSON object; None without a calibration for the active embedder."""
    has_fact_links: bool
    """True if a fact of any status has an entity as its object."""
    has_times: bool
    """True if a chunk has a time."""
    absolute_sources: tuple[str, str] | None
    """The first and the last source that begins with `/`, in the order of sources; None without one."""

    @property
    def active(self) -> ModelRow | None:
        """The active embedder, or None."""
        return next((row for row in self.models if row.model.active), None)


class TermChanges(Protocol):
    """Collects the changes of a transaction to the keyword index and applies them once."""

    def remove(self, number: int, terms: Iterable[str]) -> None:
        """Remove a chunk from the postings of `terms`."""

    def add(self, number: int, terms: Mapping[str, int], *, length: int) -> None:
        """Add a chunk to the postings of `terms`, a mapping of terms to frequencies."""

    def apply(self) -> None:
        """Write the collected changes."""


class CandidateRow(NamedTuple):
    """A candidate to write."""

    chunk: int
    document: int
    origin: str
    is_new: bool
    """The transaction writes the chunk and all its candidates."""
    item: Candidate


class Session(Protocol):
    """One transaction: statements by name, and the ports of what an adapter does in its own way."""

    vectors: Vectors
    keywords: Keywords
    names: Names
    integrity: Integrity
    chunk_ids: ChunkIds

    def run(self, name: str, values: Mapping[str, Any] = NO_VALUES) -> list[Row]:
        """Run a statement; return its rows."""

    def stream(self, name: str, values: Mapping[str, Any] = NO_VALUES) -> Iterator[Row]:
        """Run a statement; iterate over its rows without keeping them in memory."""

    def one(self, name: str, values: Mapping[str, Any] = NO_VALUES) -> Any:
        """Run a statement; return the first value of its first row, or None."""

    def run_many(self, name: str, rows: Sequence[Values]) -> None:
        """Run a statement once for each row of values."""

    def changes(self) -> int:
        """Return the number of rows that the last statement changed."""

    def total_changes(self) -> int:
        """Return the number of rows changed since the connection was opened."""

    def namespace(self, name: str) -> NamespaceRow | None:
        """Return a namespace, or None. A reading transaction reads it once."""

    def namespace_key(self, name: str) -> Namespace:
        """Return the value of the namespace columns; a value that matches no row for an unknown namespace."""

    def lock(self, name: str, turn: Turn = "next", *, documents: Collection[str] = ()) -> None:
        """Wait for a turn in a namespace, and keep it for the rest of the transaction; `documents` are as in `Turn`."""


class ChunkIds:
    """Ids of chunks by number. A reading transaction reads each once, and none that came with a vector."""

    def __init__(self, db: Session, *, reads: bool) -> None:
        self._db = db
        self._kept: dict[int, str] | None = {} if reads else None
        self._find_known: Callable[[Sequence[int]], Mapping[int, str]] = lambda numbers: {}

    def know(self, find: Callable[[Sequence[int]], Mapping[int, str]]) -> None:
        """Use a function that returns ids by number in the state of the transaction; it may leave out some."""
        self._find_known = find

    def find(self, namespace: Namespace, numbers: Sequence[int]) -> dict[int, str]:
        """Return the ids of chunks of a namespace, by number; unknown numbers are left out."""
        kept = {} if self._kept is None else self._kept
        missing = [number for number in numbers if number not in kept]
        if missing and self._kept is not None:
            kept |= self._find_known(missing)
            missing = [number for number in missing if number not in kept]
        if missing:
            kept.update(self._db.run("chunk_ids", {"namespace": namespace, "numbers": json.dumps(missing)}))
        return {number: kept[number] for number in numbers if number in kept}


class Vectors(Protocol):
    """Port of a session for vectors: their stored form, and the search for the nearest."""

    def pack(self, vector: Vector) -> Any:
        """Return a vector in stored form."""

    def unpack(self, value: Any) -> Vector:
        """Return a vector from its stored form."""

    def pack_half(self, vector: Vector) -> Any:
        """Return a vector of a chunk in stored form: rounded to float16."""

    def unpack_half(self, value: Any) -> Vector:
        """Return a vector of a chunk from its stored form."""

    def pack_names(self, vectors: Sequence[Vector]) -> list[Any]:
        """Return vectors of described names in stored form: rounded to 12 bits per component."""

    def unpack_names(self, values: Sequence[Any]) -> list[Vector]:
        """Return vectors of described names from their stored form."""

    def sketch(self, vector: Vector) -> bytes | None:
        """Return the sign bits stored with the vector of a fact entity for preselection; None if not needed."""

    def nearest(self, found: NamespaceRow, vector: Vector, *, model: int, limit: int, where: Filter) -> Ranking:
        """Rank the chunks that pass a filter by cosine under an embedder."""

    def nearest_entities(
        self, found: NamespaceRow, vector: Vector, *, model: int, limit: int
    ) -> list[tuple[str, float]]:
        """Return the keys of the closest fact entities with their cosines; ties by key."""

    def nearest_facts(
        self, found: NamespaceRow, vector: Vector, *, model: int, at: int, limit: int
    ) -> list[tuple[str, float]]:
        """Return the ids of the closest facts valid at a time (in microseconds), with their cosines; ties by id."""

    def describe(self, found: NamespaceRow, model: ModelRow) -> str:
        """Return how chunks are searched: `exact`, the name of an index, or empty without rows."""

    def describe_entities(self, found: NamespaceRow, model: ModelRow) -> str:
        """Return the same of fact entities."""


class Keywords(Protocol):
    """Port of a session for the keyword index."""

    def collect(self, namespace: Namespace) -> TermChanges:
        """Return a collector of changes."""

    def pack(self, item: IndexedChunk) -> tuple[Any, Any]:
        """Return the text of a chunk and its terms with their frequencies in stored form."""

    def best(
        self,
        found: NamespaceRow,
        terms: Sequence[str],
        *,
        limit: int,
        where: Filter,
        statistics: KeywordStatistics | None = None,
    ) -> Ranking:
        """Rank the chunks that pass a filter by BM25; with `statistics`, those of several namespaces."""

    def read_ahead(self, found: NamespaceRow, terms: Sequence[str]) -> None:
        """Read and keep what `best` will need for these terms, unless an index of the namespace answers."""

    def counts(self, namespace: Namespace, terms: Collection[str]) -> dict[str, int]:
        """Return the number of chunks that contain each term; absent terms are left out."""

    def conjunction(self, namespace: Namespace, wanted: Mapping[str, Sequence[Collection[str]]]) -> dict[str, set[int]]:
        """Return, for each entry of `wanted`, the numbers of the chunks that contain a term of each of its groups."""

    def find_terms(self, namespace: Namespace, chunk_ids: Sequence[str], terms: Sequence[str]) -> dict[str, set[str]]:
        """Return which of these terms each chunk contains, by chunk id; unknown ids are left out."""

    def describe(self, found: NamespaceRow) -> str:
        """Return how keywords are searched: `exact`, or the name of an index."""

    def are_sound(self, namespace: Namespace) -> bool:
        """Return True if the index matches the terms of the chunks."""

    def rebuild(self, namespace: Namespace) -> int:
        """Build the index again from the terms of the chunks; return its number of rows."""


class Names:
    """Port of a session for the stored form of keys of names. By default tables contain the keys."""

    def __init__(self, db: Session) -> None:
        self._db = db

    def numbers(self, namespace: Namespace, keys: Collection[str]) -> Mapping[str, int | str]:
        """Return the stored form of keys in statements: a number, or the key itself. Adds new keys."""
        return {key: key for key in keys}

    def created(self, namespace: Namespace) -> Set[str]:
        """Return keys that the transaction added, as far as they are known."""
        return frozenset()

    def write_candidates(self, namespace: Namespace, rows: Sequence[CandidateRow]) -> None:
        """Number the keys of candidates and write them."""
        values = [
            {
                "namespace": namespace, "chunk": chunk, "document": document, "origin": origin, "key": item.key,
                "name": item.name, "kind": item.kind, "vote": vote(item.kind), "rank": KIND_RANKS[item.kind],
                "type": item.type, "description": item.description, "about": item.about, "alias_of": item.alias_of,
                "reason": item.reason, "extractor": item.extractor,
            }
            for chunk, document, origin, _, item in rows
        ]  # fmt: skip
        self._db.run_many("write_candidate", values)

    def release(self, namespace: Namespace, keys: Collection[str] | None = None) -> None:
        """Delete the numbers of keys, by default of all, that no statement and no entity uses any more."""


class Integrity:
    """Port of a session for damage that only the database can find. By default it finds none."""

    def damage(self) -> list[Problem]:
        """Return damage of the file itself. If there is any, other checks are meaningless."""
        return []

    def count_orphans(self, table: str) -> int:
        """Return the number of rows of a table that refer to a missing row."""
        return 0

    def drop_orphans(self, table: str) -> None:
        """Delete the rows of a table that refer to a missing row."""


class Connections(Protocol):
    """Source of transactions. A thread inside a reading transaction gets the same session again."""

    def read(self, namespace: str = "", *, may_lag: bool = False) -> AbstractContextManager[Session]:
        """
        Open a session whose statements all see the same snapshot.

        With `may_lag` the snapshot may miss recent writes of other processes, never writes through these connections.
        """

    def scan(self, namespace: str = "") -> AbstractContextManager[Session]:
        """Open a reading session for whole tables: pages read once do not stay in memory."""

    def write(
        self, namespace: str = "", *, nested: bool = False, turn: Turn | None = "next", defer_indexes: bool = False
    ) -> AbstractContextManager[Session]:
        """
        Open a session that is committed unless an exception is raised, after waiting for a turn in the namespace.

        Without a `turn`, the caller takes one with `lock`, or its statements skip locked rows. With `nested`, use the
        current transaction of this thread, if any. With `defer_indexes`, indexes that a large namespace needs may be
        left to `create_indexes`.
        """

    def try_write(self, namespace: str = "") -> AbstractContextManager[Session | None]:
        """Open a writing session; None if another writer is active or this thread already has a session."""

    def prepare_vectors(self, dimension: int) -> None:
        """Create missing vector indexes of a dimension, outside any transaction."""

    def pack(self) -> None:
        """Reduce the size of a database that has grown much, outside any transaction."""

    def create_indexes(self, namespace: str) -> None:
        """Create the indexes that writes deferred, outside any transaction."""


def make_namespace(db: Session, name: str) -> Namespace:
    """Create the row of a namespace if it is missing, and lock it; return its key."""
    db.run("write_namespace", {"name": name})
    db.lock(name)
    return db.namespace_key(name)


def touch_namespace(db: Session, namespace: Namespace, *, chunks: int = 0, length: int = 0) -> None:
    """Increase the generation of a namespace, and its counts by these numbers of chunks and terms."""
    db.run("touch_namespace", {"namespace": namespace, "chunks": chunks, "length": length})


def read_rows(connections: Connections, name: str, statement: str, values: Mapping[str, Any] = NO_VALUES) -> list[Row]:
    """Return the rows of a statement in a reading transaction on the namespace `name`."""
    with connections.read(name) as db:
        return db.run(statement, {"namespace": db.namespace_key(name), **values})


def to_namespace(row: Row) -> NamespaceRow:
    """Return the row of `find_namespace`."""
    key, number, generation, chunks, length, models, calibration, has_fact_links, has_times, first, last = row
    rows = [
        ModelRow(model, StoredModel(name=name, fingerprint=fingerprint, dimension=dimension, active=bool(active)))
        for model, name, fingerprint, dimension, active in json.loads(models)
    ]
    sources = None if first is None else (first, last)
    facts = (calibration, bool(has_fact_links), bool(has_times), sources)
    return NamespaceRow(key, number, generation, chunks, length, tuple(rows), *facts)


def find_active_model(db: Session, name: str) -> ModelRow | None:
    """Return the active embedder of a namespace, or None."""
    found = db.namespace(name)
    return found.active if found else None


def model_number(db: Session, name: str, fingerprint: str) -> int:
    """Return the number of an embedder of a namespace. Raises `SchemaMismatch` if it has none."""
    found = db.namespace(name)
    for row in found.models if found else ():
        if row.model.fingerprint == fingerprint:
            return row.number
    raise SchemaMismatch(f"namespace {name!r} has no embedder {fingerprint!r}", hint="run weft reembed")
