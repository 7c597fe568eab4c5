"""Chunks of several namespaces by document, time and place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from weft.records import Chunk, DocumentInfo, DocumentTitle, Filter
from weft.store.federated.members import Member


class FederatedPassages:
    """Read access to chunks of several namespaces as if they were in one."""

    def __init__(self, members: Sequence[Member]) -> None:
        self._members = members

    def titles(self, chunk_ids: Sequence[str]) -> dict[str, DocumentTitle]:
        return {
            member.outer(chunk): title._replace(document_id=member.outer(title.document_id))
            for member in self._members
            if (own := member.own(chunk_ids))
            for chunk, title in member.store.passages.titles(own).items()
        }

    def with_documents(self, chunk_ids: Sequence[str]) -> list[tuple[Chunk, DocumentInfo]]:
        found = {
            member.outer(chunk.id): (member.chunk(chunk), member.document(document))
            for member in self._members
            if (own := member.own(chunk_ids))
            for chunk, document in member.store.passages.with_documents(own)
        }
        return [found[id] for id in chunk_ids if id in found]

    def find_terms(self, chunk_ids: Sequence[str], terms: Sequence[str]) -> dict[str, set[str]]:
        return {
            member.outer(id): found
            for member in self._members
            if (own := member.own(chunk_ids))
            for id, found in member.store.passages.find_terms(own, terms).items()
        }

    def have_times(self) -> bool:
        return any(member.store.passages.have_times() for member in self._members)

    def latest(self, where: Filter, *, limit: int) -> list[Chunk]:
        found = [
            member.chunk(chunk)
            for member in self._members
            for chunk in member.store.passages.latest(member.own_filter(where), limit=limit + len(member.hidden.chunks))
            if chunk.id not in member.hidden.chunks
        ]
        return sorted(found, key=lambda chunk: (-(chunk.start_time or 0), chunk.id))[:limit]

    def openings(self, chunk_ids: Sequence[str]) -> dict[str, Chunk]:
        return self._by_id(chunk_ids, lambda member, own: member.store.passages.openings(own))

    def answers(self, chunk_ids: Sequence[str]) -> dict[str, Chunk]:
        return self._by_id(chunk_ids, lambda member, own: member.store.passages.answers(own))

    def _by_id(
        self, chunk_ids: Sequence[str], read: Callable[[Member, Sequence[str]], Mapping[str, Chunk]]
    ) -> dict[str, Chunk]:
        return {
            member.outer(id): member.chunk(chunk)
            for member in self._members
            if (own := [id for id in member.own(chunk_ids) if id not in member.hidden.chunks])
            for id, chunk in read(member, own).items()
        }
