"""
Terms of chunks in compressed form, as functions in SQL.

    pack_terms(terms, text)     deflated list of terms with the text as dictionary, or the JSON itself if it is short
    unpack_terms(value, text)   JSON object of term and frequency

`store.shared.packed_text` has the format.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

import apsw

from weft.store.shared.packed_text import pack_term_counts, pack_text, terms_dictionary, unpack_text


def add_packing_functions(db: apsw.Connection) -> None:
    """Register the functions on a connection, and those of texts."""
    db.create_scalar_function("pack_text", lambda *values: pack_text(*values), 1, deterministic=True)
    db.create_scalar_function("unpack_text", lambda *values: unpack_text(*values), 1, deterministic=True)
    db.create_scalar_function("pack_terms", lambda *values: pack_terms(*values), 2, deterministic=True)
    db.create_scalar_function("unpack_terms", lambda *values: unpack_terms(*values), 2, deterministic=True)


def pack_terms(terms: Any, text: Any) -> Any:
    """Return the stored form of terms in JSON; `text` is the text of their chunk. Damaged ones stay as they are."""
    try:
        return pack_term_counts(json.loads(terms), text)
    except (ValueError, TypeError, AttributeError):
        return terms


def unpack_terms(value: Any, text: Any) -> Any:
    """Return terms from their stored form as JSON; an empty string, which is no JSON, if they are damaged."""
    if not isinstance(value, bytes):
        return value
    expander = zlib.decompressobj(zdict=terms_dictionary(text))
    try:
        lines = (expander.decompress(value) + expander.flush()).decode()
    except (zlib.error, UnicodeDecodeError):
        return ""
    parts = []
    for line in lines.split("\n"):
        frequency, *terms = line.split(" ")
        parts.append('"' + f'": {frequency}, "'.join(terms) + f'": {frequency}')
    return "{" + ", ".join(parts) + "}"
