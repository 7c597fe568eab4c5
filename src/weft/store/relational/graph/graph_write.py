"""
Update of the graph in the transaction that changes its documents.

    candidates ─→ mentions of these names in the same chunk
    candidates, edits ─→ entities ┐
    stated relations ────────────────────────┴─→ relations

`GraphChanges` collects the keys, chunks and pairs that a transaction touches; `settle` then writes only those. Further
mentions and co-occurrences are derived by the questions that need them (`name_search`, `co_occurrences`).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby, islice
from typing import Any, NamedTuple

from weft.extract.links.page_keys import is_page_key
from weft.graph.entity_resolution import (
    ABSENT,
    MAX_ALIAS_CHAIN,
    OWN_KINDS,
    Resolution,
    Votes,
    first_words,
    follow,
    join_spellings,
    judge,
    letters,
    vote,
)
from weft.records import Extraction, StatedMention, StatedRelation
from weft.store.relational.graph.graph_mentions import MentionChanges
from weft.store.relational.graph.link_write import LinkChanges
from weft.store.relational.session import CandidateRow, Namespace, Session
from weft.store.shared.merging import pair_tie_rank, tie_rank
from weft.text.ids import entity_id


class Pair(NamedTuple):
    """A relation between two names."""

    source: str
    """Key of a name."""
    target: str
    type: str


class StatedRelationRow(NamedTuple):
    """A stored stated relation of a chunk."""

    source: str
    target: str
    type: str
    origin: str


class EntityChanges(NamedTuple):
    """Keys whose rows in the entity table changed."""

    created: set[str]
    deleted: set[str]
    written: set[str]
    """Created or updated."""


BATCH_ROWS = 2000
"""Maximum number of keys, pairs or chunks in one statement."""

MAX_ALIAS_TARGETS = 6
"""Alias targets read for a name: two make it ambiguous, unless one of them is exported by name."""


class GraphChanges:
    """Collects the changes of a transaction to the graph and applies them once."""

    def __init__(self, db: Session, *, namespace: Namespace, name: str) -> None:
        self._db = db
        self._namespace = namespace
        self._name = name
        self._keys: set[str] = set()
        """Keys whose resolution may have changed."""
        self._weak: dict[str, int] = {}
        """Keys with weak candidates of one new document, by number."""
        self._first_words: set[str] = set()
        """First words of names that were added or removed; they may be vague names."""
        self._pairs: set[Pair] = set()
        self._released: set[str] = set()
        """Keys that nothing may use any more after this transaction."""
        self._candidates: list[CandidateRow] = []
        self._deleted_stated_relations: list[dict[str, Any]] = []
        self._new_stated_relations: list[dict[str, Any]] = []
        self._stored: dict[int, list[StatedRelationRow]] = {}
        """Stated relations of chunks of withdrawn documents, read together; each is used once."""
        self._mentions = MentionChanges(db, namespace=namespace)
        self._links = LinkChanges(db, namespace=namespace)

    def withdraw(self, document: int, *, chunks: Collection[int]) -> None:
        """Delete the candidates of a document with these chunks; annotations of imports stay."""
        found = self._stated_relations(chunks)
        self._stored |= {chunk: found[chunk] for chunk in chunks}
        self._mentions.expect(chunks)
        key = {"namespace": self._namespace, "document": document}
        names = {name for (name,) in self._db.run("document_candidates", key)}
        self._touch_removed(names)
        self._links.withdraw(names)
        self._db.run("delete_candidates", key)

    def remove(self, chunk: int) -> None:
        """Subtract a chunk that is about to be deleted from the counts."""
        key = {"namespace": self._namespace, "chunk": chunk}
        self._touch_removed(name for (name,) in self._db.run("chunk_keys", key))
        stated_relations = self._stated_relations_of(chunk)
        self._pairs |= {Pair(stated.source, stated.target, stated.type) for stated in stated_relations}
        self._released |= {key for stated in stated_relations for key in (stated.source, stated.target)}
        self._keys |= {key for stated in stated_relations for key in (stated.source, stated.target) if is_page_key(key)}
        self._links.remove(chunk)
        self._mentions.remove(chunk)

    def propose(
        self,
        chunk: int,
        *,
        id: str,
        document: int,
        extraction: Extraction,
        mentions: Collection[StatedMention] | None,
        origin: str = "",
    ) -> None:
        """Collect the statements of a chunk, or of an import about it; a new chunk has its `mentions`."""
        is_new = mentions is not None
        self._candidates += [CandidateRow(chunk, document, origin, is_new, item) for item in extraction.candidates]
        for item in extraction.candidates:  # hot loop
            is_weak = is_new and vote(item.kind) == 1 and not item.alias_of
            if not is_weak or self._weak.setdefault(item.key, document) != document:
                self._keys.add(item.key)
        self._first_words |= first_words(item.key for item in extraction.candidates if item.kind in OWN_KINDS)
        old = () if is_new else self._stated_relations_of(chunk)
        self._change_stated_relations(chunk, extraction.stated_relations, id=id, origin=origin, old=old)
        if not origin:
            self._links.propose(chunk, extraction, is_new=is_new)
        if mentions is None:
            self._mentions.change(chunk)
        else:
            self._mentions.add(chunk, id=id, mentions=mentions)

    def retract(self, chunk: int, *, origin: str) -> None:
        """Delete an import's candidates in a chunk; the next `propose` replaces its stated relations."""
        key = {"namespace": self._namespace, "chunk": chunk, "origin": origin}
        self._touch_removed(name for (name,) in self._db.run("origin_keys", key))
        self._db.run("delete_origin", key)

    def touch(self, keys: Iterable[str]) -> None:
        """Mark keys whose resolution may have changed."""
        self._keys |= set(keys)

    def _touch_removed(self, keys: Iterable[str]) -> None:
        removed = set(keys)
        self._keys |= removed
        self._released |= removed
        self._first_words |= first_words(removed)

    def settle(self) -> None:
        """Write the collected changes and update entities and relations."""
        self.write_statements()
        keys, pairs = self._links.settle()
        self._keys |= keys
        self._pairs |= {Pair(*pair) for pair in pairs}
        self._released |= keys | {key for source, target, _ in pairs for key in (source, target)}
        self._mentions.write()
        self._mentions.write_counts()
        self._keys |= self._undecided(self._weak.keys() - self._keys - self._first_words)
        changed = self._write_entities()
        rows = self._db.run("stated_relations_of_keys", {"namespace": self._namespace, "keys": _json(changed.created)})
        self._pairs |= {Pair(*row) for row in rows}
        self._delete_entities(changed.deleted)
        self._write_heads(changed.written | changed.deleted)
        self._mentions.count_new(changed.created)
        self._write_relations()
        self._db.names.release(self._namespace, self._released | changed.deleted)

    def rebuild(self) -> None:
        """Derive the graph of the whole namespace again from documents, annotations and edits."""
        values = {"namespace": self._namespace}
        self._db.run("delete_entities", values)
        self._db.run("delete_resolved_stated_relations", values)
        self._db.run("delete_resolved_aliases", values)
        for chunks in batched(self._db.stream("all_chunk_numbers", values)):
            self._links.resolve_all([chunk for (chunk,) in chunks])
        self._db.run("delete_all_mentions", values)
        for chunks in batched(self._db.stream("all_chunk_numbers", values)):
            for (chunk,) in chunks:
                self._mentions.change(chunk)
            self._mentions.write()
        written: set[str] = set()
        for keys in self.all_keys():
            self._keys = keys
            created = self._write_entities().written
            self._mentions.count_new(created)
            written |= created
        self._write_heads(written)
        for pairs in batched(self._db.stream("all_pairs", values)):
            self._pairs = {Pair(source, target, type) for source, target, type, *_ in pairs}
            self._write_relations()
        self._db.names.release(self._namespace)

    def write_statements(self) -> None:
        """Write the collected statements, and the mentions of new chunks with their counts."""
        self._db.names.write_candidates(self._namespace, self._candidates)
        self._candidates = []
        self._write_stated_relations()
        self._mentions.write_new()
        self._mentions.write_counts()

    # ── entities ────────────────────────────────────────────────────────────────────────────────

    def all_keys(self, size: int = BATCH_ROWS) -> Iterator[set[str]]:
        """Yield sets of about `size` proposed or edited keys. Keys with the same letters are in one set."""
        keys: set[str] = set()
        every = (key for (key,) in self._db.stream("all_keys", {"namespace": self._namespace}))
        for _, group in groupby(every, key=letters):
            keys |= set(group)
            if len(keys) >= size:
                yield keys
                keys = set()
        yield keys

    def resolutions(self, keys: Collection[str]) -> dict[str, Resolution]:
        """Return the resolutions of keys, and of all keys with the same letters, from all documents and edits."""
        pages = {key for key in keys if is_page_key(key)}
        return self._links.resolutions(pages) | self._name_resolutions(set(keys) - pages)

    def _name_resolutions(self, keys: Collection[str]) -> dict[str, Resolution]:
        values = {"namespace": self._namespace, "letters": _json({letters(key) for key in keys})}
        every = set(keys) | {key for (key,) in self._db.run("keys_by_letters", values)}
        values = {"namespace": self._namespace, "keys": _json(every)}
        aliases: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for key, target, reason in self._db.run("key_aliases", {**values, "limit": MAX_ALIAS_TARGETS}):
            aliases[key].append((target, reason))
        targets = {key: {target for target, _ in found} - {key} for key, found in aliases.items()}
        single = [key for key, found in targets.items() if " " not in key and len(found) == 1]
        rows = self._db.run("vague_names", {**values, "keys": _json(single)}) if single else []
        vague = {key for (key,) in rows}
        edits: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
        for kind, key, value in self._db.run("key_edits", values):
            edits[key].add((kind, key, value))
            edits[value].add((kind, key, value))
        found: dict[str, Resolution] = {}
        own, groups = set(), defaultdict[str, dict[str, Resolution]](dict)
        for key, strong, several, is_own in self._db.run("key_votes", values):
            if not strong and not several and key not in edits:  # nearly all keys
                found[key] = ABSENT
                continue
            votes = Votes(
                strong=bool(strong),
                several=bool(several),
                own=bool(is_own),
                aliases=aliases.get(key, ()),
                vague=key in vague,
            )
            groups[letters(key)][key] = judge(key, votes, edits.get(key, ()))
            if is_own:
                own.add(key)
        for group in groups.values():
            found |= join_spellings(group, own=own, edits=set().union(*(edits.get(key, ()) for key in group)))
        return found

    def _undecided(self, weak: set[str]) -> set[str]:
        """Return keys but those that are entities already, and those that no other document and no edit has."""
        new = weak & self._db.names.created(self._namespace)
        values = {"namespace": self._namespace, "keys": _json(new)}
        edited = {key for _, *pair in self._db.run("key_edits", values) for key in pair} if new else set()
        known = weak - new
        values = {"namespace": self._namespace, "keys": _json(known)}
        entities = {key for key, *_ in self._db.run("entities_by_key", values)} if known else set()
        return (known - entities) | (new & edited)

    def _write_entities(self) -> EntityChanges:
        """Write the entities of the collected keys. Rows of deleted entities are left for the caller to delete."""
        after = self.resolutions(self._keys | self._first_words)
        rows = self._db.run("entities_by_key", {"namespace": self._namespace, "keys": _json(after)})
        before = {
            key: Resolution(exists=True, strong=bool(strong), same_as=same_as, reason=reason)
            for key, strong, same_as, reason in rows
        }
        new = {
            key: resolution for key, resolution in after.items() if resolution.exists and before.get(key) != resolution
        }
        self._db.names.numbers(self._namespace, new.keys() - before.keys())
        self._db.run_many(
            "write_entity",
            [
                {
                    "namespace": self._namespace, "id": entity_id(self._name, key), "key": key,
                    "strong": new[key].strong, "same_as": new[key].same_as, "reason": new[key].reason,
                }
                for key in sorted(new)
            ],
        )  # fmt: skip
        deleted = {key for key in before if not after[key].exists}
        return EntityChanges(created=new.keys() - before.keys(), deleted=deleted, written=set(new))

    def _delete_entities(self, keys: Collection[str]) -> None:
        """Delete entities with their relations."""
        self._db.run_many("delete_entity", [{"namespace": self._namespace, "key": key} for key in sorted(keys)])

    def _write_heads(self, keys: Collection[str]) -> None:
        """Write the entity that each of these keys, and each alias of them, resolves to."""
        affected, frontier = set(keys), set(keys)
        for _ in range(MAX_ALIAS_CHAIN):
            values = {"namespace": self._namespace, "keys": _json(frontier)}
            frontier = {key for (key,) in self._db.run("other_names", values)} - affected
            if not frontier:
                break
            affected |= frontier
        numbers: dict[str, int] = {}
        same_as: dict[str, str] = {}
        wanted = affected
        for _ in range(MAX_ALIAS_CHAIN + 1):  # follow the alias chains to their ends
            rows = self._db.run("resolve_keys", {"namespace": self._namespace, "keys": _json(wanted)})
            numbers |= {key: number for key, _, number in rows}
            same_as |= {key: target for key, target, _ in rows}
            wanted = {target for _, target, _ in rows} - same_as.keys()
            if not wanted:
                break
        heads = [(numbers[key], numbers[follow(key, same_as)]) for key in sorted(affected & same_as.keys())]
        if heads:
            self._db.run("write_heads", {"namespace": self._namespace, "heads": _json(heads)})

    # ── relations ───────────────────────────────────────────────────────────────────────────────

    def _stated_relations_of(self, chunk: int) -> list[StatedRelationRow]:
        """Return the stated relations of a chunk before this transaction changed it."""
        found = self._stored.pop(chunk, None)
        return self._stated_relations([chunk])[chunk] if found is None else found

    def _stated_relations(self, chunks: Collection[int]) -> defaultdict[int, list[StatedRelationRow]]:
        """Return the stated relations of chunks, by chunk number."""
        self._write_stated_relations()
        found: defaultdict[int, list[StatedRelationRow]] = defaultdict(list)
        values = {"namespace": self._namespace, "chunks": json.dumps(list(chunks))}
        for chunk, *stated in self._db.run("chunk_stated_relations", values) if chunks else ():
            found[chunk].append(StatedRelationRow(*stated))
        return found

    def _change_stated_relations(
        self,
        chunk: int,
        stated_relations: Iterable[StatedRelation],
        *,
        id: str,
        origin: str,
        old: Iterable[StatedRelationRow],
    ) -> None:
        """Collect the changes that replace the stated relations of a chunk under an origin."""
        before = {Pair(stated.source, stated.target, stated.type) for stated in old if stated.origin == origin}
        after = {Pair(stated.source, stated.target, stated.type): stated for stated in stated_relations}
        key = {"namespace": self._namespace, "chunk": chunk, "origin": origin}
        self._deleted_stated_relations += [
            {**key, "source": source, "target": target, "type": type} for source, target, type in before - after.keys()
        ]
        place = tie_rank(id) if after else 0  # a removed annotation has no id
        for pair in sorted(after):
            stated = after[pair]
            self._new_stated_relations.append(
                {
                    **key, "source": pair[0], "target": pair[1], "type": pair[2], "place": place,
                    "weight": stated.weight, "description": stated.description, "extractor": stated.extractor,
                }
            )  # fmt: skip
        self._pairs |= before | after.keys()

    def _write_stated_relations(self) -> None:
        self._released |= {row[end] for row in self._deleted_stated_relations for end in ("source", "target")}
        changed = [*self._deleted_stated_relations, *self._new_stated_relations]
        numbers = self._db.names.numbers(self._namespace, {row[end] for row in changed for end in ("source", "target")})
        for row in changed:
            row["source"], row["target"] = numbers[row["source"]], numbers[row["target"]]
        self._db.run_many("delete_stated_relation", self._deleted_stated_relations)
        self._db.run_many("write_stated_relation", self._new_stated_relations)
        self._deleted_stated_relations, self._new_stated_relations = [], []

    def _write_relations(self) -> None:
        """Update the relations of the collected pairs from their stated relations."""
        deleted, written = [], []
        for pairs in batched(sorted(self._pairs)):
            rows = self._db.run("pair_support", {"namespace": self._namespace, "pairs": _json(pairs)})
            for source, target, type, source_key, target_key, weight in rows:
                ends = {"namespace": self._namespace, "source": source, "target": target, "type": type}
                if weight is None:
                    deleted.append(ends)
                    continue
                place = pair_tie_rank(self._name, source_key, target_key)
                written.append({**ends, "weight": weight, "place": place})
        self._db.run_many("delete_relation", deleted)
        self._db.run_many("write_relation", written)
        self._pairs.clear()


def batched(values: Iterable[Any], size: int = BATCH_ROWS) -> Iterator[list[Any]]:
    """Yield lists of at most `size` values."""
    rest = iter(values)
    while part := list(islice(rest, size)):
        yield part


def _json(values: Collection[Any] | Mapping[str, Any]) -> str:
    return json.dumps(sorted(values), ensure_ascii=False)
