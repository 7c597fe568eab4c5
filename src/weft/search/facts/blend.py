"""What passages and remembered facts are together: one status, and how it came about."""

from __future__ import annotations

from dataclasses import replace

from weft.records import Recall, Result


def blend(result: Result, recall: Recall) -> Result:
    """
    Return a result with the status that its passages and the facts of a recall have together.

    Facts alone are an answer, and a note says that it is made of them; so it does where the passages beside them are
    uncertain. The confidence stays that of the passages. Without facts the result is as it was.
    """
    count = len(recall.facts)
    if not count or result.status in ("ok", "degraded"):
        return result
    known = f"{count} remembered fact{'s' if count > 1 else ''}"
    if result.evidence:
        note = f"the answer rests on {known}; the passages beside them are uncertain"
    else:
        note = f"the answer is {known}; no passage is good enough"
    degraded = result.degraded or (recall.degraded if recall.status == "degraded" else "")
    return replace(result, status="degraded" if degraded else "ok", notes=(note, *result.notes), degraded=degraded)
