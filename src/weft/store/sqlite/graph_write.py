"""Keeps entities, mentions and relations in step with the documents, inside the document's own transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import reduce

import apsw
import numpy as np

from weft.graph.standing import OWN_KINDS, RANKS, Standing, Votes, judge, vote
from weft.records import Claim, Extraction
from weft.store.sqlite.postings import read_term
from weft.store.sqlite.statements import run
from weft.text.ids import entity_id
from weft.text.mentions import DERIVED_TYPES, derived_weight, must_hold, possible_names, read_names

Pair = tuple[str, str, str]
"""Source key, target key, type."""


class GraphChanges:
    """Collects what a transaction changes in the graph, and settles it once."""

    def __init__(self, db: apsw.Connection, *, namespace: int, name: str) -> None:
        self._db = db
        self._namespace = namespace
        self._name = name
        self._keys: set[str] = set()
        self._chunks: set[int] = set()
        self._pairs: set[Pair] = set()

    def withdraw(self, document: int) -> None:
        """Take back what a document nominated. Its chunks must still be there."""
        key = {"namespace": self._namespace, "document": document}
        self._keys |= {row[0] for row in run(self._db, "document_nominations", key)}
        run(self._db, "delete_nominations", key)

    def remove(self, chunk: int) -> None:
        """Take a chunk that is about to be deleted out of the counts."""
        for _, entity, count, _ in run(self._db, "chunk_mentions", {"chunk": chunk}):
            run(self._db, "count_mention", {"entity": entity, "mentions": -count, "chunks": -1})
        for source, target, type in run(self._db, "chunk_claims", {"namespace": self._namespace, "chunk": chunk}):
            self._pairs.add((source, target, type))
        self._chunks.discard(chunk)

    def nominate(self, chunk: int, *, document: int, extraction: Extraction) -> None:
        """Write what a chunk nominates and claims."""
        for item in extraction.nominations:
            row = {
                "namespace": self._namespace, "chunk": chunk, "document": document, "key": item.key, "name": item.name,
                "kind": item.kind, "vote": vote(item.kind), "rank": RANKS[item.kind], "type": item.type,
                "description": item.description, "about": item.about, "alias_of": item.alias_of, "reason": item.reason,
            }  # fmt: skip
            run(self._db, "write_nomination", row)
            self._keys.add(item.key)
        self._write_claims(chunk, extraction.claims, derived=False)
        self._chunks.add(chunk)

    def touch(self, keys: Iterable[str]) -> None:
        """Say that the standing of these keys may have changed."""
        self._keys |= set(keys)

    def settle(self) -> None:
        """Bring entities, mentions and relations up to date with all that was collected."""
        entered, left = set(), set()
        for key in sorted(self._keys):
            before, after = self._stored(key), self.standing(key)
            if before is not None and not after.exists:
                left.add(key)
            elif after.exists and before != after:
                row = {"key": key, "strong": after.strong, "same_as": after.same_as, "reason": after.reason}
                id = entity_id(self._name, key)
                run(self._db, "write_entity", {"namespace": self._namespace, "id": id, **row})
                entered |= {key} if before is None else set()
        for key in sorted(entered):
            self._chunks |= self._holding(key)
        for key in sorted(entered | left):
            values = {"namespace": self._namespace, "key": key}
            self._pairs |= {(source, target, type) for source, target, type in run(self._db, "claims_of_key", values)}
        for key in sorted(left):
            values = {"namespace": self._namespace, "key": key}
            number = run(self._db, "entity_by_key", values)[0][0]
            self._chunks |= {row[0] for row in run(self._db, "entity_chunks", {"entity": number})}
            run(self._db, "delete_entity", values)
        for chunk in sorted(self._chunks):
            self._match(chunk)
        for pair in sorted(self._pairs):
            self._relate(pair)

    def standing(self, key: str) -> Standing:
        """Return what a key is, by all documents and edits."""
        values = {"namespace": self._namespace, "key": key}
        strong, several, own = run(self._db, "key_standing", {**values, "own_kinds": json.dumps(OWN_KINDS)})[0]
        aliases = [(target, reason) for target, reason in run(self._db, "key_aliases", values)]
        edits = [(kind, owner, value) for kind, owner, value in run(self._db, "key_edits", values)]
        votes = Votes(strong=bool(strong), several=bool(several), own=bool(own), aliases=aliases)
        return judge(key, votes, edits)

    def _stored(self, key: str) -> Standing | None:
        rows = run(self._db, "entity_by_key", {"namespace": self._namespace, "key": key})
        if not rows:
            return None
        _, strong, same_as, reason = rows[0]
        return Standing(exists=True, strong=bool(strong), same_as=same_as, reason=reason)

    def _holding(self, key: str) -> set[int]:
        """Return the chunks that hold every word of a key, by the keyword index: the only ones that can mention it."""
        found = []
        for spellings in must_hold(key):
            numbers = [read_term(self._db, namespace=self._namespace, term=term)[0] for term in sorted(spellings)]
            found.append(np.unique(np.concatenate(numbers)))
        return set(reduce(np.intersect1d, found).tolist()) if found else set()

    def _match(self, chunk: int) -> None:
        """Bring the mentions and derived claims of a chunk up to date."""
        rows = run(self._db, "chunk_text", {"namespace": self._namespace, "chunk": chunk})
        if not rows:
            return
        text, id = rows[0]
        about = {row[0] for row in run(self._db, "chunk_subjects", {"chunk": chunk})}
        keys = json.dumps(sorted(possible_names(text) | about), ensure_ascii=False)
        known = dict(run(self._db, "known_keys", {"namespace": self._namespace, "keys": keys}))
        named = read_names(text, known=known, about=about)
        old = {
            key: (entity, count, bool(a)) for key, entity, count, a in run(self._db, "chunk_mentions", {"chunk": chunk})
        }
        new = {key: (known[key], count, key in about) for key, count in named.counts.items()}
        for key in sorted(old.keys() | new.keys()):
            if old.get(key) != new.get(key):
                self._replace_mention(chunk, place=place(id), old=old.get(key), new=new.get(key))
        self._write_claims(chunk, named.claims, derived=True)

    def _replace_mention(
        self, chunk: int, *, place: int, old: tuple[int, int, bool] | None, new: tuple[int, int, bool] | None
    ) -> None:
        for row, name, sign in ((old, "delete_mention", -1), (new, "write_mention", 1)):
            if row is not None:
                entity, count, about = row
                run(self._db, name, {"entity": entity, "chunk": chunk, "count": count, "about": about, "place": place})
                run(self._db, "count_mention", {"entity": entity, "mentions": sign * count, "chunks": sign})

    def _write_claims(self, chunk: int, claims: Iterable[Claim], *, derived: bool) -> None:
        """Make a chunk's claims, the derived ones or the others, exactly these."""
        key = {"namespace": self._namespace, "chunk": chunk}
        old = {
            (source, target, type)
            for source, target, type in run(self._db, "chunk_claims", key)
            if (type in DERIVED_TYPES) == derived
        }
        new = {(claim.source, claim.target, claim.type): claim for claim in claims}
        for source, target, type in sorted(old - new.keys()):
            run(self._db, "delete_claim", {**key, "source": source, "target": target, "type": type})
        for (source, target, type), claim in sorted(new.items()):
            if not derived or (source, target, type) not in old:
                row = {"source": source, "target": target, "type": type}
                row |= {"weight": claim.weight, "description": claim.description}  # type: ignore[dict-item]
                run(self._db, "write_claim", {**key, **row})
        self._pairs |= (old ^ new.keys()) if derived else old | new.keys()

    def _place(self, source: str, target: str) -> int:
        ids = [entity_id(self._name, key) for key in (source, target)]
        return place(min(ids)) * 2**31 + place(max(ids)) // 2

    def _relate(self, pair: Pair) -> None:
        """Bring one relation up to date with the claims it rests on."""
        source, target, type = pair
        keys = json.dumps([source, target], ensure_ascii=False)
        known: Mapping[str, int] = dict(run(self._db, "known_keys", {"namespace": self._namespace, "keys": keys}))
        if source not in known or target not in known:
            return  # the relation went with the entity
        ends = {"source": known[source], "target": known[target], "type": type}
        values = {"namespace": self._namespace, "source": source, "target": target, "type": type}
        support, weight = run(self._db, "pair_support", values)[0]
        run(self._db, "delete_relation", ends)
        if support:
            weight = derived_weight(type, support=support) if type in DERIVED_TYPES else weight
            run(
                self._db,
                "write_relation",
                {**ends, "weight": weight, "support": support, "place": self._place(source, target)},
            )


def place(id: str) -> int:
    """Return the first 32 bits of an id: an order for ties that does not depend on when things came in."""
    return int(id[1:9], 16)
