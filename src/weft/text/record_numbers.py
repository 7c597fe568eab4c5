"""
Numbers of records: proposals, decisions, requests for comments, tickets.

| written | record |
| --- | --- |
| `PEP 484`, `PEP-0484`, `PEP484`, ``:pep:`484` `` | `PEP 484` |
| `ADR-0012`, `adr-12` in a file name | `ADR 12` |
| `INC-2041` | `INC 2041` |
| `UTF-8`, `SHA-256`, `HTTP 2`, `2026-10-01` | none |
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

KINDS = frozenset("adr bip cip dep eep eip erc fip gep iep jep kep kip nep pep rfc rfd xep".split())
"""Kinds whose name may be written in lower case."""
_OTHERS = frozenset(
    "ASCII BLAKE CIDR COVID CP CRC DES EBCDIC EN FIPS GB GCM GMT HTTP HTTPS IEC IEEE IP ISO LATIN MD MIT MP NIST OAUTH "
    "RSA SHA SQL SSL TLS UCS USB UTC UTF WIN".split()
)
"""Words before numbers of standards and sizes that nobody keeps as documents."""
_MENTION = re.compile(r"(?<![\w./#-])(?:([A-Z]{2,6})[ -]?|([a-z]{3,4})-)0{0,6}([1-9]\d{0,6})(?![\w/]|[.-]\d)")


class RecordNumber(NamedTuple):
    """The kind, in lower case, and number of a record."""

    kind: str
    number: int

    @property
    def name(self) -> str:
        """Name as it is written most often: `PEP 484`."""
        return f"{self.kind.upper()} {self.number}"

    @property
    def address(self) -> str:
        """Address of a link to the record, as `weft.extract.links.page_keys.name_parts` reads it."""
        return f"record:{self.kind}-{self.number}"


def is_record(name: str) -> bool:
    """Return True if a name is the number of a proposal or decision, which names its document: `PEP 484`."""
    return any(spelling == name and record.kind in KINDS for _, spelling, record in find_numbers(name))


def find_numbers(text: str) -> Iterator[tuple[int, str, RecordNumber]]:
    """Yield the offset, the spelling and the record of each number of a record in a text."""
    for match in _MENTION.finditer(text):
        kind = match[1] or match[2]
        is_joined = match[1] is not None and match[0][len(kind)].isdigit()
        if kind in _OTHERS or ((match[2] or is_joined) and kind.lower() not in KINDS):
            continue
        yield match.start(), match[0], RecordNumber(kind.lower(), int(match[3]))
