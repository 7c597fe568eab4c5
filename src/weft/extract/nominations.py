"""Collector of the nominations and claims of one chunk, without duplicates, in reading order."""

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
from weft.records import STRONG_KINDS, Claim, Extraction, Nomination, NominationKind
from weft.text.normalise import CJK

MAX_WEAK_NOMINATIONS = 60
"""Maximum number of weak nominations per chunk; further ones are dropped."""

_CJK = re.compile(f"[{CJK}]+")


class Nominations:
    """Nominations and claims of one chunk: the first nomination of a key and kind, the heaviest claim of a relation."""

    def __init__(self) -> None:
        self._nominations: dict[tuple[str, NominationKind], Nomination] = {}
        self._claims: dict[tuple[str, str, str], Claim] = {}
        self._weak = 0

    def nominate(
        self,
        name: str,
        kind: NominationKind,
        *,
        type: str = "",
        description: str = "",
        about: bool = False,
        alias_of: str = "",
        reason: str = "",
    ) -> str:
        """Nominate a name and return its key; empty if it cannot be an entity. A name is never an alias of itself."""
        name = name.strip()
        key = name_key(name)
        if not is_usable(name) or key == alias_of:
            return key if key and key == alias_of else ""
        if (key, kind) in self._nominations:
            return key
        if kind not in STRONG_KINDS:
            if self._weak == MAX_WEAK_NOMINATIONS:
                return ""
            self._weak += 1
        self._nominations[key, kind] = Nomination(
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
        """Nominate the key of a definition of source code. It is an entity only if a file defines it."""
        key = code_key(name)
        self._nominations.setdefault((key, "variant"), Nomination(key=key, name=name, kind="variant"))

    def nominate_weak(self, name: str) -> None:
        """Nominate a name of a statement as a phrase or term, unless it is nominated already."""
        key = name_key(name)
        if is_noise(name) or (name.islower() and is_plain_code(name)):
            return
        if not any((key, kind) in self._nominations for kind in get_args(NominationKind)):
            self.nominate(name, "term" if _CJK.fullmatch(key) else "phrase")

    def claim(self, statement: Statement, *, weight: float, description: str) -> None:
        """Claim a relation. Of two claims of the same relation the heavier is kept; ties keep the first."""
        source, target = name_key(statement.source), name_key(statement.target)
        before = self._claims.get((source, target, statement.type))
        if source and target and source != target and (before is None or before.weight < weight):
            self._claims[source, target, statement.type] = Claim(
                source=source, target=target, type=statement.type, weight=weight, description=shorten(description)
            )

    def to_extraction(self) -> Extraction:
        """Return all nominations, and the claims with both ends nominated."""
        known = {key for key, _ in self._nominations}
        claims = (claim for claim in self._claims.values() if claim.source in known and claim.target in known)
        return Extraction(nominations=tuple(self._nominations.values()), claims=tuple(claims))
