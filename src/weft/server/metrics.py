"""Request counters and latency histograms in the Prometheus text format, separate for each namespace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the latency histogram, in seconds."""


class Metrics:
    """Metrics since the start of the server. Only the event loop modifies them."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, str, str, int]] = Counter()
        """Number of requests by namespace, method, route and status."""
        self._buckets: Counter[tuple[str, str, float]] = Counter()
        self._sums: Counter[tuple[str, str]] = Counter()
        self._counts: Counter[tuple[str, str]] = Counter()

    def note(self, *, namespace: str, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests[namespace, method, route, status] += 1
        self._counts[namespace, route] += 1
        self._sums[namespace, route] += seconds  # type: ignore[assignment]
        for bucket in BUCKETS:
            if seconds <= bucket:
                self._buckets[namespace, route, bucket] += 1

    def text(self, namespace: str, *, gauges: dict[str, tuple[str, int]]) -> str:
        """Return the metrics of a namespace. `gauges` maps names to help texts and current values."""
        return "\n".join([*self._lines(namespace), *_gauges(gauges)]) + "\n"

    def _lines(self, namespace: str) -> Iterator[str]:
        yield "# HELP weft_requests_total Completed requests."
        yield "# TYPE weft_requests_total counter"
        for (owner, method, route, status), count in sorted(self._requests.items()):
            if owner == namespace:
                yield f'weft_requests_total{{method="{method}",route="{route}",status="{status}"}} {count}'
        yield "# HELP weft_request_seconds Time from the request to the end of the response."
        yield "# TYPE weft_request_seconds histogram"
        for (owner, route), count in sorted(self._counts.items()):
            if owner != namespace:
                continue
            for bucket in BUCKETS:
                below = self._buckets[owner, route, bucket]
                yield f'weft_request_seconds_bucket{{route="{route}",le="{bucket}"}} {below}'
            yield f'weft_request_seconds_bucket{{route="{route}",le="+Inf"}} {count}'
            yield f'weft_request_seconds_sum{{route="{route}"}} {self._sums[owner, route]:.6f}'
            yield f'weft_request_seconds_count{{route="{route}"}} {count}'


def _gauges(gauges: dict[str, tuple[str, int]]) -> Iterator[str]:
    for name, (help_text, value) in gauges.items():
        yield f"# HELP {name} {help_text}"
        yield f"# TYPE {name} gauge"
        yield f"{name} {value}"
