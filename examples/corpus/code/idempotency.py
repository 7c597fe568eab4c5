"""
Idempotency keys for the Payment Gateway (see ADR-0020).

The only module allowed to build a key. The same order, amount, currency and
purpose always give the same key, so that a retry after a timeout is
recognised by the acquirer and never becomes a second purchase (INC-2077).
"""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta, timezone

KEY_VERSION = "k1"
PURPOSES = frozenset({"charge", "refund"})

# Acquirers forget a key after 24 hours. We stop four hours earlier.
MAX_RETRY_AGE = timedelta(hours=20)


def idempotency_key(order_id: str, amount_minor: int, currency: str, purpose: str = "charge") -> str:
    """Return the key that every attempt for this payment must carry."""
    if purpose not in PURPOSES:
        raise ValueError(f"unknown purpose: {purpose!r}")
    if amount_minor <= 0:
        raise ValueError("amount must be positive, in minor units")
    # The separator cannot occur in an order id, so fields never run together.
    material = "\x1f".join([order_id, str(amount_minor), currency.upper(), purpose])
    digest = hashlib.sha256(material.encode("utf-8")).hexdigest()
    return f"{KEY_VERSION}-{digest[:40]}"


def may_retry(created_at: datetime, now: datetime | None = None) -> bool:
    """
    Refuse retries so late that the acquirer may have forgotten the key.

    Orders refused here are settled by reconcile_pending.sql at night.
    """
    now = now or datetime.now(timezone.utc)
    return now - created_at < MAX_RETRY_AGE
