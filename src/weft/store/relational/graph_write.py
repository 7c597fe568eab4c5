"""Keeps entities, mentions and relations in step with the documents, inside their transaction."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby, islice
from typing import Any

from weft.extract.mentions import derived_weight, must_hold
from weft.graph.entity_resolution import (
    KIND_RANKS,
    MAX_ALIAS_CHAIN,
    OWN_KINDS,
    Standing,
    Votes,
    first_words,
    follow,
    join_spellings,
    judge,
    letters,
    vote,
)
from weft.records import Claim, Extraction
from weft.store.relational.document_read import to_extractions
from weft.store.relational.graph_mentions import MentionChanges
from weft.store.relational.session import Namespace, Session
from weft.store.shared.merging import pair_tie_rank, tie_rank
from weft.text.ids import entity_id

Pair = tuple[str, str, str]
"""Source key, target key, type."""

SLICE = 2000
"""Keys, pairs or chunks that are looked up at once."""

MAX_ALIASES = 3
"""Things read that a name is said to be another name of: itself, and the two that settle that it is unclear."""


class GraphChanges:
    """Collects what a transaction changes in the graph, and settles it once."""

    def __init__(self, db: Session, *, namespace: Namespace, name: str) -> None:
        self._db = db
        self._namespace = namespace
        self._name = name
        self._keys: set[str] = set()
        self._begun: set[str] = set()
        """What names begin with that came or went."""
        self._pairs: set[Pair] = set()
        self._nominations: list[dict[str, Any]] = []
        self._gone_claims: list[dict[str, Any]] = []
        self._new_claims: list[dict[str, Any]] = []
        self._mentions = MentionChanges(db, namespace=namespace)

    def withdraw(self, document: int) -> None:
        """Take back what a document itself nominated; what imports say of its chunks stays."""
        key = {"namespace": self._namespace, "document": document}
        self._withdrawn(row[0] for row in self._db.run("document_nominations", key))
        self._db.run("delete_nominations", key)

    def remove(self, chunk: int) -> None:
        """Take a chunk that is about to be deleted out of the counts."""
        key = {"namespace": self._namespace, "chunk": chunk}
        self._withdrawn(row[0] for row in self._db.run("chunk_keys", key))
        self._pairs |= {(source, target, type) for source, target, type, _ in self._claims([chunk])[chunk]}
        self._mentions.remove(chunk)

    def nominate(
        self, chunk: int, *, id: str, document: int, extraction: Extraction, is_new: bool, origin: str = ""
    ) -> None:
        """Write what a chunk, or an import about it, nominates and claims."""
        self._nominations += [
            {
                "namespace": self._namespace, "chunk": chunk, "document": document, "origin": origin, "key": item.key,
                "name": item.name, "kind": item.kind, "vote": vote(item.kind), "rank": KIND_RANKS[item.kind],
                "type": item.type, "description": item.description, "about": item.about, "alias_of": item.alias_of,
                "reason": item.reason, "extractor": item.extractor,
            }
            for item in extraction.nominations
        ]  # fmt: skip
        self._keys |= {item.key for item in extraction.nominations}
        self._begun |= first_words(item.key for item in extraction.nominations if item.kind in OWN_KINDS)
        old = () if is_new else self._claims([chunk])[chunk]
        self._change_claims(chunk, extraction.claims, id=id, origin=origin, old=old)
        self._mentions.read(chunk, is_new=is_new)

    def annotations(self, origin: str) -> dict[int, Extraction]:
        """Return the annotations of an import, by chunk number."""
        values = {"namespace": self._namespace, "origin": origin}
        return to_extractions(self._db.run("origin_nominations", values), self._db.run("origin_claims", values))

    def retract(self, chunk: int, *, origin: str) -> None:
        """Take back what an import nominated in a chunk; what it claimed goes with the next `nominate`."""
        key = {"namespace": self._namespace, "chunk": chunk, "origin": origin}
        self._withdrawn(row[0] for row in self._db.run("origin_keys", key))
        self._db.run("delete_origin", key)

    def touch(self, keys: Iterable[str]) -> None:
        """Say that the standing of these keys may have changed."""
        self._keys |= set(keys)

    def _withdrawn(self, keys: Iterable[str]) -> None:
        gone = set(keys)
        self._keys |= gone
        self._begun |= first_words(gone)

    def settle(self) -> None:
        """Bring entities, mentions and relations up to date with all that was collected."""
        self._db.run_many("write_nomination", self._nominations)
        self._write_claims()
        entered, left, moved = self._write_entities()
        rows = self._db.run("claims_of_keys", {"namespace": self._namespace, "keys": _json(entered)})
        self._pairs |= {(source, target, type) for source, target, type in rows}
        holding, about = self._holding(entered)
        for key, chunks in sorted(holding.items()):
            self._mentions.add_name(key, chunks=chunks, about=about[key])
        for key in sorted(left):
            values = {"namespace": self._namespace, "key": key}
            number = self._db.run("entity_by_key", values)[0][0]
            for row in self._db.run("entity_chunks", {"namespace": self._namespace, "entity": number}):
                self._mentions.read(row[0], is_new=False)
            self._db.run("delete_entity", values)
        self._write_heads(moved | left)
        self._derive_claims(self._mentions)
        self._write_relations()

    def rebuild(self) -> None:
        """Derive the graph of the whole namespace anew from what documents, imports and the user say."""
        values = {"namespace": self._namespace}
        self._db.run("delete_derived_claims", values)
        self._db.run("delete_entities", values)  # mentions and relations go with them
        written: set[str] = set()
        for keys in self.all_keys():
            self._keys = keys
            written |= self._write_entities()[2]
        self._write_heads(written)
        for chunks in slices(self._db.stream("all_chunk_numbers", values)):
            mentions = MentionChanges(self._db, namespace=self._namespace)
            for (chunk,) in chunks:
                mentions.read(chunk, is_new=True)
            self._derive_claims(mentions)
            self._pairs.clear()  # they are all taken from the claims below
        for pairs in slices(self._db.stream("all_pairs", values)):
            self._pairs = {(source, target, type) for source, target, type, *_ in pairs}
            self._write_relations()

    # ── entities ────────────────────────────────────────────────────────────────────────────────

    def all_keys(self, size: int = SLICE) -> Iterator[set[str]]:
        """Yield all keys that documents or the user name, so many at a time, those with the same letters together."""
        keys: set[str] = set()
        every = (row[0] for row in self._db.stream("all_keys", {"namespace": self._namespace}))
        for _, group in groupby(every, key=letters):
            keys |= set(group)
            if len(keys) >= size:
                yield keys
                keys = set()
        yield keys

    def standings(self, keys: Collection[str]) -> dict[str, Standing]:
        """Return what keys are, by all documents and edits, and with them all that share their letters."""
        values = {"namespace": self._namespace, "letters": _json({letters(key) for key in keys})}
        every = set(keys) | {row[0] for row in self._db.run("keys_by_letters", values)}
        values = {"namespace": self._namespace, "keys": _json(every)}
        aliases: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for key, target, reason in self._db.run("key_aliases", {**values, "limit": MAX_ALIASES}):
            aliases[key].append((target, reason))
        single = [key for key, said in aliases.items() if " " not in key and len({to for to, _ in said} - {key}) == 1]
        vague = {row[0] for row in self._db.run("vague_names", {**values, "keys": _json(single)})} if single else set()
        edits: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
        for kind, key, value in self._db.run("key_edits", values):
            edits[key].add((kind, key, value))
            edits[value].add((kind, key, value))
        own, groups = set(), defaultdict[str, dict[str, Standing]](dict)
        for key, strong, several, is_own in self._db.run("key_standings", values):
            votes = Votes(
                strong=bool(strong),
                several=bool(several),
                own=bool(is_own),
                aliases=aliases[key],
                vague=key in vague,
            )
            groups[letters(key)][key] = judge(key, votes, edits[key])
            own |= {key} if is_own else set()
        found: dict[str, Standing] = {}
        for group in groups.values():
            found |= join_spellings(group, own=own, edits=set().union(*(edits[key] for key in group)))
        return found

    def _write_entities(self) -> tuple[set[str], set[str], set[str]]:
        """Return the keys that have become entities, those that are none any more, and those that changed."""
        after = self.standings(self._keys | self._begun)
        rows = self._db.run("entities_by_key", {"namespace": self._namespace, "keys": _json(after)})
        before = {
            key: Standing(exists=True, strong=bool(strong), same_as=same_as, reason=reason)
            for key, strong, same_as, reason in rows
        }
        new = {key: standing for key, standing in after.items() if standing.exists and before.get(key) != standing}
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
        left = {key for key in before if not after[key].exists}
        return new.keys() - before.keys(), left, set(new)

    def _write_heads(self, moved: Collection[str]) -> None:
        """Say under which entity each of these keys, and each that leads to them, is read."""
        affected, frontier = set(moved), set(moved)
        for _ in range(MAX_ALIAS_CHAIN):
            values = {"namespace": self._namespace, "keys": _json(frontier)}
            frontier = {row[0] for row in self._db.run("other_names", values)} - affected
            if not frontier:
                break
            affected |= frontier
        numbers: dict[str, int] = {}
        same_as: dict[str, str] = {}
        wanted = affected
        for _ in range(MAX_ALIAS_CHAIN + 1):  # follow the chains to their ends
            rows = self._db.run("resolve_keys", {"namespace": self._namespace, "keys": _json(wanted)})
            numbers |= {key: number for key, _, number in rows}
            same_as |= {key: target for key, target, _ in rows}
            wanted = {target for _, target, _ in rows} - same_as.keys()
            if not wanted:
                break
        heads = [
            {"namespace": self._namespace, "number": numbers[key], "head": numbers[follow(key, same_as)]}
            for key in sorted(affected & same_as.keys())
        ]
        self._db.run_many("write_head", heads)

    def _holding(self, keys: Collection[str]) -> tuple[dict[str, set[int]], defaultdict[str, set[int]]]:
        """Return the chunks that can mention keys: those that hold every word of one, and those said to be about it."""
        about: defaultdict[str, set[int]] = defaultdict(set)
        for key, chunk in self._db.run("chunks_about", {"namespace": self._namespace, "keys": _json(keys)}):
            about[key].add(chunk)
        return self._db.find_holders(self._namespace, {key: must_hold(key) for key in sorted(keys)}), about

    # ── relations ───────────────────────────────────────────────────────────────────────────────

    def _claims(self, chunks: Collection[int]) -> defaultdict[int, list[tuple[str, str, str, str]]]:
        """Return source, target, type and origin of what chunks claim."""
        self._write_claims()
        found: defaultdict[int, list[tuple[str, str, str, str]]] = defaultdict(list)
        values = {"namespace": self._namespace, "chunks": json.dumps(list(chunks))}
        for chunk, *claim in self._db.run("chunk_claims", values) if chunks else ():
            found[chunk].append((claim[0], claim[1], claim[2], claim[3]))
        return found

    def _derive_claims(self, mentions: MentionChanges) -> None:
        """Write the mentions of chunks, and what chunks claim by them."""
        for reads in mentions.settle():
            old = self._claims([chunk for chunk, _, _, is_new in reads if not is_new])
            for chunk, id, claims, _ in reads:
                self._change_claims(chunk, claims, id=id, origin=DERIVED, old=old[chunk])
        self._write_claims()

    def _change_claims(
        self, chunk: int, claims: Iterable[Claim], *, id: str, origin: str, old: Iterable[tuple[str, str, str, str]]
    ) -> None:
        """Make what a chunk claims under an origin exactly these claims, once they are written."""
        before = {(source, target, type) for source, target, type, by in old if by == origin}
        after = {(claim.source, claim.target, claim.type): claim for claim in claims}
        key = {"namespace": self._namespace, "chunk": chunk, "origin": origin}
        self._gone_claims += [{**key, "source": s, "target": t, "type": type} for s, t, type in before - after.keys()]
        added = after.keys() - before if origin == DERIVED else after.keys()
        for source, target, type in sorted(added):
            claim = after[source, target, type]
            self._new_claims.append(
                {
                    **key, "source": source, "target": target, "type": type, "place": tie_rank(id),
                    "weight": claim.weight, "description": claim.description, "extractor": claim.extractor,
                }
            )  # fmt: skip
        self._pairs |= (before ^ after.keys()) if origin == DERIVED else before | after.keys()

    def _write_claims(self) -> None:
        self._db.run_many("delete_claim", self._gone_claims)
        self._db.run_many("write_claim", self._new_claims)
        self._gone_claims, self._new_claims = [], []

    def _write_relations(self) -> None:
        """Bring the relations of the pairs collected up to date with the claims they rest on."""
        gone, kept = [], []
        for pairs in slices(sorted(self._pairs)):
            rows = self._db.run("pair_support", {"namespace": self._namespace, "pairs": _json(pairs)})
            for source, target, type, source_key, target_key, support, weight in rows:
                ends = {"namespace": self._namespace, "source": source, "target": target, "type": type}
                if not support:
                    gone.append(ends)
                    continue
                if weight is None:
                    weight = derived_weight(type, support=support)
                at = pair_tie_rank(self._name, source_key, target_key)
                kept.append({**ends, "weight": weight, "support": support, "place": at})
        self._db.run_many("delete_relation", gone)
        self._db.run_many("write_relation", kept)


DERIVED = "*"
"""The origin of claims that follow from mentions."""


def slices(values: Iterable[Any], size: int = SLICE) -> Iterator[list[Any]]:
    """Yield values a few at a time."""
    rest = iter(values)
    while part := list(islice(rest, size)):
        yield part


def _json(values: Collection[Any] | Mapping[str, Any]) -> str:
    return json.dumps(sorted(values), ensure_ascii=False)
