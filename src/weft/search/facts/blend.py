"""Common status of passages and recalled facts."""

from __future__ import annotations

from dataclasses import replace

from weft.records import Recall, Result
from weft.text.plurals import counted


def blend(result: Result, recall: Recall) -> Result:
    """
    Return a result with the common status of its passages and the recalled facts.

    | passages | facts | status | note |
    | --- | --- | --- | --- |
    | `ok`, `degraded` | any | unchanged | |
    | `low_confidence`, `no_match` | some | `ok`, or `degraded` if a model is missing | the answer is based on facts |
    | any | none | unchanged | |

    The confidence stays that of the passages.
    """
    count = len(recall.facts)
    if not count or result.status in ("ok", "degraded"):
        return result
    known = counted(count, "remembered fact")
    if result.evidence:
        note = f"the answer is based on {known}; the passages are uncertain"
    else:
        note = f"the answer is {known}; no passage is relevant enough"
    degraded = result.degraded or (recall.degraded if recall.status == "degraded" else "")
    return replace(result, status="degraded" if degraded else "ok", notes=(note, *result.notes), degraded=degraded)
