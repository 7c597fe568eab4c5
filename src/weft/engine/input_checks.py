"""Checks of arguments that Python callers and tools pass to the engine."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from weft.errors import AccessDenied, InputError
from weft.records import Filter
from weft.store.base import Database

MAX_SHOWN_CHARACTERS = 80
"""Longer values are cut in error messages."""
MAX_QUESTION_CHARACTERS = 10_000
"""Maximum length of a question in all interfaces."""
MAX_LISTED_NAMESPACES = 20
"""Maximum number of existing namespaces in a note."""


def check_question(text: Any) -> None:
    """Raise `InputError` if a question is not a string, or too long. An empty question is valid and finds nothing."""
    if not isinstance(text, str):
        raise InputError(f"invalid question: {show_value(text)}", hint="pass a string")
    if len(text) > MAX_QUESTION_CHARACTERS:
        raise InputError(
            f"the question has {len(text):,} characters", hint=f"pass at most {MAX_QUESTION_CHARACTERS:,} characters"
        )


def check_filter(where: Any) -> None:
    """Raise `InputError` if `where` is not a `Filter`, or has fields of a wrong type."""
    if not isinstance(where, Filter):
        raise InputError(
            f"invalid where: {show_value(where)}", hint="pass a Filter, such as Filter(source_prefix='notes/')"
        )
    ids: Any = where.documents
    for name in ("metadata", "metadata_if_present", "metadata_excluded"):
        pairs: Any = getattr(where, name)
        if not isinstance(pairs, tuple | list) or not all(isinstance(p, tuple | list) and len(p) == 2 for p in pairs):
            raise InputError(
                f"invalid {name}: {show_value(pairs)}", hint=f"pass pairs: Filter({name}=(('type', 'decision'),))"
            )
    if isinstance(ids, str):
        raise InputError(f"invalid documents: {show_value(ids)}", hint="pass ids: Filter(documents=(id,))")
    times: tuple[Any, ...] = (where.after, where.before)
    for name, time in zip(("after", "before"), times, strict=True):
        if time is not None and not isinstance(time, datetime):
            raise InputError(
                f"invalid {name}: {show_value(time)}", hint=f"pass a datetime: Filter({name}=datetime(2026, 3, 1))"
            )


def show_value(value: Any) -> str:
    """Return the repr of a value, shortened for a message."""
    shown = repr(value)
    return shown if len(shown) <= MAX_SHOWN_CHARACTERS else shown[:MAX_SHOWN_CHARACTERS] + "…"


def describe_unknown_namespace(database: Database, namespace: str) -> str:
    """Return a note about an unknown namespace with the existing ones; empty if it exists or the store is empty."""
    if database.store(namespace).find_documents(Filter(), limit=1):
        return ""
    try:
        names = database.namespaces()
    except AccessDenied:  # a restricted role on a server sees its own namespace only
        return ""
    if not names or namespace in names:
        return ""
    shown = ", ".join(map(repr, names[:MAX_LISTED_NAMESPACES]))
    more = f" and {len(names) - MAX_LISTED_NAMESPACES:,} more" if len(names) > MAX_LISTED_NAMESPACES else ""
    return f"namespace {namespace!r} does not exist; existing namespaces: {shown}{more}"
