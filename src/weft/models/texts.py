"""Makes any Python string fit for libraries that insist on valid Unicode."""

from __future__ import annotations


def encodable(text: str) -> str:
    """Return the text with lone surrogates replaced by U+FFFD; all other characters stay."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
