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
from typing import Any

import apsw

WINDOW_BITS = 13
"""Base-2 logarithm of the window, in bytes: longer than nearly all chunks. A larger one takes longer to set up."""

MEMORY_LEVEL = 6
"""Size of the hash table of the compressor; a larger one takes longer to set up and saves nothing on short lists."""

MIN_SAVED_BYTES = 32
"""Values that would shrink less stay as they are: unpacking takes longer than reading a few bytes more."""

_SPECIAL = frozenset({'"', "\\", *map(chr, range(33))})
"""Characters that JSON escapes, and the separators of the list."""


def add_packing_functions(db: apsw.Connection) -> None:
    """Register the functions on a connection."""
    db.create_scalar_function("pack_terms", lambda *values: pack_terms(*values), 2, deterministic=True)
    db.create_scalar_function("unpack_terms", lambda *values: unpack_terms(*values), 2, deterministic=True)


def pack_terms(terms: Any, text: Any) -> Any:
    """Return the stored form of terms; `text` is the text of their chunk."""
    lines = _to_lines(terms)
    if not lines:
        return terms
    options = (9, zlib.DEFLATED, WINDOW_BITS, MEMORY_LEVEL, zlib.Z_DEFAULT_STRATEGY, _dictionary(text))
    compressor = zlib.compressobj(*options)
    packed = compressor.compress(lines.encode()) + compressor.flush()
    return packed if len(packed) + MIN_SAVED_BYTES <= len(terms) else terms


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


def _to_lines(terms: Any) -> str:
    """Return the lines of terms in JSON; empty if they are damaged or if the list cannot have one of them."""
    try:
        frequencies = json.loads(terms)
        by_frequency: dict[int, list[str]] = {}
        for term, frequency in frequencies.items():
            by_frequency.setdefault(frequency, []).append(term)
        lines = "\n".join(f"{frequency:d} {' '.join(found)}" for frequency, found in sorted(by_frequency.items()))
    except (ValueError, TypeError, AttributeError):
        return ""
    return "" if "" in frequencies or set("".join(frequencies)) & _SPECIAL else lines


def _dictionary(text: Any) -> bytes:
    # only ASCII: other letters get a lower case in some versions of Unicode, and the dictionary must not change
    return str(text).encode().lower() or b" "
