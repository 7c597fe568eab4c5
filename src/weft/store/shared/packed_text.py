"""
Texts of chunks in compressed form; both functions are functions in SQL as well.

    pack_text(text)       deflated text, or the text itself if it is short
    unpack_text(value)    the text

Values have the checksums of zlib. A damaged one is read as an empty text, beside which the terms of the chunk are
unreadable, so `weft check` reports it.
"""

from __future__ import annotations

import zlib
from typing import Any

WINDOW_BITS = 13
"""Base-2 logarithm of the window, in bytes: longer than nearly all chunks. A larger one takes longer to set up."""

MEMORY_LEVEL = 6
"""Size of the hash table of the compressor; a larger one takes longer to set up and saves nothing on short texts."""

MIN_SAVED_BYTES = 32
"""Texts that would shrink less stay as they are: unpacking takes longer than reading a few bytes more."""


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
