"""
Masking of secrets in texts: the one place that everything passes before it is stored or embedded.

    mask_secrets("DB_PASSWORD=x9!k psql")  →  "DB_PASSWORD=[a password] psql"

Only the value is replaced. Line breaks inside a value stay, so that line numbers hold. Masking a masked text changes
nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from weft.masking.assignments import find_assigned
from weft.masking.columns import find_columns
from weft.masking.commands import find_arguments
from weft.masking.formats import find_formatted
from weft.masking.spans import SecretSpan
from weft.masking.spoken import find_phrases, find_pins

MIN_SECRET_CHARACTERS = 4
_MASK = re.compile(r"\[(?:a password|a token|a key|a private key|a card number|an API key)\]")
_FINDERS = (find_formatted, find_assigned, find_columns, find_arguments, find_pins, find_phrases)
"""The first one names the kind of a secret that several find."""


def mask_secrets(text: str) -> str:
    """Return a text in which each secret is replaced by its kind: `[a password]`. Takes linear time."""
    spans = find_secrets(text)
    return replace_spans(text, spans)[0] if spans else text


def replace_spans(text: str, spans: Sequence[SecretSpan]) -> tuple[str, list[int]]:
    """
    Return a text with these spans masked, and by how much the text after 0, 1, 2 … spans has moved.

    Line breaks of a span stay.
    """
    pieces, shifts, last = [], [0], 0
    for span in spans:
        mask = f"[{span.kind}]" + "\n" * text.count("\n", span.start, span.end)
        pieces += [text[last : span.start], mask]
        shifts.append(shifts[-1] + len(mask) - (span.end - span.start))
        last = span.end
    return "".join([*pieces, text[last:]]), shifts


def find_secrets(text: str) -> list[SecretSpan]:
    """Return the secrets of a text by position, without overlaps."""
    if len(text) < MIN_SECRET_CHARACTERS:
        return []
    folded = _fold(text)
    found = [span for find in _FINDERS for span in find(text, folded)]
    merged = _merge(sorted(found, key=itemgetter(0)))
    return list(_outside_masks(text, merged)) if "[a" in text else list(merged)


def _outside_masks(text: str, spans: Iterable[SecretSpan]) -> Iterator[SecretSpan]:
    """Yield the parts of spans outside masks, so that a masked text stays as it is."""
    masks = [match.span() for match in _MASK.finditer(text)]
    for span in spans:
        start = span.start
        for at in range(bisect_right(masks, start, key=lambda mask: mask[1]), len(masks)):
            if masks[at][0] >= span.end:
                break
            if masks[at][0] > start:
                yield span._replace(start=start, end=masks[at][0])
            start = masks[at][1]
        if start < span.end:
            yield span._replace(start=start)


def _merge(spans: Iterable[SecretSpan]) -> Iterator[SecretSpan]:
    """Yield spans in order; overlapping ones become one span of the first kind."""
    last: SecretSpan | None = None
    for span in spans:
        if last is None or span.start >= last.end:
            if last is not None:
                yield last
            last = span
        elif span.end > last.end:
            last = last._replace(end=span.end)
    if last is not None:
        yield last


def _fold(text: str) -> str:
    """Return the text in lower case, character by character, so that positions stay the same."""
    folded = text.lower()
    if len(folded) == len(text):
        return folded
    return "".join(lower if len(lower := character.lower()) == 1 else character for character in text)
