"""
Transaction over the parts of a namespace: runs a statement in the home, in one part or in every part.

The text of a namespace with several parts is divided by document, and most of its graph by entity. The rest is in the
home, the rows under the name of the namespace itself. Documents, chunks and embedders have the same numbers in both.
Example: `wiki` with four parts, a document of part 2, an entity of bucket 3:

    namespace   document        chunk             posting, label, vectors, outbox   entity, fact, job   mention
    wiki        7, id, source   8, id, position                                     9, all columns
    wiki␟2      7, all columns  8, all columns    all
    wiki␟3                                                                                              9 in 8

Buckets of mentions, claims and relations are explained in `buckets/bucket_rule.py`.

The logic above names the home only. A statement of `ROUTES` is sent to the parts instead, and its rows are merged:

    every       all parts; the rows one after the other
    by_ids      the parts of these documents
    by_id       the part of this document
    merged      all parts; the first rows in the order of a column
    summed      all parts; the sum of the numbers
    both        the home and all parts
    in_text     the graph, without chunks whose text is deleted and that the graph still has
    a method    what no other route can do

Other statements run in the home. Row security is bound to the home or to the part before each statement. A writer of
documents names the part itself; the home follows from the outbox (`outbox.py`).
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from weft.records import Filter, Problem, Ranking, Vector
from weft.store.postgres import terms, vectors
from weft.store.postgres.buckets import bucket_checks, bucket_reads, bucket_writes, name_vectors
from weft.store.postgres.buckets.bucket_rule import ROW_COLUMNS, bucket_of
from weft.store.postgres.buckets.deleted_chunks import IN_TEXT
from weft.store.postgres.part_names import is_own, is_part, part_names, part_of
from weft.store.postgres.part_rankings import merge_keywords, merge_vectors
from weft.store.postgres.part_readers import PartReaders
from weft.store.postgres.session import BINARY, STREAM_ROWS, PostgresSession, statement
from weft.store.relational.retry import ConnectionLost
from weft.store.relational.session import NO_VALUES, Namespace, Row, SearchMethods, make_namespace

DEFAULT_PARTS = 1
"""Parts of a namespace that its first write creates."""

NO_DOCUMENT = {"title": "", "metadata": "{}", "content_hash": "", "unit": ""}
"""Columns of a document that only its part has."""

NO_CHUNK = {"heading": "[]", "text": "", "terms": "{}", "length": 0, "start_time": None, "end_time": None}
"""Columns of a chunk that only its part has."""


class PartState(NamedTuple):
    """Counts of a part, and what of it is not in the graph."""

    generation: int
    chunks: int
    length: int
    waiting_documents: int
    """Documents that were written or deleted, and are not up to date in the graph."""
    waiting_chunks: int
    last_entry: int
    """Number of the last entry of the outbox; 0 if it is empty."""
    removed: Sequence[str]
    """Ids of chunks that are deleted, and that the graph may still have."""


Result = TypeVar("Result")

Route = Callable[["PartedSession", str, Mapping[str, Any], Sequence[str]], list[Row]]

RowPart = Callable[["PartedSession", Mapping[str, Any], Sequence[str]], str]


class PartedSession(PostgresSession):
    """Runs statements by name in a namespace that may have several parts."""

    def __init__(self, *arguments: Any, readers: PartReaders[PartedSession] | None = None, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._readers = readers
        """Read parts at once; None in a transaction that can see changes, and in the sessions of readers."""
        self._home = ""
        self._bound = ""
        """The home, or the part to which row security is bound."""
        self._parts: dict[str, int] = {}
        """Number of parts by namespace, as far as they were read in this transaction."""
        self._states: list[PartState] | None = None
        """States of the parts in a snapshot, as far as they were read."""
        self._document_parts: dict[int, str] = {}
        """Names of parts by the number of a document, as far as `weft repair` has read the document."""

    # ── statements ──────────────────────────────────────────────────────────────────────────────

    def bind(self, namespace: str) -> None:
        self._home = self._bound = namespace
        super().bind(namespace)

    def each(self, parts: Sequence[str], read: Callable[[PartedSession, str], Result]) -> list[Result]:
        """Return what `read` returns for each part, in their order; in a snapshot the parts are read at once."""
        if self._readers is None or len(parts) < 2:
            return [read(self, part) for part in parts]

        def read_as_home(db: PartedSession, part: str) -> Result:
            db._home = self._home  # row security of a reader is bound by its first statement
            return read(db, part)

        return self._readers.each(self, parts, count=len(self._names(self._home)), read=read_as_home)

    def is_closed(self) -> bool:
        """Return True if the connection was lost."""
        return bool(self._db.closed)

    def run(self, name: str, values: Mapping[str, Any] = NO_VALUES, *, dimension: int = 0) -> list[Row]:
        if name in ROUTES and (parts := self._parts_of(values)):
            return ROUTES[name](self, name, values, parts)
        match name:
            case "write_namespace":
                return self.create(values["name"], parts=DEFAULT_PARTS)
            case "delete_namespace":
                for part in sorted(self._names(values["name"])):  # in the order of locks
                    self._run_here(name, {"name": part})
        if name not in ("find_namespace", "lock_namespace", "try_namespace"):
            return self._run_here(name, values, dimension=dimension)
        rows = self._note_parts(self._run_here(name, values))
        if name == "find_namespace" and values["name"] == self._home and self._names(self._home) and rows:
            ((namespace, generation, *_),) = rows
            states = self.part_states()
            rows = [
                (
                    namespace,
                    generation + sum(state.generation for state in states),
                    sum(state.chunks for state in states),
                    sum(state.length for state in states),
                )
            ]
        return rows

    def _note_parts(self, rows: list[Row]) -> list[Row]:
        """Note the last column, the number of parts of a namespace; return the other columns."""
        self._parts |= {namespace: parts for namespace, *_, parts in rows}
        return [row[:-1] for row in rows]

    def run_binary(self, name: str, values: Mapping[str, Any]) -> list[Row]:
        self._bind_to(values)
        return super().run_binary(name, values)

    def run_many(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        if not rows:
            return
        if name not in ROW_PARTS or not self._parts_of(rows[0]):
            self._bind_to(rows[0])
            super().run_many(name, rows)
            return
        part_of_row, parts = ROW_PARTS[name], self._parts_of(rows[0])
        routed = [{**row, "namespace": part_of_row(self, row, parts)} for row in rows]
        for _, group in groupby(sorted(routed, key=itemgetter("namespace")), key=itemgetter("namespace")):
            some = list(group)
            self._bind_to(some[0])
            super().run_many(name, some)

    def stream(self, name: str, values: Mapping[str, Any] = NO_VALUES) -> Iterator[Row]:
        parts = self._parts_of(values) if name in STREAMED or name in STREAM_ROUTES else ()
        if parts and name in STREAM_ROUTES:
            yield from STREAM_ROUTES[name](self, name, values, parts)
            return
        for part in parts:
            for row in self._stream_here(name, {**values, "namespace": part}):
                if name == "all_metadata":
                    self._document_parts[row[0]] = part
                yield row
        if not parts:
            yield from self._stream_here(name, values)

    def count_parts(self, namespace: Namespace) -> int:
        return len(self._names(str(namespace))) or 1

    def _run_here(self, name: str, values: Mapping[str, Any], *, dimension: int = 0) -> list[Row]:
        """Run a statement in the namespace or part that its values name."""
        self._bind_to(values)
        return super().run(name, values, dimension=dimension)

    def run_at(self, at: str, name: str, values: Mapping[str, Any]) -> list[Row]:
        """Run a statement in the home or in a part."""
        return self._run_here(name, {**values, "namespace": at})

    def stream_at(self, at: str, name: str, values: Mapping[str, Any]) -> Iterator[Row]:
        """Stream the rows of a statement in the home or in a part."""
        return self._stream_here(name, {**values, "namespace": at})

    def _stream_here(self, name: str, values: Mapping[str, Any]) -> Iterator[Row]:
        """Stream rows. Other statements may run in between, and row security is checked at each fetch."""
        self._streams += 1
        self._bind_to(values)
        with self._db.cursor(name=f"weft_{self._streams}", binary=name in BINARY) as cursor:
            cursor.execute(statement(name), values)
            while rows := cursor.fetchmany(STREAM_ROWS):
                yield from rows
                self._bind_to(values)

    def _bind_to(self, values: Mapping[str, Any]) -> None:
        """Bind row security to the home or the part of a statement. Nothing else is ever bound here."""
        wanted = values.get("namespace", values.get("name", ""))
        if wanted != self._bound and is_own(wanted, self._home):
            self._bound = wanted
            super().bind(wanted)

    def _parts_of(self, values: Mapping[str, Any]) -> list[str]:
        """Return the parts of the namespace of a statement; none if it has one part, or if it is a part itself."""
        return self._names(values["namespace"]) if values.get("namespace") == self._home and self._home else []

    def _names(self, namespace: str) -> list[str]:
        if namespace not in self._parts:
            self._note_parts(self._run_here("find_namespace", {"name": namespace}))
        parts = self._parts.get(namespace, 1)
        return part_names(namespace, parts) if parts > 1 else []

    def part_names(self, namespace: str) -> list[str]:
        """Return the names of the parts of a namespace; none if it has one part."""
        return self._names(namespace)

    def part_states(self) -> list[PartState]:
        """Return the states of the parts of the namespace to which the session is bound; none if it has one part."""
        if self._states is not None:
            return self._states
        rows = self.each(self._names(self._home), lambda db, part: db.run_at(part, "part_state", {}))
        states = [PartState(*row) for (row,) in rows]
        if self._snapshot is not None:
            self._states = states
        return states

    def last_entry(self) -> int:
        """Return the number of the last entry of all outboxes; 0 if they are empty."""
        return max((state.last_entry for state in self.part_states()), default=0)

    def count_waiting(self, namespace: Namespace) -> tuple[int, int]:
        states = self.part_states() if namespace == self._home else []
        return sum(state.waiting_documents for state in states), sum(state.waiting_chunks for state in states)

    # ── locks ───────────────────────────────────────────────────────────────────────────────────

    def lock_documents(self, namespace: str, ids: Collection[str]) -> None:
        """Lock the parts of documents, or the namespace if it has one part. A missing namespace is created."""
        if not self._read_names(namespace):
            if not self.run("lock_namespace", {"name": namespace}):
                make_namespace(self, namespace)
            if not self._read_names(namespace):
                return
        parts = self._names(namespace)
        self._lock_parts(namespace, {part_of(namespace, id, len(parts)) for id in ids})

    def lock_all(self, namespace: str) -> None:
        """Lock all parts of a namespace that is locked."""
        self._lock_parts(namespace, self._read_names(namespace))

    def _lock_parts(self, namespace: str, wanted: Iterable[str]) -> None:
        before = self._names(namespace)
        for part in sorted(wanted):  # the same order in all transactions, so that none waits for another in a circle
            self._run_here("lock_part", {"name": part})
        if self._read_names(namespace) != before:
            raise ConnectionLost(f"namespace {namespace!r} was dropped", hint="run the command again")

    def _read_names(self, namespace: str) -> list[str]:
        """Return the parts that a namespace has now."""
        self._parts.pop(namespace, None)
        return self._names(namespace)

    def create(self, namespace: str, *, parts: int) -> list[Row]:
        """Create the row of a namespace and those of its parts, if they are missing."""
        if parts == 1:
            return self._run_here("write_namespace", {"name": namespace})
        self._run_here("write_parted_namespace", {"name": namespace, "parts": parts})
        if self.changes():
            for part in part_names(namespace, parts):
                self._run_here("write_parted_namespace", {"name": part, "parts": 0})
        return []

    # ── routes ──────────────────────────────────────────────────────────────────────────────────

    def delete_labels(self, name: str, values: Mapping[str, Any], parts: Sequence[str]) -> list[Row]:
        """Delete the labels of a document from its part."""
        return self.run_at(self._document_parts[values["document"]], name, values)

    def write_model(self, name: str, values: Mapping[str, Any], parts: Sequence[str]) -> list[Row]:
        """Write an embedder to the home, then under the same number to every part."""
        rows = self._run_here(name, values)
        for part in parts:
            self.run_at(part, "write_model_at", {**values, "number": rows[0][0]})
        return rows

    def set_counts(self, name: str, values: Mapping[str, Any], parts: Sequence[str]) -> list[Row]:
        """Set the counts of the home as given, and those of the parts from their chunks."""
        for part in parts:
            lengths = [length for _, _, length in self.run_at(part, "all_terms", {})]
            self.run_at(part, name, {"chunks": len(lengths), "length": sum(lengths)})
        return self._run_here(name, values)

    def count_distinct_terms(self, name: str, values: Mapping[str, Any], parts: Sequence[str]) -> list[Row]:
        """Return the number of distinct terms; the sorted terms of the parts are merged."""
        streams = [self.stream_at(part, "list_terms", {}) for part in parts]
        return [(sum(1 for _ in groupby(merge(*streams))),)]

    def has_content(self, name: str, values: Mapping[str, Any], parts: Sequence[str]) -> list[Row]:
        """Return True if the home or a part has content."""
        return [(any(self.run_at(part, name, values)[0][0] for part in (values["namespace"], *parts)),)]

    def in_text(self, name: str, values: Mapping[str, Any], parts: Sequence[str]) -> list[Row]:
        """Run a statement about the graph; leave out chunks whose text is deleted."""
        rows = READS[name](self, name, values, parts)
        removed = {id for state in self.part_states() for id in state.removed}
        return [kept for row in rows if (kept := IN_TEXT[name](row, removed))] if removed else rows

    def links_in_text(self, name: str, values: Mapping[str, Any], parts: Sequence[str]) -> list[Row]:
        """Run a statement about links; leave out those of chunks whose text is deleted."""
        rows = READS[name](self, name, values, parts)
        numbers = json.dumps(sorted({number for _, number, *_ in rows}))
        if not any(state.removed for state in self.part_states()):
            return rows
        present = {number for number, _ in every(self, "chunk_ids", {**values, "numbers": numbers}, parts)}
        return [row for row in rows if row[1] in present]

    # ── vectors and keywords ────────────────────────────────────────────────────────────────────

    def search_vector(self, namespace: Namespace, vector: Vector, *, model: int, limit: int, where: Filter) -> Ranking:
        def search(db: PartedSession, part: str) -> tuple[Ranking, Ranking]:
            found = vectors.search(db, part, vector, model=model, limit=limit, where=where)
            if found.hits or not where:
                return found, found
            return found, vectors.search(db, part, vector, model=model, limit=1, where=Filter())

        parts = self._names(str(namespace))
        if not parts:
            return super().search_vector(namespace, vector, model=model, limit=limit, where=where)
        found, statistics = zip(*self.each(parts, search), strict=True)
        if not any(ranking.hits for ranking in found):
            return merge_vectors(found, statistics=found, limit=limit)
        return merge_vectors(found, statistics=statistics, limit=limit)

    def describe_search(self, namespace: Namespace, *, model: int | None) -> SearchMethods:
        home = super().describe_search(namespace, model=model)
        parts = self._names(str(namespace))
        if model is None or not parts:
            return home
        methods = {vectors.describe(self, part) for part in parts}
        return home._replace(vectors="exact" if methods == {"exact"} else max(methods))

    def search_keyword(
        self, namespace: Namespace, query_terms: Sequence[str], *, limit: int, where: Filter, chunks: int, length: int,
        frequencies: Mapping[str, int] | None = None,
    ) -> Ranking:  # fmt: skip
        parts, sizes = self._names(str(namespace)), {"chunks": chunks, "length": length}
        if not parts:
            return super().search_keyword(
                namespace, query_terms, limit=limit, where=where, frequencies=frequencies, **sizes
            )
        wanted, counts = list(dict.fromkeys(query_terms)), Counter[str]()
        for some, _ in self.each(parts, lambda db, part: terms.read_first(db, part, wanted)):
            counts.update(some)

        def search(db: PartedSession, part: str) -> Ranking:
            return terms.search(
                db, part, query_terms, limit=limit, where=where, total=chunks, mean_length=length / chunks,
                frequencies=counts if frequencies is None else frequencies,
            )  # fmt: skip

        return merge_keywords(self.each(parts, search), limit=limit)

    def state_of(self, namespace: Namespace) -> Hashable:
        is_whole = not is_part(str(namespace)) and self.count_parts(namespace) == 1
        return super().state_of(namespace) if is_whole else None  # parts have no version

    def known_terms(self, namespace: Namespace) -> dict[str, int]:
        self._bind_to({"namespace": namespace})  # the snapshot keeps rows by the binding
        return super().known_terms(namespace)

    def known_postings(self, namespace: Namespace) -> dict[str, terms.Postings]:
        self._bind_to({"namespace": namespace})
        return super().known_postings(namespace)

    def count_terms(self, namespace: Namespace, query_terms: Collection[str]) -> dict[str, int]:
        parts = self._names(str(namespace)) if namespace == self._home else []
        if not parts:
            return super().count_terms(namespace, query_terms)
        counts: Counter[str] = Counter()
        for some in self.each(parts, lambda db, part: PostgresSession.count_terms(db, part, query_terms)):
            counts.update(some)
        return dict(counts)

    def find_chunks_with_terms(
        self, namespace: Namespace, wanted: Mapping[str, Sequence[Collection[str]]], *, before: float | None = None
    ) -> dict[str, set[int]]:
        parts = self._names(str(namespace))
        if not parts:
            return super().find_chunks_with_terms(namespace, wanted, before=before)

        def find(db: PartedSession, part: str) -> dict[str, set[int]]:
            return PostgresSession.find_chunks_with_terms(db, part, wanted)

        found: dict[str, set[int]] = {name: set() for name in wanted}
        for some in self.each(parts, find):
            for name, numbers in some.items():
                found[name] |= numbers
        if before is None:
            return found
        # numbers do not grow in the order in which chunks are added to the graph
        values = {"namespace": namespace, "numbers": json.dumps(sorted(set().union(*found.values())))}
        known = {number for (number,) in self._run_here("graph_chunk_numbers", values)}
        return {name: numbers & known for name, numbers in found.items()}

    # ── graph ───────────────────────────────────────────────────────────────────────────────────

    def forget_chunks(self, namespace: Namespace, chunks: Collection[int]) -> None:
        for bucket in self._names(str(namespace)) or [str(namespace)]:  # all statements of a bucket after one binding
            super().forget_chunks(bucket, chunks)

    def forget_entities(self, namespace: Namespace, numbers: Collection[int] | None = None) -> None:
        buckets = self._names(str(namespace))
        for bucket in buckets if buckets and numbers is not None else (namespace, *buckets):
            super().forget_entities(bucket, numbers)

    # ── consistency ─────────────────────────────────────────────────────────────────────────────

    def are_terms_sound(self, namespace: Namespace) -> bool:
        parts = self._names(str(namespace)) or [str(namespace)]
        return all(super(PartedSession, self).are_terms_sound(part) for part in parts)

    def rebuild_terms(self, namespace: Namespace) -> int:
        parts = self._names(str(namespace)) or [str(namespace)]
        return sum(super(PartedSession, self).rebuild_terms(part) for part in parts)

    def find_lost_rows(self, namespace: Namespace) -> list[str]:
        return bucket_checks.find_lost_rows(self, str(namespace), self._names(str(namespace)))

    def restore_claims(self, namespace: Namespace) -> None:
        bucket_checks.restore_claims(self, str(namespace), self._names(str(namespace)))

    def find_part_problems(self, namespace: str) -> list[Problem]:
        """Return the differences between the home of a namespace and its parts."""
        parts = self._names(namespace)
        if not parts:
            return []
        where, wrong = f"namespace {namespace!r}", 0
        problems = []
        for place, part in enumerate(parts):
            ((_, _, chunks, length),) = self.run("find_namespace", {"name": part}) or [("", 0, -1, 0)]
            lengths = [length for _, _, length in self.run_at(part, "all_terms", {})]
            if (chunks, length) != (len(lengths), sum(lengths)):
                what = f"part {place} counts {chunks} chunks of {length} terms, has {len(lengths)} of {sum(lengths)}"
                problems.append(Problem(where=where, what=what, repairable=True))
        home = ((number, 0) for (number,) in self._stream_here("all_chunk_numbers", {"namespace": namespace}))
        others = [
            ((number, 1) for (number,) in self._stream_here("all_chunk_numbers", {"namespace": part})) for part in parts
        ]
        for _, group in groupby(merge(home, *others), key=itemgetter(0)):
            wrong += [side for _, side in group] != [0, 1]
        if wrong:
            what = f"{wrong:,} chunks are not both in the graph and in one part"
            problems.append(Problem(where=where, what=what, repairable=False))
        return problems


# ── routes ──────────────────────────────────────────────────────────────────────────────────────


def every(db: PartedSession, name: str, values: Mapping[str, Any], parts: Sequence[str]) -> list[Row]:
    """Run a statement in every part; return all rows."""
    return [row for rows in db.each(parts, lambda db, part: db.run_at(part, name, values)) for row in rows]


def by_ids(db: PartedSession, name: str, values: Mapping[str, Any], parts: Sequence[str]) -> list[Row]:
    """Run a statement in the parts of the documents `ids`; return all rows."""
    wanted: dict[str, list[str]] = defaultdict(list)
    for id in json.loads(values["ids"]):
        wanted[part_of(values["namespace"], id, len(parts))].append(id)

    def read(db: PartedSession, part: str) -> list[Row]:
        return db.run_at(part, name, {**values, "ids": json.dumps(wanted[part])})

    return [row for rows in db.each(sorted(wanted), read) for row in rows]


def by_id(db: PartedSession, name: str, values: Mapping[str, Any], parts: Sequence[str]) -> list[Row]:
    """Run a statement in the part of the document `id`."""
    return db.run_at(part_of(values["namespace"], values["id"], len(parts)), name, values)


def merged(column: int) -> Route:
    """Return a route to every part that keeps the first `limit` rows in the order of a column."""

    def run(db: PartedSession, name: str, values: Mapping[str, Any], parts: Sequence[str]) -> list[Row]:
        return sorted(every(db, name, values, parts), key=itemgetter(column))[: values["limit"]]

    return run


def summed(db: PartedSession, name: str, values: Mapping[str, Any], parts: Sequence[str]) -> list[Row]:
    """Run a statement that counts in every part; return the sum."""
    return [(sum(count for (count,) in every(db, name, values, parts)),)]


def both(db: PartedSession, name: str, values: Mapping[str, Any], parts: Sequence[str]) -> list[Row]:
    """Run a statement in every part, then in the home."""
    every(db, name, values, parts)
    return db._run_here(name, values)


READS: Mapping[str, Route] = {
    "links_of": bucket_reads.links_of,
    "relation_claims": bucket_reads.relation_claims,
    "mentions_in": bucket_reads.mentions_in,
    "broken_links": bucket_writes.broken_links,
    "all_broken_links": bucket_writes.all_broken_links,
    "unembedded_entities": name_vectors.unembedded_entities,
}
"""Reads of the graph in buckets whose rows name chunks."""

ROUTES: Mapping[str, Route] = {
    **dict.fromkeys(("chunks_by_id", "titles_by_chunk", "chunk_texts", "chunk_vectors", "write_vector_by_id"), every),
    **dict.fromkeys(
        ("all_chunks", "all_terms", "set_metadata", "set_heading", "set_terms", "chunk_ids", "content_hashes"), every
    ),
    **dict.fromkeys(("delete_bad_vectors", "described_entities", "name_vectors"), every),
    "delete_annotated_vectors": name_vectors.delete_annotated,
    "stray_entity_vectors": name_vectors.count_strays,
    "delete_stray_entity_vectors": name_vectors.delete_strays,
    "documents_by_id": by_ids,
    "whole_chunks": by_ids,
    "chunks_by_document": by_id,
    "forget_content_hash": by_id,
    "find_documents": merged(1),
    "sample_chunks": merged(0),
    "find_unembedded": merged(0),
    "count_documents": summed,
    "count_vectors": summed,
    "bad_vectors": summed,
    "activate_model": both,
    "delete_other_models": both,
    **dict.fromkeys(("delete_derived_claims", "delete_resolved_claims"), both),
    "place_claims": every,
    **dict.fromkeys(("chunk_claims", "claims_of_keys", "links_by_stem", "links_at"), bucket_writes.read_some),
    **dict.fromkeys(("chunk_resolved_claims", "all_derived_claims_in"), bucket_writes.read_some),
    "origin_claims": every,
    "count_relations": summed,
    "misplaced_claims": summed,
    "count_stated": bucket_reads.count_stated,
    "known_entities": bucket_reads.known_entities,
    "relations_of_type": bucket_reads.relations_of_type,
    "relations_between": bucket_reads.relations_between,
    "relations_with": bucket_reads.relations_with,
    "chunk_mentions": bucket_writes.chunk_mentions,
    "entity_chunks": bucket_writes.entity_chunks,
    "pair_support": bucket_writes.pair_support,
    "page_votes": bucket_writes.page_votes,
    "chunk_links": bucket_writes.chunk_links,
    "own_claims": bucket_writes.own_claims,
    "import_names": bucket_writes.import_names,
    "all_mentions_in": bucket_checks.all_mentions_in,
    **dict.fromkeys(IN_TEXT, PartedSession.in_text),
    **dict.fromkeys(("broken_links", "all_broken_links"), PartedSession.links_in_text),
    "has_content": PartedSession.has_content,
    "delete_labels": PartedSession.delete_labels,
    "write_model": PartedSession.write_model,
    "set_counts": PartedSession.set_counts,
    "count_terms": PartedSession.count_distinct_terms,
}
"""Statements that do not run in the home alone, if a namespace has several parts."""


def _in_bucket(column: str) -> RowPart:
    """Return a function that finds the bucket of a row by a column."""
    return lambda db, row, parts: bucket_of(row["namespace"], row[column], len(parts))


ROW_PARTS: Mapping[str, RowPart] = {
    "write_label": lambda db, row, parts: db._document_parts[row["document"]],
    "write_entity_vector_by_id": name_vectors.part_of_chunk_id,
    **{name: _in_bucket(column) for name, column in ROW_COLUMNS.items()},
}
"""Statements for many rows that run in the parts, with a function that returns the part of a row."""

STREAMED = frozenset({"all_metadata", "all_headings_and_terms", "all_labels"})
"""Streamed statements that run in every part."""

STREAM_ROUTES: Mapping[str, Callable[[PartedSession, str, Mapping[str, Any], Sequence[str]], Iterator[Row]]] = {
    "all_pairs": bucket_checks.all_pairs,
    "all_relations": bucket_checks.all_relations,
}
"""Streamed statements of the graph in buckets."""
