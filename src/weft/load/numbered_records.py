"""
Documents that carry a number: PEP, RFC, ADR, KEP, issue, ticket.

| written | record |
| --- | --- |
| field `PEP: 484`, `RFC: 2616` | PEP 484, RFC 2616 |
| title `ADR-0012: Use queues`, `RFC 2119 – Key words` | ADR 12, RFC 2119 |
| `pep-0484.rst`, `adr-0012-use-queues.md`, `rfc2616.txt`, `INC-2041.md` | PEP 484, ADR 12, RFC 2616, INC 2041 |
| `decisions/0012-use-queues.md`, `adr/0012-use-queues.md` | ADR 12 |
| `rfcs/0042-queues.md` | RFC 42 |

The number becomes an alias of the document and a target of links; fields with numbers (`Replaces: 245`) name records.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import PurePosixPath

from weft.records import Document, Metadata, PageLink
from weft.text.record_numbers import KINDS, RecordNumber, find_numbers

_FOLDERS = {
    "adr": "adr", "adrs": "adr", "architecture-decisions": "adr", "decisions": "adr", "eips": "eip", "keps": "kep",
    "peps": "pep", "rfc": "rfc", "rfcs": "rfc", "rfd": "rfd", "rfds": "rfd",
}  # fmt: skip
"""Folders whose files begin with the number of a record."""
_RELATIONS = frozenset(
    "amends blocked-by blocks depends-on duplicates extends obsoleted-by obsoletes parent precedes related related-to "
    "relates-to replaced-by replaces requires see-also superseded-by supersedes updated-by updates".split()
)
_FILE = re.compile(r"([A-Za-z]{2,6})[-_ ]?0{0,6}([1-9]\d{0,6})(?=[-_. ]|$)")
_NUMBERED_FILE = re.compile(r"0{0,6}([1-9]\d{0,6})(?=[-_. ])")
_DIGITS = re.compile(r"[1-9]\d{0,6}")
_HEADED = re.compile(r"\s?[:–—.|]|\s-\s|$")
"""What follows the number at the beginning of a title."""


def with_record_number(document: Document) -> Document:
    """Return a document with its number as alias and target of links, and with its relations to other records."""
    if document.form not in ("markdown", "text") or document.unit != "line":
        return document
    record = find_record(document)
    if record is None:
        return document
    metadata = dict(document.metadata)
    aliases = metadata.get("aliases") or []
    known = aliases if isinstance(aliases, list) else [aliases]
    metadata["aliases"] = [*known, *(name for name in _spellings(record, document.source) if name not in known)]
    links = [PageLink(1, record.address, document.title, "target")]
    for key, value in document.metadata.items():
        if _field(key) in _RELATIONS and (others := _read_records(value, record.kind)):
            metadata[key] = [other.name for other in others]
            links += (PageLink(1, other.address, other.name, "name") for other in others if other != record)
    return replace(document, metadata=metadata, links=(*links, *document.links))


def find_record(document: Document) -> RecordNumber | None:
    """Return the number of a document, by its fields, its title or its file name."""
    return _by_field(document.metadata) or _by_title(document.title) or _by_file(document.source)


def _by_field(metadata: Metadata) -> RecordNumber | None:
    for key, value in metadata.items():
        number = str(value).strip().lstrip("#0")
        if key.lower() in KINDS and _DIGITS.fullmatch(number):
            return RecordNumber(key.lower(), int(number))
    return None


def _by_title(title: str) -> RecordNumber | None:
    first = next(find_numbers(title[:100]), None)
    if first is None or first[0] != 0:
        return None
    return first[2] if _HEADED.match(title, len(first[1])) else None


def _by_file(source: str) -> RecordNumber | None:
    path = PurePosixPath(source.replace("\\", "/"))
    if match := _FILE.match(path.stem):
        is_kind = match[1].lower() in KINDS
        first = None if is_kind else next(find_numbers(match[0]), None)
        return RecordNumber(match[1].lower(), int(match[2])) if is_kind else first[2] if first else None
    if match := _NUMBERED_FILE.match(path.name):
        folders = [part.lower() for part in path.parts[-4:-1]]
        kind = next((_FOLDERS[part] for part in reversed(folders) if part in _FOLDERS), "")
        return RecordNumber(kind, int(match[1])) if kind else None
    return None


def _spellings(record: RecordNumber, source: str) -> list[str]:
    """Return the name of a record, and its spelling with zeros if the file name has them."""
    padded = re.search(rf"0+{record.number}(?!\d)", PurePosixPath(source.replace("\\", "/")).name[:100])
    return [record.name, *([f"{record.kind.upper()} {padded[0]}"] if padded else [])]


def _field(key: str) -> str:
    return re.sub(r"[\s_]+", "-", key[:60].strip().lower())


def _read_records(value: object, kind: str) -> list[RecordNumber]:
    """Return the records in the value of a field: `245`, `12, 13`, `[12, 13]`, `ADR-0012`; `[]` for other values."""
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    if not text[:1000].strip("0123456789#,; "):
        return [RecordNumber(kind, int(number)) for number in _DIGITS.findall(text[:1000])]
    return list(dict.fromkeys(number for _, _, number in find_numbers(text[:1000])))
