"""Receipts of a run that was done in parts."""

from __future__ import annotations

from dataclasses import fields

from weft.records import Receipt


def add_receipts(first: Receipt, second: Receipt) -> Receipt:
    """Return what two runs did together."""
    return Receipt(**{item.name: getattr(first, item.name) + getattr(second, item.name) for item in fields(Receipt)})
