"""
Terms of chunks in compressed form, as functions in SQL.

    pack_terms(terms, text)     deflated list of terms with the text as dictionary, or the JSON itself if it is short
    unpack_terms(value, text)   JSON object of term and frequency

The list has a line for each frequency: `{"fox": 1, "jump": 1, "the": 2}` is `1 fox jump` and `2 the`. Terms are mostly
beginnings of words of the text, so the dictionary is the text with ASCII in lower case, and a term takes two bytes.
Values have the checksums of zlib, so a damaged one, or one beside another text, is noticed.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

import apsw

from weft.store.shared.packed_text import pack_text, unpack_text

WINDOW_BITS = 13
"""Base-2 logarithm of the window, in bytes: longer than nearly all chunks. A larger one takes longer to set up."""

MEMORY_LEVEL = 6
"""Size of the hash table of the compressor; a larger one takes longer to set up and saves nothing on short lists."""

MIN_SAVED_BYTES = 32
"""Values that would shrink less stay as they are: unpacking takes longer than reading a few bytes more."""

JSON_BYTES = 5
"""Bytes that a term takes in JSON beyond those in the list: quotes, colon, comma and a frequency."""

_SPECIAL = frozenset({'"', "\\", *map(chr, range(33))})
"""Characters that JSON escapes, and the separators of the list."""


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


def pack_term_counts(counts: Mapping[str, int], text: Any) -> bytes | str:
    """Return the stored form of terms with their frequencies; `text` is the text of their chunk."""
    lines = _to_lines(counts)
    options = (9, zlib.DEFLATED, WINDOW_BITS, MEMORY_LEVEL, zlib.Z_DEFAULT_STRATEGY, _dictionary(text))
    compressor = zlib.compressobj(*options)
    packed = compressor.compress(lines.encode()) + compressor.flush() if lines else b""
    size = len(lines) + JSON_BYTES * len(counts)  # of the JSON, or less
    if packed and len(packed) + MIN_SAVED_BYTES <= size:
        return packed
    return json.dumps(dict(counts), ensure_ascii=False, sort_keys=True)


def unpack_terms(value: Any, text: Any) -> Any:
    """Return terms from their stored form as JSON; an empty string, which is no JSON, if they are damaged."""
    if not isinstance(value, bytes):
        return value
    expander = zlib.decompressobj(zdict=_dictionary(text))
    try:
        lines = (expander.decompress(value) + expander.flush()).decode()
    except (zlib.error, UnicodeDecodeError):
        return ""
    parts = []
    for line in lines.split("\n"):
        frequency, *terms = line.split(" ")
        parts.append('"' + f'": {frequency}, "'.join(terms) + f'": {frequency}')
    return "{" + ", ".join(parts) + "}"


def _to_lines(counts: Mapping[str, int]) -> str:
    """Return the lines of terms; empty if the list cannot have one of them."""
    by_frequency: dict[int, list[str]] = {}
    for term in sorted(counts):
        by_frequency.setdefault(counts[term], []).append(term)
    lines = "\n".join([f"{frequency:d} {' '.join(found)}" for frequency, found in sorted(by_frequency.items())])
    every = "".join(counts)
    return "" if "" in counts or not (every.isalnum() or _SPECIAL.isdisjoint(every)) else lines


def _dictionary(text: Any) -> bytes:
    # only ASCII: other letters get a lower case in some versions of Unicode, and the dictionary must not change
    return str(unpack_text(text)).encode().lower() or b" "
