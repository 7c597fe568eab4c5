"""Filter as parameters of SQL statements."""

from __future__ import annotations

import json
from typing import Any

from weft.records import Filter
from weft.store.shared.labels import wanted_labels


def bind(where: Filter) -> dict[str, Any]:
    """Return the SQL parameters of a filter."""
    limits = where.time_limits
    return {
        "any_time": not where.has_time,
        "time_from": limits.start,
        "time_to": limits.end,
        "all_documents": not where.documents,
        "documents": json.dumps(where.documents, ensure_ascii=False),
        "prefix": where.source_prefix,
        "labels": json.dumps(wanted_labels(where), ensure_ascii=False),
    }
