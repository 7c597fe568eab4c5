"""Command `weft doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from weft.cli.options import Session, verb
from weft.cli.output import print_json
from weft.cli.terminal import say

if TYPE_CHECKING:
    from weft.admin.doctor import Finding


MAX_SHOWN_ERRORS = 3
"""Maximum number of errors of hooks; `weft hook status` lists more."""


@verb()
def doctor(session: Session) -> int:
    """Check the installation and the store. Exits with 1 if there is a problem."""
    from weft.admin.doctor import diagnose

    findings = [*diagnose(session.settings()), *_hooks(session)]
    if session.as_json:
        print_json([{"what": f.what, "state": f.state, "detail": f.detail, "hint": f.hint} for f in findings])
    else:
        colours = {"ok": "green", "warning": "yellow", "problem": "red", "absent": None}
        for finding in findings:
            line = f" {finding.what}: {finding.detail}" + (f"  ({finding.hint})" if finding.hint else "")
            say(line, label=f"{finding.state:8}", colour=colours.get(finding.state))
    return 1 if any(finding.state == "problem" for finding in findings) else 0


def _hooks(session: Session) -> Iterator[Finding]:
    """Yield what the hooks of the store did last, and what waits to be indexed."""
    from weft.admin.doctor import Finding
    from weft.cli.serve.hook import find_hook_status

    try:
        status = find_hook_status(session)
    except OSError as error:
        yield Finding(what="hooks", state="warning", detail=str(error), hint="run weft hook status")
        return
    for name, entry in {"last capture": status.capture, "last recall": status.recall}.items():
        detail = f"{entry['time']}: {entry['what']}" if entry else "none"
        hint = "" if entry else "run weft install HOST"
        yield Finding(what=f"hooks, {name}", state="ok" if entry else "absent", detail=detail, hint=hint)
    if status.waiting:
        detail = f"{status.waiting} events wait to be indexed since {status.oldest}"
        yield Finding(what="hooks, waiting", state="warning", detail=detail, hint="run weft index PATH")
    if status.is_paused:
        yield Finding(what="hooks", state="warning", detail="they are paused", hint="run weft hook resume")
    for entry in status.errors[:MAX_SHOWN_ERRORS]:
        detail, hint = f"{entry['time']}: {entry['what']}", "run weft hook status"
        yield Finding(what="hooks, error", state="warning", detail=detail, hint=hint)
