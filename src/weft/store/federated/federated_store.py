"""Several namespaces, searched as one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from operator import attrgetter

from weft.errors import SchemaMismatch
from weft.rank.bm25 import ceiling, idf
from weft.rank.calibrate import mean_calibration
from weft.rank.fuse import order
from weft.records import (
    Batch,
    Calibration,
    Chunk,
    DocumentInfo,
    Filter,
    KeywordStatistics,
    Ranking,
    StoredModel,
    StoreStats,
    Vector,
)
from weft.store.base import MIN_COMMON_TERM_CHUNKS, Store
from weft.store.federated.duplicates import Duplicates
from weft.store.federated.entity_keys import EntityIds, EntityKeys
from weft.store.federated.federated_facts import FederatedFacts, join_generations
from weft.store.federated.federated_graph import FederatedGraph
from weft.store.federated.federated_passages import FederatedPassages
from weft.store.federated.joined_rankings import join_statistics, join_vectors, search_member
from weft.store.federated.members import Member, in_order, make_members


class FederatedCache:
    """What stays valid between questions: documents found twice, and keys of entities."""

    def __init__(self) -> None:
        self.duplicates = Duplicates()
        self.ids = EntityIds()


class FederatedStore:
    """
    Read access to several namespaces as if all documents were in one.

    A document that several members have is a document of the first one. Statistics count every document once. Entities,
    links and edits are those of each member, joined by the keys of names. An instance serves one thread.
    """

    def __init__(self, stores: Mapping[str, Store], *, cache: FederatedCache | None = None) -> None:
        """
        `stores` are by label, which results show; the labels stand for the same namespaces in each use of `cache`.

        Raises `SchemaMismatch` on the first read if the members have different embedders.
        """
        self._all = make_members(stores)
        self._cache = cache or FederatedCache()
        self._depth = 0
        self._shown: tuple[Member, ...] = ()
        self._keys = EntityKeys(lambda: self._shown, ids=self._cache.ids)

    @property
    def namespace(self) -> str:
        """Names of the namespaces."""
        return ", ".join(member.label for member in self._all)

    @property
    def graph(self) -> FederatedGraph:
        return FederatedGraph(self._members(), self._keys)

    @property
    def facts(self) -> FederatedFacts:
        return FederatedFacts(self._members(), self._keys)

    @property
    def passages(self) -> FederatedPassages:
        return FederatedPassages(self._members())

    @contextmanager
    def reading(self) -> Iterator[None]:
        with ExitStack() as stack:
            for member in self._all:
                stack.enter_context(member.store.reading())
            self._members()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1

    def _members(self) -> tuple[Member, ...]:
        """Return the members, each without the documents of earlier ones. Inside `reading` they are found once."""
        if not self._depth:
            check_embedders(self._all)
            generations = [member.store.facts.generation() for member in self._all]
            self._shown = self._cache.duplicates.hide(self._all, generations)
            self._keys.clear()
        return self._shown

    # ── documents ───────────────────────────────────────────────────────────────────────────────

    def documents(self, ids: Sequence[str]) -> list[DocumentInfo]:
        found = {
            shown.id: shown
            for member in self._members()
            if (own := member.own(ids))
            for shown in map(member.document, member.store.documents(own))
        }
        return [found[id] for id in ids if id in found]

    def find_documents(self, where: Filter, *, after: str = "", limit: int = 1000) -> list[DocumentInfo]:
        """Return a page of documents by source. It is longer than `limit` if its last source is in several members."""
        found = [document for member in self._members() for document in _read_page(member, where, after, limit)]
        found.sort(key=attrgetter("source"))
        last = found[:limit][-1:]
        return [document for document in found if last and document.source <= last[0].source]

    def source_range(self, *, absolute: bool = False) -> tuple[str, str] | None:
        found = [ends for member in self._members() if (ends := member.store.source_range(absolute=absolute))]
        return (min(first for first, _ in found), max(last for _, last in found)) if found else None

    def chunks(self, ids: Sequence[str]) -> list[Chunk]:
        found = {
            shown.id: shown
            for member in self._members()
            if (own := member.own(ids))
            for shown in map(member.chunk, member.store.chunks(own))
        }
        return [found[id] for id in ids if id in found]

    def find_chunks(self, document_id: str) -> list[Chunk]:
        found = (
            list(map(member.chunk, member.store.find_chunks(own)))
            for member in self._members()
            for own in member.own([document_id])
        )
        return next(filter(None, found), [])

    def batches(self, document_ids: Sequence[str]) -> list[Batch]:
        found: dict[str, Batch] = {}
        for member in self._members():
            for batch in member.store.batches(member.own(document_ids)):
                items = tuple(replace(item, chunk=member.chunk(item.chunk)) for item in batch.chunks)
                document = member.document(batch.document)
                found[document.id] = replace(batch, document=document, chunks=items)
        return [found[id] for id in in_order(document_ids, found)]

    # ── models ──────────────────────────────────────────────────────────────────────────────────

    def models(self) -> list[StoredModel]:
        found: dict[str, StoredModel] = {}
        for member in self._members():
            for model in member.store.models():
                if model.active or model.fingerprint not in found:
                    found[model.fingerprint] = model
        return sorted(found.values(), key=lambda model: (not model.active, model.fingerprint))

    def calibration(self) -> Calibration | None:
        """
        Return the mean of the calibrations of the members, by number of chunks.

        None if a member with chunks has none: the calibration shipped with the embedder then counts for all.
        """
        sizes = [(member, member.store.graph.size()) for member in self._members()]
        found = [(member.store.calibration(), size) for member, size in sizes if size]
        fitted = [(calibration, size) for calibration, size in found if calibration is not None]
        return mean_calibration(fitted) if fitted and len(fitted) == len(found) else None

    # ── search ──────────────────────────────────────────────────────────────────────────────────

    def search_vector(self, vector: Vector, *, limit: int, where: Filter) -> Ranking:
        return join_vectors(
            vector,
            self._members(),
            lambda member, size: member.store.search_vector(vector, limit=size, where=member.own_filter(where)),
            limit=limit,
        )

    def search_keyword(
        self, terms: Sequence[str], *, limit: int, where: Filter, statistics: KeywordStatistics | None = None
    ) -> Ranking:
        members, wanted = self._members(), list(dict.fromkeys(terms))
        known = statistics or join_statistics(wanted, members)
        if not wanted or limit < 1 or known.chunks < 1:
            return Ranking()
        scores: dict[str, float] = {}
        for member in members:
            own = member.own_filter(where)

            def search(size: int, member: Member = member, own: Filter = own) -> Ranking:
                return member.store.search_keyword(wanted, limit=size, where=own, statistics=known)

            scores |= search_member(member, search, limit=limit)[1]
        idfs = [idf(known.counts.get(term, 0), total=known.chunks) for term in wanted]
        return Ranking(hits=tuple(order(scores, limit=limit)), ceiling=ceiling(idfs))

    def keyword_statistics(self, terms: Sequence[str]) -> KeywordStatistics:
        return join_statistics(terms, self._members())

    def find_chunks_with_terms(self, wanted: Sequence[Sequence[str]], *, limit: int) -> list[list[str] | None]:
        members = self._members()
        counts = join_statistics([term for terms in wanted for term in terms], members).counts
        held = [bool(terms) and all(counts[term] for term in terms) for terms in wanted]
        searched = [
            terms
            for terms, is_held in zip(wanted, held, strict=True)
            if is_held and min(counts[term] for term in terms) < MIN_COMMON_TERM_CHUNKS
        ]
        found = self._find_in_all(searched, limit=limit) if searched else []
        by_terms = {tuple(terms): ids for terms, ids in zip(searched, found, strict=True)}
        return [by_terms.get(tuple(terms)) if is_held else [] for terms, is_held in zip(wanted, held, strict=True)]

    def _find_in_all(self, wanted: Sequence[Sequence[str]], *, limit: int) -> list[list[str] | None]:
        found: list[list[str] | None] = [[] for _ in wanted]
        for member in self._members():
            hidden = member.hidden.chunks
            some = member.store.find_chunks_with_terms(wanted, limit=limit + len(hidden))
            found = [
                None if old is None or new is None else [*old, *(member.outer(id) for id in new if id not in hidden)]
                for old, new in zip(found, some, strict=True)
            ]
        return [None if ids is None or len(ids) > limit else sorted(ids) for ids in found]

    def stats(self) -> StoreStats:
        """Return the sums over the namespaces; `terms` is the largest number of one of them."""
        members = self._members()
        found = [member.store.stats() for member in members]
        hidden = [member.hidden for member in members]
        return replace(
            found[0],
            documents=sum(stats.documents for stats in found) - sum(len(some.documents) for some in hidden),
            chunks=sum(stats.chunks for stats in found) - sum(len(some.chunks) for some in hidden),
            terms=max(stats.terms for stats in found),
            vectors=sum(stats.vectors for stats in found) - sum(len(some.vectors) for some in hidden),
            generation=join_generations(stats.generation for stats in found),
            models=tuple(self.models()),
            vector_search=_join_methods(stats.vector_search for stats in found),
            keyword_search=_join_methods(stats.keyword_search for stats in found),
            entity_search=_join_methods(stats.entity_search for stats in found),
        )


def check_embedders(members: Sequence[Member]) -> None:
    """Raise `SchemaMismatch` unless all members with chunks have the same embedder, or none."""
    active = [(member, _active(member.store)) for member in members]
    known = next(((member, model) for member, model in active if model), None)
    if known is None:
        return
    first, model = known
    for member, other in active:
        if other is None and not member.store.graph.size():
            continue
        if other is None or other.fingerprint != model.fingerprint:
            theirs = f"with {other.name!r}" if other else "without an embedder"
            raise SchemaMismatch(
                f"namespaces {first.label!r} and {member.label!r} cannot be searched together: {first.label!r} is "
                f"indexed with {model.name!r}, {member.label!r} {theirs}",
                hint=f"run weft reembed -N {member.store.namespace} --embedder {model.name}",
            )


def _join_methods(methods: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(filter(None, methods)))


def _active(store: Store) -> StoredModel | None:
    return next((model for model in store.models() if model.active), None)


def _read_page(member: Member, where: Filter, after: str, limit: int) -> list[DocumentInfo]:
    """Return a page of the documents that a member shows."""
    own, found = member.own_filter(where), list[DocumentInfo]()
    while len(found) < limit:
        page = member.store.find_documents(own, after=after, limit=limit)
        found += (member.document(document) for document in page if document.id not in member.hidden.documents)
        if len(page) < limit:
            break
        after = page[-1].source
    return found
