"""
Candidates of a SQLite file: keys are numbers, and a chunk's repeated texts are stored once.

A spelling is stored with the number of its key, and a description that the title has already refers to the title. The
statement that looks this up for stored chunks takes twice as long as one with values that are known before.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from operator import itemgetter
from typing import Any

from weft.graph.entity_resolution import KIND_RANKS, vote
from weft.store.relational.session import CandidateRow, Namespace, Session

KINDS = (
    "phrase", "title", "definition", "quoted", "variant", "abbreviation", "heading", "link", "label", "section", "page",
    "anchor", "name", "identifier", "term", "metadata", "field", "given",
)  # fmt: skip
"""Kinds of candidates in the order of their numbers, as in the column `kind`."""

COLUMNS = (
    "chunk", "place", "namespace", "document", "origin", "key", "name", "code", "vote", "rank", "type", "description",
    "about", "alias_of", "reason", "extractor",
)  # fmt: skip
"""Columns of a candidate, in the order in which `write_new_candidate` takes them."""

_BY_KEY = itemgetter(*map(COLUMNS.index, ("chunk", "key", "place")))

_KIND_COLUMNS = {kind: (number, vote(kind), KIND_RANKS[kind]) for number, kind in enumerate(KINDS)}


class NameNumbers:
    """Numbers and spellings of keys that one transaction has used."""

    def __init__(self, db: Session) -> None:
        self._db = db
        self._numbers: defaultdict[Namespace, dict[str, int]] = defaultdict(dict)
        self.created: defaultdict[Namespace, set[str]] = defaultdict(set)
        """Keys that got a number in this transaction."""
        self.spellings: dict[int, str | None] = {}
        """Spellings by number."""

    def find(self, namespace: Namespace, keys: Collection[str] | Mapping[str, str]) -> Mapping[str, int]:
        """Return the numbers of keys, among others. New keys get a number, and their spelling from a mapping."""
        known = self._numbers[namespace]
        if missing := [key for key in keys if key not in known]:
            self._read("name_numbers", namespace, sorted(missing))
        if new := sorted({key for key in missing if key not in known}):
            self.created[namespace].update(new)
            names = keys if isinstance(keys, Mapping) else dict.fromkeys(keys)
            self._read("write_names", namespace, [(key, names[key]) for key in new])
        return known

    def forget(self) -> None:
        """Forget all numbers, before unused keys are deleted."""
        self._numbers.clear()
        self.created.clear()
        self.spellings.clear()

    def _read(self, statement: str, namespace: Namespace, keys: Sequence[Any]) -> None:
        values = {"namespace": namespace, "keys": json.dumps(keys, ensure_ascii=False)}
        known = self._numbers[namespace]
        for key, number, spelling in self._db.run(statement, values):
            known[key], self.spellings[number] = number, spelling


def write_candidates(db: Session, namespace: Namespace, rows: Sequence[CandidateRow], *, names: NameNumbers) -> None:
    """Number the keys of candidates and write them."""
    numbers = names.find(namespace, {row.item.key: row.item.name for row in rows})
    spellings = names.spellings
    places: defaultdict[tuple[int, int], dict[tuple[str, str], int]] = defaultdict(dict)
    titles: dict[tuple[int, int, str], int] = {}
    new: list[tuple[Any, ...]] = []
    other: list[tuple[Any, ...]] = []
    for chunk, document, origin, is_new, item in rows:  # hot loop: a chunk has ten
        proposed, name, kind, type, description, about, alias_of, reason, extractor = item
        key = numbers[proposed]
        code, votes, rank = _KIND_COLUMNS[kind]
        place, stored = 0, description
        if is_new:  # equal candidates share a place
            used = places[chunk, key]
            place = used.setdefault((kind, name), len(used))
            if description and not origin and kind in ("title", "definition"):
                if kind == "title":
                    titles.setdefault((chunk, key, description), place)
                else:
                    stored = titles.get((chunk, key, description), description)  # type: ignore[assignment]
        values = (
            chunk, place, namespace, document, origin, key, None if name == spellings[key] else name, code, votes, rank,
            type, stored, about, alias_of, reason, extractor,
        )  # fmt: skip
        (new if is_new else other).append(values)
    db.run_many("write_new_candidate", sorted(new, key=_BY_KEY))  # in the order of the table, whose pages are then full
    db.run_many("write_candidate", [dict(zip(COLUMNS, row, strict=True)) for row in other])
