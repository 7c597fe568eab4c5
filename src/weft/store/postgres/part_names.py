"""Names of the parts of a namespace, and the part of a document."""

from __future__ import annotations

from zlib import crc32

SEPARATOR = "\x1f"
"""Stands between a namespace and the number of a part. Names of users are printable, so none contains it."""


def part_names(namespace: str, parts: int) -> list[str]:
    """Return the names of all parts of a namespace, in the order of their numbers."""
    return [f"{namespace}{SEPARATOR}{place}" for place in range(parts)]


def part_of(namespace: str, document_id: str, parts: int) -> str:
    """Return the name of the part that has a document."""
    return f"{namespace}{SEPARATOR}{crc32(document_id.encode('utf-8', 'surrogatepass')) % parts}"


def is_own(name: str, namespace: str) -> bool:
    """Return True if `name` is a namespace or one of its parts."""
    return bool(namespace) and (name == namespace or name.startswith(namespace + SEPARATOR))


def is_part(name: str) -> bool:
    """Return True if `name` is that of a part."""
    return SEPARATOR in name


def part_place(part: str) -> int:
    """Return the number of a part, from its name."""
    return int(part.rpartition(SEPARATOR)[2])
