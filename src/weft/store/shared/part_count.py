"""Number of parts of a namespace: its bounds, and stores without parts."""

from __future__ import annotations

from weft.errors import InputError

MAX_PARTS = 256
"""Maximum number of parts. A search asks them one after the other."""


def check_parts(parts: int) -> None:
    """Raise `InputError` if no namespace can have this number of parts."""
    if not 1 <= parts <= MAX_PARTS:
        raise InputError(f"invalid number of parts: {parts}", hint=f"pass a number from 1 to {MAX_PARTS}")


def check_one_part(parts: int) -> None:
    """Raise `InputError` unless a namespace has one part, in a store that cannot divide it."""
    check_parts(parts)
    if parts > 1:
        raise InputError(
            f"this store cannot divide a namespace into {parts} parts", hint="use a PostgreSQL server, or pass 1"
        )


def check_same_parts(namespace: str, parts: int, *, wanted: int) -> None:
    """Raise `InputError` if an existing namespace has another number of parts."""
    if parts != wanted:
        raise InputError(
            f"namespace {namespace!r} exists with {parts} {'part' if parts == 1 else 'parts'}, not {wanted}",
            hint="drop it first with weft namespaces --drop, or copy it to another store with weft copy --parts",
        )
