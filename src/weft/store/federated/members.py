"""
Members of a federated store, and the ids of their documents, chunks and facts.

These ids derive from the namespace and the source, so they differ between namespaces. Two files may have a namespace
of the same name; the ids of the second one get a mark: `c4f1…` is a chunk of the first file, `c4f1…~2` of the second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from weft.errors import InputError
from weft.records import Chunk, DocumentInfo, Fact, Filter, Vectors
from weft.store.base import READ_ONLY, READ_ONLY_HINT, Store

MARK = "~"

NOWHERE = "-"
"""A document id that no document has."""


class EntityCount(NamedTuple):
    """Numbers of chunks that mention an entity, of its mentions, and of its defining chunks."""

    chunks: int = 0
    mentions: int = 0
    defining: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """Documents of a member that an earlier member has too, and their share in its statistics."""

    documents: frozenset[str] = frozenset()
    chunks: frozenset[str] = frozenset()
    length: int = 0
    """Number of terms of these chunks together."""
    terms: Mapping[str, int] = field(default_factory=Counter)
    """Number of these chunks that contain each term."""
    vectors: Vectors = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    entities: Mapping[str, EntityCount] = field(default_factory=dict)
    """By id of the entity in the member."""
    pages: Mapping[str, int] = field(default_factory=dict)
    """Place of the member that shows the document, by the key of its page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A namespace of a federated store."""

    store: Store
    label: str
    """Name shown with its passages."""
    mark: str = ""
    """End of its ids; empty unless an earlier member has a namespace of the same name."""
    hidden: Hidden = field(default_factory=Hidden)

    def outer(self, id: str) -> str:
        """Return the id of a document, chunk or fact in the federated store."""
        return id + self.mark

    def own(self, ids: Iterable[str]) -> list[str]:
        """Return those ids of documents, chunks or facts that may be of this member, as it knows them."""
        if self.mark:
            return [id.removesuffix(self.mark) for id in ids if id.endswith(self.mark)]
        return [id for id in ids if MARK not in id]

    def own_filter(self, where: Filter) -> Filter:
        """Return a filter with the document ids of this member."""
        if not where.documents:
            return where
        return replace(where, documents=tuple(self.own(where.documents)) or (NOWHERE,))

    def document(self, document: DocumentInfo) -> DocumentInfo:
        """Return a document of this member as the federated store shows it."""
        return replace(document, id=self.outer(document.id), namespace=self.label)

    def chunk(self, chunk: Chunk) -> Chunk:
        """Return a chunk of this member as the federated store shows it."""
        if not self.mark:
            return chunk
        return replace(chunk, id=self.outer(chunk.id), document_id=self.outer(chunk.document_id))

    def fact(self, fact: Fact) -> Fact:
        """Return a fact of this member as the federated store shows it."""
        if not self.mark:
            return fact
        return replace(fact, id=self.outer(fact.id), supersedes=fact.supersedes and self.outer(fact.supersedes))


def make_members(stores: Mapping[str, Store]) -> tuple[Member, ...]:
    """Return the members for stores by label, with a mark for each repeated name of a namespace."""
    members: list[Member] = []
    names: set[str] = set()
    for place, (label, store) in enumerate(stores.items(), start=1):
        members.append(Member(store=store, label=label, mark=f"{MARK}{place}" if store.namespace in names else ""))
        names.add(store.namespace)
    return tuple(members)


def read_only() -> InputError:
    """Return the error for a write to several namespaces."""
    return InputError(READ_ONLY, hint=READ_ONLY_HINT)


def in_order(ids: Sequence[str], found: Collection[str]) -> list[str]:
    """Return those ids that were found, in the order of `ids`."""
    return [id for id in ids if id in found]
