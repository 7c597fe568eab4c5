"""Collector of the candidates and stated relations of one chunk, without duplicates, in reading order."""

from __future__ import annotations

import re
from typing import get_args

from weft.extract.code.code_keys import code_key
from weft.extract.entity_types import entity_type
from weft.extract.exclusions import is_noise, is_plain_code
from weft.extract.names import name_key
from weft.extract.phrases import is_usable
from weft.extract.sentences import shorten
from weft.extract.statements import Statement
from weft.records import STRONG_KINDS, Candidate, CandidateKind, Extraction, StatedRelation
from weft.text.normalise import CJK
from weft.text.record_numbers import is_record

MAX_WEAK_CANDIDATES = 60
"""Maximum number of weak candidates per chunk; further ones are dropped."""

_CJK = re.compile(f"[{CJK}]+")


class Candidates:
    """Statements of one chunk: the first candidate of a key and kind, the heaviest of a relation."""

    def __init__(self) -> None:
        self._candidates: dict[tuple[str, CandidateKind], Candidate] = {}
        self._stated_relations: dict[tuple[str, str, str], StatedRelation] = {}
        self._weak = 0

    def propose(
        self,
        name: str,
        kind: CandidateKind,
        *,
        type: str = "",
        description: str = "",
        about: bool = False,
        alias_of: str = "",
        reason: str = "",
    ) -> str:
        """Propose a name and return its key; empty if it cannot be an entity. A name is never an alias of itself."""
        name = name.strip()
        key = name_key(name)
        if not is_usable(name) or key == alias_of:
            return key if key and key == alias_of else ""
        if kind == "definition" and not about and is_record(name):  # `EIP-1559 is …` in another document
            kind, type, description = "identifier", "", ""
        if (key, kind) in self._candidates:
            return key
        if kind not in STRONG_KINDS:
            if self._weak == MAX_WEAK_CANDIDATES:
                return ""
            self._weak += 1
        self._candidates[key, kind] = Candidate(
            key=key,
            name=name,
            kind=kind,
            type=entity_type(type) if type else "",
            description=shorten(description),
            about=about,
            alias_of=alias_of,
            reason=reason,
        )
        return key

    def refer(self, name: str) -> None:
        """Propose the key of a definition of source code. It is an entity only if a file defines it."""
        key = code_key(name)
        self._candidates.setdefault((key, "variant"), Candidate(key=key, name=name, kind="variant"))

    def propose_weak(self, name: str) -> None:
        """Propose a name of a statement as a phrase or term, unless it is proposed already."""
        key = name_key(name)
        if is_noise(name) or (name.islower() and is_plain_code(name)):
            return
        if not any((key, kind) in self._candidates for kind in get_args(CandidateKind)):
            self.propose(name, "term" if _CJK.fullmatch(key) else "phrase")

    def state(self, statement: Statement, *, weight: float, description: str) -> None:
        """State a relation. Of two stated relations of the same relation the heavier is kept; ties keep the first."""
        source, target = name_key(statement.source), name_key(statement.target)
        before = self._stated_relations.get((source, target, statement.type))
        if source and target and source != target and (before is None or before.weight < weight):
            self._stated_relations[source, target, statement.type] = StatedRelation(
                source=source, target=target, type=statement.type, weight=weight, description=shorten(description)
            )

    def to_extraction(self) -> Extraction:
        """Return all candidates, and the stated relations with both ends proposed."""
        known = {key for key, _ in self._candidates}
        stated_relations = (
            stated for stated in self._stated_relations.values() if stated.source in known and stated.target in known
        )
        return Extraction(candidates=tuple(self._candidates.values()), stated_relations=tuple(stated_relations))
