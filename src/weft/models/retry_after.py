"""
Wait time that an endpoint requests in the headers of an error response.

    header                                                          seconds
    retry-after-ms: 1500                                            1.5
    Retry-After: 20                                                 20
    Retry-After: Wed, 21 Oct 2026 07:28:00 GMT                      until then
    x-ratelimit-remaining-tokens: 0
    x-ratelimit-reset-tokens: 6m0s                                  360
    anthropic-ratelimit-requests-remaining: 0
    anthropic-ratelimit-requests-reset: 2026-10-21T07:28:00Z        until then
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

_DURATION = re.compile(r"(?<![\d.])(\d{1,9}(?:\.\d{1,9})?)(ms|h|m|s)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_REMAINING = re.compile(r"(x|anthropic)-ratelimit-(?:remaining-(\w+)|([\w-]+)-remaining)")


def requested_wait(headers: Mapping[str, str]) -> float:
    """
    Return the requested seconds, or 0 if the headers request no wait. Header names are in lower case.

    `retry-after-ms` and `Retry-After` take precedence. Otherwise the exhausted rate limit that resets last decides.
    """
    wait = _number(headers.get("retry-after-ms", "")) / 1000 or retry_after(headers.get("retry-after", ""))
    return wait or max((_reset(headers, name) for name in headers), default=0.0)


def retry_after(value: str) -> float:
    """Return the seconds of a `Retry-After` header, a number or a date; 0 if it is neither."""
    if value.strip() and (seconds := _number(value)):
        return seconds
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    return _until(moment)


def _reset(headers: Mapping[str, str], name: str) -> float:
    """Return the seconds until a rate limit resets; 0 unless header `name` reports that it is exhausted."""
    match = _REMAINING.fullmatch(name)
    if match is None or headers[name].strip() != "0":
        return 0.0
    what = match[2] or match[3]
    value = headers.get(f"x-ratelimit-reset-{what}") or headers.get(f"anthropic-ratelimit-{what}-reset") or ""
    if parts := _DURATION.findall(value):
        return sum(float(number) * _SECONDS[unit] for number, unit in parts)
    try:
        return _until(datetime.fromisoformat(value.replace("Z", "+00:00")))
    except ValueError:
        return _number(value)


def _until(moment: datetime) -> float:
    return max(moment.replace(tzinfo=moment.tzinfo or timezone.utc).timestamp() - time.time(), 0.0)


def _number(value: str) -> float:
    try:
        return max(float(value), 0.0)
    except ValueError:
        return 0.0
