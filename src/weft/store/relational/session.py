"""
What a relational database must offer so that the rest of this package can keep a namespace in it.

The package says *what* is written and read, by the names of statements; the adapters say *how*: each has its own file
of statements under these names, its own transactions, and its own way of ranking by words and by vectors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias

from weft.records import Filter, Problem, Ranking, Vector

Namespace: TypeAlias = int | str
"""What stands for a namespace in the rows of a database: its number or its name."""

Row: TypeAlias = tuple[Any, ...]

NOTHING: Mapping[str, Any] = {}


class TermChanges(Protocol):
    """Collects what a transaction changes in the keyword index, and applies it once."""

    def remove(self, number: int, terms: Iterable[str]) -> None:
        """Take a chunk out of the index of `terms`."""

    def add(self, number: int, terms: Mapping[str, int], *, length: int) -> None:
        """Put a chunk into the index of `terms`."""

    def apply(self) -> None:
        """Write what was collected."""


class Session(Protocol):
    """One transaction."""

    # statements, by name

    def run(self, name: str, values: Mapping[str, Any] = NOTHING) -> list[Row]:
        """Run the statement called `name`; return its rows."""

    def stream(self, name: str, values: Mapping[str, Any] = NOTHING) -> Iterator[Row]:
        """Run the statement called `name`; yield its rows as they are found, for those that are too many to keep."""

    def one(self, name: str, values: Mapping[str, Any] = NOTHING) -> Any:
        """Run the statement called `name`; return the first value of its first row, or None."""

    def run_many(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run the statement called `name` once for each row of values."""

    def changes(self) -> int:
        """Return how many rows the last statement changed."""

    def total_changes(self) -> int:
        """Return how many rows were changed since the connection was made."""

    def namespace_key(self, name: str) -> Namespace:
        """Return what stands for a namespace; something that stands for none where there is no such namespace."""

    def lock(self, name: str) -> None:
        """Let nobody else write to a namespace for the rest of the transaction."""

    # vectors

    def pack(self, vector: Vector) -> Any:
        """Return a vector as it is stored."""

    def unpack(self, value: Any) -> Vector:
        """Return a stored vector."""

    def sketch(self, vector: Vector) -> bytes | None:
        """Return what is stored beside the vector of an entity of facts for a first look; None where nothing is."""

    def search_vector(self, namespace: Namespace, vector: Vector, *, model: int, limit: int, where: Filter) -> Ranking:
        """Rank the chunks that pass a filter by cosine under an embedder."""

    def describe_search(self, namespace: Namespace, *, model: int | None) -> tuple[str, str, str]:
        """Return what answers by vectors, by words, and finds entities: `exact`, or an index; empty: nothing."""

    def search_fact_vectors(
        self, namespace: Namespace, vector: Vector, *, model: int, limit: int
    ) -> list[tuple[str, float]]:
        """Return the keys of the entities of facts that are closest, with their cosines; ties by key."""

    # words

    def term_changes(self, namespace: Namespace) -> TermChanges:
        """Begin to change the keyword index."""

    def search_keyword(
        self, namespace: Namespace, terms: Sequence[str], *, limit: int, where: Filter, chunks: int, length: int
    ) -> Ranking:
        """Rank the chunks that pass a filter by BM25; the namespace has so many chunks of so many terms in all."""

    def count_terms(self, namespace: Namespace, terms: Collection[str]) -> dict[str, int]:
        """Return how many chunks hold each term, without those that none holds."""

    def find_holders(
        self, namespace: Namespace, wanted: Mapping[str, Sequence[Collection[str]]]
    ) -> dict[str, set[int]]:
        """Return, for each of what is wanted, the numbers of the chunks that hold a term of every group of it."""

    # soundness

    def find_damage(self) -> list[Problem]:
        """Return what is wrong below the level of rows; where there is something, nothing else can be trusted."""

    def count_lost(self, table: str) -> int:
        """Return how many rows of a table refer to a row that is not there."""

    def drop_lost(self, table: str) -> None:
        """Remove them."""

    def are_terms_sound(self, namespace: Namespace) -> bool:
        """Return whether the keyword index is what the terms of the chunks give."""

    def rebuild_terms(self, namespace: Namespace) -> int:
        """Derive the keyword index anew; return how many rows it has."""


def make_namespace(db: Session, name: str) -> None:
    """Make the row of a namespace where it is missing; who made it meanwhile has to be done first."""
    db.run("write_namespace", {"name": name})
    db.lock(name)


class Connections(Protocol):
    """Where transactions come from. Inside one, a thread gets the same one again."""

    def read(self, namespace: str = "") -> AbstractContextManager[Session]:
        """Give a session whose statements all see the same state."""

    def glance(self, namespace: str = "") -> AbstractContextManager[Session]:
        """Give the same; it may be a little behind what others wrote, never behind what was written through here."""

    def write(self, namespace: str = "") -> AbstractContextManager[Session]:
        """Give a session that is committed if nothing is raised; nobody else writes the namespace meanwhile."""

    def join(self, namespace: str = "") -> AbstractContextManager[Session]:
        """Give the session that this thread is in, or one that writes."""

    def beside(self, namespace: str = "") -> AbstractContextManager[Session]:
        """Give a session that writes what no other writer of the namespace depends on, and does not wait for them."""

    def attempt(self, namespace: str = "") -> AbstractContextManager[Session | None]:
        """Give a session that writes; None where that would mean to wait, or to write inside another session."""

    def prepare_vectors(self, dimension: int) -> None:
        """Make what vectors of a dimension are searched by, outside any transaction; nothing where that is there."""
