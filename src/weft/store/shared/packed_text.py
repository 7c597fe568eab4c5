"""
Texts and terms of chunks in compressed form.

    pack_text(text)                   deflated text, or the text itself if it is short
    unpack_text(value)                the text
    pack_term_counts(counts, text)    deflated list of terms with the text as dictionary, or JSON if it is short

The list has a line for each frequency: `{"fox": 1, "jump": 1, "the": 2}` is `1 fox jump` and `2 the`. Terms are mostly
beginnings of words of the text, so the dictionary is the text with ASCII in lower case, and a term takes two bytes.
Values have the checksums of zlib. A damaged one is read as an empty text, beside which the terms of the chunk are
unreadable, so `weft check` reports it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

WINDOW_BITS = 13
"""Base-2 logarithm of the window, in bytes: longer than nearly all chunks. A larger one takes longer to set up."""

MEMORY_LEVEL = 6
"""Size of the hash table of the compressor; a larger one takes longer to set up and saves nothing on short texts."""

MIN_SAVED_BYTES = 32
"""Texts that would shrink less stay as they are: unpacking takes longer than reading a few bytes more."""


JSON_BYTES = 5
"""Bytes that a term takes in JSON beyond those in the list: quotes, colon, comma and a frequency."""

_SPECIAL = frozenset({'"', "\\", *map(chr, range(33))})
"""Characters that JSON escapes, and the separators of the list."""


def pack_chunk(text: str, terms: Mapping[str, int]) -> tuple[bytes, bytes] | None:
    """Return text and terms of a chunk in stored form; None if one of them is too short to compress."""
    body, counts = pack_text(text), pack_term_counts(terms, text)
    return (body, counts) if isinstance(body, bytes) and isinstance(counts, bytes) else None


def pack_text(text: Any) -> Any:
    """Return the stored form of a text. A damaged value stays as it is."""
    if not isinstance(text, str):
        return text
    data = text.encode()
    compressor = zlib.compressobj(6, zlib.DEFLATED, WINDOW_BITS, MEMORY_LEVEL)
    packed = compressor.compress(data) + compressor.flush()
    return packed if len(packed) + MIN_SAVED_BYTES <= len(data) else text


def unpack_text(value: Any) -> Any:
    """Return a text from its stored form; an empty one if it is damaged."""
    if not isinstance(value, bytes):
        return value
    try:
        return zlib.decompress(value).decode()
    except (zlib.error, UnicodeDecodeError):
        return ""


def pack_term_counts(counts: Mapping[str, int], text: Any) -> bytes | str:
    """Return the stored form of terms with their frequencies; `text` is the text of their chunk."""
    lines = _to_lines(counts)
    options = (9, zlib.DEFLATED, WINDOW_BITS, MEMORY_LEVEL, zlib.Z_DEFAULT_STRATEGY, terms_dictionary(text))
    compressor = zlib.compressobj(*options)
    packed = compressor.compress(lines.encode()) + compressor.flush() if lines else b""
    size = len(lines) + JSON_BYTES * len(counts)  # of the JSON, or less
    if packed and len(packed) + MIN_SAVED_BYTES <= size:
        return packed
    return json.dumps(dict(counts), ensure_ascii=False, sort_keys=True)


def _to_lines(counts: Mapping[str, int]) -> str:
    """Return the lines of terms; empty if the list cannot have one of them."""
    by_frequency: dict[int, list[str]] = {}
    for term in sorted(counts):
        by_frequency.setdefault(counts[term], []).append(term)
    lines = "\n".join([f"{frequency:d} {' '.join(found)}" for frequency, found in sorted(by_frequency.items())])
    every = "".join(counts)
    return "" if "" in counts or not (every.isalnum() or _SPECIAL.isdisjoint(every)) else lines


def terms_dictionary(text: Any) -> bytes:
    """Return the dictionary that terms are compressed with: the text of their chunk in lower case."""
    # only ASCII: other letters get a lower case in some versions of Unicode, and the dictionary must not change
    return str(unpack_text(text)).encode().lower() or b" "
