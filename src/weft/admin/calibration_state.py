"""State of a calibration in words. Without the code that fits one, which takes a second to import."""

from __future__ import annotations

from weft.records import Calibration
from weft.text.plurals import counted

MAX_GROWTH = 2
"""Growth factor of the chunk count after which a calibration is outdated: more chunks have more high cosines."""


def describe(calibration: Calibration | None, *, chunks: int) -> tuple[str, bool]:
    """Return a description of a calibration, and True if it is outdated."""
    if calibration is None:
        return "shipped with the embedder", False
    detail = f"fitted to {counted(calibration.probes, 'probe')}, area {calibration.area:.3f}"
    outgrown = chunks > MAX_GROWTH * calibration.chunks
    return detail + (f", with {counted(calibration.chunks, 'chunk')} at that time" if outgrown else ""), outgrown
