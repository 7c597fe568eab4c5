"""
Incremental resolution of links between pages, in the transaction that changes their documents.

A link is resolved again if

- its chunk is written,
- a page, redirect, label or section with the last part of its path appears or disappears,
- a title that its page or target has becomes shared by several pages, or ceases to be.

So a link may come before its target, and nothing reads other documents again. Raw links are stated relations with
a target key that begins with `!`; resolved relations and aliases have an origin that begins with `@`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from weft.extract.links.page_keys import is_link_key, is_page_key, key_range, stem_range, title_key
from weft.extract.links.resolution import MAX_CANDIDATES, PageRow
from weft.graph.entity_resolution import Resolution
from weft.records import Candidate, Extraction, StatedRelation
from weft.store.relational.session import CandidateRow, Namespace, Session
from weft.store.shared.merging import tie_rank
from weft.store.shared.page_links import ALIAS_REASON, LinkRow, LinkStatements, derive_statements, link_of_origin

BATCH_LINKS = 2000
"""Prefixes or keys that one statement looks up."""


class StatedRelationOf(NamedTuple):
    """A resolved relation of a chunk."""

    chunk: int
    origin: str
    stated: StatedRelation


class AliasOf(NamedTuple):
    """A resolved alias of a chunk."""

    chunk: int
    origin: str
    key: str
    name: str
    alias_of: str


class ChunkRow(NamedTuple):
    """Id and document of a chunk."""

    id: str
    document: int


class LinkDifferences(NamedTuple):
    """Resolved statements that are missing in the store, and those that should not exist."""

    new_stated_relations: list[StatedRelationOf]
    old_stated_relations: list[StatedRelationOf]
    new_aliases: list[AliasOf]
    old_aliases: list[AliasOf]
    chunks: Mapping[int, ChunkRow]


class LinkChanges:
    """Collects the links that a transaction must resolve again, and resolves them once."""

    def __init__(self, db: Session, *, namespace: Namespace) -> None:
        self._db = db
        self._namespace = namespace
        self._before: set[str] = set()
        """Keys of pages and their parts that documents of this transaction had."""
        self._after: set[str] = set()
        self._chunks: dict[int, set[str] | None] = {}
        """Chunks with the keys of the links to resolve; None for all of them."""

    def withdraw(self, keys: Iterable[str]) -> None:
        """Collect the keys that a document had."""
        self._before |= {key for key in keys if is_page_key(key)}

    def propose(self, chunk: int, extraction: Extraction, *, is_new: bool) -> None:
        """Collect the pages and links that a chunk states."""
        self._after |= {item.key for item in extraction.candidates if is_page_key(item.key)}
        if not is_new or any(is_link_key(stated.target) for stated in extraction.stated_relations):
            self._chunks[chunk] = None

    def remove(self, chunk: int) -> None:
        """Forget a chunk that is about to be deleted."""
        self._chunks.pop(chunk, None)

    def settle(self) -> tuple[set[str], set[tuple[str, str, str]]]:
        """Write the changes of resolved links; return the keys and the relations (as tuples) that may have changed."""
        self._collect_affected()
        keys: set[str] = set()
        pairs: set[tuple[str, str, str]] = set()
        if self._chunks:
            changes = self.differences(self._chunks)
            self._write(changes)
            for stated in (item.stated for item in (*changes.new_stated_relations, *changes.old_stated_relations)):
                pairs.add((stated.source, stated.target, stated.type))
                keys |= {key for key in (stated.source, stated.target) if is_page_key(key)}
            keys |= {alias.key for alias in (*changes.new_aliases, *changes.old_aliases)}
        self._before, self._after, self._chunks = set(), set(), {}
        return keys, pairs

    def resolve_all(self, chunks: Collection[int]) -> None:
        """Write all resolved links of chunks that have none stored."""
        self._write(self.differences(dict.fromkeys(chunks)))

    def resolutions(self, keys: Collection[str]) -> dict[str, Resolution]:
        """Return the resolutions of pages and sections: entities if a resolved link starts or ends there."""
        values = {"namespace": self._namespace, "keys": json.dumps(sorted(keys), ensure_ascii=False)}
        return {
            key: Resolution(exists=bool(is_known and is_linked), strong=True, same_as=key)
            for key, is_known, is_linked in (self._db.run("page_votes", values) if keys else ())
        }

    # ── affected links ──────────────────────────────────────────────────────────────────────────

    def _collect_affected(self) -> None:
        """Add the links of other chunks whose target may have changed."""
        changed = self._before ^ self._after
        stems = {key.lstrip("/#@").partition("/")[0] for key in changed if not key.startswith("/=")}
        for part in _batched(sorted(stems)):
            ranges = json.dumps([stem_range(stem) for stem in part], ensure_ascii=False)
            for chunk, _, target in self._db.run("links_by_stem", {"namespace": self._namespace, "ranges": ranges}):
                self._add(chunk, target)
        titles = {key[2:] for key in changed if key.startswith("/=")}
        keys = {title if first != last else first for title, first, last in self._titled(titles) if first}
        for part in _batched(sorted(keys)):
            values = {"namespace": self._namespace, "keys": json.dumps(part, ensure_ascii=False)}
            for chunk, origin in self._db.run("links_at", values):
                self._add(chunk, link_of_origin(origin))

    def _add(self, chunk: int, target: str) -> None:
        wanted = self._chunks.setdefault(chunk, set())
        if wanted is not None:
            wanted.add(target)

    def _titled(self, titles: Collection[str]) -> list[tuple[str, str | None, str | None]]:
        """Return the keys of titles with the first and the last page that has them."""
        found: list[tuple[str, str | None, str | None]] = []
        for part in _batched(sorted(titles)):
            keys = json.dumps([title_key(title) for title in part], ensure_ascii=False)
            rows = self._db.run("titled_pages", {"namespace": self._namespace, "keys": keys})
            found += [(key[2:], first, last) for key, first, last in rows]
        return found

    # ── resolving ───────────────────────────────────────────────────────────────────────────────

    def differences(self, wanted: Mapping[int, set[str] | None]) -> LinkDifferences:
        """Return the differences between the resolved links of chunks and the stored ones."""
        values = {"namespace": self._namespace, "chunks": json.dumps(sorted(wanted))}
        chunks, rows = self._read_links(values, wanted)
        derived = derive_statements([row for some in rows.values() for row in some], self)
        nothing = LinkStatements()
        stated_relations: set[StatedRelationOf] = set()
        aliases: dict[tuple[int, str, str], AliasOf] = {}
        for chunk, some in rows.items():
            for row in some:
                found = derived.get(row, nothing)
                stated_relations |= {StatedRelationOf(chunk, found.origin, stated) for stated in found.stated_relations}
                for alias in found.aliases:
                    at = AliasOf(chunk, found.origin, alias.key, alias.name, alias.alias_of)
                    aliases.setdefault((chunk, found.origin, alias.key), at)
        old_stated_relations = {
            item for item in self._stored_stated_relations(values) if _is_wanted(item.chunk, item.origin, wanted)
        }
        old_aliases = {item for item in self._stored_aliases(values) if _is_wanted(item.chunk, item.origin, wanted)}
        new_aliases = set(aliases.values())
        return LinkDifferences(
            sorted(stated_relations - old_stated_relations, key=_order),
            sorted(old_stated_relations - stated_relations, key=_order),
            sorted(new_aliases - old_aliases),
            sorted(old_aliases - new_aliases),
            chunks,
        )

    def _read_links(
        self, values: Mapping[str, Any], wanted: Mapping[int, set[str] | None]
    ) -> tuple[dict[int, ChunkRow], dict[int, list[LinkRow]]]:
        labels: dict[tuple[int, str], list[tuple[str, str]]] = defaultdict(list)
        for chunk, target, key, name in self._db.run("chunk_labels", values):
            labels[chunk, target].append((key, name))
        chunks: dict[int, ChunkRow] = {}
        links: dict[int, list[LinkRow]] = defaultdict(list)
        rows = self._db.run("chunk_links", values)
        for chunk, id, document, source, target, weight, description, extractor in rows:
            targets = wanted[chunk]
            if targets is None or target in targets:
                chunks[chunk] = ChunkRow(id, document)
                names = tuple(sorted(labels.get((chunk, target), ())))
                links[chunk].append(LinkRow(source, target, weight, description, extractor, names))
        return chunks, links

    def _stored_stated_relations(self, values: Mapping[str, Any]) -> list[StatedRelationOf]:
        rows = self._db.run("chunk_resolved_stated_relations", values)
        return [
            StatedRelationOf(
                chunk,
                origin,
                StatedRelation(
                    source=source,
                    target=target,
                    type=type,
                    weight=weight,
                    description=text,
                    extractor=extractor,
                ),
            )
            for chunk, origin, source, target, type, weight, text, extractor in rows
        ]

    def _stored_aliases(self, values: Mapping[str, Any]) -> list[AliasOf]:
        return [AliasOf(*row) for row in self._db.run("chunk_resolved_aliases", values)]

    def _write(self, changes: LinkDifferences) -> None:
        at = {"namespace": self._namespace}
        stated_relations = (*changes.old_stated_relations, *changes.new_stated_relations)
        ends = {key for item in stated_relations for key in (item.stated.source, item.stated.target)}
        numbers = self._db.names.numbers(self._namespace, ends | {alias.key for alias in changes.old_aliases})
        self._db.run_many(
            "delete_stated_relation",
            [{**at, **_stated_relation_key(item, numbers)} for item in changes.old_stated_relations],
        )
        self._db.run_many(
            "delete_alias",
            [
                {**at, "chunk": a.chunk, "origin": a.origin, "key": numbers[a.key], "name": a.name}
                for a in changes.old_aliases
            ],
        )
        self._db.run_many(
            "write_stated_relation",
            [
                {
                    **at, **_stated_relation_key(item, numbers), "place": tie_rank(changes.chunks[item.chunk].id),
                    "weight": item.stated.weight, "description": item.stated.description,
                    "extractor": item.stated.extractor,
                }
                for item in changes.new_stated_relations
            ],
        )  # fmt: skip
        rows = [_alias_row(alias, changes.chunks[alias.chunk].document) for alias in changes.new_aliases]
        self._db.names.write_candidates(self._namespace, rows)

    # ── lookup of pages (`PageLookup`) ──────────────────────────────────────────────────────────

    def find_pages(self, prefixes: Sequence[str]) -> dict[str, list[PageRow]]:
        """Return the pages whose keys begin with each prefix, by key."""
        found: dict[str, list[PageRow]] = {}
        for part in _batched(prefixes):
            ranges = json.dumps([key_range(prefix) for prefix in part], ensure_ascii=False)
            values = {"namespace": self._namespace, "ranges": ranges, "limit": MAX_CANDIDATES}
            for prefix, rows in self._db.run("pages_by_prefix", values):
                found[prefix] = [PageRow(*row) for row in json.loads(rows)]
        return found

    def titles(self, pages: Collection[str]) -> dict[str, str]:
        """Return the key of the title of each page that exists; empty for a page without a title."""
        return dict(self._rows("page_titles", pages))

    def shared_titles(self, titles: Collection[str]) -> set[str]:
        """Return the keys of titles that several pages have."""
        return {title for title, first, last in self._titled(titles) if first != last}

    def sections(self, keys: Collection[str]) -> set[str]:
        """Return the keys of sections that exist."""
        return {key for (key,) in self._rows("known_sections", keys)}

    def _rows(self, name: str, keys: Collection[str]) -> list[Any]:
        found: list[Any] = []
        for part in _batched(sorted(keys)):
            values = {"namespace": self._namespace, "keys": json.dumps(part, ensure_ascii=False)}
            found += self._db.run(name, values)
        return found


def _is_wanted(chunk: int, origin: str, wanted: Mapping[int, set[str] | None]) -> bool:
    targets = wanted[chunk]
    return targets is None or link_of_origin(origin) in targets


def _order(item: StatedRelationOf) -> tuple[int, str, str, str]:
    return item.chunk, item.origin, item.stated.source, item.stated.target


def _stated_relation_key(item: StatedRelationOf, numbers: Mapping[str, int | str]) -> dict[str, Any]:
    stated = item.stated
    ends = {
        "source": numbers[stated.source],
        "target": numbers[stated.target],
        "type": stated.type,
    }
    return {"chunk": item.chunk, "origin": item.origin, **ends}


def _alias_row(alias: AliasOf, document: int) -> CandidateRow:
    item = Candidate(key=alias.key, name=alias.name, kind="anchor", alias_of=alias.alias_of, reason=ALIAS_REASON)
    return CandidateRow(alias.chunk, document, alias.origin, False, item)


def _batched(values: Sequence[Any]) -> Iterable[list[Any]]:
    return (list(values[start : start + BATCH_LINKS]) for start in range(0, len(values), BATCH_LINKS))
