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

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol, TypeAlias

from weft.records import Filter, Problem, Ranking, StoredModel, Vector

Namespace: TypeAlias = int | str
"""Value of the namespace columns: its number (SQLite) or its name (PostgreSQL)."""

Row: TypeAlias = tuple[Any, ...]

NO_VALUES: Mapping[str, Any] = {}


class SearchMethods(NamedTuple):
    """Search method of each kind: `exact`, the name of an index, or empty without rows."""

    vectors: str
    keywords: str
    entities: str


class NamespaceRow(NamedTuple):
    """Row of the table `namespace`: key, generation and counts of one namespace."""

    key: Namespace
    generation: int
    chunks: int
    length: int
    """Total number of terms in all chunks."""


class ModelRow(NamedTuple):
    """An embedder and its number in the database."""

    number: int
    model: StoredModel


class TermChanges(Protocol):
    """Collects the changes of a transaction to the keyword index and applies them once."""

    def remove(self, number: int, terms: Iterable[str]) -> None:
        """Remove a chunk from the postings of `terms`."""

    def add(self, number: int, terms: Mapping[str, int], *, length: int) -> None:
        """Add a chunk to the postings of `terms`, a mapping of terms to frequencies."""

    def apply(self) -> None:
        """Write the collected changes."""


class Session(Protocol):
    """One transaction."""

    # statements, by name

    def run(self, name: str, values: Mapping[str, Any] = NO_VALUES) -> list[Row]:
        """Run a statement; return its rows."""

    def stream(self, name: str, values: Mapping[str, Any] = NO_VALUES) -> Iterator[Row]:
        """Run a statement; iterate over its rows without keeping them in memory."""

    def one(self, name: str, values: Mapping[str, Any] = NO_VALUES) -> Any:
        """Run a statement; return the first value of its first row, or None."""

    def run_many(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run a statement once for each row of values."""

    def changes(self) -> int:
        """Return the number of rows that the last statement changed."""

    def total_changes(self) -> int:
        """Return the number of rows changed since the connection was opened."""

    def namespace_key(self, name: str) -> Namespace:
        """Return the value of the namespace columns; a value that matches no row for an unknown namespace."""

    def lock(self, name: str) -> None:
        """Exclude other writers of a namespace for the rest of the transaction."""

    def number_keys(self, namespace: Namespace, keys: Collection[str]) -> Mapping[str, int | str]:
        """
        Return the stored form of keys in nominations and claims: a number, or the key itself. Adds new keys.

        `keys` may be a mapping of keys to names as spelled, which are then stored once.
        """

    def write_nominations(self, namespace: Namespace, rows: Sequence[dict[str, Any]]) -> None:
        """Number the keys of nominations and write them. Those of a new chunk have a `place`, others None."""

    def release_keys(self, namespace: Namespace, keys: Collection[str] | None = None) -> None:
        """Delete the numbers of keys, by default of all, that no statement and no entity uses any more."""

    # vectors

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

    def search_vector(self, namespace: Namespace, vector: Vector, *, model: int, limit: int, where: Filter) -> Ranking:
        """Rank the chunks that pass a filter by cosine under an embedder."""

    def describe_search(self, namespace: Namespace, *, model: int | None) -> SearchMethods:
        """Return the methods that answer searches; `model` is the number of the active embedder."""

    def search_fact_vectors(
        self, namespace: Namespace, vector: Vector, *, model: int, limit: int
    ) -> list[tuple[str, float]]:
        """Return the keys of the closest fact entities with their cosines; ties by key."""

    def search_fact_texts(
        self, namespace: Namespace, vector: Vector, *, model: int, at: int, limit: int
    ) -> list[tuple[str, float]]:
        """Return the ids of the closest facts valid at a time (in microseconds), with their cosines; ties by id."""

    # keywords

    def term_changes(self, namespace: Namespace) -> TermChanges:
        """Return a collector of changes to the keyword index."""

    def pack_terms(self, terms: Mapping[str, int], text: str) -> Any:
        """Return the terms of a chunk and their frequencies in stored form; `text` is its text."""

    def expect_vector(self, namespace: Namespace, vector: Vector, *, model: int, limit: int, where: Filter) -> None:
        """Note that `search_vector` with these arguments follows; a server may begin with it."""

    def search_keyword(
        self,
        namespace: Namespace,
        terms: Sequence[str],
        *,
        limit: int,
        where: Filter,
        chunks: int,
        length: int,
        frequencies: Mapping[str, int] | None = None,
    ) -> Ranking:
        """
        Rank the chunks that pass a filter by BM25.

        The namespace has `chunks` chunks with `length` terms in total. With `frequencies`, which are document
        frequencies, these are the statistics of several namespaces.
        """

    def count_terms(self, namespace: Namespace, terms: Collection[str]) -> dict[str, int]:
        """Return the number of chunks that contain each term; absent terms are left out."""

    def find_chunks_with_terms(
        self, namespace: Namespace, wanted: Mapping[str, Sequence[Collection[str]]]
    ) -> dict[str, set[int]]:
        """Return, for each entry of `wanted`, the numbers of the chunks that contain a term of each of its groups."""

    # consistency

    def find_damage(self) -> list[Problem]:
        """Return damage of the file itself. If there is any, other checks are meaningless."""

    def count_orphans(self, table: str) -> int:
        """Return the number of rows of a table that refer to a missing row."""

    def drop_orphans(self, table: str) -> None:
        """Delete the rows of a table that refer to a missing row."""

    def are_terms_sound(self, namespace: Namespace) -> bool:
        """Return True if the keyword index matches the terms of the chunks."""

    def rebuild_terms(self, namespace: Namespace) -> int:
        """Build the keyword index again from the terms of the chunks; return its number of rows."""


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
        self, namespace: str = "", *, nested: bool = False, exclusive: bool = True, defer_indexes: bool = False
    ) -> AbstractContextManager[Session]:
        """
        Open a session that is committed unless an exception is raised; other writers of the namespace wait.

        With `nested`, use the current transaction of this thread, if any. Without `exclusive`, do not wait for other
        writers of the namespace; the statements must skip locked rows. With `defer_indexes`, indexes that a large
        namespace needs may be left to `create_indexes`.
        """

    def try_write(self, namespace: str = "") -> AbstractContextManager[Session | None]:
        """Open a writing session; None if another writer is active or this thread already has a session."""

    def prepare_vectors(self, dimension: int) -> None:
        """Create missing vector indexes of a dimension, outside any transaction."""

    def pack(self) -> None:
        """Reduce the size of a database that has grown much, outside any transaction."""

    def create_indexes(self, namespace: str) -> None:
        """Create the indexes that writes deferred, outside any transaction."""


def make_namespace(db: Session, name: str) -> None:
    """Create the row of a namespace if it is missing, and lock it."""
    db.run("write_namespace", {"name": name})
    db.lock(name)


def find_namespace(db: Session, name: str) -> NamespaceRow | None:
    """Return the row of a namespace, or None."""
    rows = db.run("find_namespace", {"name": name})
    return NamespaceRow(*rows[0]) if rows else None


def read_models(db: Session, namespace: Namespace) -> list[ModelRow]:
    """Return the embedders of a namespace, the active one first."""
    rows = db.run("list_models", {"namespace": namespace})
    return [
        ModelRow(number, StoredModel(name=name, fingerprint=fingerprint, dimension=dimension, active=bool(active)))
        for number, name, fingerprint, dimension, active in rows
    ]


def find_active_model(db: Session, namespace: Namespace) -> ModelRow | None:
    """Return the active embedder of a namespace, or None."""
    return next((row for row in read_models(db, namespace) if row.model.active), None)
